// upload.tsx - loads dropped files: finds the robot and its meshes, puts the model on the server and shows the load report line by
// line.
import {useEffect, useState} from 'preact/hooks';
import {formatOf, Problem, putModel, type PutOptions} from '../api';
import {models, reloadModels} from '../models';
import {arrange, countOf, hasWarnings} from '../report';
import {robotLink} from '../route';
import {Store, useStore} from '../store';
import type {PutReply, Report} from '../types';
import {Button, Dialog, Icon, Notice, Select} from '../ui';

export interface OfferedFile {
    path: string;
    file: File;
}

/** Files that the user has dropped or chosen and not yet loaded. */
export const offered = new Store<OfferedFile[] | null>(null);
/** Meshes by the name of the model whose file came with them. */
export const meshFolders = new Map<string, OfferedFile[]>();

export function chooseFiles(): Promise<OfferedFile[]> {
    return new Promise(resolve => {
        const input = document.createElement('input');
        input.type = 'file';
        input.multiple = true;
        input.accept = '.urdf,.xml,.sdf,.mjcf,.json,.stl,.obj,.dae,.csv';
        input.onchange = () => resolve([...(input.files ?? [])].map(file => ({path: file.name, file})));
        input.oncancel = () => resolve([]);
        input.click();
    });
}

