#!/bin/bash
# MJCF: `springdamper` states time constant T and ratio r of a joint: stiffness m / (T r)^2 and damping 2 m / T, with the joint's inertia
# m, armature included. For a body alone in the world whose joints are slides along its inertial axes, the armature is left out.
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
function damping(joint, geom) {
    const model = mujoco.MjModel.from_xml_string(`<mujoco><worldbody><body><joint axis="0 0 1" springdamper="1 1" ${joint}/>
        <geom size=".1" mass="1" ${geom}/></body></worldbody></mujoco>`);
    return model.dof_damping[0];
}
const apart = damping('type="slide" armature="1"', 'pos=".2 0 0"'), centred = damping('type="slide" armature="1"', "");
console.log(`damping of a slide with 1 kg, armature 1 kg and T = 1 s: expected 4, computed ${apart} where the mass is beside the body's origin, ` +
            `${centred} where it is at the origin`);
const seen = Math.abs(apart - 4) < 1e-9 && Math.abs(centred - 2) < 1e-9;
process.exit(seen ? 0 : 1);
EOF
node finding.mjs
