// files.ts - reads motions and measurements from CSV and JSON files, and writes motions as CSV.
import {askBinary} from '../api';
import type {Workspace} from '../workspace';
import {loadFields} from '../workspace';
import {cells, columnFinder, quoted, separatorOf} from './csv';
import {CURVES, columnsOf, numbersOf, unitOfColumn, withEffortRate, type Curve, type Exceeded, type Motion} from './motion';

export function csvOf(w: Workspace, m: Motion): string {
    const curves = CURVES.filter(([key]) => m.curves[key]);
    const head = ['time [s]', ...curves.flatMap(([key]) => columnsOf(w, key).map((name, i) => `${key} ${name} [${unitOfColumn(w, key, i) || '1'}]`))];
    const lines = Array.from(m.times, (t, i) => [t, ...curves.flatMap(([key]) => {
        const n = columnsOf(w, key).length;
        return Array.from(m.curves[key]!.subarray(i * n, (i + 1) * n));
    })].join(','));
    return `${head.map(quoted).join(',')}\n${lines.join('\n')}\n`;
}

export interface States {
    times?: number[];
    q: number[][];
    qd?: number[][];
    qdd?: number[][];
    tau?: number[][];
}

const PARTS = ['q', 'qd', 'qdd', 'tau'] as const;

/** Finds the columns by the names in the first line or, without names, by their number: [time,] q [, qd [, qdd [, tau]]]. */
function readCsv(w: Workspace, text: string): States {
    const lines = text.split(/\r?\n/).filter(line => line.trim() && !line.startsWith('#'));
    if (!lines.length) throw new Error('The file is empty.');
    const formsOf = (part: Curve, name: string) => [`${part} ${name}`, `${part}_${name}`, `${part}.${name}`, ...(part === 'q' ? [name] : [])];
    const known = new Set(PARTS.flatMap(part => columnsOf(w, part).flatMap(name => formsOf(part, name))));
    const separator = separatorOf(lines[0], known), first = cells(lines[0], separator), find = columnFinder(first);
    const named = first.some(cell => cell.trim() !== '' && !Number.isFinite(Number(cell)));
    const {nq, nv} = w.model, places: Partial<Record<Curve | 'time', number[]>> = {};
    if (named) {
        const time = columnFinder(first.map(cell => cell.toLowerCase()))(['t', 'time', 'times']);
        if (time >= 0) places.time = [time];
        for (const part of PARTS) {
            const at = columnsOf(w, part).map(name => find(formsOf(part, name)));
            if (at.every(i => i >= 0)) places[part] = at;
            else if (part === 'q') throw new Error(`The first line names no column for ${columnsOf(w, part)[at.indexOf(-1)]}; expected “q ${columnsOf(w, part)[at.indexOf(-1)]}”.`);
        }
    } else {
        const n = first.length, shapes = [[0, 1], [0, 2], [0, 3], [1, 1], [1, 2], [1, 3], [0, 4], [1, 4]];
        const shape = shapes.find(([t, parts]) => n === t + nq + (parts - 1) * nv);
        if (!shape) throw new Error(`The lines have ${n} numbers. Expected [time,] q [, qd [, qdd [, tau]]] with ${nq} entries of q and ${nv} of the others.`);
        const run = (from: number, count: number) => Array.from({length: count}, (_, i) => from + i), [t, parts] = shape;
        if (t) places.time = [0];
        places.q = run(t, nq);
        if (parts > 1) places.qd = run(t + nq, nv);
        if (parts > 2) places.qdd = run(t + nq + nv, nv);
        if (parts > 3) places.tau = run(t + nq + 2 * nv, nv);
    }
    const rows = lines.slice(named ? 1 : 0).map((line, i) => {
        const numbers = cells(line, separator).map(Number);
        if (numbers.length < first.length || !numbers.slice(0, first.length).every(Number.isFinite)) throw new Error(`Line ${i + 1 + Number(named)} is not ${first.length} numbers.`);
        return numbers;
    });
    const pick = (at: number[]) => rows.map(row => at.map(i => row[i]));
    return {q: pick(places.q!), ...(places.time && {times: rows.map(row => row[places.time![0]])}), ...(places.qd && {qd: pick(places.qd)}), ...(places.qdd && {qdd: pick(places.qdd)}), ...(places.tau && {tau: pick(places.tau)})};
}

