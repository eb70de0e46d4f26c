// problem.ts - defines the errors of a request.
import type {components} from './contract.js';

export type ProblemBody = components['schemas']['Problem'];

/** The server refused a request; `body` is its problem document (RFC 9457). */
export class Problem extends Error {
    constructor(
        readonly status: number,
        readonly body: Partial<ProblemBody>,
        /** Seconds after which to try again when the server was busy. */
        readonly retryAfter: number | undefined,
        /** Under which the server logged the request. */
        readonly requestId: string | undefined,
    ) {
        super(body.detail ?? `HTTP status ${status}`);
        this.name = 'Problem';
    }

    /** Code of the problem, such as "wrong-shape"; /problems/{code} of the server explains it. */
    get code(): ProblemBody['code'] | undefined {
        return this.body.code;
    }

    /** RFC 6901 pointer to the refused field of the request, such as "/q/3". */
    get pointer(): string | undefined {
        return this.body.pointer;
    }

    /** Row of the batch, from 0. */
    get row(): number | undefined {
        return this.body.row;
    }
}

/** There was no answer: no connection, or a timeout. `cause` has the reason. */
export class Unreachable extends Error {
    constructor(cause: unknown) {
        super(`The server cannot be reached: ${cause instanceof Error ? cause.message : String(cause)}`, {cause});
        this.name = 'Unreachable';
    }
}

export async function problemOf(answer: Response): Promise<Problem> {
    let body: Partial<ProblemBody> = {};
    try {
        body = await answer.json() as ProblemBody;
    } catch {
        // a proxy's page is no problem document
    }
    const seconds = Number(answer.headers.get('Retry-After') ?? NaN);
    return new Problem(answer.status, body, Number.isFinite(seconds) ? seconds : undefined, answer.headers.get('Request-Id') ?? undefined);
}
