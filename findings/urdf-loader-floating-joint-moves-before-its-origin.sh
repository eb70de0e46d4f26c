#!/bin/bash
# URDF: <origin> of a joint places the joint's frame in the parent, and the joint moves its child in that frame (URDF's <joint>). urdf-loader does so for revolute and
# prismatic joints. For floating and planar ones it applies the motion in the PARENT's frame, before the origin: a turn swings the body
# about the parent. The three angles of a floating joint are roll, pitch, yaw by name but x-y'-z'' in order, not URDF's fixed x, y, z.
# A planar joint moves along x and y whatever its axis, but turns about its axis.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' >package.json
npm install --no-audit --no-fund --ignore-scripts --legacy-peer-deps three@0.187.0 linkedom@0.18.15 urdf-loader@0.13.1 >npm.log 2>&1 ||
    { tail -n 3 npm.log; exit 77; }
cat >finding.mjs <<'FILE'
import {parseHTML} from "linkedom";
import {Euler, Matrix4, Quaternion, Vector3} from "three";
const page = parseHTML("<html></html>");
Object.assign(globalThis, {Document: page.Document, Element: page.Element});
globalThis.DOMParser = class { parseFromString(text, type) { return new page.DOMParser().parseFromString(text, type); } };
const {default: URDFLoader} = await import("urdf-loader");
console.log("urdf-loader 0.13.1");
const pose = (place, angles, order) => new Matrix4().compose(new Vector3(...place), new Quaternion().setFromEuler(new Euler(...angles, order)),
                                                             new Vector3(1, 1, 1));
function child(type, axis, origin, values) {
    const robot = new URDFLoader().parse(`<robot name="r"><link name="base"/><link name="b"/><joint name="j" type="${type}"><parent link="base"/>
        <child link="b"/><origin xyz="${origin.place.join(" ")}" rpy="${origin.angles.join(" ")}"/><axis xyz="${axis}"/>
        <limit lower="-9" upper="9" effort="1" velocity="1"/></joint></robot>`);
    robot.setJointValue("j", ...values);
    robot.updateMatrixWorld(true);
    return robot.links.b.matrixWorld;
}
const near = (a, b) => a.elements.every((x, i) => Math.abs(x - b.elements[i]) < 1e-9);
const show = (M) => `(${new Vector3().setFromMatrixPosition(M).toArray().map((x) => x.toFixed(3)).join(", ")})`;
const none = {place: [0, 0, 0], angles: [0, 0, 0]}, away = {place: [1, 2, 3], angles: [0.1, 0.2, 0.3]};
const of = (origin) => pose(origin.place, origin.angles, "ZYX");
let seen = true;
function compare(name, got, expected, other) {  // other: the pose that would explain it
    const right = near(got, expected);
    console.log(`${name}: position expected ${show(expected)}, seen ${show(got)}; pose ${right ? "right" : "wrong"}`);
    seen = seen && (other ? !right && near(got, other) : right);
}
const hinge = pose([0, 0, 0], [0, 0, 0.7], "ZYX"), yaw = pose([0.1, 0.2, 0.3], [0, 0, 0.7], "ZYX");
compare("revolute", child("revolute", "0 0 1", away, [0.7]), of(away).multiply(hinge));
compare("floating, without origin, yaw alone", child("floating", "0 0 1", none, [0.1, 0.2, 0.3, 0, 0, 0.7]), yaw);
compare("floating, with origin, yaw alone", child("floating", "0 0 1", away, [0.1, 0.2, 0.3, 0, 0, 0.7]), of(away).multiply(yaw),
        yaw.clone().multiply(of(away)));
compare("floating, without origin, three angles", child("floating", "0 0 1", none, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]),
        pose([0.1, 0.2, 0.3], [0.4, 0.5, 0.6], "ZYX"), pose([0.1, 0.2, 0.3], [0.4, 0.5, 0.6], "XYZ"));
const slide = pose([0.1, 0.2, 0], [0, 0, 0.7], "ZYX"), wall = pose([0.1, 0.2, 0], [0.7, 0, 0], "ZYX");
compare("planar, axis z, with origin", child("planar", "0 0 1", away, [0.1, 0.2, 0.7]), of(away).multiply(slide), slide.clone().multiply(of(away)));
compare("planar, axis x, without origin", child("planar", "1 0 0", none, [0.1, 0.2, 0.7]), pose([0, 0.1, 0.2], [0.7, 0, 0], "ZYX"), wall);
process.exit(seen ? 0 : 1);
FILE
node finding.mjs
