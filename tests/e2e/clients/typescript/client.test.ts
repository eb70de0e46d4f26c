// client.test.ts - tests the TypeScript client, strictly compiled, against the server at TORQUED_URL.
import assert from 'node:assert/strict';
import test from 'node:test';
import {Block, Problem, Torqued, Unreachable, type Request, type Schemas} from 'torqued';

declare const process: {env: Record<string, string | undefined>};
const url = process.env['TORQUED_URL'];
const client = new Torqued(url);
const rows = (count: number, n: number): number[][] =>
    Array.from({length: count}, (_, i) => Array.from({length: n}, (_, k) => Math.sin(1 + 7 * i + k)));

type Json = null | number | string | Json[] | {[key: string]: Json};
async function inJson(path: string, request: unknown): Promise<Json> {
    const answer = await fetch(`${url}/v1/models/${path}`, {
        method: 'POST', body: JSON.stringify(request), headers: {'Content-Type': 'application/json'},
    });
    assert.equal(answer.status, 200, await answer.clone().text());
    return await answer.json() as Json;
}

const bits = (numbers: ArrayLike<number>): string => new BigUint64Array(Float64Array.from(numbers).buffer).join();
const flat = (value: Json): number[] => Array.isArray(value) ? value.flatMap(flat) : [value as number];
const extents = (value: Json | undefined): number[] => Array.isArray(value) ? [value.length, ...extents(value[0])] : [];

// Compares JSON with the client's typed arrays: a plain one for one dimension, Block for more.
function same(json: Json, received: unknown, where = ''): void {
    if (typeof json === 'number') return assert.equal(bits([json]), bits([received as number]), where);
    if (Array.isArray(json)) {
        const shape = extents(json);
        if (shape.length > 1) {
            assert.ok(received instanceof Block, where);
            assert.deepEqual(received.shape, shape, where);
        } else {
            assert.ok(received instanceof Float64Array, where);
        }
        return assert.equal(bits(received instanceof Block ? received.data : received), bits(flat(json)), where);
    }
    const members = received as Record<string, unknown>;
    assert.deepEqual(Object.keys(json as object), Object.keys(members), where);
    Object.entries(json as object).forEach(([key, value]) => same(value, members[key], `${where}/${key}`));
}

const operations: Request<'evaluate'>['operations'] = {
    'inverse-dynamics': {outputs: ['tau', 'joint_wrenches']},
    'mass-matrix': {outputs: ['mass_matrix', 'inverse']},
    kinematics: {frame: 'link6', outputs: ['poses', 'jacobian', 'velocity']},
    energy: {outputs: ['kinetic', 'mass', 'com', 'momentum_matrix']},
    coriolis: {outputs: ['coriolis_matrix', 'christoffel']},
};

test('answers have the bits of JSON, for one state and for a batch', async () => {
    for (const q of [rows(1, 6)[0]!, rows(17, 6)]) {
        const request = {q, qd: rows(1, 6)[0]!, operations};
        same(await inJson('puma560/evaluate', request), await client.evaluate('puma560', 'evaluate', request));
    }
});

test('requests as plain arrays, typed arrays, rows of them and blocks', async () => {
    const q = rows(17, 6);
    const expected = await inJson('puma560/bias', {q, qd: q[0]});
    for (const form of [q, q.map(row => Float64Array.from(row)), Block.of(q)])
        same(expected, await client.evaluate('puma560', 'bias', {q: form, qd: Float64Array.from(q[0]!)}));
});

test('blocks', () => {
    const block = Block.of([[1, 2, 3], [4, 5, 6]]);
    assert.deepEqual([...block.row(1)], [4, 5, 6]);
    assert.equal(block.length, 2);
    assert.throws(() => Block.of([[1], [1, 2]]), RangeError);
    assert.throws(() => new Block([2, 2], new Float64Array(3)), RangeError);
});

test('models', async () => {
    const document: Schemas['Tree'] = {
        links: [{
            name: 'rod', parent: 'base', joint: {name: 'hinge', type: 'revolute', axis: [0, 1, 0], friction: {viscous: 0.1}},
            inertial: {solid: 'box', size: [0.1, 0.1, 1], mass: 2, xyz: [0, 0, -0.5]},
        }],
        frames: [{name: 'tip', link: 'rod', xyz: [0, 0, -1]}],
    };
    const put = await client.putModel('typed', document, {create: true});
    assert.equal(put.nv, 1);
    await assert.rejects(client.putModel('typed', document, {create: true}), {status: 412});
    const model = await client.model('typed');
    assert.equal(model.frames.find(frame => frame.name === 'tip')?.link, 'rod');
    const {tau} = await client.evaluate('typed', 'inverse-dynamics', {q: [0.5], qd: [1], wrenches: [{link: 'rod', force: [0, 0, 3]}]});
    assert.ok(tau instanceof Float64Array && tau.length === 1);
    const both = await client.evaluate('typed', 'evaluate', {
        q: {hinge: 0.5}, operations: {'mass-matrix': {}, kinematics: {frame: 'tip', outputs: ['jacobian']}},
    });
    assert.ok(both.kinematics?.jacobian instanceof Block && both['mass-matrix']?.mass_matrix !== undefined);
    const urdf = '<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" '
        + 'ixz="0" iyz="0"/></inertial></link><joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>';
    assert.equal((await client.putModel('typed', urdf, {base: 'floating'})).nv, 7);
    assert.ok((await client.models()).some(entry => entry.name === 'typed'));
    await client.deleteModel('typed');
    await assert.rejects(client.model('typed'), {code: 'no-such-model'});
    assert.ok((await client.service()).operations.length > 10);
});

