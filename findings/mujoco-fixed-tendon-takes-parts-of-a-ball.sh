#!/bin/bash
# MJCF: the joints of a <fixed> tendon are scalar, says the documentation: its length is a sum of coefficients times joint positions. A ball
# or a free joint is taken without a word all the same. The position counted is then the first number of the joint in qpos: w of the quaternion of a
# ball, x of a free joint; its rate is the first one in qvel: the angular velocity about the body's x. The length of a tendon over a ball
# at rest is its coefficient, and the rate is not the derivative of the length: a spring there neither pulls towards a position nor keeps
# energy.
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
const coefficient = 2;
let as_seen = true;
for (const joint of ["ball", "free"]) {
    const file = `<mujoco><worldbody><body><joint name="j" type="${joint}"/><geom size=".1"/></body></worldbody>
        <tendon><fixed><joint joint="j" coef="${coefficient}"/></fixed></tendon></mujoco>`;
    try {
        const model = mujoco.MjModel.from_xml_string(file), data = new mujoco.MjData(model);
        const half = 0.4, quaternion = [Math.cos(half), Math.sin(half), 0, 0];          // a turn of 0.8 rad about x
        data.qpos.set(joint === "ball" ? quaternion : [0.3, 0, 0, ...quaternion]);
        data.qvel.set(joint === "ball" ? [1, 0, 0] : [1, 0, 0, 0, 0, 0]);
        mujoco.mj_forward(model, data);
        const length = data.ten_length[0], rate = data.ten_velocity[0], first = data.qpos[0];
        const derivative = joint === "ball" ? -coefficient * Math.sin(half) / 2 : coefficient;     // of coefficient times qpos[0]
        console.log(`${joint}: a refusal is expected; seen: length ${length.toFixed(4)} = ${coefficient} qpos[0], rate ${rate}, though the length ` +
                    `changes at ${derivative.toFixed(4)}`);
        as_seen = as_seen && Math.abs(length - coefficient * first) < 1e-12 && Math.abs(rate - coefficient) < 1e-12;
    } catch (error) {
        console.log(`${joint}: refused: ${String(error.message ?? error).split("\n")[0]}`);
        as_seen = false;
    }
}
process.exit(as_seen ? 0 : 1);
EOF
node finding.mjs
