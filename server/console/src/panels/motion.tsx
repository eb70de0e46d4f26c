// motion.tsx - motions: a B-spline trajectory, a simulation, or states from a file; played in the view, with plots of all quantities.
import {useEffect, useMemo, useRef, useState} from 'preact/hooks';
import {askBinary, Problem} from '../api';
import {shownRequest} from '../code';
import {unitOf} from '../coordinates';
import {digits, tidy} from '../format';
import {csvOf, readMotion} from '../motion/files';
import {CURVES, numbersOf, PoseStream, violationsOf, type Motion} from '../motion/motion';
import {hueOf, makePlots, pngOf, svgOf, type PlotSet} from '../motion/plots';
import {firstSpline, SplineEditor, type Spline} from '../motion/spline';
import {ProblemText} from '../pages/upload';
import {NOTHING, scenery} from '../scenery';
import {dark} from '../settings';
import {useStore} from '../store';
import {Button, Check, download, Notice, NumberField, Segments, Select} from '../ui';
import {loadFields, type Workspace} from '../workspace';

type Kind = 'spline' | 'simulation' | 'file';

const problemOf = (e: unknown): Problem => e instanceof Problem ? e : new Problem(0, {title: 'There is no motion', detail: (e as Error).message});

/** The parts of an answer that are curves. */
function motionOf(title: string, answer: Record<string, unknown>, notes: string[] = []): Motion {
    const curves: Motion['curves'] = {};
    for (const [key] of CURVES) {
        const values = numbersOf(answer[key]);
        if (values) curves[key] = values;
    }
    const kinetic = numbersOf(answer.kinetic), potential = numbersOf(answer.potential);
    return {title, times: numbersOf(answer.times)!, curves, notes, ...(kinetic && potential && {energies: {kinetic, potential}})};
}

export function MotionPanel({workspace: w}: {workspace: Workspace}) {
    const [kind, setKind] = useState<Kind>(w.model.nq === w.model.nv ? 'spline' : 'simulation'), [motion, setMotion] = useState<Motion | null>(null);
    const [problem, setProblem] = useState<Problem | null>(null);
    useEffect(() => () => scenery.set(NOTHING), []);
    const show = (m: Motion | null, p: Problem | null) => {
        if (m) setMotion(m);
        setProblem(p);
    };
    return (
        <div class="panel-body">
            <div class="panel-tools"><Segments label="Kind of motion" value={kind} onChange={k => { setKind(k); setMotion(null); setProblem(null); scenery.set(NOTHING); }}
                options={[['spline', 'B-spline'], ['simulation', 'Simulation'], ['file', 'File']]} /></div>
            {kind === 'spline' && <SplineForm workspace={w} motion={motion} onMotion={show} />}
            {kind === 'simulation' && <SimulationForm workspace={w} onMotion={show} />}
            {kind === 'file' && <FileForm workspace={w} onMotion={show} />}
            {problem && <ProblemText problem={problem} />}
            {motion && <Playback workspace={w} motion={motion} />}
        </div>
    );
}

type Report = (motion: Motion | null, problem: Problem | null) => void;

function SplineForm({workspace: w, motion, onMotion}: {workspace: Workspace; motion: Motion | null; onMotion: Report}) {
    const able = w.model.nq === w.model.nv, [spline, setSpline] = useState<Spline>(() => able ? firstSpline(w) : {degree: 1, duration: 1, points: []});
    const state = useStore(w.state), newest = useRef<Record<string, unknown> | null>(null), busy = useRef(false);
    useEffect(() => {
        if (!able) return;
        const body = {degree: spline.degree, duration: spline.duration, control_points: spline.points, samples: 201, ...loadFields(w.model, state)};
        shownRequest.set({model: w.model.name, operation: 'trajectory', body});
        newest.current = body;
        // As for states: one request in flight, then the newest.
        const send = async () => {
            if (busy.current) return;
            busy.current = true;
            while (newest.current) {
                const asked = newest.current;
                newest.current = null;
                await askBinary<Record<string, unknown>>(w.model.name, 'trajectory', {...asked, outputs: ['times', 'q', 'qd', 'qdd', 'tau', 'tau_dot']})
                    .then(answer => onMotion(motionOf('trajectory', answer), null), e => onMotion(null, problemOf(e)));
            }
            busy.current = false;
        };
        void send();
    }, [spline, state.gravity, state.payload, state.wrenches, state.friction]);
    if (!able) return <Notice kind="info">A B-spline needs as many positions as velocities. This robot has quaternions among its coordinates; simulate it, or play states from a file.</Notice>;
    return <SplineEditor workspace={w} spline={spline} motion={motion} onChange={setSpline} />;
}

const CONTROLLERS: [string, string][] = [['none', 'no torques'], ['pd_gravity', 'PD with gravity'], ['computed_torque', 'computed torque']];

