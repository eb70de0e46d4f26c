// drag.ts - moves a frame of the robot to a goal: the server solves the inverse kinematics within the limits, of closed loops too. One
// request is in flight at a time, for the newest goal. A goal out of reach is followed as far as the way to it is free.
import {ask, Problem} from '../api';
import {positionOf, rangeOf, withPosition} from '../coordinates';
import {digits} from '../format';
import {positionAt, rotationAt} from '../geometry';
import {add, dot, eigenSymmetric, norm, rotate, scale, unit} from '../linear';
import {Store} from '../store';
import type {Quat, Vec3} from '../types';
import type {RowError, Workspace} from '../workspace';

export interface DragState {
    held: boolean;
    goal: Vec3 | null; // the last goal, if the frame is not there
    kind: 'free' | 'limit' | 'reach';
    message: string;
}

/** Directions in which a frame's origin can move: in space, in a plane, or along a curve on which the coordinates change by `step` per metre. */
interface Freedom {
    rank: number;
    normal: Vec3;
    step: number[];
}

interface Found {
    q: number[] | null;
    why: string;
    limit: boolean;
}

const FREE: DragState = {held: false, goal: null, kind: 'free', message: ''};
/** Parts of the way to a goal out of reach that are tried, as multiples of the part that was free before. */
const PARTS = [1.3, 1.1, 1.04, 1.01, 1, 0.99, 0.97, 0.93, 0.85, 0.7, 0.5, 0.25];
const NEAR = 1e-6; // m

/** The frame that is dragged at first: the last one that closes no loop. */
export function lastFrame(w: Workspace): string {
    const {frames, loops} = w.geometry;
    return frames.filter((_, i) => !loops.some(l => l.b === i)).pop() ?? frames[frames.length - 1];
}

export class Dragger {
    readonly state = new Store<DragState>(FREE);
    readonly frame: Store<string>;
    readonly keep = new Store(false); // keeps the orientation
    private freedom: Freedom | null = null;
    private from: Vec3 = [0, 0, 0];
    private turn: Quat = [0, 0, 0, 1];
    private newest: Vec3 | null = null;
    private typed: {goal: Vec3; q: number[] | null} | null = null; // and the positions that it has led to
    private part = 1;
    private busy: Promise<void> | null = null;

    constructor(private readonly w: Workspace) {
        this.frame = new Store(lastFrame(w));
        this.frame.subscribe(() => {
            this.freedom = null;
            this.state.set(FREE);
        });
    }

    get index(): number {
        return this.w.geometry.index.get(this.frame.value) ?? 0;
    }

    /** Where the frame is; null before the first answer. */
    get position(): Vec3 | null {
        const poses = this.w.result.value?.poses;
        return poses ? positionAt(poses, this.index) : null;
    }

    /** Where the frame is or, as long as that is not answered, the typed place where it goes; null before the first answer. */
    get place(): Vec3 | null {
        const {typed, w} = this, coming = typed && (this.busy || (w.state.value.q === typed.q && w.result.value?.state.q !== typed.q));
        return coming ? typed.goal : this.position;
    }

    begin(): void {
        const poses = this.w.result.value?.poses;
        this.typed = null;
        if (!poses) return;
        this.from = positionAt(poses, this.index);
        this.turn = rotationAt(poses, this.index);
        this.part = 1;
        this.w.hold(true);
        this.state.set({...FREE, held: true});
    }

    end(): void {
        this.state.update({held: false});
        this.w.hold(false);
    }

    /** Moves the frame to a typed place. Numbers that are typed before the answer change this place, not the one where the frame still is. */
    async type(goal: Vec3): Promise<void> {
        this.begin();
        const typed = this.typed = {goal, q: null as number[] | null};
        await this.to(goal);
        typed.q = this.w.state.value.q;
        this.end();
    }

