#!/bin/bash
# MJCF: a geom that is a height field has the mass and inertia of a box about the origin of its geom. The half height of the box is
# half the base plus a quarter of the highest elevation, whatever the elevations are: a flat field weighs as a steep one.
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
function mass(elevation) {
    const model = mujoco.MjModel.from_xml_string(`<mujoco><asset><hfield name="h" nrow="2" ncol="3" size="1 1 2 .001" elevation="${elevation}"/></asset>
        <worldbody><body><joint/><geom type="hfield" hfield="h"/></body></worldbody></mujoco>`);
    return model.body_mass[1];
}
const peak = mass("0 0 0 0 0 1"), full = mass("0 1 1 1 1 1");
console.log(`mass of a field of 4 m^2, 2 m high, at 1000 kg/m^3, with one corner up: expected below 1400, computed ${peak}; with one corner down ` +
            `expected above 6600, computed ${full}`);
const seen = Math.abs(peak - 4004) < 1e-6 && peak === full;
process.exit(seen ? 0 : 1);
EOF
node finding.mjs
