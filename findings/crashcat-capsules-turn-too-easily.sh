#!/bin/bash
# crashcat: the mass of a capsule is right and its moments of inertia are a third too small across a typical one's axis, a tenth about it: the two caps
# count about once. Boxes, spheres, cylinders and convex hulls are right; the same capsule as a hull of 2500 points has the moments expected but for its facets.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' >package.json
npm install --no-audit --no-fund --ignore-scripts crashcat@0.0.5 >npm.log 2>&1 || { tail -n 3 npm.log; exit 77; }
cat >finding.mjs <<'FILE'
import {capsule, computeMassProperties, convexHull, cylinder, massProperties, registerAll, sphere} from "crashcat";
registerAll();
console.log("crashcat 0.0.5");
const r = 0.1, L = 0.4, density = 1000;     // the axis is y; L is the length without the caps

// Returns mass, moment about y and moment about x through the centre of mass.
function moments(shape) {
    const {mass, inertia} = computeMassProperties(massProperties.create(), shape);
    return [mass, inertia[5], inertia[0]];
}

function hull() {
    const positions = [], n = 50;
    for (let i = 0; i <= n; i++) {
        const polar = Math.PI * i / n, shift = i < n / 2 ? L / 2 : -L / 2;
        for (let j = 0; j < n; j++) {
            const angle = 2 * Math.PI * j / n;
            positions.push(r * Math.sin(polar) * Math.cos(angle), r * Math.cos(polar) + shift, r * Math.sin(polar) * Math.sin(angle));
        }
    }
    return convexHull.create({positions, density});
}

const barrel = Math.PI * r * r * L * density, caps = 4 / 3 * Math.PI * r ** 3 * density;
const about = barrel * r * r / 2, across = barrel * (L * L / 12 + r * r / 4);
const expected = {
    sphere: [caps, 0.4 * caps * r * r, 0.4 * caps * r * r],
    cylinder: [barrel, about, across],
    capsule: [barrel + caps, about + 0.4 * caps * r * r, across + caps * (0.4 * r * r + L * L / 4 + 3 / 8 * L * r)],
};
const shapes = {
    sphere: sphere.create({radius: r, density}),
    cylinder: cylinder.create({halfHeight: L / 2, radius: r, density}),
    capsule: capsule.create({halfHeightOfCylinder: L / 2, radius: r, density}),
    "capsule as a hull": hull(),
};
let seen = true;
for (const [name, shape] of Object.entries(shapes)) {
    const got = moments(shape), wanted = expected[name.split(" ")[0]], show = (values) => values.map((x) => x.toFixed(4)).join(", ");
    const ratio = got.map((x, i) => x / wanted[i]);
    console.log(`${name}: mass, moments about and across the axis expected ${show(wanted)}, seen ${show(got)}`);
    if (name === "capsule") seen = seen && Math.abs(ratio[0] - 1) < 1e-5 && Math.abs(ratio[1] - 0.895) < 0.001 && Math.abs(ratio[2] - 0.688) < 0.001;
    else seen = seen && ratio.every((x) => Math.abs(x - 1) < (name === "capsule as a hull" ? 0.04 : 1e-5));
}
process.exit(seen ? 0 : 1);
FILE
node finding.mjs
