// motion.ts - holds a motion that the server computed, finds the limits that it exceeds, and fetches the poses of its samples in blocks
// around the sample that is shown.
import {askBinary} from '../api';
import type {Block} from '../cbor';
import {unitOf, type Row} from '../coordinates';
import {positionAt, rotationAt, type Poses} from '../geometry';
import type {Workspace} from '../workspace';

export type Curve = 'q' | 'qd' | 'qdd' | 'tau' | 'tau_dot';
export const CURVES: [Curve, string][] = [['q', 'Position q'], ['qd', 'Velocity q̇'], ['qdd', 'Acceleration q̈'], ['tau', 'Effort τ'], ['tau_dot', 'Effort rate τ̇']];

export interface Motion {
    title: string;
    times: Float64Array;
    curves: Partial<Record<Curve, Float64Array>>; // samples × columns
    energies?: {kinetic: Float64Array; potential: Float64Array};
    exceeded: Exceeded[];
    notes: string[];
}

/** A limit that the server found to be exceeded, of any joint or motor, and the bound on that side if it is known. */
export interface Exceeded {
    joint: string;
    kind: 'position' | 'velocity' | 'effort' | 'effort_rate';
    limit: number | undefined;
    excess: number;
    time: number;
}

/** The exceeded limits among the least margins of an answer. */
function exceededOf(margins: unknown): Exceeded[] {
    const all = (margins ?? []) as (Omit<Exceeded, 'excess'> & {margin: number})[];
    return all.filter(m => m.margin < 0).map(({joint, kind, limit, margin, time}) => ({joint, kind, limit, excess: -margin, time}));
}

/** The curves of an answer. */
export function motionOf(title: string, answer: Record<string, unknown>): Motion {
    const curves: Motion['curves'] = {};
    for (const [key] of CURVES) {
        const values = numbersOf(answer[key]);
        if (values) curves[key] = values;
    }
    const kinetic = numbersOf(answer.kinetic), potential = numbersOf(answer.potential);
    return {title, times: numbersOf(answer.times)!, curves, exceeded: exceededOf(answer.least_margins), notes: [], ...(kinetic && potential && {energies: {kinetic, potential}})};
}

/** Adds the effort rate as the slope of the efforts between the neighbours of each sample. */
export function withEffortRate(m: Motion, nv: number): Motion {
    const {times, curves: {tau}} = m, last = times.length - 1;
    if (!tau) return m;
    const tau_dot = tau.map((_, k) => {
        const i = Math.floor(k / nv), a = Math.max(0, i - 1), b = Math.min(last, i + 1), j = k % nv;
        return times[b] > times[a] ? (tau[b * nv + j] - tau[a * nv + j]) / (times[b] - times[a]) : 0;
    });
    return {...m, curves: {...m.curves, tau_dot}, notes: [...m.notes, 'The effort rate τ̇ is the slope of τ between samples.']};
}

export interface Violation {
    name: string;
    quantity: string;
    unit: string;
    limit: number | undefined;
    excess: number;
    time: number;
}

const KINDS: Record<Exceeded['kind'], Curve> = {position: 'q', velocity: 'qd', effort: 'tau', effort_rate: 'tau_dot'};
const quantityOf = (curve: Curve): string => CURVES.find(c => c[0] === curve)![1];

/** Exceeded limits of joints and motors that are no coordinates, such as mimic joints and passive joints of loops. */
function violationsOfOthers(w: Workspace, m: Motion): Violation[] {
    return m.exceeded.filter(({joint}) => !w.model.velocity_names.includes(joint)).map(({joint, kind, limit, excess, time}) => {
        const length = w.model.joints.find(j => j.name === joint)?.type === 'prismatic' ? 'm' : 'rad', effort = length === 'm' ? 'N' : 'N m';
        const unit = {position: length, velocity: `${length}/s`, effort, effort_rate: `${effort}/s`}[kind];
        return {name: joint, quantity: quantityOf(KINDS[kind]), unit, limit, excess, time};
    });
}

export const columnsOf = (w: Workspace, curve: Curve): string[] => curve === 'q' ? w.model.position_names : w.model.velocity_names;

/** The numbers of an array of any dimension in an answer. */
export const numbersOf = (value: unknown): Float64Array | undefined =>
    value instanceof Float64Array ? value : value && typeof value === 'object' && 'data' in value ? (value as Block).data :
        Array.isArray(value) ? Float64Array.from(value.flat(3) as number[]) : undefined;

/** Lower and upper limit of a curve of a coordinate; none where the position is an orientation. */
export function limitsOf(row: Row, curve: Curve): [number, number] | null {
    const {position, velocity, effort, effort_rate} = row.limits, both = (x: number | undefined): [number, number] | null => x === undefined ? null : [-x, x];
    if (curve === 'q') return position && row.position.turn === undefined ? [position[0], position[1]] : null;
    return curve === 'qd' ? both(velocity) : curve === 'tau' ? both(effort) : curve === 'tau_dot' ? both(effort_rate) : null;
}