function SimulationForm({workspace: w, onMotion}: {workspace: Workspace; onMotion: Report}) {
    const state = useStore(w.state), plain = w.model.nq === w.model.nv;
    const [duration, setDuration] = useState(2), [tolerance, setTolerance] = useState(1e-6), [stiff, setStiff] = useState(false), [busy, setBusy] = useState(false);
    const [controller, setController] = useState('none'), [kp, setKp] = useState(100), [kd, setKd] = useState(20), [goal, setGoal] = useState('hold');
    const body = useMemo(() => {
        const reference = goal === 'zero' ? new Array<number>(w.model.nv).fill(0) :
            goal === 'swing' ? {amplitude: new Array<number>(w.model.nv).fill(0.3), angular_frequency: new Array<number>(w.model.nv).fill(3), offset: w.rows.map(r => r.position.turn === undefined ? tidy(state.q[r.position.at]) : 0)} :
            w.rows.map(r => r.position.turn === undefined ? tidy(state.q[r.position.at]) : 0);
        return {
            q: state.q.map(tidy), ...(state.qd.some(Boolean) && {qd: state.qd.map(tidy)}), duration, tolerance, ...(stiff && {stiff}), samples: Math.min(1001, Math.max(21, Math.round(duration * 100) + 1)),
            ...loadFields(w.model, state), ...(controller !== 'none' && {input: {controller, kp, kd, reference}}), outputs: ['times', 'q', 'qd', 'qdd', 'tau', 'kinetic', 'potential'],
        };
    }, [state, duration, tolerance, stiff, controller, kp, kd, goal]);
    useEffect(() => shownRequest.set({model: w.model.name, operation: 'simulate', body}), [body]);
    const run = async () => {
        setBusy(true);
        await askBinary<Record<string, unknown>>(w.model.name, 'simulate', body).then(a => onMotion(motionOf('simulation', a), null), e => onMotion(null, problemOf(e)));
        setBusy(false);
    };
    return (
        <form class="form tight" onSubmit={e => { e.preventDefault(); void run(); }}>
            <p class="muted">Starts at the positions and velocities of the State panel.</p>
            <div class="row"><label class="field">Duration <NumberField label="Duration" unit="s" min={0.01} value={duration} onChange={setDuration} /></label>
                <Select label="Tolerance" value={String(tolerance)} options={['1e-4', '1e-6', '1e-8', '1e-10'].map(t => [String(Number(t)), t] as [string, string])} onChange={t => setTolerance(Number(t))} />
                <Check label="Stiff" value={stiff} onChange={setStiff} /></div>
            <div class="row"><Select label="Controller" value={controller} options={CONTROLLERS} onChange={setController} />
                {controller !== 'none' && <Select label="Goal" value={goal} options={[['hold', 'hold the start'], ['zero', 'move to zero'], ...(plain ? [['swing', 'swing ± 0.3 about the start'] as [string, string]] : [])]} onChange={setGoal} />}</div>
            {controller !== 'none' && <div class="row"><label class="field">Stiffness <NumberField label="Gain kp" unit={controller === 'computed_torque' ? '1/s²' : 'N m/rad, N/m'} min={0} step={10} value={kp} onChange={setKp} /></label>
                <label class="field">Damping <NumberField label="Gain kd" unit={controller === 'computed_torque' ? '1/s' : 'N m s/rad, N s/m'} min={0} step={1} value={kd} onChange={setKd} /></label></div>}
            <div class="actions start"><Button kind="primary" icon="play" label={busy ? 'Simulating …' : 'Simulate'} disabled={busy} onClick={() => void run()} /></div>
        </form>
    );
}

function FileForm({workspace: w, onMotion}: {workspace: Workspace; onMotion: Report}) {
    const [part, setPart] = useState<number | null>(null);
    const take = async (file: File | undefined) => {
        if (!file) return;
        setPart(0);
        await readMotion(w, file, setPart).then(m => onMotion(m, null), e => onMotion(null, problemOf(e)));
        setPart(null);
    };
    return (
        <div>
            <p class="muted">CSV with the columns <code>time, q …, qd …, qdd …</code> (all but q may be missing; names in the first line as in an export from here), or JSON with rows in <code>times</code>, <code>q</code>, <code>qd</code>, <code>qdd</code>. Units are s, rad and m.</p>
            <label class="button"><span>Choose a file</span><input class="hidden-label" type="file" accept=".csv,.txt,.json" onChange={e => { void take(e.currentTarget.files?.[0]); e.currentTarget.value = ''; }} /></label>
            {part !== null && <p role="status">Computing torques: {Math.round(part * 100)} %</p>}
        </div>
    );
}

const SPEEDS = ['0.1', '0.25', '0.5', '1', '2'];