async function walk(entry: FileSystemEntry, into: OfferedFile[]): Promise<void> {
    if (into.length > 2000) return;
    if (entry.isFile) {
        const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
        into.push({path: entry.fullPath.replace(/^\//, ''), file});
        return;
    }
    const reader = (entry as FileSystemDirectoryEntry).createReader();
    for (;;) {
        const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
        if (!some.length) return;
        for (const one of some) await walk(one, into);
    }
}

/** Returns the files of a drop, with those in dropped folders. */
export async function droppedFiles(data: DataTransfer): Promise<OfferedFile[]> {
    const entries = [...data.items].map(item => item.webkitGetAsEntry?.()).filter(e => e !== null && e !== undefined), files: OfferedFile[] = [];
    if (entries.length) for (const entry of entries) await walk(entry, files);
    else for (const file of data.files) files.push({path: file.name, file});
    return files;
}

const isRobot = (f: OfferedFile) => /\.(urdf|xml|sdf|mjcf|json)$/i.test(f.path);

function nameOf(path: string): string {
    const stem = path.split('/').pop()!.replace(/\.[^.]*$/, '').replace(/[^A-Za-z0-9._-]+/g, '_').replace(/^[^A-Za-z0-9]+/, '');
    return stem.slice(0, 64) || 'robot';
}

function ReportLines({lines, label}: {lines: Report; label: string}) {
    return (
        <div class="table-scroll" tabIndex={0} role="region" aria-label={label}>
            <table class="report">
                <thead><tr><th scope="col">Kind</th><th scope="col">Where</th><th scope="col">What</th></tr></thead>
                <tbody>{lines.map((line, i) => (
                    <tr key={i} class={line.severity}><td><span class={`badge ${line.severity}`}>{line.code}</span></td><td><code>{line.where}</code></td><td>{line.text}</td></tr>
                ))}</tbody>
            </table>
        </div>
    );
}

export function ReportTable({report}: {report: Report}) {
    if (!report.length) return <Notice kind="good">Nothing was assumed, dropped or found suspicious.</Notice>;
    const {lines, groups} = arrange(report);
    return (
        <>
            {hasWarnings(report) ? <Notice kind="warning">The model has {countOf(report)}.</Notice> : <p class="muted">No warnings, {countOf(report)}.</p>}
            {lines.length > 0 && <ReportLines lines={lines} label="Load report" />}
            {groups.map(group => <details key={group.title}><summary>{group.title}</summary><ReportLines lines={group.lines} label={group.title} /></details>)}
        </>
    );
}

export function ProblemText({problem}: {problem: Problem}) {
    const {title, detail, pointer, offset, code} = problem.body;
    return (
        <Notice kind="error">
            <strong>{title ?? 'The server refused this.'}</strong>
            <p class="problem-detail">{detail ?? problem.message}</p>
            {(pointer || offset !== undefined) && <p class="muted">{pointer && <>at <code>{pointer}</code> </>}{offset !== undefined && <>byte {offset}</>}</p>}
            {code && <a href={`problems/${code}`} target="_blank" rel="noreferrer">What “{code}” means</a>}
        </Notice>
    );
}

export function UploadDialog() {
    const files = useStore(offered);
    return files ? <Upload key={files[0]?.path} files={files} /> : null;
}

function Upload({files}: {files: OfferedFile[]}) {
    const robots = files.filter(isRobot), list = useStore(models);
    const [chosen, setChosen] = useState(Math.max(0, robots.findIndex(f => /\.urdf$/i.test(f.path))));
    const robot = robots[chosen];
    const [name, setName] = useState(robot ? nameOf(robot.path) : ''), [text, setText] = useState('');
    const [base, setBase] = useState<PutOptions['base']>('fixed'), [mimic, setMimic] = useState<PutOptions['mimic']>('independent');
    const [busy, setBusy] = useState(false), [problem, setProblem] = useState<Problem | null>(null), [reply, setReply] = useState<PutReply | null>(null);
    useEffect(() => {
        if (!robot) return;
        setName(nameOf(robot.path));
        void robot.file.text().then(setText);
    }, [robot]);
    const close = () => offered.set(null);
    if (!robot) {
        return <Dialog title="No robot in these files" onClose={close}><p>A robot comes in URDF, MJCF or SDF (<code>.urdf</code>, <code>.xml</code>, <code>.sdf</code>) or as a model document (<code>.json</code>).
            A folder may hold its meshes too.</p><div class="actions"><Button label="Close" onClick={close} autofocus /></div></Dialog>;
    }
    const format = formatOf(text), urdf = format === 'URDF', taken = !!list?.some(m => m.name === name), valid = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name);
    const meshes = files.filter(f => /\.(stl|obj|dae)$/i.test(f.path));
    const load = async () => {
        setBusy(true);
        setProblem(null);
        try {
            setReply(await putModel(name, text, {replace: taken, format, base, mimic}));
            meshFolders.set(name, meshes);
            await reloadModels();
        } catch (e) {
            setProblem(e instanceof Problem ? e : new Problem(0, {title: 'The model was not sent', detail: (e as Error).message}));
        }
        setBusy(false);
    };
    if (reply) return <Loaded name={name} reply={reply} meshes={meshes.length} onClose={close} />;
    return (
        <Dialog title="Load a robot" onClose={close} wide>
            {robots.length > 1 && <Select label="File" value={String(chosen)} options={robots.map((f, i) => [String(i), f.path])} onChange={v => setChosen(Number(v))} />}
            <p class="muted"><code>{robot.path}</code>, {format}, {(robot.file.size / 1024).toFixed(1)} KiB{meshes.length > 0 && `, with ${meshes.length} mesh ${meshes.length === 1 ? 'file' : 'files'} for the view`}</p>
            <form class="form" onSubmit={e => { e.preventDefault(); void load(); }}>
                <label>Name on the server<input type="text" value={name} aria-invalid={!valid} spellcheck={false} onInput={e => setName(e.currentTarget.value)} /></label>
                {urdf && <Select label="Base" value={base} options={[['fixed', 'fixed to the world'], ['floating', 'moves freely']]} onChange={v => setBase(v as PutOptions['base'])} />}
                {urdf && <Select label="Mimic joints" value={mimic} options={[['independent', 'get a coordinate of their own'], ['coupled', 'follow the other joint'], ['refuse', 'are refused']]} onChange={v => setMimic(v as PutOptions['mimic'])} />}
                {!valid && <Notice kind="warning">A name has 1 to 64 letters, digits, dots, underscores and hyphens, and begins with a letter or digit.</Notice>}
                {taken && <Notice kind="warning">The server has a model <strong>{name}</strong> already. Loading replaces it for all clients.</Notice>}
                {problem && <ProblemText problem={problem} />}
                <div class="actions"><Button label="Cancel" onClick={close} /><Button kind={taken ? 'danger' : 'primary'} icon="upload" label={taken ? 'Replace the model' : 'Load'} disabled={busy || !valid || !text} autofocus /></div>
            </form>
        </Dialog>
    );
}

function Loaded({name, reply, meshes, onClose}: {name: string; reply: PutReply; meshes: number; onClose: () => void}) {
    return (
        <Dialog title={`${name} is loaded`} onClose={onClose} wide>
            <p><Icon name="home" /> {reply.nv} coordinates{reply.nq !== reply.nv && `, ${reply.nq} position entries`}{meshes > 0 && `; ${meshes} mesh ${meshes === 1 ? 'file is' : 'files are'} shown in this browser only`}.</p>
            <ReportTable report={reply.report} />
            <div class="actions"><Button label="Close" onClick={onClose} /><Button kind="primary" label="Show the robot" autofocus onClick={() => {
                onClose();
                location.hash = robotLink(name);
            }} /></div>
        </Dialog>
    );
}
