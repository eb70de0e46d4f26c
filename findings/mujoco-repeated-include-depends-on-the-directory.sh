#!/bin/bash
# MJCF: the documentation of <include> says that each file may be included at most once, else the compiler errs. MuJoCo compares a
# name as the file writes it with names that have the folder of the including file before them. So a repeat is found only where that
# folder is empty: one file, unchanged, is refused when it is opened by its bare name from within its folder, and compiled, parts
# twice, when it is opened by its full path. Robots exist that repeat a file and load only by their path.
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
mujoco.FS.mkdir("/robot");
mujoco.FS.writeFile("/robot/main.xml", `<mujoco><worldbody><include file="legs.xml"/></worldbody></mujoco>`);
mujoco.FS.writeFile("/robot/legs.xml", `<x><body><include file="leg.xml"/></body><body><include file="leg.xml"/></body></x>`);
mujoco.FS.writeFile("/robot/leg.xml", `<x><joint/><geom size=".1"/></x>`);
function open(folder, path) {
    mujoco.FS.chdir(folder);
    try { return `${mujoco.MjModel.from_xml_path(path).njnt} joints`; }
    catch (error) { return /already included/.test(error.message) ? "refused, already included" : error.message; }
}
const far = open("/", "/robot/main.xml"), near = open("/robot", "main.xml");
console.log(`expected: the same of both paths; seen: /robot/main.xml ${far}; main.xml within /robot ${near}`);
process.exit(far === "2 joints" && near === "refused, already included" ? 0 : 1);
EOF
node finding.mjs
