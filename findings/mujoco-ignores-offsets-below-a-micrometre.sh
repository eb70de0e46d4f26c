#!/bin/bash
# MJCF: a centre of mass within 1e-6 of its body's origin counts as the origin when the model runs, though the compiled model still
# tells the offset: body_ipos has it, xipos has not. In metres that is a rounding error, but the bound is a number without unit: in a
# file whose lengths are kilometres, or with a heavy body, the torque of gravity is lost in silence. At 1.1e-6 it is there.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' >package.json
npm install --no-audit --no-fund --ignore-scripts @mujoco/mujoco@3.14.0 >npm.log 2>&1 || { tail -n 3 npm.log; exit 77; }
cat >finding.mjs <<'EOF'
import load from "@mujoco/mujoco";
const mujoco = await load({print: () => {}, printErr: () => {}});
console.log("MuJoCo " + mujoco.mj_versionString());
const mass = 2e7, g = 9.81;           // kg, m/s^2
function hinge(offset) {
    const model = mujoco.MjModel.from_xml_string(`<mujoco><option gravity="0 0 -${g}"/><worldbody><body>
        <joint axis="0 1 0"/><inertial pos="${offset} 0 0" mass="${mass}" diaginertia="1 1 1"/></body></worldbody></mujoco>`);
    const data = new mujoco.MjData(model);
    mujoco.mj_forward(model, data);
    return {held: model.body_ipos[3], used: data.xipos[3], torque: data.qfrc_bias[0]};
}
let as_seen = true;
for (const [offset, counts] of [[9e-7, false], [1.1e-6, true]]) {
    const {held, used, torque} = hinge(offset);
    console.log(`centre of mass at ${offset} m: body_ipos ${held} m, xipos ${used} m; torque of gravity expected ${(-mass * g * offset).toFixed(2)} N m, seen ${torque.toFixed(2)}`);
    as_seen = as_seen && held === offset && Math.abs(torque - (counts ? -mass * g * offset : 0)) < 1e-6 * mass * g * offset;
}
process.exit(as_seen ? 0 : 1);
EOF
node finding.mjs
