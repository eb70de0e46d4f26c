#!/bin/bash
# Oimo.js: the moment of inertia of a cylinder about its axis is r^2/2 without the factor mass, at any density, while that across the axis
# and those of boxes and spheres are right. A wheel of 12.6 kg is spun by an impulse 12.6 times as fast as it should be, one of 0.13 kg
# eight times too slowly.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' >package.json
npm install --no-audit --no-fund --ignore-scripts oimo@1.0.9 >npm.log 2>&1 || { tail -n 3 npm.log; exit 77; }
cat >finding.mjs <<'FILE'
import oimo from "oimo";
console.log("Oimo.js 1.0.9");
const near = (a, b) => Math.abs(a - b) <= 1e-6 * Math.abs(b);
const radius = 0.1, height = 0.4, impulse = 0.2;
const shapes = {cylinder: [radius, height], box: [2 * radius, height, 2 * radius]};

// Returns mass and angular velocity about y of a body at rest after an impulse along x at the distance `radius` from the y axis.
function spun(type, density) {
    const world = new oimo.World({gravity: [0, 0, 0], info: false});
    const body = world.add({type, size: shapes[type], pos: [0, 0, 0], move: true, density});
    body.applyImpulse(new oimo.Vec3(0, 0, radius), new oimo.Vec3(impulse, 0, 0));
    return [body.mass, body.angularVelocity.y];
}

let seen = true;
for (const type of Object.keys(shapes)) {
    for (const density of [10, 1000]) {
        const [mass, rate] = spun(type, density);
        const unit = type === "box" ? 2 * radius ** 2 / 3 : radius ** 2 / 2;    // inertia about y of 1 kg
        const expected = radius * impulse / (mass * unit);
        console.log(`${type} of ${mass.toFixed(3)} kg: angular velocity expected ${expected.toFixed(4)} rad/s, seen ${rate.toFixed(4)}`);
        seen = seen && near(rate, type === "box" ? expected : mass * expected);
    }
}
process.exit(seen ? 0 : 1);
FILE
node finding.mjs
