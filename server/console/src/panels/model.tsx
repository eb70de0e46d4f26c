// model.tsx - shows the figures of a model and the report of its load, edits them, and puts the result as a new model.
import {useMemo, useState} from 'preact/hooks';
import {exportModel, Problem} from '../api';
import {changesOf, placeOf, pointerOf, withValue, type Path} from './edits';
import {digits} from '../format';
import {isTree} from '../geometry';
import {DeleteDialog} from '../pages/delete';
import {ProblemText, ReportTable} from '../pages/upload';
import type {Inertial, Limits, Report, RobotDocument, Tree} from '../types';
import {Button, download, Notice, Select, VectorField} from '../ui';
import type {Workspace} from '../workspace';
import {PartEditor} from './editor';
import {PutForm} from './putform';
import {Table} from './table';

const list = (values: readonly number[] | undefined): string => values ? values.map(x => digits(x, 4)).join(', ') : '–';

function massCells(inertial: Inertial | undefined): [string, string, string] {
    if (!inertial) return ['–', '–', 'no mass'];
    if ('solid' in inertial) return [inertial.mass === undefined ? `${digits(inertial.density)} kg/m³` : digits(inertial.mass), list(inertial.xyz ?? [0, 0, 0]), `${inertial.solid} ${list(inertial.size)}`];
    const {xx = 0, yy = 0, zz = 0, xy = 0, xz = 0, yz = 0} = inertial.inertia ?? {};
    return [digits(inertial.mass), list(inertial.com ?? [0, 0, 0]), list([xx, yy, zz, xy, xz, yz])];
}

function Masses({document}: {document: Tree}) {
    const all = [...(document.base?.inertial ? [{name: document.base.link ?? 'base', inertial: document.base.inertial}] : []), ...document.links];
    return (
        <section class="group"><h2>Masses, centres, inertias</h2>
            <Table label="Masses" head={['Link', 'Mass, kg', 'Centre, m', 'Inertia about it, kg m²: xx, yy, zz, xy, xz, yz; or solid, m']}>
                {all.map(l => { const [mass, centre, inertia] = massCells(l.inertial); return <tr key={l.name}><th scope="row">{l.name}</th><td>{mass}</td><td>{centre}</td><td>{inertia}</td></tr>; })}
            </Table>
        </section>
    );
}

function limitText({position, effort_speed: line, ...rest}: Limits): string {
    const all = Object.entries(rest).map(([kind, most]) => `${kind.replaceAll('_', ' ')} ± ${digits(most, 4)}`);
    if (line) all.push(`effort + ${digits(line.slope, 4)} speed ≤ ${digits(line.stall_effort, 4)}`);
    return [...(position ? [`${digits(position[0], 4)} … ${digits(position[1], 4)}`] : []), ...all].join('; ') || 'none';
}

const frictionText = (friction: unknown): string => typeof friction === 'object' && friction ? Object.entries(friction).map(([k, v]) => `${k.replaceAll('_', ' ')} ${Array.isArray(v) ? list(v as number[]) : typeof v === 'number' ? digits(v, 4) : String(v)}`).join(', ') : '–';

function Joints({workspace: w, document}: {workspace: Workspace; document: RobotDocument}) {
    const own = new Map(isTree(document) ? document.links.map(l => [l.name, l.joint]) : []);
    return (
        <section class="group"><h2>Joints</h2>
            <Table label="Joints" head={['Joint', 'Type', 'Parent → link', 'Motor', 'Limits, SI', 'Friction, SI', 'Rotor, kg m²']}>
                {w.model.joints.map(j => <tr key={j.name}><th scope="row">{j.name}</th><td>{j.type}</td><td>{j.parent} → {j.link}</td><td>{j.mimic ? `mimics ${j.mimic.joint}` : j.actuated ? 'yes' : 'no'}</td>
                    <td>{limitText(j.limits)}</td><td>{frictionText(own.get(j.link)?.friction)}</td><td>{digits(own.get(j.link)?.rotor_inertia as number | undefined, 4)}</td></tr>)}
            </Table>
        </section>
    );
}

function Frames({document}: {document: RobotDocument}) {
    if (!document.frames?.length) return null;
    return (
        <section class="group"><h2>Frames</h2>
            <Table label="Frames" head={['Frame', 'On link', 'Origin, m', 'Roll, pitch, yaw, rad']}>
                {document.frames.map(f => <tr key={f.name}><th scope="row">{f.name}</th><td>{f.link}</td><td>{list(f.xyz ?? [0, 0, 0])}</td><td>{list(f.rpy ?? [0, 0, 0])}</td></tr>)}
            </Table>
        </section>
    );
}

