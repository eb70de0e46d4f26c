#!/bin/bash
# MJCF: <body gravcomp="-1"> should double a body's weight: the attribute is a real number, a share of the weight. MuJoCo doubles it only if some body
# of the file, even one fixed to the world, has a positive gravcomp; otherwise all compensation is skipped.
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
const file = (more) => `<mujoco><worldbody>${more}<body gravcomp="-1"><joint axis="0 1 0"/><geom size=".1" pos="1 0 0" mass="1"/>
    </body></worldbody></mujoco>`;
const alone = solve(file("")).inverse[0], helped = solve(file('<body gravcomp="1"><geom size=".1" pos="9 9 9"/></body>')).inverse[0];
console.log(`torque at rest: expected ${-2 * 9.81}, computed ${alone}; with a compensated body beside it ${helped}`);
const seen = Math.abs(alone + 9.81) < 1e-9 && Math.abs(helped + 2 * 9.81) < 1e-9;
process.exit(seen ? 0 : 1);
EOF
node finding.mjs