function readJson(w: Workspace, text: string): States {
    const read = JSON.parse(text) as Partial<States> | number[][], states: Partial<States> = Array.isArray(read) ? {q: read} : read;
    const {nq, nv} = w.model, matrix = (value: unknown, n: number) => Array.isArray(value) && value.every(row => Array.isArray(row) && row.length === n && row.every(Number.isFinite));
    if (!matrix(states.q, nq)) throw new Error(`“q” must be rows of ${nq} numbers.`);
    for (const part of ['qd', 'qdd', 'tau'] as const) if (states[part] && (!matrix(states[part], nv) || states[part]!.length !== states.q!.length)) throw new Error(`“${part}” must have as many rows as q, of ${nv} numbers.`);
    if (states.times && states.times.length !== states.q!.length) throw new Error('“times” must have one entry for each row of q.');
    return states as States;
}

const CHUNK = 400;

interface Evaluated {
    'inverse-dynamics': {tau: unknown};
    margins: {least: (Pick<Exceeded, 'joint' | 'kind'> & {margin: number; row: number})[] | null};
}

/** Reads the states of a file, with torques if it has some. */
export async function readStates(w: Workspace, file: File): Promise<States> {
    const text = await file.text();
    return /^\s*[[{]/.test(text) ? readJson(w, text) : readCsv(w, text);
}

/** Asks the server for the torques of states. */
export async function evaluateStates(w: Workspace, title: string, states: States, progress: (part: number) => void): Promise<Motion> {
    const n = states.q.length;
    if (n < 2) throw new Error('A motion has at least two states.');
    const times = Float64Array.from(states.times ?? states.q.map((_, i) => i * 0.02));
    for (let i = 1; i < n; i++) if (!(times[i] >= times[i - 1])) throw new Error(`The times decrease at state ${i + 1}.`);
    const tau = new Float64Array(n * w.model.nv), exceeded: Exceeded[] = [];
    for (let from = 0; from < n; from += CHUNK) {
        const part = <T>(rows: T[] | undefined) => rows?.slice(from, from + CHUNK);
        const answer = await askBinary<Evaluated>(w.model.name, 'evaluate', {
            q: part(states.q), ...(states.qd && {qd: part(states.qd)}), ...(states.qdd && {qdd: part(states.qdd)}), ...loadFields(w.model, w.state.value), on_error: 'row',
            operations: {'inverse-dynamics': {}, margins: {kinds: ['position', 'velocity', 'effort'], outputs: ['least']}}}, undefined, w.model.revision);
        tau.set(numbersOf(answer['inverse-dynamics'].tau) ?? [], from * w.model.nv);
        for (const {joint, kind, margin, row} of answer.margins.least ?? []) {
            const worst = exceeded.find(e => e.joint === joint && e.kind === kind), found = {joint, kind, limit: undefined, excess: -margin, time: times[from + row]};
            if (worst && found.excess > worst.excess) Object.assign(worst, found);
            else if (!worst && margin < 0) exceeded.push(found);
        }
        progress(Math.min(1, (from + CHUNK) / n));
    }
    const flat = (rows: number[][] | undefined) => rows && Float64Array.from(rows.flat());
    const qd = flat(states.qd), qdd = flat(states.qdd);
    const notes = [...(states.times ? [] : ['There are no times: the states are 0.02 s apart.']), ...(states.qd ? [] : ['There are no velocities: torques are those at rest.']),
        ...(states.qd && !states.qdd ? ['There are no accelerations: torques are those without them.'] : []),
        ...(states.tau ? ['The torques of the file are left out: those of the model are shown.'] : [])];
    return withEffortRate({title, times, curves: {q: flat(states.q)!, ...(qd && {qd}), ...(qdd && {qdd}), tau}, exceeded, notes}, w.model.nv);
}

/** The request for the torques of all states of a motion. */
export function requestOf(w: Workspace, m: Motion): Record<string, unknown> {
    const rows = (curve: Curve): number[][] | undefined => {
        const values = m.curves[curve], n = columnsOf(w, curve).length;
        return values && Array.from(m.times, (_, i) => Array.from(values.subarray(i * n, (i + 1) * n)));
    };
    const qd = rows('qd'), qdd = rows('qdd');
    return {q: rows('q'), ...(qd && {qd}), ...(qdd && {qdd}), ...loadFields(w.model, w.state.value), on_error: 'row'};
}
