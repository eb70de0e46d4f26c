// simulation.tsx - asks for a simulation: integrator, controller, and the reference that the controller follows.
import {useEffect, useMemo, useState} from 'preact/hooks';
import {askBinary, Problem} from '../api';
import {shownRequest} from '../code';
import {positionOf} from '../coordinates';
import {tidy} from '../format';
import {motionOf, withEffortRate, type Motion} from '../motion/motion';
import {SplineEditor, type Spline} from '../motion/spline';
import {useStore} from '../store';
import type {SimulateRequest} from '../types';
import {Button, NumberField, Select} from '../ui';
import {loadFields, type RobotState, type Workspace} from '../workspace';
import type {FormProps} from './motion';

export type Report = (motion: Motion | null, problem: Problem | null) => void;
export const problemOf = (e: unknown): Problem => e instanceof Problem ? e : new Problem(0, {title: 'There is no motion', detail: (e as Error).message});

type Integrator = NonNullable<SimulateRequest['integrator']>;
type Input = Extract<NonNullable<SimulateRequest['input']>, {controller: string}>;
/** Controllers of the contract that the page offers. A controller of the contract that is missing in CONTROLLERS fails to compile. */
type Controller = 'none' | Exclude<Input['controller'], 'state_feedback'>; // left out: a matrix of gains needs a form of its own
type Goal = 'hold' | 'zero' | 'swing' | 'spline';

// Records, so that the compiler asks for the text of each integrator and controller of the contract.
const INTEGRATORS: Record<Integrator, string> = {dopri5: 'dopri5, explicit', esdirk5: 'esdirk5, for stiff robots', rk4: 'rk4, fixed steps'};
const CONTROLLERS: Record<Controller, string> = {none: 'no torques', pid: 'PID', pd_gravity: 'PD with gravity', computed_torque: 'computed torque',
    pd_feed_forward: 'PD with feed-forward', hua: 'Hua, for elastic joints'};
const GOALS: [Goal, string][] = [['hold', 'hold the start'], ['zero', 'move to zero'], ['swing', 'swing ± 0.3 about the start'], ['spline', 'follow a B-spline']];

interface Settings {
    duration: number; // s
    integrator: Integrator;
    tolerance: number;
    step: number; // s
    controller: Controller;
    kp: number;
    kd: number;
    ki: number;
    period: number; // ms between samples; 0: continuous
    delay: number; // ms
    filter: number; // rad/s
    goal: Goal;
}

const FIRST: Settings = {duration: 2, integrator: 'dopri5', tolerance: 1e-6, step: 0.001, controller: 'none', kp: 100, kd: 20, ki: 0, period: 0, delay: 0, filter: 200, goal: 'hold'};

const lengthOf = (s: Settings, spline: Spline): number => s.controller !== 'none' && s.goal === 'spline' ? spline.duration : s.duration;

/** The reference of the controller; entries of orientations, which the server ignores, are 0. */
function referenceOf(w: Workspace, q: number[], goal: Goal, spline: Spline): unknown {
    const start = w.rows.map(r => r.position.turn === undefined ? tidy(positionOf(r, q)) : 0), all = (x: number) => start.map(() => x);
    return {hold: start, zero: all(0), swing: {amplitude: all(0.3), angular_frequency: all(3), offset: start},
        spline: {degree: spline.degree, control_points: spline.points}}[goal];
}

/** The fields of a controller that is no Hua's: its integral gain and its samples. */
const sampledFields = ({ki, period, delay}: Settings) => ({
    ...(ki > 0 && {ki}), ...(period > 0 && {period: tidy(period / 1000), ...(delay > 0 && {delay: tidy(delay / 1000)})}),
});

function requestOf(w: Workspace, state: RobotState, s: Settings, spline: Spline): Record<string, unknown> {
    const {controller, kp, kd, filter} = s, duration = lengthOf(s, spline);
    return {
        q: state.q.map(tidy), ...(state.qd.some(Boolean) && {qd: state.qd.map(tidy)}), duration, integrator: s.integrator,
        ...(s.integrator === 'rk4' ? {step: s.step} : {tolerance: s.tolerance}), samples: Math.min(1001, Math.max(21, Math.round(duration * 100) + 1)),
        ...loadFields(w.model, state),
        ...(controller !== 'none' && {input: {controller, kp, kd, ...(controller === 'hua' ? {filter} : sampledFields(s)), reference: referenceOf(w, state.q, s.goal, spline)}}),
        outputs: ['times', 'q', 'qd', 'qdd', 'tau', 'kinetic', 'potential', 'least_margins'],
    };
}

