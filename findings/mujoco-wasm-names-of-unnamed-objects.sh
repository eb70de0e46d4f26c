#!/bin/bash
# MuJoCo's JavaScript package: mj_id2name of an object without a name is a null pointer in C. Here it is a text from somewhere in
# memory. The names in model.names are right.
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
const {model} = solve('<mujoco><worldbody><body><joint/><geom size=".1"/></body></worldbody></mujoco>');
const name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT.value, 0), length = model.names.indexOf(0, model.name_jntadr[0]) - model.name_jntadr[0];
console.log(`name of a joint without a name: expected null or "", got ${JSON.stringify(name)}; in model.names it has ${length} characters`);
const seen = typeof name === "string" && name !== "" && length === 0;
process.exit(seen ? 0 : 1);
EOF
node finding.mjs
