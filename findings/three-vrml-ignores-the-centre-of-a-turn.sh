#!/bin/bash
# VRML 2 (robots of OpenHRP and Webots): a Transform turns and scales about its field center, and scales along scaleOrientation (VRML97, on Transform). The VRMLLoader of
# three.js drops both fields, in silence: a link that turns about its hinge turns about its origin, and stands elsewhere. A translation
# pair around the rotation, which says the same, is read right.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' >package.json
npm install --no-audit --no-fund --ignore-scripts three@0.187.0 >npm.log 2>&1 || { tail -n 3 npm.log; exit 77; }
cat >finding.mjs <<'FILE'
import {Box3, REVISION, Vector3} from "three";
import {VRMLLoader} from "three/addons/loaders/VRMLLoader.js";
globalThis.self = globalThis;
console.log("three.js r" + REVISION);
const box = "Shape { geometry Box { size 0.2 0.4 0.6 } }", cube = "Shape { geometry Box { size 0.2 0.2 0.2 } }";
const read = (scene) => new Box3().setFromObject(new VRMLLoader().parse("#VRML V2.0 utf8\n" + scene + "\n", ""), true);
const place = (scene) => read(scene).getCenter(new Vector3()).toArray().map((x) => +x.toFixed(4));
const size = (scene) => read(scene).getSize(new Vector3()).toArray().map((x) => +x.toFixed(4));
const quarter = "0 0 1 1.5707963267948966", eighth = "0 0 1 0.7853981633974483", back = "0 0 1 -0.7853981633974483";
const hinge = place(`Transform { translation 0 0 1 center 1 0 0 rotation ${quarter} children [ ${box} ] }`);
const pair = place(`Transform { translation 1 0 1 children [ Transform { rotation ${quarter} children [ Transform { translation -1 0 0 children [ ${box} ] } ] } ] }`);
console.log(`a quarter turn about (1, 0, 0): centre expected (1, -1, 1), seen (${hinge}); with two translations (${pair})`);
const along = size(`Transform { scale 3 1 1 scaleOrientation ${eighth} children [ ${cube} ] }`);
const nested = size(`Transform { rotation ${eighth} children [ Transform { scale 3 1 1 children [ Transform { rotation ${back} children [ ${cube} ] } ] } ] }`);
console.log(`a cube of 0.2 stretched to thrice along its diagonal: size expected (0.6, 0.6, 0.2), seen (${along}); with two rotations (${nested})`);
process.exit(hinge.join() === "0,0,1" && pair.join() === "1,-1,1" && along.join() === "0.6,0.2,0.2" && nested.join() === "0.6,0.6,0.2" ? 0 : 1);
FILE
node finding.mjs
