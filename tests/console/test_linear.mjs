// test_linear.mjs - rotations of the console: quaternions, columns, roll, pitch and yaw, and principal axes are
// converted into each other consistently.
import assert from 'node:assert/strict';
import {join} from 'node:path';
import test from 'node:test';
import {installed, missingPackages, ROOT} from './browser.mjs';

const skip = missingPackages();

/** The functions of linear.ts. */
async function load() {
    const source = join(ROOT, 'server/console/src/linear.ts');
    const {outputFiles} = installed()('esbuild').buildSync({entryPoints: [source], bundle: true, format: 'esm', write: false});
    return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
}

/** Rotations of all kinds: each component of the quaternion is the largest in some, with either sign of the others. */
const TURNS = [-1, 1].flatMap(a => [-1, 1].flatMap(b => [-1, 1].flatMap(c => [0, 1, 2, 3].map(largest => {
    const small = [0.2 * a, 0.3 * b, 0.4 * c];
    small.splice(largest, 0, Math.sqrt(1 - 0.29));
    return small;
}))));

const near = (actual, expected, what) =>
    actual.forEach((x, i) => assert.ok(Math.abs(x - expected[i]) < 1e-12, `${what}: ${actual}, expected ${expected}`));
const sameTurn = (actual, expected, what) => near(actual.map(x => x * Math.sign(actual.reduce((sum, x, i) => sum + x * expected[i], 0))), expected, what);
const columnsOf = ([x, y, z, w]) => [[1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)],
    [2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)], [2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)]];

test('rotations by quaternions, columns and angles are the same', {skip}, async () => {
    const linear = await load();
    for (const q of TURNS) {
        const columns = columnsOf(q);
        sameTurn(linear.quatOfColumns(...columns), q, 'of columns');
        sameTurn(linear.quatOfRpy(linear.rpyOfQuat(q)), q, 'of angles');
        const v = [0.3, -0.7, 1.1], turned = [0, 1, 2].map(i => columns.reduce((sum, column, k) => sum + column[i] * v[k], 0));
        near(linear.rotate(q, v), turned, 'of a vector');
        near(linear.rotate(linear.conjugate(q), turned), v, 'back');
        for (const other of TURNS.slice(0, 8)) near(linear.rotate(linear.quatMultiply(other, q), v), linear.rotate(other, turned), 'one after the other');
    }
    for (const q of [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0.6, 0.8, 0, 0], [0, 0.6, 0.8, 0], [0.6, 0, 0.8, 0]])
        sameTurn(linear.quatOfColumns(...columnsOf(q)), q, 'half a turn');
});

test('principal axes give the tensor back', {skip}, async () => {
    const linear = await load();
    for (const q of TURNS) {
        const columns = columnsOf(q), moments = [0.3, 1.7, 0.9];
        const tensor = [0, 1, 2].map(i => [0, 1, 2].map(j => moments.reduce((sum, m, k) => sum + m * columns[k][i] * columns[k][j], 0)));
        const {values, rotation} = linear.eigenSymmetric(tensor), axes = columnsOf(rotation);
        near([0, 1, 2].flatMap(i => [0, 1, 2].map(j => values.reduce((sum, m, k) => sum + m * axes[k][i] * axes[k][j], 0))), tensor.flat(), 'tensor');
    }
});
