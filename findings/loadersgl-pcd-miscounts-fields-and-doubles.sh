#!/bin/bash
# PCD: COUNT says how many values a field has, SIZE how many bytes each of them has (PCL's description of the format; a descriptor beside the position has COUNT 33).
# PCDLoader of loaders.gl takes each field of an ASCII file for one value, so that a field of three before x, y, z makes points of other
# columns; and it takes each value of a binary file for a 4-byte one, so that points of 8-byte numbers are 0. No error, the right number
# of points. three.js, whose loader it stems from, reads both files right.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' >package.json
npm install --no-audit --no-fund --ignore-scripts @loaders.gl/core@4.4.2 @loaders.gl/pcd@4.4.2 @math.gl/types@4.1.0 three@0.187.0 >npm.log 2>&1 ||
    { tail -n 3 npm.log; exit 77; }
cat >finding.mjs <<'FILE'
import {parseSync} from "@loaders.gl/core";
import {PCDLoader} from "@loaders.gl/pcd";
import {PCDLoader as Other} from "three/addons/loaders/PCDLoader.js";
console.log("loaders.gl 4.4.2");
function file({fields, sizes, counts, types, data}, content) {
    const head = Buffer.from(`# .PCD v0.7 - Point Cloud Data file format\nVERSION 0.7\nFIELDS ${fields}\nSIZE ${sizes}\nTYPE ${types}\nCOUNT ${counts}\n` +
        `WIDTH 2\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS 2\nDATA ${data}\n`);
    const whole = Buffer.concat([head, content]);
    return whole.buffer.slice(whole.byteOffset, whole.byteOffset + whole.length);
}
const points = [1, 2, 3, 4, 5, 6];
const cases = {
    "ascii, x y z alone": file({fields: "x y z", sizes: "4 4 4", counts: "1 1 1", types: "F F F", data: "ascii"}, Buffer.from("1 2 3\n4 5 6\n")),
    "ascii, 3 values before": file({fields: "feature x y z", sizes: "4 4 4 4", counts: "3 1 1 1", types: "F F F F", data: "ascii"},
                                   Buffer.from("10 20 30 1 2 3\n11 21 31 4 5 6\n")),
    "binary, 4 bytes": file({fields: "x y z", sizes: "4 4 4", counts: "1 1 1", types: "F F F", data: "binary"},
                            Buffer.from(new Float32Array(points).buffer)),
    "binary, 8 bytes": file({fields: "x y z", sizes: "8 8 8", counts: "1 1 1", types: "F F F", data: "binary"},
                            Buffer.from(new Float64Array(points).buffer)),
};
const wrong = {"ascii, 3 values before": "20,30,1,21,31,4", "binary, 8 bytes": "0,0,0,0,0,0"};
let seen = true;
for (const [name, data] of Object.entries(cases)) {
    const got = Array.from(parseSync(data, PCDLoader).attributes.POSITION.value).join();
    const other = Array.from(new Other().parse(data).geometry.attributes.position.array).join();
    console.log(`${name}: expected ${points}, seen ${got}; three.js ${other}`);
    seen = seen && other === points.join() && got === (wrong[name] ?? points.join());
}
process.exit(seen ? 0 : 1);
FILE
node finding.mjs
