#!/bin/bash
# BVH (motion capture): a joint has an OFFSET from its parent and channels; many programs write six channels, positions first, for every joint. Assimp lets the
# position of a frame REPLACE the offset, three.js ADDS it to the offset. So one and the same file, which repeats the lengths of its bones in
# the channels, has bones of double length in three.js, and a root that starts off the origin at twice its place. Rotations agree.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' >package.json
npm install --no-audit --no-fund --ignore-scripts three@0.187.0 >npm.log 2>&1 || { tail -n 3 npm.log; exit 77; }
mkdir -p debs/partial root
apt-get install -y --no-install-recommends --download-only -o Debug::NoLocking=1 -o APT::Sandbox::User=root -o Dir::Cache::archives="$folder/debs" \
    assimp-utils=5.2.5~ds0-1+b1 >apt.log 2>&1 || { tail -n 3 apt.log; exit 77; }
for package in debs/*.deb; do dpkg -x "$package" root; done
cat >walk.bvh <<'FILE'
HIERARCHY
ROOT hip
{
  OFFSET 0.0 9.0 0.0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT knee
  {
    OFFSET 0.0 -5.0 0.0
    CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 0.0 -4.0 0.0
    }
  }
}
MOTION
Frames: 2
Frame Time: 0.1
0 9 0 30 40 50 0 -5 0 10 20 30
1 9 0 30 40 50 0 -5 0 10 20 30
FILE
cat >finding.mjs <<'FILE'
import {readFileSync} from "node:fs";
import {REVISION} from "three";
import {BVHLoader} from "three/addons/loaders/BVHLoader.js";
const {clip} = new BVHLoader().parse(readFileSync("walk.bvh", "utf8"));
const first = (joint, kind, size) => Array.from(clip.tracks.find((track) => track.name === `${joint}.${kind}`).values).slice(0, size);
const dump = readFileSync("walk.xml", "utf8");
function assimp(joint, kind) {      // the first key of a joint in Assimp's dump
    const own = dump.slice(dump.indexOf(`<NodeAnim node="${joint}"`));
    return own.slice(own.indexOf(`<${kind} time`)).split("\n")[1].trim().split(/\s+/).map(Number);
}
console.log(`three.js r${REVISION}, Assimp 5.2.5`);
let seen = true;
for (const [joint, offset] of [["hip", [0, 9, 0]], ["knee", [0, -5, 0]]]) {
    const ours = first(joint, "position", 3), theirs = assimp(joint, "PositionKey");
    console.log(`${joint}: OFFSET ${offset}, first frame ${offset}; three.js (${ours}), Assimp (${theirs})`);
    const turns = [first(joint, "quaternion", 4), assimp(joint, "RotationKey")];
    seen = seen && offset.every((x, i) => ours[i] === 2 * x && theirs[i] === x);
    seen = seen && Math.abs(Math.abs(turns[0].reduce((sum, x, i) => sum + x * turns[1][i], 0)) - 1) < 1e-5;
}
process.exit(seen ? 0 : 1);
FILE
LD_LIBRARY_PATH=root/usr/lib/x86_64-linux-gnu root/usr/bin/assimp dump walk.bvh walk.xml >assimp.log 2>&1 || { tail -n 3 assimp.log; exit 1; }
node finding.mjs
