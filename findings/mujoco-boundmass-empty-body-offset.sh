#!/bin/bash
# MJCF: <compiler boundmass> gives a body without geoms and <inertial> a mass. One would expect it at the body's origin. MuJoCo
# takes the attribute `pos` of the body for the centre of mass, too, so that it acts at twice the offset from the parent.
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
const {M} = solve(`<mujoco><compiler boundmass=".5"/><worldbody><body><joint axis="0 1 0"/>
    <inertial pos="0 0 0" mass="1" diaginertia=".1 .1 .1"/><body pos=".3 0 0"/></body></worldbody></mujoco>`);
const expected = 0.1 + 0.5 * 0.3 ** 2, doubled = 0.1 + 0.5 * 0.6 ** 2;
console.log(`inertia about the joint: expected ${expected}, computed ${M[0]}; with the mass at twice the offset it is ${doubled}`);
const seen = Math.abs(M[0] - doubled) < 1e-12;
process.exit(seen ? 0 : 1);
EOF
node finding.mjs
