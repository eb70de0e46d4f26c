// cbor-x against a torqued: its requests are understood, and what it makes of answers are the doubles of JSON, bit for
// bit. Reports in TAP under `node --test`. TORQUED_URL names a server that has the bundled models.
import assert from 'node:assert/strict';
import test from 'node:test';
import {decode, Encoder, Tag} from 'cbor-x';

const url = process.env.TORQUED_URL;
const encoder = new Encoder({useRecords: false, mapsAsObjects: true});
const types = {json: 'application/json', cbor: 'application/cbor'};

const post = async (path, request, from, to) => {
    const answer = await fetch(`${url}/v1/models/${path}`, {
        method: 'POST',
        body: from === 'json' ? JSON.stringify(request) : encoder.encode(request),
        headers: {'Content-Type': types[from], Accept: types[to]},
    });
    const bytes = Buffer.from(await answer.arrayBuffer());
    assert.equal(answer.status, 200, bytes.toString());
    assert.equal(answer.headers.get('content-type'), types[to]);
    return to === 'json' ? JSON.parse(bytes.toString()) : decode(bytes);
};

const extents = (value) => Array.isArray(value) ? [value.length, ...extents(value[0])] : [];
const bits = (numbers) => Buffer.from(Float64Array.from(numbers).buffer).toString('hex');

// What JSON says, as typed arrays: alone for one dimension, under tag 40 for more.
const same = (json, cbor, where) => {
    if (typeof json === 'number') return assert.equal(bits([json]), bits([cbor]), where);
    if (!Array.isArray(json)) {
        assert.deepEqual(Object.keys(json), Object.keys(cbor), where);
        return Object.keys(json).forEach((key) => same(json[key], cbor[key], `${where}/${key}`));
    }
    const shape = extents(json);
    if (shape.length > 1) {
        assert.equal(cbor.tag, 40, where);
        assert.deepEqual(cbor.value[0], shape, where);
        [, cbor] = cbor.value;
    }
    assert.ok(cbor instanceof Float64Array, where);
    assert.equal(bits(cbor), bits(json.flat(Infinity)), where);
};

const rows = (count, n) => Array.from({length: count}, (_, i) => Array.from({length: n}, (_, k) => Math.sin(1 + 7 * i + k)));

const operations = {
    'inverse-dynamics': {outputs: ['tau', 'joint_wrenches']},
    'mass-matrix': {outputs: ['mass_matrix', 'inverse']},
    'kinematics': {frame: 'link6', outputs: ['poses', 'jacobian', 'velocity']},
    'energy': {outputs: ['kinetic', 'mass', 'com', 'momentum_matrix']},
    'coriolis': {outputs: ['coriolis_matrix', 'christoffel']},
};

test('answers to one state and to a batch', async () => {
    for (const q of [rows(1, 6)[0], rows(17, 6)]) {
        const request = {q, qd: rows(1, 6)[0], operations};
        same(await post('puma560/evaluate', request, 'json', 'json'),
            await post('puma560/evaluate', request, 'json', 'cbor'), '');
    }
});

test('requests as plain arrays, typed arrays, rows of them and tag 40', async () => {
    const q = rows(17, 6);
    const expected = await post('puma560/bias', {q, qd: q[0]}, 'json', 'json');
    const typed = Float64Array.from(q.flat());
    for (const form of [q, q.map((row) => Float64Array.from(row)), new Tag([[17, 6], typed], 40)])
        same(expected, await post('puma560/bias', {q: form, qd: Float64Array.from(q[0])}, 'cbor', 'cbor'), '');
});

test('models', async () => {
    const answer = await fetch(`${url}/v1/models`, {headers: {Accept: types.cbor}});
    const {models} = decode(Buffer.from(await answer.arrayBuffer()));
    assert.deepEqual(models.find((model) => model.name === 'puma560').nq, 6);
});
