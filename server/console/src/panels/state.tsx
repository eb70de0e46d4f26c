// state.tsx - edits every coordinate with sliders and typed values, and shows the torques of the state as bars against effort limits.
import {useState} from 'preact/hooks';
import {positionOf, rangeOf, unitOf, withPosition, type Quantity, type Row} from '../coordinates';
import {digits, digitsBeside} from '../format';
import {useStore} from '../store';
import type {Vec3} from '../types';
import {Button, Check, NumberField, Notice, Segments, Select, VectorField} from '../ui';
import {ProblemText} from '../pages/upload';
import {Compare} from './compare';
import {firstState, type Result, type Workspace, type Wrench} from '../workspace';

const NAMES: Record<Quantity, string> = {q: 'position', qd: 'velocity', qdd: 'acceleration'};

/** Rounds to six decimals: ARIA has no numbers with exponents. */
const plain = (x: number): number => Number(x.toFixed(6)) || 0;

/** A torque as a bar from zero in the middle; the ends are the effort limit or, without one, the robot's largest torque. */
export function TorqueBar({row, tau, largest}: {row: Row; tau: number | undefined; largest: number}) {
    const {effort} = row.limits, end = effort && effort > 0 ? effort : Math.max(largest, 1e-9), unit = unitOf(row, 'tau');
    const part = tau === undefined ? 0 : Math.max(-1, Math.min(1, tau / end)), over = !!effort && tau !== undefined && Math.abs(tau) > effort;
    const text = tau === undefined ? 'not known' : `${digits(tau)} ${unit}${effort ? ` of ${digits(effort)}` : ', no limit'}${over ? ', over the limit' : ''}`;
    return (
        <div class={`torque${over ? ' over' : ''}${effort ? '' : ' free'}`}>
            <div class="bar" role="meter" aria-label={`${row.name} effort`} aria-valuemin={plain(-end)} aria-valuemax={plain(end)} aria-valuenow={plain(tau ?? 0)} aria-valuetext={text}>
                <i style={{left: `${50 + Math.min(0, part) * 50}%`, width: `${Math.abs(part) * 50}%`}} />
            </div>
            <output><b>{digitsBeside(tau, largest)}</b> {unit}</output>
            <span class="limit">{effort ? `± ${digits(effort, 4)} ${unit}` : 'no limit'}</span>
        </div>
    );
}

function CoordinateRow({row, quantity, value, onChange, tau, largest, selected, onSelect, marked, onMark, onKeys}: {
    row: Row; quantity: Quantity; value: number; onChange: (value: number) => void; tau: number | undefined; largest: number;
    selected: boolean; onSelect: () => void; marked: boolean; onMark: () => void; onKeys: (part: number) => boolean;
}) {
    const [low, high] = rangeOf(row, quantity), unit = unitOf(row, quantity), name = quantity === 'q' ? row.positionName : row.name;
    const {position, velocity} = row.limits, eps = 1e-9;
    const out = quantity === 'q' ? !!position && (value < position[0] - eps || value > position[1] + eps) : quantity === 'qd' && velocity !== undefined && Math.abs(value) > velocity + eps;
    return (
        <li class={`coordinate${selected ? ' selected' : ''}${out ? ' out' : ''}`} onPointerEnter={onSelect} onFocusIn={onSelect}>
            <button type="button" class="mark name" title={`${name}: mark it for the arrow keys`} aria-label={`Mark ${name} for the arrow keys`} aria-pressed={marked} onClick={onMark}
                onKeyDown={e => {
                    const way = marked && {ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1}[e.key];
                    if (way && onKeys(way * (e.shiftKey ? 0.05 : 0.01))) e.preventDefault();
                }}>{name}</button>
            <input type="range" min={low} max={high} step="any" value={value} aria-label={`${name} ${NAMES[quantity]}, ${unit}`}
                aria-valuetext={`${digits(value)} ${unit}`} onInput={e => onChange(Number(e.currentTarget.value))}
                onKeyDown={e => {
                    const way = {ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1}[e.key];
                    if (!way) return;
                    e.preventDefault();
                    if (onKeys(way * (e.shiftKey ? 0.05 : 0.01))) return;
                    onChange(Math.max(low, Math.min(high, value + way * (high - low) * (e.shiftKey ? 0.05 : 0.01))));
                }} />
            <NumberField label={`${name} ${NAMES[quantity]}`} unit={unit} value={value} onChange={onChange} step={row.angular ? 0.05 : 0.01} />
            <TorqueBar row={row} tau={tau} largest={largest} />
            {out && <span class="out-text">outside its limits{quantity === 'q' ? ` ${digits(position![0], 4)} … ${digits(position![1], 4)}` : ` ± ${digits(velocity, 4)}`} {unit}</span>}
        </li>
    );
}

export function useLargest(result: Result | null): number {
    return Math.max(0, ...(result?.tau ?? []).map(Math.abs));
}