/** The parts whose numbers can be edited: path, label. */
function partsOf(document: RobotDocument): [Path, string][] {
    return [...(isTree(document) ? document.links.map((l, i): [Path, string] => [['links', i], `link ${l.name}`]) : []), ...(document.frames ?? []).map((f, i): [Path, string] => [['frames', i], `frame ${f.name}`])];
}

function shown(value: unknown): string {
    return value === undefined ? 'none' : typeof value === 'number' ? digits(value, 6) : JSON.stringify(value);
}

function Editor({workspace: w}: {workspace: Workspace}) {
    const {document} = w, parts = useMemo(() => partsOf(document), [document]), [edited, edit] = useState(document), [part, setPart] = useState(0);
    const changes = useMemo(() => changesOf(document, edited), [document, edited]);
    return (
        <section class="group" aria-label="Edit"><h2>Edit, and put as a new model</h2>
            <div class="edit-field"><span>gravity</span><VectorField label="Gravity of the model" unit="m/s²" step={0.1} value={edited.gravity ?? [0, 0, -9.81]} onChange={g => edit(withValue(edited, ['gravity'], g))} /></div>
            {parts.length > 0 ? <><Select label="Part" value={String(part)} options={parts.map(([, label], i) => [String(i), label] as [string, string])} onChange={v => setPart(Number(v))} />
                <PartEditor key={part} document={edited} path={parts[part][0]} onChange={edit} /></> : <p class="muted">This model is given by screws; its links have no figures to edit here.</p>}
            {changes.length > 0 && <><p class="label">{changes.length} {changes.length === 1 ? 'change' : 'changes'}</p>
                <ul class="changes">{changes.map(c => <li key={pointerOf(c.path)}><code>{placeOf(document, c.path)}</code> {shown(c.before)} → <strong>{shown(c.after)}</strong>
                    <Button bare kind="quiet" icon="undo" label={`Take back ${placeOf(document, c.path)}`} onClick={() => edit(withValue(edited, c.path, c.before))} /></li>)}</ul>
                <PutForm workspace={w} document={edited} ending="_edited"><Button kind="quiet" icon="undo" label="Take back all" onClick={() => edit(document)} /></PutForm></>}
        </section>
    );
}

const FORMATS = ['urdf', 'mjcf', 'sdf'] as const;
const ENDINGS = {urdf: 'urdf', mjcf: 'xml', sdf: 'sdf'};

/** Downloads of the model, and what the format of a download does not hold. */
function Exports({name}: {name: string}) {
    const [last, setLast] = useState<{format: string; report: Report} | null>(null), [problem, setProblem] = useState<Problem | null>(null);
    const save = async (format: (typeof FORMATS)[number]) => {
        setProblem(null);
        try {
            const {text, report} = await exportModel(name, format);
            download(`${name}.${ENDINGS[format]}`, text, 'application/xml');
            setLast({format, report});
        } catch (e) {
            setProblem(e instanceof Problem ? e : new Problem(0, {title: 'Nothing was exported', detail: (e as Error).message}));
        }
    };
    return (
        <section class="group" aria-label="Export"><h2>Export</h2>
            <div class="row"><a class="button" href={`v1/models/${encodeURIComponent(name)}/document`} download={`${name}.json`}>Document</a>
                {FORMATS.map(f => <Button key={f} icon="download" label={f.toUpperCase()} onClick={() => void save(f)} />)}</div>
            {problem && <ProblemText problem={problem} />}
            {last && (last.report.length ? <><p class="muted">What {last.format.toUpperCase()} does not hold:</p><ReportTable report={last.report} /></> : <Notice kind="good">{last.format.toUpperCase()} holds the whole model.</Notice>)}
        </section>
    );
}

export function ModelPanel({workspace: w}: {workspace: Workspace}) {
    const [deleting, setDeleting] = useState(false), {model, document} = w;
    return (
        <div class="panel-body">
            {document.description && <p>{document.description}</p>}
            {document.source && <p class="muted">Source: {document.source}</p>}
            <section class="group"><h2>Load report</h2><ReportTable report={model.report} /></section>
            {isTree(document) && <Masses document={document} />}
            <Joints workspace={w} document={document} />
            <Frames document={document} />
            <Editor workspace={w} />
            <p class="muted">Revision <code>{model.revision}</code></p>
            <Exports name={model.name} />
            <div class="actions start"><Button kind="danger" icon="trash" label="Delete the model" onClick={() => setDeleting(true)} /></div>
            {deleting && <DeleteDialog name={model.name} onClose={() => setDeleting(false)} onDeleted={() => { location.hash = '#/'; }} />}
        </div>
    );
}