test('rows that fail alone', async () => {
    const answer = await client.evaluate('two_link', 'inverse-dynamics', {q: [[0.5, 0], [1e9, 0]], on_error: 'row'});
    assert.ok('errors' in answer && answer.errors[0]?.row === 1);
    assert.ok(Number.isNaN((answer.tau as unknown as Block).row(1)[0]));
});

test('problems', async () => {
    await assert.rejects(client.evaluate('two_link', 'bias', {q: [[0, 1], [0, 1e9]]}), (problem: unknown) => {
        assert.ok(problem instanceof Problem);
        assert.deepEqual([problem.status, problem.code, problem.pointer, problem.row], [422, 'angle-too-large', '/q/1/1', 1]);
        assert.equal(problem.requestId?.length, 16);
        return problem.message.includes('joint2');
    });
    await assert.rejects(new Torqued('http://127.0.0.1:1').service(), Unreachable);
    assert.throws(() => new Torqued('http://user:secret@host'), TypeError);
});

test('tokens, timeouts, repeats', async () => {
    const seen: [string, string | null][] = [];
    let refusals = 2;
    const client = new Torqued('http://host', {
        token: async () => 'secret', retries: 2, timeout: 0.1,
        fetch: async (target, init) => {
            if (init?.signal?.aborted) throw init.signal.reason;
            seen.push([String(target), new Headers(init?.headers).get('Authorization')]);
            if (refusals-- > 0) return new Response('{"code": "busy"}', {status: 503, headers: {'Retry-After': '0'}});
            await new Promise((_, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)));
            return new Response();
        },
    });
    await assert.rejects(client.evaluate('m', 'bias', {q: [1]}), {name: 'Unreachable', message: /timeout/});
    assert.deepEqual(seen, Array(3).fill(['http://host/v1/models/m/bias', 'Bearer secret']));
    refusals = 9;
    await assert.rejects(client.deleteModel('a b'), {status: 503});
    assert.equal(seen[3]?.[0], 'http://host/v1/models/a%20b');
    assert.equal(seen.length, 4);
    const slow = new Torqued('http://host', {
        timeout: 5, fetch: async () => new Response('{"code": "busy"}', {status: 503, headers: {'Retry-After': '11'}}),
    });
    // rejects at once, since Retry-After exceeds the timeout
    await assert.rejects(slow.service(), {code: 'busy', retryAfter: 11});
    const stop = new AbortController();
    stop.abort(new Error('enough'));
    refusals = 0;
    await assert.rejects(client.evaluate('m', 'bias', {q: [1]}, stop.signal), {message: 'enough'});
});

test('a server that asks for a token', async () => {
    const {TORQUED_GUARDED: guarded, TORQUED_PLANNER: token} = process.env;
    assert.ok(guarded !== undefined && token !== undefined);
    const planner = new Torqued(guarded, {token});
    assert.equal((await planner.model('puma560')).nq, 6);
    await assert.rejects(planner.deleteModel('puma560'), {status: 403, code: 'forbidden'});
    await assert.rejects(new Torqued(guarded).model('puma560'), {status: 401, code: 'unauthorized'});
});

// Requests that violate the contract do not compile.
type Operations = Request<'evaluate'>['operations'];
// @ts-expect-error: bias has no such output
const output: Operations = {bias: {outputs: ['tau']}};
// @ts-expect-error: there is no such operation
const operation: Operations = {'inverse-kinematics': {}};
// @ts-expect-error: each of the frames of task-space needs its frame
const task: Operations = {'task-space': {frames: [{name: 'tool'}]}};
// @ts-expect-error: the mass is missing
const payload: Schemas['Payload'] = {link: 'rod'};
// @ts-expect-error: no such field
const misspelt: Request<'inverse-dynamics'> = {q: [0.5], qdot: [1]};
// @ts-expect-error: gravity has three entries
const gravity: Schemas['Gravity'] = 'down';
// @ts-expect-error: no such operation
const unknown = () => client.evaluate('m', 'inverse-kinetics', {q: [1]});
void [output, operation, task, payload, misspelt, gravity, unknown];
