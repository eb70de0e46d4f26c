// workspace.ts - holds the state of the robot on the page, with undo, and asks the server after every change. One request is in flight
// at a time; when its answer arrives, the newest state is sent, so that no backlog can grow.
import {askTimed, connection, getDocument, getModel, Problem, Unreachable, type Took} from './api';
import {positionOf, rangeOf, rowsOf, startPosition, withPosition, type Row} from './coordinates';
import {tidy} from './format';
import {geometryOf, pointAt, posesOfAnswer, positionAt, rotationAt, type Poses, type RobotGeometry} from './geometry';
import {rotate} from './linear';
import {Store} from './store';
import type {Model, RobotDocument, Vec3} from './types';
import type {DrawnWrench} from './view/drawing';

export interface Payload {
    link: string;
    mass: number;
    com: Vec3;
}

export interface Wrench {
    link: string;
    force: Vec3;
    torque: Vec3;
    point: Vec3;
    frame: 'world' | 'link';
}

export interface RobotState {
    q: number[];
    qd: number[];
    qdd: number[];
    gravity: Vec3;
    friction: boolean;
    payload: Payload | null;
    wrenches: Wrench[];
}

export interface RowError {
    row: number;
    operation?: string;
    code: string;
    detail: string;
}

/** The server's answer for a state. */
export interface Result {
    state: RobotState;
    tau: number[];
    poses: Poses;
    reactions: DrawnWrench[];
    operations: Record<string, Record<string, unknown> | undefined>;
    errors: RowError[];
    took: Took;
}

/** Positions that the user has gone through, with their times. */
export interface Recording {
    times: number[]; // s
    q: number[][];
}

const MOST_STATES = 20000;

type Operations = Record<string, Record<string, unknown>>;

const zeros = (n: number): number[] => new Array<number>(n).fill(0);

export function firstState(model: Model): RobotState {
    return {q: startPosition(model), qd: zeros(model.nv), qdd: zeros(model.nv), gravity: [...model.gravity] as Vec3, friction: true, payload: null, wrenches: []};
}

/** The fields of a request for a state, without those that have the server's default value. */
export function stateFields(model: Model, state: RobotState, rates = false): Record<string, unknown> {
    const moving = (v: number[]) => rates || v.some(x => x !== 0);
    return {
        q: state.q.map(tidy),
        ...(moving(state.qd) && {qd: state.qd.map(tidy)}),
        ...(moving(state.qdd) && {qdd: state.qdd.map(tidy)}),
        ...loadFields(model, state),
    };
}

/** Gravity, payload, wrenches and friction, where they differ from the model's. */
export function loadFields(model: Model, state: RobotState): Record<string, unknown> {
    return {
        ...(state.gravity.some((x, i) => x !== model.gravity[i]) && {gravity: state.gravity}),
        ...(state.payload && state.payload.mass > 0 && {payload: state.payload}),
        ...(state.wrenches.length && {wrenches: state.wrenches}),
        ...(!state.friction && {friction: false}),
    };
}

const same = (a: RobotState, b: RobotState): boolean => JSON.stringify(a) === JSON.stringify(b);

export class Workspace {
    readonly rows: Row[];
    readonly geometry: RobotGeometry;
    readonly state: Store<RobotState>;
    readonly result = new Store<Result | null>(null);
    readonly problem = new Store<Problem | null>(null);
    readonly gone = new Store(false);
    readonly replaced = new Store(false);
    readonly undoable = new Store({undo: false, redo: false});
    readonly selected = new Store(''); // the joint under the mouse or with the focus
    readonly marked = new Store<ReadonlySet<number>>(new Set()); // coordinates that the arrow keys move
    readonly recording = new Store<Recording | null>(null); // under way
    readonly recorded = new Store<Recording | null>(null);
    private past: RobotState[] = [];
    private future: RobotState[] = [];
    private settled: RobotState;
    private settling = 0;
    private held = false;
    private busy = false;
    private stale = false;
    private closed = false;
    private wanted: Operations = {};
    private readonly stop: () => void;

    constructor(readonly model: Model, readonly document: RobotDocument, first: Partial<RobotState> = {}) {
        this.rows = rowsOf(model);
        this.geometry = geometryOf(model, document);
        const start = firstState(model), fits = (v: number[] | undefined, n: number) => v?.length === n && v.every(Number.isFinite);
        this.settled = {
            ...start, ...first,
            q: fits(first.q, model.nq) ? first.q! : start.q,
            qd: fits(first.qd, model.nv) ? first.qd! : start.qd,
            qdd: fits(first.qdd, model.nv) ? first.qdd! : start.qdd,
        };
        this.state = new Store(this.settled);
        this.stop = connection.subscribe(c => c.state === 'ok' && this.refresh());
    }