interface PartProps {
    settings: Settings;
    change: (change: Partial<Settings>) => void;
}

function IntegratorFields({settings: s, change, free}: PartProps & {free: boolean}) {
    return (
        <div class="row">{free && <label class="field">Duration <NumberField label="Duration" unit="s" min={0.01} value={s.duration} onChange={duration => change({duration})} /></label>}
            <Select label="Integrator" value={s.integrator} options={Object.entries(INTEGRATORS)} onChange={i => change({integrator: i as Integrator})} />
            {s.integrator === 'rk4' ? <label class="field">Step <NumberField label="Step" unit="s" min={0.00001} step={0.001} value={s.step} onChange={step => change({step})} /></label> :
                <Select label="Tolerance" value={String(s.tolerance)} options={['1e-4', '1e-6', '1e-8', '1e-10'].map(t => [String(Number(t)), t] as [string, string])} onChange={t => change({tolerance: Number(t)})} />}</div>
    );
}

function GainFields({settings: s, change}: PartProps) {
    const computed = s.controller === 'computed_torque';
    return (
        <div class="row"><label class="field">Stiffness <NumberField label="Gain kp" unit={computed ? '1/s²' : 'N m/rad, N/m'} min={0} step={10} value={s.kp} onChange={kp => change({kp})} /></label>
            <label class="field">Damping <NumberField label="Gain kd" unit={computed ? '1/s' : 'N m s/rad, N s/m'} min={0} step={1} value={s.kd} onChange={kd => change({kd})} /></label>
            {s.controller === 'hua' && <label class="field">Filter <NumberField label="Filter" unit="rad/s" min={1} step={10} value={s.filter} onChange={filter => change({filter})} /></label>}</div>
    );
}

/** Integral gain, period and delay; a period of 0 is a continuous controller. */
function SampleFields({settings: s, change}: PartProps) {
    const unit = s.controller === 'computed_torque' ? '1/s³' : 'N m/(rad s), N/(m s)';
    return (
        <div class="row"><label class="field">Integral <NumberField label="Gain ki" unit={unit} min={0} step={10} value={s.ki} onChange={ki => change({ki})} /></label>
            <label class="field">Period <NumberField label="Period of samples" unit="ms" min={0} step={1} value={s.period} onChange={period => change({period})} /></label>
            {s.period > 0 && <label class="field">Delay <NumberField label="Delay" unit="ms" min={0} step={1} value={s.delay} onChange={delay => change({delay})} /></label>}</div>
    );
}

export function SimulationForm({workspace: w, spline, onSpline, motion, onMotion}: FormProps) {
    const state = useStore(w.state), [settings, setSettings] = useState(FIRST), [busy, setBusy] = useState(false);
    const change = (some: Partial<Settings>) => setSettings(old => ({...old, ...some}));
    const body = useMemo(() => requestOf(w, state, settings, spline), [state, settings, spline]);
    const controlled = settings.controller !== 'none', follows = controlled && settings.goal === 'spline';
    useEffect(() => shownRequest.set({model: w.model.name, operation: 'simulate', body}), [body]);
    const run = async () => {
        setBusy(true);
        await askBinary<Record<string, unknown>>(w.model.name, 'simulate', body)
            .then(a => onMotion(withEffortRate(motionOf('simulation', a), w.model.nv), null), e => onMotion(null, problemOf(e)));
        setBusy(false);
    };
    return (
        <form class="form tight" onSubmit={e => { e.preventDefault(); void run(); }}>
            <p class="muted">Starts at the positions and velocities of the State panel.</p>
            <IntegratorFields settings={settings} change={change} free={!follows} />
            <div class="row"><Select label="Controller" value={settings.controller} options={Object.entries(CONTROLLERS)} onChange={c => change({controller: c as Controller})} />
                {controlled && <Select label="Goal" value={settings.goal} options={GOALS} onChange={g => change({goal: g as Goal})} />}</div>
            {controlled && <GainFields settings={settings} change={change} />}
            {controlled && settings.controller !== 'hua' && <SampleFields settings={settings} change={change} />}
            {follows && <SplineEditor workspace={w} spline={spline} motion={motion} onChange={onSpline} />}
            <div class="actions start"><Button kind="primary" icon="play" label={busy ? 'Simulating …' : 'Simulate'} disabled={busy} /></div>
        </form>
    );
}
