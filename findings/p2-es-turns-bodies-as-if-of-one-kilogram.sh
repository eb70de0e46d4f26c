#!/bin/bash
# p2-es: the port of the planar engine p2.js to ES modules. A body's `inertia` is right for one shape, yet the engine turns the body by `invInertia`,
# which is that of 1 kg whatever its mass: a torque turns 10 kg ten times too fast, and joints and contacts take it for as light. With several
# shapes each counts the whole mass, so that a plate of four quarters has four times its inertia. p2.js itself does neither; forces and masses
# are right in both.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' >package.json
npm install --no-audit --no-fund --ignore-scripts p2-es@1.2.3 p2@0.7.1 >npm.log 2>&1 || { tail -n 3 npm.log; exit 77; }
cat >finding.mjs <<'FILE'
import * as port from "p2-es";
import original from "p2";
console.log("p2-es 1.2.3, p2.js 0.7.1");
const width = 0.4, height = 0.2, step = 0.001;
const near = (a, b) => Math.abs(a - b) <= 1e-6 * Math.abs(b);

function plate(engine, mass, parts) {
    const body = new engine.Body({mass, damping: 0, angularDamping: 0}), w = width / parts;
    for (let i = 0; i < parts; i++) body.addShape(new engine.Box({width: w, height}), [w * (i + 0.5) - width / 2, 0]);
    return body;
}

// Returns the accelerations of a plate at rest under a force of 1 N and a torque of 1 N m.
function accelerations(engine, mass) {
    const world = new engine.World({gravity: [0, 0]}), body = plate(engine, mass, 1);
    world.addBody(body);
    body.force[0] = body.angularForce = 1;
    world.step(step);
    return [body.velocity[0] / step, body.angularVelocity / step];
}

let seen = true;
for (const mass of [1, 2, 10]) {
    const unit = (width ** 2 + height ** 2) / 12, [a, alpha] = accelerations(port, mass), [a2, alpha2] = accelerations(original, mass);
    const expected = 1 / (mass * unit);
    console.log(`${mass} kg: angular acceleration expected ${expected.toFixed(4)} rad/s^2, seen ${alpha.toFixed(4)}; p2.js ${alpha2.toFixed(4)}`);
    seen = seen && near(a, 1 / mass) && near(a2, 1 / mass) && near(alpha, 1 / unit) && near(alpha2, expected);
}
for (const parts of [1, 2, 4]) {
    const expected = 3 * (width ** 2 + height ** 2) / 12;
    const [mine, theirs] = [port, original].map(engine => plate(engine, 3, parts).inertia);
    console.log(`3 kg of ${parts} shapes: inertia expected ${expected.toFixed(4)} kg m^2, seen ${mine.toFixed(4)}; p2.js ${theirs.toFixed(4)}`);
    seen = seen && near(mine, expected * parts) && near(theirs, expected);
}
process.exit(seen ? 0 : 1);
FILE
node finding.mjs
