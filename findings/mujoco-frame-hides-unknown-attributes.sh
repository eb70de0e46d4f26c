#!/bin/bash
# MJCF: MuJoCo refuses attributes that its schema does not have, which finds misspelt ones. In a <frame>, and in bodies inside it,
# it accepts any: a pose under a misspelt name is lost in silence.
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
const body = '<body eular="0 90 0"><joint axis="0 1 0"/><geom size=".1" pos="1 0 0" mass="1"/></body>';
const file = (world) => `<mujoco><worldbody>${world}</worldbody></mujoco>`;
const says = (world) => { try { solve(file(world)); return "accepted"; } catch { return "refused"; } };
const alone = says(body), framed = says(`<frame>${body}</frame>`), frame = says(`<frame eular="0 90 0">${body.replace(/eular="[^"]*"/, "")}</frame>`);
console.log(`<body eular="0 90 0"> is ${alone}; in a <frame>: expected refused, ${framed}; <frame eular="0 90 0">: expected refused, ${frame}`);
const seen = alone === "refused" && framed === "accepted" && frame === "accepted";
process.exit(seen ? 0 : 1);
EOF
node finding.mjs
