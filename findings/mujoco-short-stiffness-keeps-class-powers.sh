#!/bin/bash
# MJCF: an element's own attribute replaces that of its default class, and `stiffness` and `damping` take one to three
# coefficients, of q, q^2 and q^3. A shorter list replaces the first numbers alone: the higher powers of the class stay.
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
function effort(own, inherited) {     // of the spring of a joint at q = 1
    const model = mujoco.MjModel.from_xml_string(`<mujoco><option gravity="0 0 0"/><default><joint ${inherited}/></default>
        <worldbody><body><joint ${own}/><geom size=".1"/></body></worldbody></mujoco>`);
    const data = new mujoco.MjData(model);
    data.qpos.set([1]);
    mujoco.mj_inverse(model, data);
    return data.qfrc_passive[0];
}
const alone = effort('stiffness="0.7"', ""), both = effort('stiffness="0.7"', 'stiffness="0.1 0.2 0.3"');
console.log(`effort of a spring with stiffness="0.7" at 1 rad: expected ${alone}; where its class has "0.1 0.2 0.3", computed ${both}`);
const seen = Math.abs(alone + 0.7) < 1e-12 && Math.abs(both + 1.2) < 1e-12;
process.exit(seen ? 0 : 1);
EOF
node finding.mjs
