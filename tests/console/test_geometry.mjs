// test_geometry.mjs - tests which part of space the console's view shows.
import assert from 'node:assert/strict';
import {join} from 'node:path';
import test from 'node:test';
import {installed, missingPackages, ROOT} from './browser.mjs';

const skip = missingPackages();

/** The functions of geometry.ts. */
async function load() {
    const source = join(ROOT, 'server/console/src/geometry.ts');
    const {outputFiles} = installed()('esbuild').buildSync({entryPoints: [source], bundle: true, format: 'esm', write: false});
    return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
}

/** A robot of two links 1 m from each other, of which the second has a solid of these lengths. */
const robot = (size, given) => ({links: new Set([0, 1]), shapes: [], solids: [{frame: 1, kind: 'ellipsoid', given, size, position: [0, 0, 0], rotation: [0, 0, 0, 1], mass: 1}]});
const POSES = [0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1];

test('a solid of a placeholder does not hide the robot', {skip}, async () => {
    const {boundsOf} = await load();
    for (const [size, given, radius] of [[[100, 100, 100], false, 0.5], [[100, 1, 1], false, 0.5], [[7, 7, 7], false, 3.5], [[100, 100, 100], true, 50]])
        assert.ok(Math.abs(boundsOf(robot(size, given), POSES).radius / radius - 1) < 0.25, `${size} ${given}`);
    const one = {...robot([100, 100, 100], false), links: new Set([1])}; // the robot has no other shapes
    assert.equal(boundsOf(one, POSES).radius, 50);
});
