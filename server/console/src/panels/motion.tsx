// motion.tsx - plays a B-spline trajectory, a simulation or states from a file in the view, with plots of all quantities.
import {useEffect, useMemo, useRef, useState} from 'preact/hooks';
import {askBinary, Problem} from '../api';
import {shownRequest} from '../code';
import {digits} from '../format';
import {csvOf, evaluateStates, readStates, requestOf} from '../motion/files';
import {CURVES, motionOf, PoseStream, violationsOf, type Curve, type Motion} from '../motion/motion';
import {hueOf, makePlots, pngOf, svgOf, type PlotSet} from '../motion/plots';
import {firstSpline, SplineEditor, type Spline} from '../motion/spline';
import {ProblemText} from '../pages/upload';
import {NOTHING, scenery} from '../scenery';
import {dark} from '../settings';
import {useStore} from '../store';
import {Button, Dialog, download, Notice, Segments, Select} from '../ui';
import {loadFields, type Workspace} from '../workspace';
import {PathForm} from './path';
import {problemOf, SimulationForm, type Report} from './simulation';

type Kind = 'spline' | 'path' | 'simulation' | 'file' | 'recording';

export function MotionPanel({workspace: w}: {workspace: Workspace}) {
    const [kind, setKind] = useState<Kind>(w.recorded.value ? 'recording' : w.model.nq === w.model.nv ? 'spline' : 'simulation'), [motion, setMotion] = useState<Motion | null>(null);
    const [spline, setSpline] = useState<Spline>(() => firstSpline(w)), [problem, setProblem] = useState<Problem | null>(null);
    const recorded = useStore(w.recorded);
    useEffect(() => { if (recorded) setKind('recording'); }, [recorded]);
    useEffect(() => () => scenery.set(NOTHING), []);
    const show = (m: Motion | null, p: Problem | null) => {
        if (m) setMotion(m);
        setProblem(p);
    };
    return (
        <div class="panel-body">
            <div class="panel-tools"><Segments label="Kind of motion" value={kind} onChange={k => { setKind(k); setMotion(null); setProblem(null); scenery.set(NOTHING); }}
                options={[['spline', 'B-spline'], ['path', 'Fastest'], ['simulation', 'Simulation'], ['file', 'File'], ['recording', 'Recording']]} /></div>
            {kind === 'spline' && <SplineForm workspace={w} spline={spline} onSpline={setSpline} motion={motion} onMotion={show} />}
            {kind === 'path' && <PathForm workspace={w} spline={spline} onSpline={setSpline} motion={motion} onMotion={show} />}
            {kind === 'simulation' && <SimulationForm workspace={w} spline={spline} onSpline={setSpline} motion={motion} onMotion={show} />}
            {kind === 'file' && <FileForm workspace={w} onMotion={show} />}
            {kind === 'recording' && <RecordingForm workspace={w} onMotion={show} />}
            {problem && <ProblemText problem={problem} />}
            {motion && <Playback workspace={w} motion={motion} />}
        </div>
    );
}

export interface FormProps {
    workspace: Workspace;
    spline: Spline;
    onSpline: (spline: Spline) => void;
    motion: Motion | null;
    onMotion: Report;
}

function SplineForm({workspace: w, spline, onSpline, motion, onMotion}: FormProps) {
    const able = w.model.nq === w.model.nv;
    const state = useStore(w.state), newest = useRef<Record<string, unknown> | null>(null), busy = useRef(false);
    useEffect(() => {
        if (!able) return;
        const body = {degree: spline.degree, duration: spline.duration, control_points: spline.points, samples: 201, ...loadFields(w.model, state)};
        shownRequest.set({model: w.model.name, operation: 'trajectory', body});
        newest.current = body;
        // One request is in flight at a time, then the newest is sent.
        const send = async () => {
            if (busy.current) return;
            busy.current = true;
            while (newest.current) {
                const asked = newest.current;
                newest.current = null;
                await askBinary<Record<string, unknown>>(w.model.name, 'trajectory', {...asked, outputs: ['times', 'q', 'qd', 'qdd', 'tau', 'tau_dot', 'least_margins']})
                    .then(answer => onMotion(motionOf('trajectory', answer), null), e => onMotion(null, problemOf(e)));
            }
            busy.current = false;
        };
        void send();
    }, [spline, state.gravity, state.payload, state.wrenches, state.friction]);
    if (!able) return <Notice kind="info">A B-spline needs as many positions as velocities. This robot has quaternions among its coordinates; simulate it, or play states from a file.</Notice>;
    return <SplineEditor workspace={w} spline={spline} motion={motion} onChange={onSpline} />;
}

