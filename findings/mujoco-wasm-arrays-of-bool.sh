#!/bin/bash
# MuJoCo's JavaScript package: arrays of booleans of a model, jnt_limited, actuator_ctrllimited and so on, are declared but cannot
# be read: the getter throws.
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
const {model} = solve('<mujoco><worldbody><body><joint range="-1 1"/><geom size=".1"/></body></worldbody></mujoco>');
let said = "no error";
try { said = String(model.jnt_limited); } catch (error) { said = String(error.message ?? error); }
console.log(`model.jnt_limited: expected an array of one entry, got: ${said}`);
const seen = said.includes("unknown type");
process.exit(seen ? 0 : 1);
EOF
node finding.mjs