    /** The goal under the mouse: on a plane across the line of sight or, for planar robots, on the plane of their motion. */
    goalOf(eye: Vec3, sight: Vec3, forward: Vec3): Vec3 {
        const on = (normal: Vec3) => add(eye, scale(sight, dot(add(this.from, scale(eye, -1)), normal) / dot(sight, normal)));
        if (this.freedom?.rank !== 2) return on(forward);
        const {normal} = this.freedom;
        if (Math.abs(dot(sight, normal)) > 0.15) return on(normal);
        const seen = on(forward);
        return add(seen, scale(normal, -dot(add(seen, scale(this.from, -1)), normal)));
    }

    /** Moves the frame towards a goal; resolves once the newest goal has been answered. */
    to(goal: Vec3): Promise<void> {
        this.newest = goal;
        this.busy ??= this.work().finally(() => { this.busy = null; });
        return this.busy;
    }

    private async work(): Promise<void> {
        while (this.newest) {
            const goal = this.newest;
            this.newest = null;
            try {
                this.freedom ??= await this.measure();
                await this.reach(goal);
            } catch (error) {
                this.state.update({goal, kind: 'reach', message: error instanceof Problem ? error.message : 'The server gives no answer.'});
            }
        }
    }

    private async reach(goal: Vec3): Promise<void> {
        const along = (part: number) => add(this.from, scale(add(goal, scale(this.from, -1)), part));
        if (this.freedom!.rank < 2) return this.follow(goal);
        let parts = this.part < 1 ? this.tries() : [1], found = await this.solve(parts.map(along)), best = found.findIndex(f => f.q);
        if (best < 0 && parts.length === 1) {
            parts = this.tries();
            found = await this.solve(parts.map(along));
            best = found.findIndex(f => f.q);
        }
        if (best > 0 && parts[best - 1] - parts[best] > 0.02) { // between the last that is free and the first that is not
            const last = found[best], [high, low] = [parts[best - 1], parts[best]];
            parts = Array.from({length: 12}, (_, i) => high - (high - low) * i / 11);
            found = [found[best - 1], ...await this.solve(parts.slice(1, -1).map(along)), last];
            best = found.findIndex(f => f.q);
        }
        this.part = best < 0 ? Math.max(0.05, this.part / 2) : parts[best];
        if (best >= 0) this.w.change({q: found[best].q!});
        if (best >= 0 && parts[best] === 1) return this.state.update({goal: null, kind: 'free', message: ''});
        const first = found[best < 0 ? found.length - 1 : best - 1]; // the nearest position that is not free
        this.state.update({goal, kind: first.limit ? 'limit' : 'reach', message: first.why});
    }

    private tries(): number[] {
        return [1, ...PARTS.map(p => p * this.part).filter(p => p < 0.999)];
    }

    private solve(positions: Vec3[]): Promise<Found[]> {
        return this.w.geometry.loops.length ? this.solveLoops(positions) : this.solveTree(positions);
    }

    private async solveTree(position: Vec3[]): Promise<Found[]> {
        const answer = await ask<{q: (number[] | null)[]; errors: RowError[]}>(this.w.model.name, 'inverse-kinematics', {
            q: this.w.state.value.q, frame: this.frame.value, position, ...(this.keep.value && {orientation: this.turn}), starts: 1, tolerance: NEAR, normalise: true, on_error: 'row'});
        return answer.q.map((q, row) => {
            const detail = answer.errors.find(e => e.row === row)?.detail ?? '', [, limits] = /limits are in the way: (.*)$/.exec(detail) ?? [];
            return {q, limit: !!limits, why: limits ? `A limit is in the way: ${limits}` : 'Out of reach from here'};
        });
    }

    /** The pose of a platform determines its coordinates. The server keeps the assembly; limits are those of all joints. */
    private async solveLoops(position: Vec3[]): Promise<Found[]> {
        const {model} = this.w, orientation = model.nv >= 6 || this.keep.value ? {orientation: this.turn} : {};
        const answer = await ask<{q: (number[] | null)[]; limits: {joint: string; lower?: number; upper?: number}[]; margins: (number[] | null)[]; errors: RowError[]}>(model.name, 'margins', {
            platform: {frame: this.frame.value, position, ...orientation}, kinds: ['position'], normalise: true, on_error: 'row', outputs: ['limits', 'margins']});
        return answer.q.map((q, row) => {
            const beyond = answer.limits.filter((_, i) => (answer.margins[row]?.[i] ?? 0) < -1e-9).map(l => `${l.joint} (${digits(l.lower, 4)} … ${digits(l.upper, 4)})`);
            if (!q) return {q, limit: false, why: 'Out of reach in this assembly'};
            return {q: beyond.length ? null : q, limit: beyond.length > 0, why: `A limit is in the way: ${beyond.join(', ')}`};
        });
    }

