// measured.ts - holds measured motion and torques of a robot: from a file, or an example with noise that the server computes.
import {ask, askBinary} from '../api';
import {rangeOf} from '../coordinates';
import type {Workspace} from '../workspace';
import {readStates} from './files';
import {numbersOf} from './motion';

export interface Measured {
    title: string;
    q: number[][];
    qd: number[][];
    qdd: number[][];
    tau: number[][];
    notes: string[];
}

/** Slopes of the rows over time: central differences, one-sided at both ends. */
export function slopes(times: readonly number[], rows: readonly number[][]): number[][] {
    const last = rows.length - 1;
    return rows.map((row, i) => {
        const a = Math.max(0, i - 1), b = Math.min(last, i + 1);
        return row.map((_, j) => (rows[b][j] - rows[a][j]) / (times[b] - times[a]));
    });
}

/** Reads positions and torques, with velocities and accelerations or times that tell them. */
export async function readMeasured(w: Workspace, file: File): Promise<Measured> {
    const {times, q, qd, qdd, tau} = await readStates(w, file);
    if (!tau) throw new Error('The file has no torques: identification compares measured torques with the motion. Name their columns “tau …”, or give them in “tau”.');
    if (qd && qdd) return {title: file.name, q, qd, qdd, tau, notes: []};
    if (!times) throw new Error(`The file has no ${qd ? 'accelerations' : 'velocities'} “${qd ? 'qdd' : 'qd'} …” and no column “time” to find them by differences.`);
    if (!qd && w.model.nq !== w.model.nv) throw new Error('The positions have quaternions, whose differences are no velocities: give columns “qd …”.');
    const bad = times.findIndex((t, i) => i > 0 && !(t > times[i - 1]));
    if (bad > 0) throw new Error(`The times do not grow at row ${bad + 1}.`);
    const velocities = qd ?? slopes(times, q), missing = qd ? 'Accelerations' : 'Velocities and accelerations';
    return {title: file.name, q, qd: velocities, qdd: qdd ?? slopes(times, velocities), tau,
        notes: [`${missing} are central differences of the file's ${qd ? 'velocities' : 'positions'}. They amplify noise: filter the file first if the results scatter.`]};
}

/** Numbers between 0 and 1 that are the same every time (Park and Miller's generator). */
function uniform(seed: number): () => number {
    let state = seed;
    return () => (state = state * 48271 % 2147483647) / 2147483647;
}

const SHARE_OF_NOISE = 0.01;

/** A motion through the ranges of all joints, with the model's torques and normal noise of a hundredth of their size. */
export async function exampleOf(w: Workspace): Promise<Measured> {
    const random = uniform(20261129), normal = () => Math.sqrt(-2 * Math.log(random())) * Math.cos(2 * Math.PI * random());
    const points = Array.from({length: 24}, () => w.rows.map(row => {
        const [low, high] = rangeOf(row, 'q');
        return (low + high) / 2 + (random() - 0.5) * Math.min(2, 0.8 * (high - low));
    }));
    const motion = await ask<Omit<Measured, 'title' | 'notes'>>(w.model.name, 'trajectory', {degree: 5, duration: 12, control_points: points, samples: 601, outputs: ['q', 'qd', 'qdd', 'tau']});
    const size = rootMeanSquares(motion.tau), tau = motion.tau.map(row => row.map((x, j) => x + SHARE_OF_NOISE * size[j] * normal()));
    return {title: 'example', ...motion, tau, notes: ['601 states of a motion through all joints, with the torques of the model and noise of 1 % of their size.']};
}

/** The root mean square of each column. */
export function rootMeanSquares(rows: readonly number[][]): number[] {
    return (rows[0] ?? []).map((_, j) => Math.sqrt(rows.reduce((sum, row) => sum + row[j] ** 2, 0) / rows.length));
}

const CHUNK = 1000;

/** The torques of the model for the measured motion. */
export async function modelTorques(w: Workspace, m: Measured): Promise<number[][]> {
    const tau: number[][] = [], {nv, name, revision} = w.model;
    for (let from = 0; from < m.q.length; from += CHUNK) {
        const part = (rows: number[][]) => rows.slice(from, from + CHUNK);
        const answer = await askBinary<{tau: unknown}>(name, 'inverse-dynamics', {q: part(m.q), qd: part(m.qd), qdd: part(m.qdd)}, undefined, revision), all = numbersOf(answer.tau)!;
        for (let i = 0; i < all.length; i += nv) tau.push(Array.from(all.subarray(i, i + nv)));
    }
    return tau;
}
