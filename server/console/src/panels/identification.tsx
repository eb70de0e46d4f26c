// identification.tsx - estimates parameters of the robot, a payload or friction from measured motion and torques.
import {useEffect, useMemo, useState} from 'preact/hooks';
import {ask, Problem} from '../api';
import {shownRequest} from '../code';
import {digits} from '../format';
import {isTree} from '../geometry';
import {exampleOf, modelTorques, readMeasured, rootMeanSquares, type Measured} from '../motion/measured';
import {ProblemText} from '../pages/upload';
import type {IdentifyAnswer} from '../types';
import {Button, Check, Notice, Segments, Select} from '../ui';
import type {Workspace} from '../workspace';
import {Fit, Found, FoundPayload, Unobservable} from './identified';
import {PutForm} from './putform';

type Sought = 'bodies' | 'payload' | 'friction';

interface Settings {
    sought: Sought;
    frame: string;
    friction: boolean;
    rotors: boolean;
    outliers: boolean;
}

/** An answer, with what the model without it says of the same rows. */
export interface Identified {
    answer: IdentifyAnswer;
    before: Map<string, number>; // the model's base parameters, by the parameter that leads the group
    measured: number[]; // root mean squares of each coordinate: of the torques,
    off: number[]; // and of their distance to the model's
}

const HUBER = 1.345; // loses 5 % of the precision where the noise is normal

/** The fields of the request beside the rows. */
function fieldsOf(w: Workspace, s: Settings): Record<string, unknown> {
    const robust = s.outliers && {huber: HUBER}, usual = ['base_parameters', 'residual', 'noise', 'condition', 'unobservable', 'fit'];
    if (s.sought === 'payload') return {unknown: ['payload'], frame: s.frame, ...robust, outputs: [...usual, 'payload', 'observability']};
    const model = isTree(w.document) ? ['model'] : [];
    if (s.sought === 'friction') return {unknown: ['friction', ...(s.rotors ? ['rotors'] : [])], ...robust, outputs: [...usual, ...model]};
    return {...(s.friction && {friction: true}), ...(s.rotors && {rotor: true}), ...robust, outputs: [...usual, ...model]};
}

async function identify(w: Workspace, m: Measured, body: Record<string, unknown>): Promise<Identified> {
    const rows = {q: m.q, qd: m.qd, qdd: m.qdd}, answer = await ask<IdentifyAnswer>(w.model.name, 'identify', {...rows, tau: m.tau, ...body});
    const tau = await modelTorques(w, m), {huber: _, ...plain} = body;
    const exact = await ask<IdentifyAnswer>(w.model.name, 'identify', {...rows, tau, ...plain, outputs: ['base_parameters']});
    return {answer, before: new Map((exact.base_parameters ?? []).map(b => [b.grouping.parameter, b.value])), measured: rootMeanSquares(m.tau),
        off: rootMeanSquares(m.tau.map((row, i) => row.map((x, j) => x - tau[i][j])))};
}

const SOUGHT = [['bodies', 'The robot'], ['payload', 'A payload'], ['friction', 'Friction']] as const;

function SettingsFields({workspace: w, settings: s, change}: {workspace: Workspace; settings: Settings; change: (some: Partial<Settings>) => void}) {
    return (
        <>
            <div class="panel-tools"><Segments label="What is unknown" value={s.sought} options={SOUGHT} onChange={sought => change({sought})} /></div>
            <div class="row">{s.sought === 'payload' && <Select label="Frame that carries it" value={s.frame} options={w.geometry.frames} onChange={frame => change({frame})} />}
                {s.sought === 'bodies' && <Check label="Friction, too" value={s.friction} onChange={friction => change({friction})} />}
                {s.sought !== 'payload' && <Check label="Rotor inertias, too" value={s.rotors} onChange={rotors => change({rotors})} />}
                <Check label="Outliers count less" value={s.outliers} onChange={outliers => change({outliers})} /></div>
        </>
    );
}

function Results({workspace: w, found}: {workspace: Workspace; found: Identified}) {
    const {answer} = found;
    return (
        <>
            <Fit workspace={w} found={found} />
            {answer.payload && <FoundPayload workspace={w} payload={answer.payload} />}
            <Found found={found} />
            <Unobservable names={answer.unobservable ?? []} />
            {answer.model && <section class="group" aria-label="New model"><h2>Put as a new model</h2>
                <p class="muted">The model with the identified figures. Where the rows show only combinations, the bodies are the possible ones nearest to the model's own.</p>
                <PutForm workspace={w} document={answer.model as never} ending="_identified" /></section>}
        </>
    );
}

export function IdentificationPanel({workspace: w}: {workspace: Workspace}) {
    const frames = w.geometry.frames, [settings, setSettings] = useState<Settings>({sought: 'bodies', frame: frames[frames.length - 1], friction: false, rotors: false, outliers: false});
    const [measured, setMeasured] = useState<Measured | null>(null), [found, setFound] = useState<Identified | null>(null), [problem, setProblem] = useState<Problem | null>(null), [busy, setBusy] = useState('');
    const body = useMemo(() => fieldsOf(w, settings), [settings]);
    useEffect(() => {
        if (measured) shownRequest.set({model: w.model.name, operation: 'identify', body: {q: measured.q, qd: measured.qd, qdd: measured.qdd, tau: measured.tau, ...body}});
    }, [measured, body]);
    const run = async <T,>(what: string, work: () => Promise<T>, take: (result: T) => void) => {
        setBusy(what);
        setProblem(null);
        setFound(null);
        try {
            take(await work());
        } catch (e) {
            setProblem(e instanceof Problem ? e : new Problem(0, {title: 'Nothing was identified', detail: (e as Error).message}));
        }
        setBusy('');
    };
    const take = (file: File | undefined) => file && void run(`Reading ${file.name} …`, () => readMeasured(w, file), setMeasured);
    return (
        <div class="panel-body">
            <p class="muted">Which masses, inertias or friction explain measured torques? A file has the columns <code>time, q …, qd …, qdd …, tau …</code> (CSV with names in the first line, or JSON with rows in <code>q</code>, <code>qd</code>, <code>qdd</code>, <code>tau</code>), in s, rad, m, N m and N.</p>
            <div class="row"><label class="button primary"><span>Choose a file</span><input class="hidden-label" type="file" accept=".csv,.txt,.json" onChange={e => { take(e.currentTarget.files?.[0]); e.currentTarget.value = ''; }} /></label>
                {w.model.nq === w.model.nv && <Button label="Try an example with noise" onClick={() => void run('Computing an example …', () => exampleOf(w), setMeasured)} />}</div>
            {measured && <form class="form tight" onSubmit={e => { e.preventDefault(); void run('Identifying …', () => identify(w, measured, body), setFound); }}>
                <p><strong>{measured.title}</strong>: {measured.q.length} rows, the largest torque {digits(Math.max(...measured.tau.map(row => Math.max(...row.map(Math.abs)))), 4)}</p>
                {measured.notes.map(n => <Notice key={n} kind="info">{n}</Notice>)}
                <SettingsFields workspace={w} settings={settings} change={some => { setSettings(old => ({...old, ...some})); setFound(null); }} />
                <div class="actions start"><Button kind="primary" label="Identify" disabled={!!busy} /></div>
            </form>}
            {busy && <p role="status">{busy}</p>}
            {problem && <ProblemText problem={problem} />}
            {found && <Results workspace={w} found={found} />}
        </div>
    );
}
