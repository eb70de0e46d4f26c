#!/bin/bash
# MJCF: <attach prefix=""> brings another model in, and the defaults of that model are its own. Elements of the first model
# behind it that inherit a class (also the outermost one, "main") get the attached model's class of that name; elements that
# name the class themselves do not.
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
const files = new mujoco.MjVFS();
files.addBuffer("part.xml", Buffer.from(`<mujoco model="part"><default><joint armature="10"/></default><worldbody><body>
    <joint name="part"/><geom size=".1"/></body></worldbody></mujoco>`));
function armature(prefix, stated) {
    const body = name => `<body><joint name="${name}" ${stated}/><geom size=".1"/></body>`;
    const model = mujoco.MjModel.from_xml_string(`<mujoco><default><joint armature="1"/></default><asset><model name="part" file="part.xml"/></asset>
        <worldbody>${body("before")}<attach model="part" prefix="${prefix}"/>${body("behind")}</worldbody></mujoco>`, files);
    return Array.from(model.dof_armature);
}
const apart = armature("p_", ""), same = armature("", ""), stated = armature("", 'class="main"');
console.log(`armature of the joints before the attached part, in it and behind it: expected 1, 10, 1; with a prefix ${apart.join(", ")}; ` +
            `without ${same.join(", ")}; without, and with class="main" ${stated.join(", ")}`);
const seen = apart.join() === "1,10,1" && same.join() === "1,10,10" && stated.join() === "1,10,1";
process.exit(seen ? 0 : 1);
EOF
node finding.mjs
