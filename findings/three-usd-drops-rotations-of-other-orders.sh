#!/bin/bash
# USD: rotateXYZ, rotateXZY, ... rotateZYX are six operations of a prim's transform (the types of UsdGeomXformOp), and the name of any operation may
# have a suffix. All operations in xformOpOrder apply. The USDLoader of three.js knows rotateXYZ alone of the six, and rotations without a
# suffix. All others it drops, in silence: the part keeps its place and loses its orientation.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' >package.json
npm install --no-audit --no-fund --ignore-scripts three@0.187.0 >npm.log 2>&1 || { tail -n 3 npm.log; exit 77; }
cat >finding.mjs <<'FILE'
import {Matrix4, REVISION, Vector3} from "three";
import {USDLoader} from "three/addons/loaders/USDLoader.js";
console.log("three.js r" + REVISION);
const angles = {X: 30, Y: 40, Z: 50};
const about = {X: "makeRotationX", Y: "makeRotationY", Z: "makeRotationZ"};
// USD: rotateXYZ turns about x, then about the fixed y, then about the fixed z
const turn = (order) => [...order].reduce((M, axis) => M.premultiply(new Matrix4()[about[axis]](angles[axis] * Math.PI / 180)), new Matrix4());
function tip(operations) {      // where the loader puts the point (1, 2, 3) of the mesh
    const lines = operations.map(([name, type, value]) => `        ${type} xformOp:${name} = ${value}`).join("\n");
    const order = operations.map(([name]) => `"xformOp:${name}"`).join(", ");
    const root = new USDLoader().parse(`#usda 1.0
(
    defaultPrim = "robot"
    upAxis = "Y"
    metersPerUnit = 1
)
def Xform "robot"
{
    def Mesh "part"
    {
${lines}
        uniform token[] xformOpOrder = [${order}]
        int[] faceVertexCounts = [3]
        int[] faceVertexIndices = [0, 1, 2]
        point3f[] points = [(1, 2, 3), (1, 0, 0), (0, 1, 0)]
    }
}
`);
    let mesh;
    root.updateMatrixWorld(true);
    root.traverse((object) => { mesh = object.isMesh ? object : mesh; });
    return new Vector3(1, 2, 3).applyMatrix4(mesh.matrixWorld);
}
const show = (v) => `(${v.toArray().map((x) => x.toFixed(3)).join(", ")})`;
const shift = ["translate", "double3", "(10, 0, 0)"], moved = (v) => v.add(new Vector3(10, 0, 0));
let seen = true;
function compare(name, operation, expected, known) {
    const got = tip([shift, operation]), unturned = new Vector3(11, 2, 3);
    console.log(`${name}: expected ${show(expected)}, seen ${show(got)}`);
    seen = seen && got.distanceTo(known ? expected : unturned) < 1e-4 && expected.distanceTo(unturned) > 0.5;
}
for (const order of ["XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"])
    compare("rotate" + order, ["rotate" + order, "float3", "(30, 40, 50)"], moved(new Vector3(1, 2, 3).applyMatrix4(turn(order))), order === "XYZ");
for (const name of ["rotateZ", "rotateZ:joint"])
    compare(name, [name, "float", "50"], moved(new Vector3(1, 2, 3).applyMatrix4(turn("Z"))), name === "rotateZ");
process.exit(seen ? 0 : 1);
FILE
node finding.mjs
