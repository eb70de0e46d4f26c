#!/bin/bash
# gl-matrix: mat4.getScaling returns the scale that a matrix was built with by fromRotationTranslationScale from a unit quaternion, and decompose splits a matrix
# into rotation, translation and scale (comments of mat4). If one scale is negative, as of a mirrored mesh of a robot, the scale comes back positive and
# the quaternion is not the one given, nor any rotation: its length is about 0.71. Built again from these parts, the part stands
# elsewhere. The decompose of three.js gives a unit quaternion and parts that build the matrix again.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' >package.json
npm install --no-audit --no-fund --ignore-scripts gl-matrix@3.4.4 three@0.187.0 >npm.log 2>&1 || { tail -n 3 npm.log; exit 77; }
cat >finding.mjs <<'FILE'
import * as glmatrix from "gl-matrix";
import {Matrix4, Quaternion, Vector3} from "three";
const {mat4, quat, vec3} = glmatrix;
glmatrix.glMatrix.setMatrixArrayType(Array);
console.log("gl-matrix 3.4.4");
const place = [1, 2, 3], point = [0.1, 0.2, 0.3];
const text = (v) => `(${Array.from(v).map((x) => x.toFixed(3)).join(", ")})`;
const at = (matrix) => vec3.transformMat4([], point, matrix);
let seen = true;
for (const [axis, angle, scale] of [[[0, 0, 1], 0.5, [1, 1, 1]], [[0, 0, 1], 0.5, [1, -1, 1]], [[1, 2, 3], 1, [-1, 1, 1]]]) {
    const turn = quat.setAxisAngle([], vec3.normalize([], axis), angle), matrix = mat4.fromRotationTranslationScale([], turn, place, scale);
    const rotation = [], translation = [], scaling = [];
    mat4.decompose(rotation, translation, scaling, matrix);
    const again = mat4.fromRotationTranslationScale([], rotation, translation, scaling), moved = vec3.distance(at(matrix), at(again));
    const other = {q: new Quaternion(), p: new Vector3(), s: new Vector3()};
    new Matrix4().fromArray(matrix).decompose(other.p, other.q, other.s);
    const theirs = vec3.distance(at(matrix), at(new Matrix4().compose(other.p, other.q, other.s).elements));
    console.log(`scale ${text(scale)}: scale seen ${text(scaling)}; quaternion ${text(turn)}, seen ${text(rotation)} of length ${quat.length(rotation).toFixed(3)}; ` +
                `a point moves by ${moved.toFixed(3)}, with three.js by ${theirs.toFixed(3)}`);
    const plain = scale.every((x) => x > 0), unit = Math.abs(quat.length(rotation) - 1) < 1e-6;
    seen = seen && theirs < 1e-9 && Math.abs(other.q.length() - 1) < 1e-9 && scaling.every((x) => Math.abs(x - 1) < 1e-6);
    seen = seen && (plain ? unit && moved < 1e-6 : !unit && moved > 0.1);
}
process.exit(seen ? 0 : 1);
FILE
node finding.mjs
