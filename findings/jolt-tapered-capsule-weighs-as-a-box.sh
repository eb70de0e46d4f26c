#!/bin/bash
# Jolt: the mass properties of a shape follow from its density and form. A tapered capsule has the mass properties of a box around
# its middle radius, and the volume of its bounding box: mass / density and GetVolume() differ. The
# capsule, the cylinder and the tapered cylinder are exact.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' >package.json
npm install --no-audit --no-fund --ignore-scripts jolt-physics@1.1.0 >npm.log 2>&1 || { tail -n 3 npm.log; exit 77; }
cat >finding.mjs <<'FILE'
import load from "jolt-physics";
const jolt = await load();
console.log("jolt-physics 1.1.0");
const half = 0.5, top = 0.3, bottom = 0.1, density = 1000;      // the default density
// Exact values by integration of slices across y; square(y) is the square of the radius of a slice
function exact(square, from, to) {
    let V = 0, first = 0, second = 0, fourth = 0;
    for (let n = 200000, i = 0; i < n; i++) {
        const y = from + (to - from) * (i + 0.5) / n, r2 = square(y), slice = Math.PI * r2 * (to - from) / n;
        V += slice; first += slice * y; second += slice * y * y; fourth += slice * r2 / 2;
    }
    return {volume: V, com: first / V, along: density * fourth, across: density * (fourth / 2 + second - first * first / V)};
}
function capsule(y) {       // the largest of the spheres between bottom and top
    const mean = (top + bottom) / 2, k = (top - bottom) / 2;
    const s = Math.max(-1, Math.min(1, (k * mean + half * y) / (half * half - k * k)));
    return (mean + k * s) ** 2 - (y - half * s) ** 2;
}
const cone = (y) => ((top + bottom) / 2 + (top - bottom) / 2 * y / half) ** 2;
function read(settings) {
    const shape = settings.Create().Get(), properties = shape.GetMassProperties(), inertia = properties.get_mInertia();
    return {mass: properties.get_mMass(), volume: shape.GetVolume(), com: shape.GetCenterOfMass().GetY(),
            across: inertia.GetColumn4(0).GetX(), along: inertia.GetColumn4(1).GetY()};
}
const line = (r) => `mass ${r.mass.toFixed(1)} kg, volume ${r.volume.toFixed(4)} m^3, centre y ${r.com.toFixed(4)} m, ` +
    `inertia along ${r.along.toFixed(3)}, across ${r.across.toFixed(3)} kg m^2`;
const compare = (name, wanted, got) => {
    wanted.mass = density * wanted.volume;
    console.log(`${name}:\n  expected ${line(wanted)}\n  seen     ${line(got)}`);
    return Object.keys(wanted).every((key) => Math.abs(got[key] - wanted[key]) < 1e-3 * Math.abs(wanted[key]));
};
const cylinder = compare("tapered cylinder", exact(cone, -half, half), read(new jolt.TaperedCylinderShapeSettings(half, top, bottom)));
const got = read(new jolt.TaperedCapsuleShapeSettings(half, top, bottom));
const tapered = compare("tapered capsule", exact(capsule, -half - bottom, half + top), got);
const mean = (top + bottom) / 2, length = 2 * half + top + bottom;
process.exit(cylinder && !tapered && Math.abs(got.mass - density * 4 * mean * mean * length) < 0.01 &&
             Math.abs(got.volume - 4 * top * top * length) < 1e-5 ? 0 : 1);
FILE
node finding.mjs
