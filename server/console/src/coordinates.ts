// coordinates.ts - lists the coordinates of a model for editing: one row for each velocity coordinate, with its unit, its limits and
// the index of its position. Orientations given by a quaternion are edited as roll, pitch and yaw.
import {quatOfRpy, rpyOfQuat} from './linear';
import type {Limits, Model, Quat, Vec3} from './types';

export type Quantity = 'q' | 'qd' | 'qdd';

export interface Row {
    index: number; // velocity coordinate
    name: string; // name of the velocity coordinate
    positionName: string;
    joint: string;
    angular: boolean;
    position: {at: number; turn?: 0 | 1 | 2}; // index in q; with turn: index of the quaternion, of which this is roll, pitch or yaw
    limits: Limits;
    actuated: boolean;
    wraps: boolean;
}

const QUATERNION = /\.qx$/, TURNS = ['roll', 'pitch', 'yaw'] as const;

/** Returns the joint of a coordinate, whose name is the joint's name, or begins with it and a dot. */
function jointOf(model: Model, name: string): Model['joints'][number] | undefined {
    return model.joints.find(j => j.name === name) ?? model.joints.find(j => name.startsWith(`${j.name}.`) && !name.slice(j.name.length + 1).includes('.'));
}

function linear(joint: Model['joints'][number] | undefined, name: string): boolean {
    if (joint && name === joint.name || name.endsWith('.motor')) return joint?.type === 'prismatic';
    return /\.v?[xyz]$/.test(name);
}

export function rowsOf(model: Model): Row[] {
    const rows: Row[] = [];
    const push = (positionName: string, position: Row['position']) => {
        const index = rows.length, name = model.velocity_names[index], joint = jointOf(model, name);
        const own = joint && (joint.name === name);
        rows.push({index, name, positionName, position, joint: joint?.name ?? name.split('.')[0], angular: position.turn !== undefined || !linear(joint, positionName),
            limits: own ? joint.limits : {}, actuated: joint ? joint.actuated : false, wraps: joint?.type === 'continuous'});
    };
    const names = model.position_names;
    for (let i = 0; i < names.length; i++) {
        if (!QUATERNION.test(names[i])) {
            push(names[i], {at: i});
            continue;
        }
        for (const turn of [0, 1, 2] as const) push(`${names[i].slice(0, -2)}${TURNS[turn]}`, {at: i, turn});
        i += 3;
    }
    return rows;
}

export function zeroPosition(model: Model): number[] {
    if (model.reference) return [...model.reference.q];
    return model.position_names.map(name => name.endsWith('.qw') ? 1 : 0);
}

/** The configuration that is named home; otherwise a position within the limits, near zero. */
export function startPosition(model: Model): number[] {
    const q = zeroPosition(model), home = model.configurations?.find(c => c.name === 'home');
    if (home) return [...home.q];
    if (model.reference) return q;
    for (const row of rowsOf(model)) {
        const range = row.limits.position;
        if (row.position.turn === undefined && range && (range[0] > 0 || range[1] < 0)) q[row.position.at] = (range[0] + range[1]) / 2;
    }
    return q;
}

const quatAt = (q: readonly number[], i: number): Quat => [q[i], q[i + 1], q[i + 2], q[i + 3]];

export function positionOf(row: Row, q: readonly number[]): number {
    const {at, turn} = row.position;
    return turn === undefined ? q[at] : rpyOfQuat(quatAt(q, at))[turn];
}

export function withPosition(row: Row, q: readonly number[], value: number): number[] {
    const next = [...q], {at, turn} = row.position;
    if (turn === undefined) {
        next[at] = value;
        return next;
    }
    const rpy: Vec3 = rpyOfQuat(quatAt(q, at));
    rpy[turn] = turn === 1 ? Math.max(-1.5707, Math.min(1.5707, value)) : value;
    quatOfRpy(rpy).forEach((x, k) => { next[at + k] = x; });
    return next;
}

export const unitOf = (row: Row, quantity: Quantity | 'tau' | 'tau_dot' | 'qddd'): string => {
    const length = row.angular ? 'rad' : 'm', effort = row.angular ? 'N m' : 'N';
    return {q: length, qd: `${length}/s`, qdd: `${length}/s²`, qddd: `${length}/s³`, tau: effort, tau_dot: `${effort}/s`}[quantity];
};

/** The range of the slider of a quantity. */
export function rangeOf(row: Row, quantity: Quantity): [number, number] {
    const {position, velocity} = row.limits;
    if (quantity === 'q') {
        if (row.position.turn === 1) return [-1.57, 1.57];
        return position && position[1] > position[0] ? [position[0], position[1]] : row.angular ? [-Math.PI, Math.PI] : [-1, 1];
    }
    if (quantity === 'qd') return velocity ? [-velocity, velocity] : row.angular ? [-Math.PI, Math.PI] : [-2, 2];
    return [-10, 10];
}
