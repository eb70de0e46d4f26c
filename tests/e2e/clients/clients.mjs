// Tests torqued with fetch of Node: kept connections, many requests at once, batches, errors. Reports TAP under `node
// --test`. Skipped unless TORQUED_URL names a server that has the bundled models.
import assert from 'node:assert/strict';
import test from 'node:test';

const url = process.env.TORQUED_URL;
const skip = url ? false : 'TORQUED_URL is not set';
const qn = [0, Math.PI / 4, Math.PI, 0, Math.PI / 4, 0];
const ones = [1, 1, 1, 1, 1, 1];
const published = [32.49524275, 60.86698848, 17.74359491, 1.454519026, 1.299110411, 0.7137808875];

const post = (path, body, headers = {}) => fetch(url + path, {
    method: 'POST', body: JSON.stringify(body), headers: {'Content-Type': 'application/json', ...headers}});

const ask = async (model, operation, body) => {
    const answer = await post(`/v1/models/${model}/${operation}`, body);
    assert.equal(answer.status, 200, await answer.clone().text());
    return answer.json();
};

test('the published torques', {skip}, async () => {
    const {tau} = await ask('puma560', 'inverse-dynamics', {q: qn, qd: ones, qdd: ones});
    tau.forEach((value, i) => assert.ok(Math.abs(value - published[i]) <= 5e-9 * Math.abs(value), `tau[${i}]`));
});

test('a thousand requests on kept connections', {skip}, async () => {
    const first = await ask('puma560', 'bias', {q: qn});
    for (let i = 0; i < 1000; i++)
        assert.deepEqual(await ask('puma560', 'bias', {q: qn}), first);
});

test('two hundred requests at once', {skip}, async () => {
    const answers = await Promise.all(Array.from({length: 200}, (_, i) =>
        ask('puma560', 'inverse-dynamics', {q: [i / 100, 0, 0, 0, 0, 0], qdd: ones})));
    assert.equal(answers.length, 200);
    for (const {tau} of answers) // a rotation about the vertical does not change torques
        tau.forEach((value, i) => assert.ok(Math.abs(value - answers[0].tau[i]) < 1e-12));
});

test('a batch of 20 000 states', {skip}, async () => {
    const q = Array.from({length: 20000}, (_, i) => qn.map(x => x + i * 1e-4));
    const {tau} = await ask('puma560', 'inverse-dynamics', {q, qd: ones});
    assert.equal(tau.length, 20000);
    for (const i of [0, 1, 9999, 19999])
        assert.deepEqual(tau[i], (await ask('puma560', 'inverse-dynamics', {q: q[i], qd: ones})).tau);
});

test('numbers are written as JavaScript writes them', {skip}, async () => {
    const answer = await post('/v1/models/puma560/mass-matrix', {q: qn.map(x => x + 0.1)});
    const numbers = (await answer.text()).match(/-?\d[\d.e+-]*/g);
    assert.equal(numbers.length, 36);
    for (const number of numbers)
        assert.equal(number, Object.is(Number(number), -0) ? '-0' : String(Number(number)));
});

test('errors are problems', {skip}, async () => {
    const answer = await post('/v1/models/puma560/inverse-dynamics', {q: [1, 2, 3]});
    assert.equal(answer.status, 422);
    assert.match(answer.headers.get('content-type'), /^application\/problem\+json/);
    assert.equal((await answer.json()).pointer, '/q');
});

test('a model of one\'s own', {skip}, async () => {
    const document = {links: [{name: 'bob', parent: 'base', joint: {name: 'pivot', type: 'revolute', axis: [0, 1, 0]},
                               inertial: {mass: 2, com: [0, 0, -0.5]}}]};
    const put = await fetch(`${url}/v1/models/node`, {method: 'PUT', body: JSON.stringify(document),
                                                      headers: {'Content-Type': 'application/json'}});
    assert.equal(put.status, 201);
    const {tau} = await ask('node', 'inverse-dynamics', {q: [Math.PI / 2]});
    assert.ok(Math.abs(tau[0] - 9.81) < 1e-14);
    assert.equal((await fetch(`${url}/v1/models/node`, {method: 'DELETE'})).status, 204);
});

test('an abandoned request does not disturb the next', {skip}, async () => {
    const q = Array.from({length: 50000}, () => qn);
    const stop = new AbortController();
    const abandoned = fetch(`${url}/v1/models/puma560/inverse-dynamics`, {
        method: 'POST', body: JSON.stringify({q}), signal: stop.signal}).then(a => a.text());
    setTimeout(() => stop.abort(), 5);
    await abandoned.catch(error => assert.equal(error.name, 'AbortError'));
    await ask('puma560', 'bias', {q: qn});
});