    /** Along a curve: the nearest of positions before and behind, as far as the limits allow. */
    private async follow(goal: Vec3): Promise<void> {
        const {rows, model, state} = this.w, here = this.position;
        if (!here || !this.freedom!.step.some(Boolean)) return this.state.update({goal, kind: 'reach', message: 'No joint moves this frame'});
        const size = Math.max(1e-4, norm(add(goal, scale(here, -1)))), ways = [-1.5, -1, -0.6, -0.3, -0.1, -0.03, 0, 0.03, 0.1, 0.3, 0.6, 1, 1.5];
        const q = ways.map(way => rows.reduce((at, row) => {
            const [low, high] = row.limits.position ? rangeOf(row, 'q') : [-Infinity, Infinity], next = positionOf(row, at) + way * size * this.freedom!.step[row.index];
            return this.freedom!.step[row.index] ? withPosition(row, at, Math.max(low, Math.min(high, next))) : at;
        }, state.value.q));
        const {poses} = await ask<{poses: Record<string, {position: (number[] | null)[]}>}>(model.name, 'kinematics', {q, frames: [this.frame.value], normalise: true, on_error: 'row'});
        const away = poses[this.frame.value].position.map(p => p ? norm(add(p as Vec3, scale(goal, -1))) : Infinity), best = away.indexOf(Math.min(...away));
        if (away[best] === Infinity) return this.state.update({goal, kind: 'reach', message: 'Out of reach'});
        this.w.change({q: q[best]});
        this.state.update({goal: away[best] > 0.02 * size ? goal : null, kind: 'free', message: 'This frame moves along a curve'});
    }

    /** Finds how the frame can move, from its Jacobian here and at a position close by, so that a singular position does not count. */
    private async measure(): Promise<Freedom> {
        const {model, rows, state} = this.w, q = state.value.q;
        const near = rows.reduce((at, row, i) => row.position.turn === undefined ? withPosition(row, at, positionOf(row, q) + 0.03 * Math.cos(3 * i)) : at, q);
        const {jacobian} = await ask<{jacobian: (number[][] | null)[]}>(model.name, 'kinematics', {q: [q, near], frame: this.frame.value, outputs: ['jacobian'], normalise: true, on_error: 'row'});
        const known = jacobian.filter(j => j !== null).map(j => j.slice(0, 3)), times = (j: number[][]) => j.map(a => j.map(b => a.reduce((sum, x, k) => sum + x * b[k], 0)));
        const products = known.map(times), sum = [0, 1, 2].map(i => [0, 1, 2].map(k => products.reduce((s, p) => s + p[i][k], 0)));
        const rankOf = (m: number[][]) => {
            const {values} = eigenSymmetric(m), most = Math.max(...values);
            return most > 1e-18 ? values.filter(v => v > 1e-7 * most).length : 0;
        };
        const axis = (m: number[][], pick: (...v: number[]) => number): Vec3 => {
            const {values, rotation} = eigenSymmetric(m), at = values.indexOf(pick(...values));
            return unit(rotate(rotation, [Number(at === 0), Number(at === 1), Number(at === 2)]));
        };
        const rank = Math.max(0, ...products.map(rankOf)), tangent = rank ? axis(products[0], Math.max) : [0, 0, 1] as Vec3;
        const rates = rank === 1 ? known[0][0].map((_, k) => tangent.reduce((s, t, i) => s + t * known[0][i][k], 0)) : [], square = rates.reduce((s, r) => s + r * r, 0);
        return {rank, normal: axis(sum, Math.min), step: rates.map(r => r / (square || 1))};
    }
}
