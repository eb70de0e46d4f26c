#!/bin/bash
# MJCF: <attach> brings a body of another model and the actuators that refer to it. If a second body of that model follows under the
# same prefix, MuJoCo copies the actuators of the first body again: those without a name double their armature in silence. (With
# names it refuses the file.) Two attachments under different prefixes do not disturb each other.
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
const part = `<mujoco model="part"><worldbody>
    <body name="arm"><joint name="turn" axis="0 1 0"/><geom size=".1" pos=".2 0 0"/></body>
    <body name="wheel"><joint name="spin" axis="0 0 1"/><geom size=".2"/></body></worldbody>
    <actuator><motor joint="turn" armature=".3"/></actuator></mujoco>`;
function inertia(attachments) {       // of the first joint at the reference position
    const files = new mujoco.MjVFS();
    files.addBuffer("part.xml", Buffer.from(part));
    const model = mujoco.MjModel.from_xml_string(
        `<mujoco><asset><model name="part" file="part.xml"/></asset><worldbody>${attachments}</worldbody></mujoco>`, files);
    const data = new mujoco.MjData(model), M = new mujoco.DoubleBuffer(model.nv * model.nv);
    mujoco.mj_forward(model, data);
    mujoco.mj_fullM(model, data, M);
    files.delete();
    return {M: M.GetView()[0], actuators: model.nu};
}
const arm = '<attach model="part" body="arm" prefix="a_"/>';
const alone = inertia(arm);
const same = inertia(arm + '<attach model="part" body="wheel" prefix="a_"/>');
const other = inertia(arm + '<attach model="part" body="wheel" prefix="b_"/>');
const show = (r) => `${r.M.toFixed(4)} kg m^2 with ${r.actuators} actuator${r.actuators === 1 ? "" : "s"}`;
console.log(`inertia about a_turn, the arm alone: ${show(alone)}; a wheel beside it under another prefix: ${show(other)}`);
console.log(`a wheel beside it under the same prefix: expected ${show(alone)}, seen ${show(same)}`);
const is = (r, m, n) => Math.abs(r.M - m) < 1e-9 && r.actuators === n;
process.exit(is(other, alone.M, 1) && is(same, alone.M + .3, 2) ? 0 : 1);
EOF
node finding.mjs
