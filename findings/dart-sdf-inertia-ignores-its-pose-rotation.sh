#!/bin/bash
# SDF: the moments of <inertia> are in the frame of <inertial><pose>, relative to the link (SDF 1.6, "the axes of the inertial reference
# frame"). DART's reader of SDF takes the position of that pose and drops its rotation, in silence. DART's reader of URDF heeds the
# rotation of <origin>. The SDF reader drops effort and velocity of a joint's <limit> as well.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
[ -x /usr/bin/python3 ] || { echo "no python3 here"; exit 77; }
mkdir -p debs/partial root
apt-get install -y --no-install-recommends --download-only -o Debug::NoLocking=1 -o APT::Sandbox::User=root -o Dir::Cache::archives="$folder/debs" \
    python3-dartpy=6.12.1+dfsg4-12+b2 >apt.log 2>&1 || { tail -n 3 apt.log; exit 77; }
for package in debs/*.deb; do dpkg -x "$package" root; done
cat >finding.py <<'FILE'
import math
import os
import sys
import dartpy

MOMENTS = (0.1, 0.2, 0.25)
LIMIT = {"effort": 5, "velocity": 6}


def sdf(pose):
    ixx, iyy, izz = MOMENTS
    return f"""<sdf version="1.6"><model name="m"><link name="b"><inertial><pose>{pose}</pose><mass>1</mass>
        <inertia><ixx>{ixx}</ixx><iyy>{iyy}</iyy><izz>{izz}</izz><ixy>0</ixy><ixz>0</ixz><iyz>0</iyz></inertia></inertial></link>
        <joint name="j" type="revolute"><parent>world</parent><child>b</child><axis><xyz>0 0 1</xyz><limit><lower>-1</lower><upper>1</upper>
        <effort>{LIMIT["effort"]}</effort><velocity>{LIMIT["velocity"]}</velocity></limit></axis></joint></model></sdf>"""


def urdf(xyz, rpy):
    ixx, iyy, izz = MOMENTS
    return f"""<robot name="m"><link name="world"/><link name="b"><inertial><origin xyz="{xyz}" rpy="{rpy}"/><mass value="1"/>
        <inertia ixx="{ixx}" iyy="{iyy}" izz="{izz}" ixy="0" ixz="0" iyz="0"/></inertial></link>
        <joint name="j" type="revolute"><parent link="world"/><child link="b"/><axis xyz="0 0 1"/>
        <limit lower="-1" upper="1" effort="{LIMIT["effort"]}" velocity="{LIMIT["velocity"]}"/></joint></robot>"""


def read(text, extension):
    path = os.path.abspath("model." + extension)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    if extension == "sdf":
        return dartpy.utils.SdfParser.readSkeleton("file://" + path)
    return dartpy.utils.DartLoader().parseSkeleton(path)


def about_z(skeleton):
    return skeleton.getMassMatrix()[0, 0]


def limits(skeleton):
    joint = skeleton.getJoint("j")
    return {"effort": joint.getForceUpperLimit(0), "velocity": joint.getVelocityUpperLimit(0)}


quarter = math.pi / 2
position = about_z(read(sdf("1 0 0 0 0 0"), "sdf"))
turned = read(sdf(f"0 0 0 {quarter} 0 0"), "sdf")
peer = read(urdf("0 0 0", f"{quarter} 0 0"), "urdf")
print("DART 6.12.1")
print(f"pose moved by 1 m: expected {MOMENTS[2] + 1:g} kg m^2, seen {position:g}")
print(f"pose turned by 90 degrees about x: expected {MOMENTS[1]:g} kg m^2, seen {about_z(turned):g}; from URDF {about_z(peer):g}")
print(f"limits: expected {LIMIT}, seen {limits(turned)}; from URDF {limits(peer)}")
near = lambda a, b: abs(a - b) < 1e-12
seen = near(position, MOMENTS[2] + 1) and near(about_z(turned), MOMENTS[2]) and near(about_z(peer), MOMENTS[1])
seen = seen and limits(peer) == LIMIT and set(limits(turned).values()) == {math.inf}
sys.exit(0 if seen else 1)
FILE
LD_LIBRARY_PATH=root/usr/lib/x86_64-linux-gnu PYTHONPATH=root/usr/lib/python3/dist-packages /usr/bin/python3 finding.py
