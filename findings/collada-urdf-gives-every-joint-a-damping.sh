#!/bin/bash
# ROS: a robot that goes from URDF to COLLADA and back (urdf_to_collada, collada_to_urdf of collada_urdf) has another damping and friction: COLLADA gets neither, and the way
# back gives every joint, turning or sliding, a damping of 0.2, also those that had none. Nothing is said. A pendulum
# of 1 kg m^2 without friction then loses half its swing in 7 s. Limits of effort go through as accelerations.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
[ -x /usr/bin/python3 ] || { echo "no python3 here"; exit 77; }
mkdir -p debs/partial root
apt-get install -y --no-install-recommends --download-only -o Debug::NoLocking=1 -o APT::Sandbox::User=root -o Dir::Cache::archives="$folder/debs" \
    collada-urdf-tools=1.12.13-8+b2 >apt.log 2>&1 || { tail -n 3 apt.log; exit 77; }
for package in debs/*.deb; do dpkg -x "$package" root; done
cat >robot.urdf <<'FILE'
<robot name="arm"><link name="base"/>
<link name="rod"><inertial><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="lift"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="wheel"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="hinge" type="revolute"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/><limit lower="-1" upper="2" effort="10" velocity="3"/>
  <dynamics damping="0.5" friction="0.7"/></joint>
<joint name="slide" type="prismatic"><parent link="rod"/><child link="lift"/><axis xyz="0 0 1"/><limit lower="-0.1" upper="0.5" effort="20" velocity="0.4"/>
  <dynamics damping="30" friction="4"/></joint>
<joint name="axle" type="continuous"><parent link="lift"/><child link="wheel"/><axis xyz="1 0 0"/><limit effort="5" velocity="7"/></joint></robot>
FILE
cat >finding.py <<'FILE'
import re
import sys
from xml.etree import ElementTree


def dynamics(name):
    joints = ElementTree.parse(name).findall("joint")
    return {joint.get("name"): tuple(float((joint.find("dynamics").attrib if joint.find("dynamics") is not None else {}).get(n, 0)) for n in ("damping", "friction")) for joint in joints}


before, after = dynamics("robot.urdf"), dynamics("back.urdf")
print("collada_urdf 1.12.13: (damping, friction)")
for joint, given in before.items():
    print(f"{joint}: expected {given}, found {after[joint]}")
with open("robot.dae", encoding="utf-8") as file:
    accelerations = sorted(float(x) for x in re.findall(r"<acceleration>\s*<float>([^<]*)", file.read()))
print(f"limits of effort 5 N m, 10 N m, 20 N: accelerations in COLLADA {accelerations}")
sys.exit(0 if set(after.values()) == {(0.2, 0.0)} and accelerations == [5, 10, 20] else 1)
FILE
export LD_LIBRARY_PATH=root/usr/lib/x86_64-linux-gnu
root/usr/lib/collada_urdf/urdf_to_collada robot.urdf robot.dae >there.log 2>&1
root/usr/lib/collada_urdf/collada_to_urdf robot.dae -O back.urdf >back.log 2>&1
grep -i damping there.log back.log && exit 1
/usr/bin/python3 finding.py