    static async open(name: string, first: Partial<RobotState> = {}): Promise<Workspace> {
        const [model, document] = await Promise.all([getModel(name), getDocument(name)]);
        return new Workspace(model, document, first);
    }

    close(): void {
        this.closed = true;
        window.clearTimeout(this.settling);
        this.stop();
    }

    /** Changes the state. Changes in quick succession, such as those of a slider, are one step of undo. */
    change(change: Partial<RobotState>): void {
        this.state.update(change);
        window.clearTimeout(this.settling);
        if (!this.held) this.settling = window.setTimeout(() => this.settle(), 500);
        this.refresh();
    }

    /** While held, all changes are one step of undo. */
    hold(held: boolean): void {
        if (held && !this.held) this.settle();
        this.held = held;
        if (!held) this.change({});
    }

    private settle(): void {
        window.clearTimeout(this.settling);
        if (same(this.settled, this.state.value)) return;
        this.past.push(this.settled);
        if (this.past.length > 200) this.past.shift();
        this.future = [];
        this.settled = this.state.value;
        this.noteUndo();
    }

    private noteUndo(): void {
        this.undoable.set({undo: this.past.length > 0, redo: this.future.length > 0});
    }

    undo(): void {
        this.settle();
        this.step(this.past, this.future);
    }

    redo(): void {
        this.settle();
        this.step(this.future, this.past);
    }

    private step(from: RobotState[], to: RobotState[]): void {
        const next = from.pop();
        if (!next) return;
        to.push(this.settled);
        this.settled = next;
        this.state.set(next);
        this.noteUndo();
        this.refresh();
    }

    /** Begins to record positions as they change. */
    record(): void {
        const started = performance.now(), taken: Recording = {times: [0], q: [this.state.value.q]};
        this.recording.set(taken);
        const stop = this.state.subscribe(({q}) => {
            const now = (performance.now() - started) / 1000;
            if (this.recording.value !== taken || taken.times.length >= MOST_STATES) return stop();
            if (q === taken.q[taken.q.length - 1] || now - taken.times[taken.times.length - 1] < 0.005) return;
            taken.times.push(now);
            taken.q.push(q);
        });
    }

    /** Ends the recording. False if nothing has moved. */
    stopRecording(): boolean {
        const taken = this.recording.value;
        this.recording.set(null);
        if (!taken || taken.q.length < 2) return false;
        this.recorded.set(taken);
        return true;
    }

    /** Marks the coordinates of a joint for the arrow keys, alone or beside those that are marked. */
    mark(joint: string, beside: boolean): void {
        const own = this.rows.filter(r => r.joint === joint).map(r => r.index), next = new Set(beside ? this.marked.value : []);
        const off = beside && own.some(i => next.has(i));
        for (const i of own) if (off) next.delete(i); else next.add(i);
        this.marked.set(next);
    }

    /** Moves positions by a part of their ranges, within their limits. */
    nudge(coordinates: Iterable<number>, part: number): void {
        const chosen = new Set(coordinates);
        this.change({q: this.rows.filter(r => chosen.has(r.index)).reduce((q, row) => {
            const [low, high] = rangeOf(row, 'q');
            return withPosition(row, q, Math.max(low, Math.min(high, tidy(positionOf(row, q) + part * (high - low)))));
        }, this.state.value.q)});
    }

    /** Operations that a panel needs beside torques and poses. */
    want(operations: Operations): void {
        this.wanted = operations;
        this.refresh();
    }

    refresh(): void {
        if (this.closed || this.gone.value) return;
        if (this.busy) {
            this.stale = true;
            return;
        }
        void this.send();
    }

    private async send(): Promise<void> {
        this.busy = true;
        this.stale = false;
        const state = this.state.value;
        try {
            const [answer, took] = await askTimed<Record<string, unknown>>(this.model.name, 'evaluate', {
                ...stateFields(this.model, state, true), on_error: 'row',
                operations: {'inverse-dynamics': {outputs: ['tau', 'joint_wrenches']}, kinematics: {}, ...this.wanted},
            });
            if (!this.closed) this.take(state, answer, took);
        } catch (error) {
            if (!this.closed) this.fail(error);
        }
        this.busy = false;
        if (this.stale) this.refresh();
    }

