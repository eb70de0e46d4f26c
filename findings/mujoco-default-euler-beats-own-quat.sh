#!/bin/bash
# MJCF: an element's own attribute replaces that of its default class. Orientations have several attributes: a quaternion of the
# element itself does not replace the `euler` (or axisangle, xyaxes, zaxis) of its class. The class's one counts.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' >package.json
npm install --no-audit --no-fund --ignore-scripts @mujoco/mujoco@3.14.0 >npm.log 2>&1 || { tail -n 3 npm.log; exit 77; }
cat >finding.mjs <<'EOF'
import load from "@mujoco/mujoco";
const mujoco = await load({print: () => {}, printErr: () => {}});
function solve(xml) {       // at the reference position, at rest
    const model = mujoco.MjModel.from_xml_string(xml), data = new mujoco.MjData(model);
    mujoco.mj_inverse(model, data);
    const M = new mujoco.DoubleBuffer(model.nv * model.nv);
    mujoco.mj_fullM(model, data, M);
    return {model, M: Array.from(M.GetView()), inverse: Array.from(data.qfrc_inverse)};
}
console.log("MuJoCo " + mujoco.mj_versionString());
const file = (own, inherited) => `<mujoco><default><geom type="box" size=".1 .2 .3" ${inherited}/></default><worldbody><body>
    <joint axis="1 2 3"/><geom ${own} mass="1"/></body></worldbody></mujoco>`;
const expected = solve(file('quat="1 2 3 4"', "")).M[0], inherited = solve(file("", 'euler="10 20 30"')).M[0];
const both = solve(file('quat="1 2 3 4"', 'euler="10 20 30"')).M[0];
console.log(`inertia of a box with its own quat, and an euler in its class: expected ${expected}, computed ${both}; ` +
            `with the euler alone it is ${inherited}`);
const seen = both === inherited && both !== expected;
process.exit(seen ? 0 : 1);
EOF
node finding.mjs
