#!/bin/bash
# MJCF: the armature a of a fixed tendon of length c1 q1 + c2 q2 adds a c c^T to the mass matrix, so that an acceleration of
# one joint needs an effort a c1 c2 at the other. Where one joint carries the other, MuJoCo has this entry. For joints of different
# branches the entry is left out, in the mass matrix and in inverse dynamics.
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
function off(world) {
    const model = mujoco.MjModel.from_xml_string(`<mujoco><option gravity="0 0 0"/><worldbody>${world}</worldbody><tendon><fixed armature="100">
        <joint joint="a" coef="1"/><joint joint="b" coef="2"/></fixed></tendon></mujoco>`);
    const plain = mujoco.MjModel.from_xml_string(`<mujoco><option gravity="0 0 0"/><worldbody>${world}</worldbody></mujoco>`);
    const effort = m => {
        const data = new mujoco.MjData(m);
        data.qacc.set([1, 0]);
        mujoco.mj_inverse(m, data);
        return data.qfrc_inverse[1];
    };
    return effort(model) - effort(plain);
}
const body = (name, inner) => `<body pos="1 0 0"><joint name="${name}"/><geom size=".1"/>${inner}</body>`;
const chain = off(body("a", body("b", ""))), branches = off(body("a", "") + body("b", ""));
console.log(`effort at joint b for 1 rad/s^2 at joint a, by a tendon of armature 100 and coefficients 1 and 2: expected 200; in a chain ${chain}, ` +
            `in two branches ${branches}`);
const seen = Math.abs(chain - 200) < 1e-9 && branches === 0;
process.exit(seen ? 0 : 1);
EOF
node finding.mjs
