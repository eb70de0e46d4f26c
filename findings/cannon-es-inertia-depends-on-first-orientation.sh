#!/bin/bash
# cannon-es: Body.inertia is the inertia in the body's own axes, so it depends on the shape and the mass alone. In fact it is the one of the box that
# encloses the body along the WORLD's axes when the shape is added: a rod that is created turned by 90 degrees turns about its length
# as about its width, 200 times too heavily, for good. (That shapes count as boxes is known; a sphere has 5/3 of its inertia.)
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' >package.json
npm install --no-audit --no-fund --ignore-scripts cannon-es@0.20.0 >npm.log 2>&1 || { tail -n 3 npm.log; exit 77; }
cat >finding.mjs <<'FILE'
import {Body, Box, Quaternion, Vec3, World} from "cannon-es";
console.log("cannon-es 0.20.0");
const length = 2, width = 0.1, mass = 3;
const along = mass * (width ** 2 + width ** 2) / 12, across = mass * (length ** 2 + width ** 2) / 12;
function rod(turn) {        // along its own y; turned about z at its creation
    const quaternion = new Quaternion();
    quaternion.setFromAxisAngle(new Vec3(0, 0, 1), turn);
    return new Body({mass, quaternion, shape: new Box(new Vec3(width / 2, length / 2, width / 2))});
}
function spin(body) {       // angular velocity about the rod's own length after a torque of 1 N m during 10 ms
    const world = new World();
    world.addBody(body);
    body.angularDamping = 0;
    const axis = body.quaternion.vmult(new Vec3(0, 1, 0));
    body.applyTorque(axis);
    world.step(0.01);
    return body.angularVelocity.dot(axis);
}
const upright = rod(0), lying = rod(Math.PI / 2);
const show = (v) => `(${[v.x, v.y, v.z].map((x) => x.toFixed(4)).join(", ")}) kg m^2`;
console.log(`inertia in the rod's own axes: expected (${[across, along, across].map((x) => x.toFixed(4)).join(", ")}) kg m^2 in any orientation`);
console.log(`  created upright: ${show(upright.inertia)}; created lying: ${show(lying.inertia)}`);
const fast = spin(upright), slow = spin(lying);
console.log(`speed about its length after the same torque: ${fast.toFixed(4)} rad/s and ${slow.toFixed(4)} rad/s`);
const near = (x, y) => Math.abs(x - y) < 1e-9 * y;
process.exit(near(upright.inertia.x, across) && near(upright.inertia.y, along) && near(lying.inertia.x, along) &&
             near(lying.inertia.y, across) && near(fast / slow, across / along) ? 0 : 1);
FILE
node finding.mjs
