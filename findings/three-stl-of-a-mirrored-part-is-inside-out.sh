#!/bin/bash
# STL: the corners of a facet run counter-clockwise seen from outside, and the normal points out; volume, mass and inertia follow from that. STLExporter of
# three.js applies the pose and the scale of each mesh. For a mirrored one, as URDF's scale="1 -1 1" makes the left arm from the right arm's
# mesh, it keeps the order of the corners: facets and their normals point inwards, so the mass is negative. OBJExporter does the same.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' >package.json
npm install --no-audit --no-fund --ignore-scripts three@0.187.0 >npm.log 2>&1 || { tail -n 3 npm.log; exit 77; }
cat >finding.mjs <<'FILE'
import {BoxGeometry, Group, Mesh, MeshBasicMaterial, REVISION, Vector3} from "three";
import {OBJExporter} from "three/addons/exporters/OBJExporter.js";
import {STLExporter} from "three/addons/exporters/STLExporter.js";
import {OBJLoader} from "three/addons/loaders/OBJLoader.js";
import {STLLoader} from "three/addons/loaders/STLLoader.js";
console.log("three.js r" + REVISION);
const centre = new Vector3(1, 2, 3);
function part(scale) {
    const mesh = new Mesh(new BoxGeometry(0.2, 0.4, 0.6), new MeshBasicMaterial()), group = new Group();
    mesh.scale.set(1, scale, 1);
    mesh.position.copy(centre);
    group.add(mesh);
    group.updateMatrixWorld(true);
    return group;
}
function volume(positions) {    // by the divergence theorem; a file read again has three corners for each facet
    let sum = 0;
    const corner = (i) => new Vector3().fromBufferAttribute(positions, i);
    for (let i = 0; i < positions.count; i += 3)
        sum += corner(i).dot(corner(i + 1).cross(corner(i + 2))) / 6;
    return sum;
}
function outward(geometry) {    // whether the written normals point away from the centre
    const {position, normal} = geometry.attributes;
    const at = (attribute, i) => new Vector3().fromBufferAttribute(attribute, i);
    return at(position, 0).sub(centre).dot(at(normal, 0)) > 0;
}
const stl = (group) => new STLLoader().parse(new STLExporter().parse(group, {binary: true}).buffer);
const obj = (group) => new OBJLoader().parse(new OBJExporter().parse(group)).children[0].geometry;
let seen = true;
for (const [name, scale] of [["as it is", 1], ["mirrored", -1]]) {
    const file = stl(part(scale)), volumes = [file, obj(part(scale))].map((geometry) => volume(geometry.attributes.position));
    console.log(`${name}: volume expected 0.0480 m^3, seen STL ${volumes[0].toFixed(4)}, OBJ ${volumes[1].toFixed(4)} m^3; ` +
                `normals of the STL point ${outward(file) ? "out" : "in"}`);
    seen = seen && volumes.every((v) => Math.abs(v - scale * 0.048) < 1e-5) && outward(file) === scale > 0;
}
process.exit(seen ? 0 : 1);
FILE
node finding.mjs
