#!/bin/bash
# Goblin Physics: a convex hull should have the same volume and the same moments about its centre of mass wherever its vertices lie. A box of eight vertices that
# does not surround the origin has another volume, another centre and negative moments; at 1 m its volume is ten times its own. And a
# CompoundShape adds 1 kg m^2 to each moment of its parts, whatever their mass: a small robot's link hardly turns.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' >package.json
npm install --no-audit --no-fund --ignore-scripts goblinphysics@0.9.2 >npm.log 2>&1 || { tail -n 3 npm.log; exit 77; }
cat >finding.mjs <<'FILE'
import goblin from "goblinphysics";
console.log("Goblin Physics 0.9.2");
const half = [0.1, 0.2, 0.3], mass = 48;
const near = (a, b) => Math.abs(a - b) <= 1e-5 * Math.max(1, Math.abs(b));
const diagonal = (t) => [t.e00, t.e11, t.e22];
const show = (values) => values.map((x) => x.toFixed(3)).join(", ");
const own = half.map((_, i) => mass / 3 * half.reduce((sum, h, j) => sum + (i === j ? 0 : h * h), 0));

function hull(x) {
    const signs = [-1, 1], vertices = [];
    for (const a of signs) for (const b of signs) for (const c of signs)
        vertices.push(new goblin.Vector3(x + a * half[0], b * half[1], c * half[2]));
    return new goblin.ConvexShape(vertices);
}

let seen = true;
for (const [x, volume, centre] of [[0, 0.048, 0], [0.2, 0.096, 0.125], [1, 0.48, 0.505]]) {
    const shape = hull(x), moments = diagonal(shape.getInertiaTensor(mass));
    console.log(`box of vertices at x = ${x}: volume expected 0.048, seen ${shape.volume.toFixed(3)}; centre expected ${x}, ` +
        `seen ${shape.center_of_mass.x.toFixed(3)}; moments expected ${show(own)}, seen ${show(moments)}`);
    seen = seen && near(shape.volume, volume) && near(shape.center_of_mass.x, centre) &&
        (x === 0 ? moments.every((m, i) => near(m, own[i])) : moments[1] < 0 && moments[2] < 0);
}
for (const m of [0.48, 48]) {
    const box = new goblin.BoxShape(...half), compound = new goblin.CompoundShape();
    compound.addChildShape(box, new goblin.Vector3(0, 0, 0), new goblin.Quaternion(0, 0, 0, 1));
    const alone = diagonal(box.getInertiaTensor(m)), within = diagonal(compound.getInertiaTensor(m));
    console.log(`box of ${m} kg as the only part of a compound: moments expected ${show(alone)}, seen ${show(within)}`);
    seen = seen && within.every((x, i) => near(x, alone[i] + 1));
}
process.exit(seen ? 0 : 1);
FILE
node finding.mjs