    private take(state: RobotState, answer: Record<string, unknown>, took: Took): void {
        const operations = answer as Result['operations'], errors = (answer.errors ?? []) as RowError[];
        const last = this.result.value;
        const tau = operations['inverse-dynamics']?.tau as number[] | null | undefined;
        const all = operations.kinematics?.poses as Record<string, {position: number[] | null; orientation: number[]}> | undefined;
        const placed = all && Object.values(all)[0]?.position;
        const poses = placed ? posesOfAnswer(this.geometry, all as Parameters<typeof posesOfAnswer>[1]) : last?.poses;
        this.problem.set(null);
        if (!poses) return this.problem.set(new Problem(200, {detail: errors[0]?.detail ?? 'This state cannot be evaluated.', code: errors[0]?.code as never}));
        const wrenches = operations['inverse-dynamics']?.joint_wrenches as number[][] | null;
        this.result.set({state, tau: tau ?? [], poses, operations, errors, took,
            reactions: wrenches ? this.reactionsOf(wrenches, poses) : []});
    }

    private fail(error: unknown): void {
        if (error instanceof Problem && error.body.code === 'no-such-model') this.gone.set(true);
        else if (error instanceof Problem) this.problem.set(error);
        else if (!(error instanceof Unreachable)) this.problem.set(new Problem(0, {detail: String(error)}));
    }

    /** Joint wrenches come in axes of the body's link; they are drawn in world axes at the joint's origin. */
    reactionsOf(wrenches: ArrayLike<number>[], poses: Poses): DrawnWrench[] {
        const {bodies, origins} = this.geometry;
        return bodies.map((frame, b) => {
            const turn = rotationAt(poses, frame), w = wrenches[b];
            return {point: positionAt(poses, origins[b]), force: rotate(turn, [w[0], w[1], w[2]]), torque: rotate(turn, [w[3], w[4], w[5]])};
        });
    }

    /** The wrenches that the user has put on links, in world axes. */
    externalWrenches(poses: Poses): DrawnWrench[] {
        return this.state.value.wrenches.flatMap(w => {
            const frame = this.geometry.index.get(w.link);
            if (frame === undefined) return [];
            const turn = rotationAt(poses, frame), own = w.frame === 'link';
            return [{point: pointAt(poses, frame, w.point), force: own ? rotate(turn, w.force) : w.force, torque: own ? rotate(turn, w.torque) : w.torque}];
        });
    }

    /** The state as the fields of an address. */
    link(): string {
        const {model, state: {value: s}} = this, fields = new URLSearchParams(), list = (v: number[]) => v.map(x => String(Number(x.toPrecision(7)))).join(',');
        fields.set('q', list(s.q));
        if (s.qd.some(Boolean)) fields.set('qd', list(s.qd));
        if (s.qdd.some(Boolean)) fields.set('qdd', list(s.qdd));
        if (s.gravity.some((x, i) => x !== model.gravity[i])) fields.set('g', list(s.gravity));
        if (!s.friction) fields.set('friction', 'no');
        if (s.payload) fields.set('payload', JSON.stringify(s.payload));
        if (s.wrenches.length) fields.set('wrenches', JSON.stringify(s.wrenches));
        return fields.toString().replaceAll('%2C', ',');
    }
}

/** The state that the fields of an address give. */
export function stateOfLink(fields: URLSearchParams): Partial<RobotState> {
    const list = (key: string) => {
        const text = fields.get(key);
        const numbers = text?.split(',').map(Number);
        return numbers?.every(Number.isFinite) ? numbers : undefined;
    };
    const parsed = <T>(key: string, valid: (value: T) => boolean): T | undefined => {
        try {
            const value = JSON.parse(fields.get(key) ?? 'null') as T | null;
            return value && valid(value) ? value : undefined;
        } catch {
            return undefined;
        }
    };
    const vector = (v: unknown) => Array.isArray(v) && v.length === 3 && v.every(Number.isFinite);
    const q = list('q'), qd = list('qd'), qdd = list('qdd'), gravity = list('g');
    const payload = parsed<Payload>('payload', p => typeof p.link === 'string' && p.mass >= 0 && vector(p.com));
    const wrenches = parsed<Wrench[]>('wrenches', list => Array.isArray(list) && list.every(w =>
        typeof w.link === 'string' && vector(w.force) && vector(w.torque) && vector(w.point) && (w.frame === 'world' || w.frame === 'link')));
    return {
        ...(q && {q}), ...(qd && {qd}), ...(qdd && {qdd}), ...(gravity?.length === 3 && {gravity: gravity as Vec3}),
        ...(fields.get('friction') === 'no' && {friction: false}), ...(payload && {payload}), ...(wrenches && {wrenches}),
    };
}