function FileForm({workspace: w, onMotion}: {workspace: Workspace; onMotion: Report}) {
    const [part, setPart] = useState<number | null>(null);
    const take = async (file: File | undefined) => {
        if (!file) return;
        setPart(0);
        await readStates(w, file).then(states => evaluateStates(w, file.name, states, setPart)).then(m => { shownRequest.set({model: w.model.name, operation: 'inverse-dynamics', body: requestOf(w, m)}); onMotion(m, null); }, e => onMotion(null, problemOf(e)));
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

/** The recorded states with their torques. */
function RecordingForm({workspace: w, onMotion}: {workspace: Workspace; onMotion: Report}) {
    const recorded = useStore(w.recorded);
    useEffect(() => {
        if (recorded) void evaluateStates(w, 'recording', recorded, () => {}).then(m => { shownRequest.set({model: w.model.name, operation: 'inverse-dynamics', body: requestOf(w, m)}); onMotion(m, null); }, e => onMotion(null, problemOf(e)));
    }, [recorded]);
    return <p class="muted">{recorded ? `${recorded.q.length} states in ${digits(recorded.times[recorded.times.length - 1], 3)} s.` : 'Press the record button of the view, then drag a frame or move joints, and stop.'}</p>;
}

/** One plot in a dialogue. */
function LargePlot({workspace, motion, shown, curve, onTime, onClose}: {workspace: Workspace; motion: Motion; shown: Set<number>; curve: Curve; onTime: (time: number) => void; onClose: () => void}) {
    const host = useRef<HTMLDivElement>(null);
    useEffect(() => {
        if (!host.current) return undefined;
        const set = makePlots({workspace, motion, shown, host: host.current, onTime, only: curve, height: Math.max(240, Math.min(560, innerHeight - 260))});
        return () => set.destroy();
    }, [motion, shown]);
    return <Dialog title={CURVES.find(c => c[0] === curve)![1]} onClose={onClose} wide><div class="plots" ref={host} /></Dialog>;
}

const SPEEDS = ['0.1', '0.25', '0.5', '1', '2'];

function Playback({workspace: w, motion}: {workspace: Workspace; motion: Motion}) {
    const [time, setTime] = useState(motion.times[0]), [playing, setPlaying] = useState(false), [speed, setSpeed] = useState('1');
    const [shown, setShown] = useState<Set<number>>(() => new Set(w.rows.slice(0, 12).map(r => r.index))), isDark = useStore(dark);
    const host = useRef<HTMLDivElement>(null), plots = useRef<PlotSet | null>(null), stream = useRef<PoseStream | null>(null), now = useRef(time);
    const [large, setLarge] = useState<Curve | null>(null);
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
        plots.current = makePlots({workspace: w, motion, shown, host: host.current, onTime: place, onEnlarge: setLarge});
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
                <ul>{violations.map((v, i) => <li key={i}><strong>{v.name}</strong>: {v.quantity} beyond {v.limit === undefined ? 'its limit' : `${digits(v.limit)} ${v.unit}`} by {digits(v.excess, 4)} {v.limit === undefined && v.unit} at <button type="button" class="link" onClick={() => place(v.time)}>{digits(v.time, 4)} s</button></li>)}</ul></details> :
                <p class="muted">No limit of the model is exceeded.</p>}
            <div class="chips" role="group" aria-label="Coordinates in the plots">
                {w.rows.map(r => <button key={r.index} type="button" aria-pressed={shown.has(r.index)} onClick={() => toggle(r.index)} onDblClick={() => setShown(new Set([r.index]))}><i style={{background: hueOf(r.index)}} />{r.name}</button>)}
            </div>
            <div class="row"><Button kind="quiet" label="All" onClick={() => setShown(new Set(w.rows.map(r => r.index)))} /><Button kind="quiet" label="First only" onClick={() => setShown(new Set([0]))} /><span class="muted">With one coordinate its limits are shaded. A double click shows one alone.</span></div>
            <div class="plots" ref={host} />
            {large && <LargePlot workspace={w} motion={motion} shown={shown} curve={large} onTime={place} onClose={() => setLarge(null)} />}
            <div class="actions start"><Button icon="download" label="CSV" onClick={() => download(`${name}.csv`, csvOf(w, motion), 'text/csv')} />
                <Button icon="download" label="SVG" onClick={() => download(`${name}.svg`, svgOf(w, motion, shown), 'image/svg+xml')} />
                <Button icon="download" label="PNG" onClick={() => void (plots.current && pngOf(plots.current).then(b => b && download(`${name}.png`, b)))} /></div>
        </section>
    );
}