export function StatePanel({workspace: w}: {workspace: Workspace}) {
    const state = useStore(w.state), result = useStore(w.result), problem = useStore(w.problem), selected = useStore(w.selected), marked = useStore(w.marked);
    const [quantity, setQuantity] = useState<Quantity>('q'), [filter, setFilter] = useState('');
    const largest = useLargest(result), names = w.rows.filter(r => !filter || r.name.toLowerCase().includes(filter.toLowerCase()));
    const named = w.model.configurations ?? [];
    const value = (row: Row) => quantity === 'q' ? positionOf(row, state.q) : state[quantity][row.index];
    const change = (row: Row, x: number) => {
        if (quantity === 'q') return w.change({q: withPosition(row, w.state.value.q, x)});
        const next = [...w.state.value[quantity]];
        next[row.index] = x;
        return w.change({[quantity]: next});
    };
    // The arrow keys move all marked positions together.
    const keys = (row: Row, part: number) => {
        if (quantity !== 'q' || !marked.has(row.index)) return false;
        w.nudge(marked, part);
        return true;
    };
    const toggle = (row: Row) => {
        const next = new Set(marked);
        if (!next.delete(row.index)) next.add(row.index);
        w.marked.set(next);
    };
    const reset = () => {
        const first = firstState(w.model);
        w.change({[quantity]: first[quantity]});
    };
    return (
        <div class="panel-body">
            <div class="panel-tools">
                <Segments label="Quantity that the sliders change" value={quantity} onChange={setQuantity}
                    options={[['q', 'Position q'], ['qd', 'Velocity q̇'], ['qdd', 'Acceleration q̈']]} />
                <Button kind="quiet" icon="home" label="Reset" onClick={reset} />
            </div>
            {named.length > 0 && <div class="row" role="group" aria-label="Configurations of the model">
                {named.map(c => <Button key={c.name} kind="quiet" label={c.name} onClick={() => w.change({q: [...c.q]})} />)}
            </div>}
            {w.rows.length > 12 && <label class="search small"><span class="hidden-label">Filter coordinates</span>
                <input type="search" placeholder={`Filter ${w.rows.length} coordinates`} value={filter} onInput={e => setFilter(e.currentTarget.value)} /></label>}
            {problem && <ProblemText problem={problem} />}
            {result?.errors.filter(e => !e.operation || e.operation === 'inverse-dynamics' || e.operation === 'kinematics').map(e => <Notice key={e.code} kind="warning">{e.detail}</Notice>)}
            <ul class="coordinates">
                {names.map(row => <CoordinateRow key={row.index} row={row} quantity={quantity} value={value(row)} onChange={x => change(row, x)}
                    tau={result?.tau[row.index]} largest={largest} selected={selected === row.joint} onSelect={() => w.selected.set(row.joint)}
                    marked={marked.has(row.index)} onMark={() => toggle(row)} onKeys={part => keys(row, part)} />)}
            </ul>
            <Loads workspace={w} />
            <Compare workspace={w} />
        </div>
    );
}

function Loads({workspace: w}: {workspace: Workspace}) {
    const state = useStore(w.state), frames = w.geometry.frames, tip = frames[w.geometry.bodies[w.geometry.bodies.length - 1] ?? 0] ?? frames[0];
    const wrench = (i: number, change: Partial<Wrench>) => w.change({wrenches: state.wrenches.map((old, k) => k === i ? {...old, ...change} : old)});
    return (
        <>
            <section class="group"><h2>Gravity and friction</h2>
                <VectorField label="Gravity" unit="m/s²" value={state.gravity} step={0.1} onChange={gravity => w.change({gravity})} />
                <div class="row"><Check label="Joint friction" value={state.friction} onChange={friction => w.change({friction})} />
                    <Button kind="quiet" label="Model's gravity" onClick={() => w.change({gravity: [...w.model.gravity] as Vec3})} /></div>
            </section>
            <section class="group"><h2>Payload</h2>
                {state.payload ? (
                    <div class="card-like">
                        <div class="row"><Select label="On" value={state.payload.link} options={frames} onChange={link => w.change({payload: {...state.payload!, link}})} />
                            <label class="field">Mass <NumberField label="Payload mass" unit="kg" min={0} value={state.payload.mass} onChange={mass => w.change({payload: {...state.payload!, mass}})} /></label>
                            <Button bare kind="quiet" icon="trash" label="Remove the payload" onClick={() => w.change({payload: null})} /></div>
                        <p class="label">Centre of mass in its axes</p>
                        <VectorField label="Payload centre of mass" unit="m" step={0.01} value={state.payload.com} onChange={com => w.change({payload: {...state.payload!, com}})} />
                    </div>
                ) : <Button icon="plus" label="Add a payload" onClick={() => w.change({payload: {link: tip, mass: 1, com: [0, 0, 0]}})} />}
            </section>
            <section class="group"><h2>External wrenches</h2>
                {state.wrenches.map((one, i) => (
                    <div class="card-like" key={i}>
                        <div class="row"><Select label="On" value={one.link} options={frames} onChange={link => wrench(i, {link})} />
                            <Select label="Axes" value={one.frame} options={['world', 'link']} onChange={frame => wrench(i, {frame: frame as Wrench['frame']})} />
                            <Button bare kind="quiet" icon="trash" label={`Remove wrench ${i + 1}`} onClick={() => w.change({wrenches: state.wrenches.filter((_, k) => k !== i)})} /></div>
                        <p class="label">Force on the link, by the environment</p>
                        <VectorField label={`Force ${i + 1}`} unit="N" step={1} value={one.force} onChange={force => wrench(i, {force})} />
                        <p class="label">Torque</p>
                        <VectorField label={`Torque ${i + 1}`} unit="N m" step={1} value={one.torque} onChange={torque => wrench(i, {torque})} />
                        <p class="label">Point, in axes of the link</p>
                        <VectorField label={`Point ${i + 1}`} unit="m" step={0.01} value={one.point} onChange={point => wrench(i, {point})} />
                    </div>
                ))}
                <Button icon="plus" label="Add a wrench" onClick={() => w.change({wrenches: [...state.wrenches, {link: tip, force: [0, 0, -20], torque: [0, 0, 0], point: [0, 0, 0], frame: 'world'}]})} />
            </section>
        </>
    );
}
