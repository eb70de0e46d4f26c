// torqued.ts - a client of a torqued server for browsers and Node (18 or later). Requests and answers are CBOR with typed arrays:
// doubles cross as their eight bytes, and no bit is lost. The types are those of the contract.
import {decode, Encoder} from 'cbor-x';
import {Block} from './block.js';
import {Problem, problemOf, Unreachable} from './problem.js';
import type {Answer, Operation, Received, Request, Schemas} from './types.js';

export {Block, Problem, Unreachable};
export type {Answer, Operation, Request, Schemas};
export type {ProblemBody} from './problem.js';

const encoder = new Encoder({useRecords: false, mapsAsObjects: true, tagUint8Array: false});
const CBOR = 'application/cbor';
const CBOR_OF_BLOCKS = `${CBOR}; arrays=multidimensional`;

export interface Options {
    /** Bearer token, or a function that gives the present one. Sent in the head of requests, never in a URL. */
    token?: string | (() => string | Promise<string>);
    /** Seconds that a call may take, its repetitions included; 60 if absent. */
    timeout?: number;
    /** Number of times an evaluation or a GET is repeated that found the server busy (503) or unreachable; 2 if absent. */
    retries?: number;
    /** Instead of the global fetch, for example one with the certificate of a private authority or over a Unix socket. */
    fetch?: typeof fetch;
}

export interface PutOptions {
    /** For URDF: the root link is fixed or moves freely. */
    base?: 'fixed' | 'floating';
    /** For URDF: the treatment of mimic joints. */
    mimic?: 'independent' | 'coupled' | 'refuse';
    /** Refuse (412) to replace a model that exists. */
    create?: boolean;
}

interface Message {
    method: string;
    path: string;
    repeatable: boolean;
    type?: string;
    body?: Uint8Array | string;
    head?: Record<string, string>;
    signal?: AbortSignal | undefined;
}

const FIRST_PAUSE = 0.05; // s, before a repetition when the server names none
const pathOf = (model: string): string => `/v1/models/${encodeURIComponent(model)}`;
const pause = (seconds: number): Promise<void> => new Promise(resolve => setTimeout(resolve, 1e3 * seconds));

/** A server. Requests of one client may overlap; connections are kept by fetch. */
export class Torqued {
    private readonly base: string;
    /** The last change that this client has made in a store that several servers share; 0: none. Later requests of this client see the change. */
    private change = 0;

    /** `url`: scheme, host and port; in a page that the server itself sends, '' is the same origin. */
    constructor(url = 'http://127.0.0.1:8088', private readonly options: Options = {}) {
        if (/[@?#]/.test(url)) throw new TypeError('The URL has neither user nor query; a token is an option.');
        this.base = url.replace(/\/+$/, '');
    }

    /**
     * Evaluates an operation of a model at one state or a batch:
     * `await client.evaluate('puma560', 'inverse-dynamics', {q: [0, 0.5, 3, 0, 0.5, 0]})`.
     * Rejects with Problem or Unreachable, or with the reason of `signal`.
     */
    async evaluate<Name extends Operation>(
        model: string, operation: Name, request: Request<Name>, signal?: AbortSignal,
    ): Promise<Answer<Name>> {
        return await this.ask({
            method: 'POST', path: `${pathOf(model)}/${operation}`, repeatable: true, type: CBOR, body: encoder.encode(request), signal,
        }) as Answer<Name>;
    }

    /** Properties of the server: version, operations, limits. */
    async service(): Promise<Received<Schemas['Service']>> {
        return await this.ask({method: 'GET', path: '/v1', repeatable: true}) as Received<Schemas['Service']>;
    }

    async models(): Promise<Received<Schemas['ModelList']>['models']> {
        const answer = await this.ask({method: 'GET', path: '/v1/models', repeatable: true});
        return (answer as Received<Schemas['ModelList']>).models;
    }

    /** Names and numbers of coordinates, links, frames, limits. */
    async model(name: string): Promise<Received<Schemas['Model']>> {
        return await this.ask({method: 'GET', path: pathOf(name), repeatable: true}) as Received<Schemas['Model']>;
    }

    /** Creates or replaces a model from a document, or from the text of a URDF file. */
    async putModel(name: string, source: Schemas['Document'] | string, options: PutOptions = {}): Promise<Received<Schemas['PutReply']>> {
        const isUrdf = typeof source === 'string' && source.trimStart().startsWith('<');
        const query = new URLSearchParams();
        if (options.base) query.set('base', options.base);
        if (options.mimic) query.set('mimic', options.mimic);
        return await this.ask({
            method: 'PUT', path: pathOf(name) + (`${query}` ? `?${query}` : ''), repeatable: false,
            type: isUrdf ? 'application/xml' : 'application/json', body: typeof source === 'string' ? source : JSON.stringify(source),
            head: options.create ? {'If-None-Match': '*'} : {},
        }) as Received<Schemas['PutReply']>;
    }

    async deleteModel(name: string): Promise<void> {
        await this.ask({method: 'DELETE', path: pathOf(name), repeatable: false});
    }

    private async ask(message: Message): Promise<unknown> {
        const end = performance.now() + 1e3 * (this.options.timeout ?? 60);
        for (let left = message.repeatable ? this.options.retries ?? 2 : 0; ; left--) {
            try {
                return await this.send(message, end);
            } catch (error) {
                const busy = error instanceof Problem && error.status === 503;
                const wait = error instanceof Problem ? error.retryAfter ?? FIRST_PAUSE : FIRST_PAUSE;
                const late = performance.now() + 1e3 * wait >= end;
                if (left <= 0 || late || !(busy || error instanceof Unreachable)) throw error;
                await pause(wait);
            }
        }
    }

    /** `end`: time of performance.now() at which to give up. */
    private async send(message: Message, end: number): Promise<unknown> {
        const head: Record<string, string> = {Accept: CBOR_OF_BLOCKS, ...message.head};
        if (message.type) head['Content-Type'] = message.type;
        if (this.change > 0 && message.path.startsWith('/v1/models/')) head['Model-Change'] = `${this.change}`;
        const {token} = this.options;
        if (token !== undefined) head['Authorization'] = `Bearer ${typeof token === 'string' ? token : await token()}`;
        const stop = new AbortController();
        const timer = setTimeout(() => stop.abort(new Error('timeout')), end - performance.now());
        const forward = (): void => stop.abort(message.signal?.reason);
        if (message.signal?.aborted) forward();
        message.signal?.addEventListener('abort', forward);
        try {
            const answer = await (this.options.fetch ?? fetch)(this.base + message.path, {
                method: message.method, headers: head, signal: stop.signal, ...(message.body !== undefined && {body: message.body}),
            });
            if (!answer.ok) throw await problemOf(answer);
            const change = Number(answer.headers.get('Model-Change') ?? 0);
            if (Number.isSafeInteger(change)) this.change = Math.max(this.change, change);
            const bytes = new Uint8Array(await answer.arrayBuffer());
            return bytes.length > 0 ? decode(bytes) : undefined;
        } catch (error) {
            if (message.signal?.aborted) throw message.signal.reason;
            throw error instanceof Problem ? error : new Unreachable(error);
        } finally {
            clearTimeout(timer);
            message.signal?.removeEventListener('abort', forward);
        }
    }
}
