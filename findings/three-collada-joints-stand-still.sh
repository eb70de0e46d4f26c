#!/bin/bash
# three.js: ColladaLoader reads the kinematics of COLLADA 1.5, and setJointValue moves the joints of a robot. A joint without <limits>, which COLLADA calls unlimited, gets limits
# of 0 to 0: it is static, and stays with a warning. A joint moves only if the sid of its <rotate> contains the joint's name, though
# <bind_joint_axis> tells which one to turn: with another sid getJointValue answers the new value, and nothing has moved.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' >package.json
npm install --no-audit --no-fund --ignore-scripts three@0.187.0 jsdom@26.1.0 >npm.log 2>&1 || { tail -n 3 npm.log; exit 77; }
cat >finding.mjs <<'FILE'
import {JSDOM} from "jsdom";
import {REVISION, Vector3} from "three";
import {ColladaLoader} from "three/addons/loaders/ColladaLoader.js";
globalThis.DOMParser = new JSDOM("").window.DOMParser;
const said = [];
console.warn = (...text) => said.push(text.join(" "));

function load(sid, limits) {    // a base and an arm of 1 m that turns about z
    return new ColladaLoader().parse(`<COLLADA xmlns="http://www.collada.org/2008/03/COLLADASchema" version="1.5.0">
<asset><unit meter="1"/><up_axis>Y_UP</up_axis></asset>
<library_visual_scenes><visual_scene id="vs"><node id="base" name="base"><node id="arm" name="arm"><rotate sid="${sid}">0 0 1 0</rotate></node></node></visual_scene></library_visual_scenes>
<library_kinematics_models><kinematics_model id="km"><technique_common><joint name="elbow" sid="elbow"><revolute sid="axis0"><axis>0 0 1</axis>${limits}</revolute></joint>
<link sid="base" name="base"><attachment_full joint="km/elbow"><link sid="arm" name="arm"/></attachment_full></link></technique_common></kinematics_model></library_kinematics_models>
<library_kinematics_scenes><kinematics_scene id="ks"><instance_kinematics_model url="#km" sid="km_inst"/></kinematics_scene></library_kinematics_scenes>
<scene><instance_visual_scene url="#vs"/><instance_kinematics_scene url="#ks"><bind_joint_axis target="arm/${sid}"><axis><param>ks_km_inst_elbow_axis0</param></axis><value><float>0</float></value>
</bind_joint_axis></instance_kinematics_scene></scene></COLLADA>`, "");
}

console.log = ((log) => (text) => String(text).startsWith("THREE.") || log(text))(console.log);     // its own message about the version
console.log(`three.js r${REVISION}: a joint is set to 30 degrees`);
const found = [];
for (const [sid, limits] of [["elbow_axis", "<limits><min>-90</min><max>90</max></limits>"], ["elbow_axis", ""], ["turn", "<limits><min>-90</min><max>90</max></limits>"]]) {
    const {kinematics, scene} = load(sid, limits);
    kinematics.setJointValue("elbow", 30);
    scene.updateMatrixWorld(true);
    const tip = scene.getObjectByName("arm").localToWorld(new Vector3(1, 0, 0));
    found.push([kinematics.getJointValue("elbow"), Math.round(Math.atan2(tip.y, tip.x) * 180 / Math.PI)]);
    console.log(`sid "${sid}", ${limits ? "limits -90 to 90" : "no limits"}: expected 30 and 30 degrees; getJointValue ${found.at(-1)[0]}, the arm stands at ${found.at(-1)[1]} degrees`);
}
console.log(`warnings about joints: ${said.filter((text) => text.includes("outside of limits")).length}`);
process.exit(JSON.stringify(found) === "[[30,30],[0,0],[30,0]]" ? 0 : 1);
FILE
node finding.mjs
