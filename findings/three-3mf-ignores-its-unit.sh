#!/bin/bash
# 3MF: the unit attribute of <model> says what a coordinate of 1 means: micron, millimeter, centimeter, inch, foot or meter (3MF core specification, on that element). The
# 3MFLoader of three.js reads the attribute and scales by nothing: a part of 1 inch and one of 1 metre get the size of one of 1 mm. The
# AMFLoader of three.js, for the predecessor of the format, makes millimetres of all units. Neither warns.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' >package.json
npm install --no-audit --no-fund --ignore-scripts three@0.187.0 linkedom@0.18.15 >npm.log 2>&1 || { tail -n 3 npm.log; exit 77; }
cat >finding.mjs <<'FILE'
import {parseHTML} from "linkedom";
import {Box3, REVISION, Vector3} from "three";
import {AMFLoader} from "three/addons/loaders/AMFLoader.js";
import {strToU8, zipSync} from "three/addons/libs/fflate.module.js";
import {ThreeMFLoader} from "three/addons/loaders/3MFLoader.js";
const parser = new (parseHTML("<html></html>").DOMParser)();
globalThis.DOMParser = class { parseFromString(text, type) { return parser.parseFromString(text, type); } };
console.log("three.js r" + REVISION);
console.log = ((log) => (text) => String(text).startsWith("THREE.") || log(text))(console.log);     // its own messages of progress
const corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], facets = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]];
const relations = `<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship
    Target="/3D/3dmodel.model" Id="a" Type="http://schemas.microsoft.com/3dmanufacturing/2013/01/3dmodel"/></Relationships>`;
function threemf(unit) {
    const model = `<?xml version="1.0"?><model unit="${unit}" xmlns="http://schemas.microsoft.com/3dmanufacturing/core/2015/02"><resources>
        <object id="1" type="model"><mesh><vertices>${corners.map(([x, y, z]) => `<vertex x="${x}" y="${y}" z="${z}"/>`).join("")}</vertices>
        <triangles>${facets.map(([a, b, c]) => `<triangle v1="${a}" v2="${b}" v3="${c}"/>`).join("")}</triangles></mesh></object></resources>
        <build><item objectid="1"/></build></model>`;
    return new ThreeMFLoader().parse(zipSync({"_rels/.rels": strToU8(relations), "3D/3dmodel.model": strToU8(model)}).buffer);
}
function amf(unit) {
    const text = `<?xml version="1.0"?><amf unit="${unit}"><object id="0"><mesh><vertices>${corners.map(([x, y, z]) =>
        `<vertex><coordinates><x>${x}</x><y>${y}</y><z>${z}</z></coordinates></vertex>`).join("")}</vertices><volume>${facets.map(([a, b, c]) =>
        `<triangle><v1>${a}</v1><v2>${b}</v2><v3>${c}</v3></triangle>`).join("")}</volume></mesh></object></amf>`;
    return new AMFLoader().parse(strToU8(text).buffer);
}
const size = (object) => new Box3().setFromObject(object).getSize(new Vector3()).x;
let seen = true;
for (const [unit, length] of [["millimeter", 1], ["inch", 25.4], ["meter", 1000]]) {
    const sizes = [threemf(unit), amf(unit)].map(size);
    console.log(`1 ${unit}: expected ${length}; 3MF: seen ${sizes[0]}; AMF: seen ${sizes[1]}`);
    seen = seen && sizes[0] === 1 && Math.abs(sizes[1] / length - 1) < 1e-6;
}
process.exit(seen ? 0 : 1);
FILE
node finding.mjs
