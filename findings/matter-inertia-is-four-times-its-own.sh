#!/bin/bash
# Matter.js: body.inertia is the moment of inertia, the second moment of area, computed from vertices and density (its API documentation). The number is
# four times that moment: a bar pushed at its end turns at a quarter of the rate. setInertia with the right value gives the right rate.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' >package.json
npm install --no-audit --no-fund --ignore-scripts matter-js@0.20.0 >npm.log 2>&1 || { tail -n 3 npm.log; exit 77; }
cat >finding.mjs <<'FILE'
import Matter from "matter-js";
const {Bodies, Body, Composite, Engine} = Matter;
console.log("Matter.js 0.20.0");
const width = 4, height = 2, density = 3, mass = density * width * height, exact = mass * (width ** 2 + height ** 2) / 12;
// Linear and angular velocity after one step with a force along y at the right end
function push(inertia) {
    const engine = Engine.create({gravity: {x: 0, y: 0}}), body = Bodies.rectangle(0, 0, width, height, {density, frictionAir: 0});
    if (inertia)
        Body.setInertia(body, inertia);
    Composite.add(engine.world, body);
    Body.applyForce(body, {x: width / 2, y: 0}, {x: 0, y: 0.001});
    Engine.update(engine, 10);
    return {mass: body.mass, inertia: body.inertia, ratio: body.angularVelocity / body.velocity.y};
}
const own = push(), set = push(exact), ratio = mass * width / 2 / exact;
const polygon = Bodies.polygon(0, 0, 64, 2, {density});
console.log(`bar: mass ${own.mass}; inertia expected ${exact}, seen ${own.inertia}`);
console.log(`64-gon, radius 2: inertia expected about ${(polygon.mass * 2 ** 2 / 2).toFixed(1)}, seen ${polygon.inertia.toFixed(1)}`);
console.log(`pushed at its end: angular / linear velocity expected ${ratio}, seen ${own.ratio.toFixed(6)}; after setInertia(${exact}): ${set.ratio.toFixed(6)}`);
const near = (a, b) => Math.abs(a / b - 1) < 1e-6;
process.exit(near(own.mass, mass) && near(own.inertia, 4 * exact) && near(own.ratio, ratio / 4) && near(set.ratio, ratio) ? 0 : 1);
FILE
node finding.mjs
