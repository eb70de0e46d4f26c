// api.ts - sends requests to the server, measures their latency and knows whether the server can be reached.
import {decodeCbor} from './cbor';
import {authorization, credential, refuse} from './credential';
import {Store} from './store';
import type {Model, ModelEntry, ProblemBody, PutReply, Report, RobotDocument, Service} from './types';

/** An answer with an error status, as described by the server's problem document. */
export class Problem extends Error {
    constructor(readonly status: number, readonly body: Partial<ProblemBody>) {
        super(body.detail ?? body.title ?? `HTTP status ${status}`);
    }
}

/** The server gave no answer at all. */
export class Unreachable extends Error {
    constructor() {
        super('The server cannot be reached.');
    }
}

export interface Connection {
    state: 'ok' | 'lost';
    epoch: number; // counts recoveries
}

export interface Traffic {
    sent: number;
    failed: number;
    inFlight: number;
    latencies: number[]; // ms, the last 500
    served: number[]; // ms of the server's own work, the last 500 that it told
}

/** Milliseconds of a request: of the server's own work (Server-Timing), if it tells them, and of the round trip. */
export interface Took {
    server: number | null;
    trip: number;
}

export const connection = new Store<Connection>({state: 'ok', epoch: 0});
export const traffic = new Store<Traffic>({sent: 0, failed: 0, inFlight: 0, latencies: [], served: []});
const times = new WeakMap<Response, Took>();

export interface CallOptions {
    body?: BodyInit;
    type?: string;
    accept?: string;
    signal?: AbortSignal;
    headers?: Record<string, string>;
}

function count(change: (t: Traffic) => Partial<Traffic>): void {
    traffic.update(change(traffic.value));
}

/** The sum of the durations in a Server-Timing header. */
function serverTime(answer: Response): number | null {
    const steps = [...(answer.headers.get('Server-Timing') ?? '').matchAll(/;dur=([\d.]+)/g)];
    return steps.length ? steps.reduce((sum, step) => sum + Number(step[1]), 0) : null;
}

async function problemOf(answer: Response): Promise<Problem> {
    try {
        return new Problem(answer.status, await answer.json() as ProblemBody);
    } catch {
        return new Problem(answer.status, {});
    }
}

/** One request; resolves with a successful answer, rejects with Problem or Unreachable. */
export async function call(method: string, path: string, options: CallOptions = {}): Promise<Response> {
    const headers: Record<string, string> = {Accept: options.accept ?? 'application/json', ...authorization(), ...options.headers};
    if (options.type) headers['Content-Type'] = options.type;
    const started = performance.now();
    count(t => ({sent: t.sent + 1, inFlight: t.inFlight + 1}));
    let answer: Response;
    try {
        answer = await fetch(path, {
            method, headers, cache: 'no-store', ...(options.body !== undefined && {body: options.body}),
            ...(options.signal && {signal: options.signal}),
        });
    } catch (error) {
        count(t => ({failed: t.failed + 1, inFlight: t.inFlight - 1}));
        if (options.signal?.aborted) throw error;
        lose();
        throw new Unreachable();
    }
    const trip = performance.now() - started, server = serverTime(answer);
    times.set(answer, {server, trip});
    count(t => ({inFlight: t.inFlight - 1, failed: t.failed + (answer.ok ? 0 : 1), latencies: [...t.latencies.slice(-499), trip],
        ...(server !== null && {served: [...t.served.slice(-499), server]})}));
    if (connection.value.state === 'lost') recover();
    if (answer.ok) return answer;
    const problem = await problemOf(answer);
    if (answer.status === 401) refuse(problem.message, headers.Authorization);
    throw problem;
}

let probe: number | undefined;

function lose(): void {
    if (connection.value.state === 'lost') return;
    connection.update({state: 'lost'});
    const again = async () => {
        try {
            if ((await fetch('readyz', {cache: 'no-store'})).ok) return recover();
        } catch { /* still away */ }
        probe = window.setTimeout(again, 1000);
    };
    probe = window.setTimeout(again, 500);
}