function Playback({workspace: w, motion}: {workspace: Workspace; motion: Motion}) {
    const [time, setTime] = useState(motion.times[0]), [playing, setPlaying] = useState(false), [speed, setSpeed] = useState('1');
    const [shown, setShown] = useState<Set<number>>(() => new Set(w.rows.slice(0, 12).map(r => r.index))), isDark = useStore(dark);
    const host = useRef<HTMLDivElement>(null), plots = useRef<PlotSet | null>(null), stream = useRef<PoseStream | null>(null), now = useRef(time);
    const end = motion.times[motion.times.length - 1], start = motion.times[0], violations = useMemo(() => violationsOf(w, motion), [motion]);
    const place = (t: number) => {
        now.current = Math.max(start, Math.min(end, t));
        const poses = stream.current?.at(now.current);
        if (poses) scenery.set({...NOTHING, poses, follow: w.geometry.floating});
        plots.current?.setTime(now.current);
        setTime(now.current);
    };
    useEffect(() => {
        const made = new PoseStream(w, motion);
        stream.current = made;
        made.onBlock = () => place(now.current);
        place(Math.min(now.current, end));
        return () => made.close();
    }, [motion]);
    useEffect(() => {
        if (!host.current) return undefined;
        plots.current = makePlots({workspace: w, motion, shown, host: host.current, onTime: place});
        plots.current.setTime(now.current);
        return () => plots.current?.destroy();
    }, [motion, shown, isDark]);
    useEffect(() => {
        if (!playing) return undefined;
        let frame = 0, last = performance.now();
        if (now.current >= end) place(start);
        const step = (at: number) => {
            place(now.current + (at - last) / 1000 * Number(speed));
            last = at;
            if (now.current >= end) setPlaying(false);
            else frame = requestAnimationFrame(step);
        };
        frame = requestAnimationFrame(step);
        return () => cancelAnimationFrame(frame);
    }, [playing, speed, motion]);
    const toggle = (index: number) => {
        const next = new Set(shown);
        if (!next.delete(index)) next.add(index);
        if (next.size) setShown(next);
    };
    const name = `${w.model.name}-${motion.title.replace(/\.[^.]*$/, '')}`;
    return (
        <section class="group playback" aria-label="Playback">
            {motion.notes.map(n => <Notice key={n} kind="info">{n}</Notice>)}
            <div class="player"><Button bare kind="primary" icon={playing ? 'pause' : 'play'} label={playing ? 'Pause' : 'Play'} onClick={() => setPlaying(!playing)} />
                <input type="range" min={start} max={end} step="any" value={time} aria-label="Time, s" aria-valuetext={`${digits(time, 4)} s of ${digits(end, 4)} s`} onInput={e => { setPlaying(false); place(Number(e.currentTarget.value)); }}
                    onKeyDown={e => {
                        const way = {ArrowLeft: -1, ArrowRight: 1}[e.key];
                        if (way) { e.preventDefault(); place(now.current + way * (end - start) / 100); }
                    }} />
                <output>{time.toFixed(3)} s of {digits(end, 4)} s</output><Select hidden label="Speed" value={speed} options={SPEEDS.map(s => [s, `× ${s}`])} onChange={setSpeed} /></div>
            {violations.length > 0 ? <details class="violations" open={violations.length <= 4}><summary>{violations.length} {violations.length === 1 ? 'limit is' : 'limits are'} exceeded</summary>
                <ul>{violations.map((v, i) => <li key={i}><strong>{v.row.name}</strong>: {CURVES.find(c => c[0] === v.curve)![1]} beyond {digits(v.limit)} {unitOf(v.row, v.curve)} by {digits(v.excess, 4)} at <button type="button" class="link" onClick={() => place(v.time)}>{digits(v.time, 4)} s</button></li>)}</ul></details> :
                <p class="muted">No limit of the model is exceeded.</p>}
            <div class="chips" role="group" aria-label="Coordinates in the plots">
                {w.rows.map(r => <button key={r.index} type="button" aria-pressed={shown.has(r.index)} onClick={() => toggle(r.index)} onDblClick={() => setShown(new Set([r.index]))}><i style={{background: hueOf(r.index)}} />{r.name}</button>)}
            </div>
            <div class="row"><Button kind="quiet" label="All" onClick={() => setShown(new Set(w.rows.map(r => r.index)))} /><Button kind="quiet" label="First only" onClick={() => setShown(new Set([0]))} /><span class="muted">With one coordinate its limits are shaded. A double click shows one alone.</span></div>
            <div class="plots" ref={host} />
            <div class="actions start"><Button icon="download" label="CSV" onClick={() => download(`${name}.csv`, csvOf(w, motion), 'text/csv')} />
                <Button icon="download" label="SVG" onClick={() => download(`${name}.svg`, svgOf(w, motion, shown), 'image/svg+xml')} />
                <Button icon="download" label="PNG" onClick={() => void (plots.current && pngOf(plots.current).then(b => b && download(`${name}.png`, b)))} /></div>
        </section>
    );
}
