#!/bin/bash
# Rapier: a joint between two bodies is made with createImpulseJoint or createMultibodyJoint, from the same JointData, which has no damping unless a motor or
# a spring is set. The impulse joint is free. The multibody joint, meant for robots since it cannot come apart, has a damping of
# 0.1 N m s per radian, which nothing tells, reads or sets: a light link swings as in honey. An angular velocity that its body has at the start is lost as well.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' >package.json
npm install --no-audit --no-fund --ignore-scripts @dimforge/rapier3d-compat@0.21.0 >npm.log 2>&1 || { tail -n 3 npm.log; exit 77; }
cat >finding.mjs <<'FILE'
import rapier from "@dimforge/rapier3d-compat";
await rapier.init();
console.log("Rapier " + rapier.version());
const {JointData, RigidBodyDesc, World} = rapier, origin = {x: 0, y: 0, z: 0}, g = 9.81;
// The angle of a pendulum that starts level, or in free space at a rate, after a second
function simulate(kind, mass, length, gravity, rate) {
    const world = new World({x: 0, y: -gravity, z: 0});
    world.timestep = 0.001;
    const own = 0.1 * mass * length ** 2, fixed = world.createRigidBody(RigidBodyDesc.fixed());
    const body = world.createRigidBody(RigidBodyDesc.dynamic().setTranslation(length, 0, 0).setAngvel({x: 0, y: 0, z: rate}).setCanSleep(false)
        .setLinvel(0, rate * length, 0).setAdditionalMassProperties(mass, origin, {x: own, y: own, z: own}, {x: 0, y: 0, z: 0, w: 1}));
    world[kind](JointData.revolute(origin, {x: -length, y: 0, z: 0}, {x: 0, y: 0, z: 1}), fixed, body, true);
    let angle = 0;
    for (let i = 0, last = 0; i < 1000; i++) {
        world.step();
        const now = 2 * Math.atan2(body.rotation().z, body.rotation().w), step = now - last;
        angle += step - 2 * Math.PI * Math.round(step / (2 * Math.PI));
        last = now;
    }
    return angle;
}
function exact(damping, mass, length) {
    let angle = 0, rate = 0;
    for (let i = 0, dt = 1e-5; i < 100000; i++) {
        rate -= dt * (mass * g * length * Math.cos(angle) + damping * rate) / (1.1 * mass * length ** 2);
        angle += dt * rate;
    }
    return angle;
}
let seen = true;
const close = (a, b) => Math.abs(a - b) < 0.02;
for (const [mass, length] of [[1, 1], [1, 0.3], [0.1, 0.5]]) {
    const impulse = simulate("createImpulseJoint", mass, length, g, 0), multibody = simulate("createMultibodyJoint", mass, length, g, 0);
    const free = exact(0, mass, length), damped = exact(0.1, mass, length);
    console.log(`pendulum of ${mass} kg, ${length} m, 1 s: expected ${free.toFixed(3)} rad; impulse joint ${impulse.toFixed(3)}, ` +
                `multibody joint ${multibody.toFixed(3)} rad; with a damping of 0.1 N m s/rad ${damped.toFixed(3)} rad`);
    seen = seen && close(impulse, free) && close(multibody, damped) && Math.abs(multibody - free) > 0.05;
}
const turned = ["createImpulseJoint", "createMultibodyJoint"].map((kind) => simulate(kind, 1, 1, 0, 0.5));
console.log(`0.5 rad/s at the start, no gravity, 1 s: expected 0.5 rad; impulse joint ${turned[0].toFixed(3)}, multibody joint ${turned[1].toFixed(3)} rad`);
process.exit(seen && close(turned[0], 0.5) && turned[1] === 0 ? 0 : 1);
FILE
node finding.mjs