function recover(): void {
    if (connection.value.state === 'ok') return;
    window.clearTimeout(probe);
    connection.set({state: 'ok', epoch: connection.value.epoch + 1});
}

// With another token everything is asked again, as after the server was away.
credential.subscribe(({wanted}) => !wanted && connection.set({state: connection.value.state, epoch: connection.value.epoch + 1}));

const json = async <T>(answer: Promise<Response>): Promise<T> => (await answer).json() as Promise<T>;
export const modelPath = (name: string): string => `v1/models/${encodeURIComponent(name)}`;

export const getService = (): Promise<Service> => json(call('GET', 'v1'));
export const listModels = async (): Promise<ModelEntry[]> => (await json<{models: ModelEntry[]}>(call('GET', 'v1/models'))).models;
export const getModel = (name: string): Promise<Model> => json(call('GET', modelPath(name)));
export const getDocument = (name: string): Promise<RobotDocument> => json(call('GET', `${modelPath(name)}/document`));
/** The document as the server sends it, which keeps every digit. */
export const getDocumentText = async (name: string): Promise<string> => (await call('GET', `${modelPath(name)}/document`)).text();
export const exportModel = (name: string, format: 'urdf' | 'mjcf' | 'sdf'): Promise<{text: string; report: Report}> => json(call('GET', `${modelPath(name)}/export/${format}`));
export const deleteModel = (name: string): Promise<Response> => call('DELETE', modelPath(name));

/** Formats of robots, as the outermost element of an XML file tells. */
export type RobotFormat = 'URDF' | 'MJCF' | 'SDF' | 'model document';

export function formatOf(text: string): RobotFormat {
    if (!text.trimStart().replace(/^\ufeff/, '').startsWith('<')) return 'model document';
    const root = /<(robot|mujoco|sdf)[\s>/]/.exec(text.replace(/<!--[^]*?-->/g, ''))?.[1];
    return root === 'mujoco' ? 'MJCF' : root === 'sdf' ? 'SDF' : 'URDF';
}

/** The document with the warnings about the file that its model was made from, which the canonical document is without. */
export function withWarnings(text: string, report: Report): string {
    const warnings = report.filter(r => r.severity === 'warning' && r.where.startsWith('line ')).map(({code, where, text}) => ({code, where, text}));
    return warnings.length ? text.replace('{', () => `{"warnings":${JSON.stringify(warnings)},`) : text;
}

export interface PutOptions {
    replace: boolean;
    format: RobotFormat;
    base: 'fixed' | 'floating';
    mimic: 'independent' | 'coupled' | 'refuse';
}

export function putModel(name: string, text: string, options: PutOptions): Promise<PutReply> {
    const query = options.format === 'URDF' ? `?base=${options.base}&mimic=${options.mimic}` : '';
    return json(call('PUT', modelPath(name) + query, {
        body: text, type: options.format === 'model document' ? 'application/json' : 'application/xml',
        headers: options.replace ? {} : {'If-None-Match': '*'},
    }));
}

const post = (model: string, operation: string, request: unknown): Promise<Response> =>
    call('POST', `${modelPath(model)}/${operation}`, {body: JSON.stringify(request), type: 'application/json'});

export const ask = <T>(model: string, operation: string, request: unknown): Promise<T> => json(post(model, operation, request));

/** Like ask, with the time that the answer took. */
export async function askTimed<T>(model: string, operation: string, request: unknown): Promise<[T, Took]> {
    const answer = await post(model, operation, request);
    return [await answer.json() as T, times.get(answer) ?? {server: null, trip: 0}];
}

/** Like ask, with the answer in CBOR, whose arrays need no parsing. With `revision` another revision of the model is refused (412). */
export async function askBinary<T>(model: string, operation: string, request: unknown, signal?: AbortSignal, revision?: string): Promise<T> {
    const answer = await call('POST', `${modelPath(model)}/${operation}`, {
        body: JSON.stringify(request), type: 'application/json', accept: 'application/cbor; arrays=multidimensional', ...(signal && {signal}),
        ...(revision && {headers: {'If-Match': `"${revision}"`}}),
    });
    return decodeCbor(await answer.arrayBuffer()) as T;
}
