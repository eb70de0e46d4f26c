#!/bin/bash
# Planck.js (Box2D in JavaScript): a Polygon is given by its vertices and its mass follows from its area. Vertices closer than 2.5 mm are merged; if fewer than three are
# left, the polygon is replaced by a box of 2 m x 2 m, in silence: a triangle of 2 mm in a linkage weighs 2 million times its mass and
# collides 1 m away. A Box of 1 mm is made as it is, though it is a polygon as well.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' >package.json
npm install --no-audit --no-fund --ignore-scripts --legacy-peer-deps planck@1.4.2 >npm.log 2>&1 || { tail -n 3 npm.log; exit 77; }
cat >finding.mjs <<'FILE'
import {Box, Polygon, Vec2, World} from "planck";
console.log("Planck.js 1.4.2");
const world = new World({gravity: new Vec2(0, 0)});
function measure(shape) {
    const body = world.createDynamicBody();
    const fixture = body.createFixture(shape, 1);
    return {mass: body.getMass(), holds: fixture.testPoint(new Vec2(0.9, 0.9))};
}
const triangle = (side) => new Polygon([new Vec2(0, 0), new Vec2(side, 0), new Vec2(0, side)]);
let seen = true;
for (const [name, shape, area, turned] of [["triangle of 4 mm", triangle(0.004), 0.004 ** 2 / 2, false], ["triangle of 2 mm", triangle(0.002), 0.002 ** 2 / 2, true],
                                           ["triangle of 1 mm", triangle(0.001), 0.001 ** 2 / 2, true], ["Box of 1 mm     ", new Box(0.0005, 0.0005), 1e-6, false]]) {
    const {mass, holds} = measure(shape);
    console.log(`${name}: mass at density 1 expected ${area}, seen ${mass.toPrecision(6)} kg; a point 1.27 m away is ${holds ? "inside" : "outside"}`);
    seen = seen && holds === turned && Math.abs(mass / (turned ? 4 : area) - 1) < 1e-6;
}
process.exit(seen ? 0 : 1);
FILE
node finding.mjs 2>&1