export const columnOf = (row: Row, curve: Curve): number => curve === 'q' ? row.position.at : row.index;

/** Finds the largest excess over each limit. */
export function violationsOf(w: Workspace, m: Motion): Violation[] {
    const found: Violation[] = [];
    for (const row of w.rows) {
        for (const [curve] of CURVES) {
            const values = m.curves[curve], limits = limitsOf(row, curve), column = columnOf(row, curve), width = columnsOf(w, curve).length;
            if (!values || !limits) continue;
            let worst: Violation | null = null;
            for (let i = 0; i < m.times.length; i++) {
                const x = values[i * width + column], limit = x > limits[1] ? limits[1] : limits[0], excess = Math.max(x - limits[1], limits[0] - x);
                if (excess > 1e-9 * Math.max(1, Math.abs(limit)) && excess > (worst?.excess ?? 0))
                    worst = {name: row.name, quantity: quantityOf(curve), unit: unitOf(row, curve), limit, excess, time: m.times[i]};
            }
            if (worst) found.push(worst);
        }
    }
    return [...found, ...violationsOfOthers(w, m)];
}

const BLOCK = 200;

/** Fetches poses of a motion's samples in blocks of rows, those near the shown time first. */
export class PoseStream {
    private readonly blocks = new Map<number, Poses[]>();
    private readonly pending = new Set<number>();
    private readonly stop = new AbortController();
    onBlock: () => void = () => {};

    constructor(private readonly w: Workspace, private readonly m: Motion) {}

    close(): void {
        this.stop.abort();
    }

    private async fetch(block: number): Promise<void> {
        if (this.blocks.has(block) || this.pending.has(block) || this.pending.size >= 2 || block * BLOCK >= this.m.times.length) return;
        this.pending.add(block);
        const {nq, name} = this.w.model, from = block * BLOCK, to = Math.min(this.m.times.length, from + BLOCK), all = this.m.curves.q!;
        const q = Array.from({length: to - from}, (_, i) => Array.from(all.subarray((from + i) * nq, (from + i + 1) * nq)));
        try {
            const answer = await askBinary<{poses: Record<string, {position: unknown; orientation: unknown}>}>(name, 'kinematics', {q, on_error: 'row'}, this.stop.signal);
            const {frames} = this.w.geometry, made = q.map(() => new Float64Array(7 * frames.length));
            frames.forEach((frame, f) => {
                const p = numbersOf(answer.poses[frame]?.position), o = numbersOf(answer.poses[frame]?.orientation);
                if (p && o) made.forEach((poses, i) => {
                    poses.set(p.subarray(3 * i, 3 * i + 3), 7 * f);
                    poses.set(o.subarray(4 * i, 4 * i + 4), 7 * f + 3);
                });
            });
            this.blocks.set(block, made);
        } catch { /* the next picture asks for the block again */ }
        this.pending.delete(block);
        if (!this.stop.signal.aborted) this.onBlock();
    }

    private sample(i: number): Poses | undefined {
        return this.blocks.get(Math.floor(i / BLOCK))?.[i % BLOCK];
    }

    /** Returns the poses at a time, interpolated between its two samples, and fetches the next block ahead. */
    at(time: number): Poses | null {
        const {times} = this.m, last = times.length - 1;
        let low = 0, high = last;
        while (high - low > 1) {
            const middle = (low + high) >> 1;
            if (times[middle] <= time) low = middle;
            else high = middle;
        }
        const block = Math.floor(low / BLOCK);
        void this.fetch(block);
        void this.fetch(Math.floor(high / BLOCK));
        void this.fetch(block + 1);
        const a = this.sample(low), b = this.sample(high);
        if (!a || !b || Number.isNaN(a[0])) return null;
        const part = high === low ? 0 : Math.max(0, Math.min(1, (time - times[low]) / (times[high] - times[low] || 1)));
        return blend(a, b, part);
    }
}

function blend(a: Poses, b: Poses, part: number): Poses {
    const out = new Float64Array(a.length);
    for (let f = 0; f < a.length / 7; f++) {
        const p = positionAt(a, f), q = positionAt(b, f), r = rotationAt(a, f), s = rotationAt(b, f);
        for (let k = 0; k < 3; k++) out[7 * f + k] = p[k] + part * (q[k] - p[k]);
        const sign = r[0] * s[0] + r[1] * s[1] + r[2] * s[2] + r[3] * s[3] < 0 ? -1 : 1;
        const mixed = r.map((x, k) => (1 - part) * x + sign * part * s[k]), n = Math.hypot(...mixed) || 1;
        for (let k = 0; k < 4; k++) out[7 * f + 3 + k] = mixed[k] / n;
    }
    return out;
}

/** The unit of a column of a curve; quaternion entries have none. */
export function unitOfColumn(w: Workspace, curve: Curve, column: number): string {
    const row = w.rows.find(r => columnOf(r, curve) === column && (curve !== 'q' || r.position.turn === undefined));
    return row ? unitOf(row, curve) : '';
}
