// path.tsx - asks for the fastest motion along the path of a B-spline within limits, and shows which limit binds when.
import {useEffect, useMemo, useState} from 'preact/hooks';
import {ask} from '../api';
import {shownRequest} from '../code';
import {digits} from '../format';
import {motionOf} from '../motion/motion';
import {hueOf} from '../motion/plots';
import {pathOf, SplineEditor, type Spline} from '../motion/spline';
import {useStore} from '../store';
import type {PathTimingAnswer} from '../types';
import {Button, Check, Notice, NumberField} from '../ui';
import {loadFields, type RobotState, type Workspace} from '../workspace';
import type {FormProps} from './motion';
import {problemOf} from './simulation';

type Kind = 'velocity' | 'effort' | 'acceleration' | 'jerk' | 'effort_rate';

interface Limit {
    kind: Kind;
    label: string;
    unit: string;
    first: number; // where the model has no limit
}

const LIMITS: Limit[] = [{kind: 'velocity', label: 'Velocity', unit: 'rad/s, m/s', first: 2}, {kind: 'effort', label: 'Effort', unit: 'N m, N', first: 100},
    {kind: 'acceleration', label: 'Acceleration', unit: 'rad/s², m/s²', first: 10}, {kind: 'jerk', label: 'Jerk', unit: 'rad/s³, m/s³', first: 200},
    {kind: 'effort_rate', label: 'Effort rate', unit: 'N m/s, N/s', first: 1000}];

interface Choice {
    on: boolean;
    value: number | null; // null: the model's own
}

/** True if each joint that moves has a limit of a kind in the model. */
const modelHas = (w: Workspace, kind: Kind): boolean => w.rows.every(r => r.limits[kind] !== undefined);

const firstChoices = (w: Workspace): Record<Kind, Choice> => Object.fromEntries(LIMITS.map(({kind, first}) =>
    [kind, {on: kind === 'velocity' || kind === 'effort' || kind === 'acceleration', value: modelHas(w, kind) ? null : first}])) as Record<Kind, Choice>;

function requestOf(w: Workspace, state: RobotState, spline: Spline, choices: Record<Kind, Choice>): Record<string, unknown> {
    const on = LIMITS.filter(l => choices[l.kind].on).map(l => l.kind), own = on.filter(k => choices[k].value !== null), third = on.includes('jerk') || on.includes('effort_rate');
    const outputs = ['times', 'q', 'qd', 'qdd', 'tau', 'active', 'limits', 'duration'];
    return {
        degree: spline.degree, control_points: spline.points, samples: 201, kinds: ['position', ...on, ...(on.includes('effort') ? ['effort_speed'] : [])],
        ...(own.length && {joint_limits: Object.fromEntries(own.map(k => [k, choices[k].value]))}), ...loadFields(w.model, state),
        outputs: third ? [...outputs, 'tau_dot', 'second_order_duration'] : outputs,
    };
}

/** The limits that bind, as a strip over time and as a list with the share of the time. */
function Binding({workspace: w, answer}: {workspace: Workspace; answer: PathTimingAnswer}) {
    const times = answer.times as number[], active = answer.active as number[], limits = answer.limits ?? [], end = times[times.length - 1];
    const runs: {limit: number; from: number; to: number}[] = [];
    for (let i = 0; i + 1 < times.length; i++) {
        const last = runs[runs.length - 1];
        if (last?.limit === active[i]) last.to = times[i + 1];
        else runs.push({limit: active[i], from: times[i], to: times[i + 1]});
    }
    const shares = new Map<number, number>();
    for (const {limit, from, to} of runs) shares.set(limit, (shares.get(limit) ?? 0) + to - from);
    const nameOf = (k: number) => k < 0 ? 'no limit' : `${limits[k].kind.replaceAll('_', ' ')} of ${limits[k].joint ?? limits[k].frame}`;
    const hue = (k: number) => k < 0 ? 'transparent' : hueOf(Math.max(0, w.rows.findIndex(r => r.name === limits[k].joint)));
    const words = [...shares].sort((a, b) => b[1] - a[1]);
    return (
        <section class="binding" aria-label="Limits that bind">
            <svg viewBox="0 0 1000 18" preserveAspectRatio="none" role="img" aria-label={`Over time: ${runs.map(r => `${nameOf(r.limit)} until ${digits(r.to, 3)} s`).join(', ')}`}>
                {runs.map(r => <rect key={r.from} x={1000 * r.from / end} y={0} width={1000 * (r.to - r.from) / end} height={18} fill={hue(r.limit)} />)}
            </svg>
            <ul class="chips">{words.map(([k, share]) => <li key={k}><i style={{background: hue(k)}} />{nameOf(k)} <span class="muted">{Math.round(100 * share / end)} %</span></li>)}</ul>
        </section>
    );
}

function LimitFields({workspace: w, choices, change}: {workspace: Workspace; choices: Record<Kind, Choice>; change: (kind: Kind, some: Partial<Choice>) => void}) {
    return (
        <div class="limit-fields">{LIMITS.map(({kind, label, unit, first}) => {
            const {on, value} = choices[kind], own = modelHas(w, kind);
            return (
                <div key={kind} class="row"><Check label={label} value={on} onChange={is => change(kind, {on: is})} />
                    {on && own && <Check label="the model's" value={value === null} onChange={is => change(kind, {value: is ? null : first})} />}
                    {on && value !== null && <NumberField label={`${label} limit of all joints`} unit={unit} min={1e-6} value={value} onChange={x => change(kind, {value: x})} />}</div>
            );
        })}</div>
    );
}

export function PathForm({workspace: w, spline, motion, onMotion}: FormProps) {
    const state = useStore(w.state), [path, setPath] = useState(() => pathOf(spline)), [choices, setChoices] = useState(() => firstChoices(w)), [busy, setBusy] = useState(false), [answer, setAnswer] = useState<PathTimingAnswer | null>(null);
    const body = useMemo(() => requestOf(w, state, path, choices), [state, path, choices]);
    useEffect(() => {
        shownRequest.set({model: w.model.name, operation: 'path-timing', body});
        setAnswer(null);
    }, [body]);
    if (w.model.nq !== w.model.nv) return <Notice kind="info">The path is edited as a B-spline of positions, and this robot has quaternions among them.</Notice>;
    const run = async () => {
        setBusy(true);
        await ask<PathTimingAnswer>(w.model.name, 'path-timing', body).then(a => {
            setAnswer(a);
            onMotion(motionOf('fastest', a as Record<string, unknown>), null);
        }, e => onMotion(null, problemOf(e)));
        setBusy(false);
    };
    const {duration, second_order_duration: bound} = answer ?? {};
    return (
        <form class="form tight" onSubmit={e => { e.preventDefault(); void run(); }}>
            <p class="muted">The shortest time in which the robot moves along the path of the control points, from rest to rest, within these limits.</p>
            <SplineEditor workspace={w} spline={path} motion={motion} onChange={setPath} timed={false} />
            <LimitFields workspace={w} choices={choices} change={(kind, some) => setChoices(old => ({...old, [kind]: {...old[kind], ...some}}))} />
            <div class="actions start"><Button kind="primary" icon="play" label={busy ? 'Timing …' : 'Find the fastest motion'} disabled={busy} /></div>
            {answer && <p role="status"><strong>{digits(duration as number, 5)} s</strong>{typeof bound === 'number' && `, ${digits(bound, 5)} s without limits of jerk and effort rate`}</p>}
            {answer && <Binding workspace={w} answer={answer} />}
        </form>
    );
}
