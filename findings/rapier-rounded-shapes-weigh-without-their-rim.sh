#!/bin/bash
# Rapier: the mass and the angular inertia of a collider follow from its density and its shape (comment of ColliderDesc.setDensity), and
# roundCuboid(hx, hy, hz, borderRadius) is a box with a round border. The border collides and lies outside the box, but it has no
# mass, no inertia and no volume(): a rounded box weighs as much as the box inside it, here a quarter. So do rounded cylinders and hulls.
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
const {ColliderDesc, RigidBodyDesc, World} = rapier, {PI} = Math;
const x = 0.1, y = 0.2, z = 0.3, radius = 0.3, half = 0.5, rim = 0.1;
const corners = new Float32Array([-x, x].flatMap((a) => [-y, y].flatMap((b) => [-z, z].flatMap((c) => [a, b, c]))));
// Steiner's formula for the volume of a convex body with a border: volume, surface and integral of the mean curvature of the body inside
const steiner = (V, S, H) => V + S * rim + H * rim ** 2 + 4 / 3 * PI * rim ** 3;
const box = [8 * x * y * z, 8 * (x * y + y * z + z * x), 2 * PI * (x + y + z)];
const cylinder = [2 * PI * radius ** 2 * half, 2 * PI * radius * (radius + 2 * half), PI * (2 * half + PI * radius)];
function collider(description) {
    const world = new World({x: 0, y: 0, z: 0});
    const body = world.createRigidBody(RigidBodyDesc.dynamic());
    const made = world.createCollider(description.setDensity(1), body);
    world.step();
    return {mass: body.mass(), volume: made.volume(), holds: (point) => made.containsPoint(point)};
}
let seen = true;
for (const [name, description, inside, edge] of [
    ["cuboid", ColliderDesc.roundCuboid(x, y, z, rim), box, {x: x + 0.9 * rim, y: 0, z: 0}],
    ["convex hull", ColliderDesc.roundConvexHull(corners, rim), box, {x: x + 0.9 * rim, y: 0, z: 0}],
    ["cylinder", ColliderDesc.roundCylinder(half, radius, rim), cylinder, {x: radius + 0.9 * rim, y: 0, z: 0}]]) {
    const {mass, volume, holds} = collider(description), expected = steiner(...inside);
    console.log(`round ${name}: a point in its border is inside: ${holds(edge)}; ` +
                `mass at density 1 expected ${expected.toFixed(4)} kg, seen ${mass.toFixed(4)} kg; volume() ${volume.toFixed(4)} m^3`);
    seen = seen && holds(edge) && [mass, volume].every((v) => Math.abs(v - inside[0]) < 1e-6 * inside[0]) && expected > 2 * mass;
}
process.exit(seen ? 0 : 1);
FILE
node finding.mjs
