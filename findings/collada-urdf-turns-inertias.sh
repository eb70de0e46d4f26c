#!/bin/bash
# ROS: urdf_to_collada and collada_to_urdf (collada_urdf) convert robots between URDF and COLLADA, with mass, centre and inertia. COLLADA has principal moments and
# their axes. Where a link has products of inertia, the axes in the file are the inverse of those of the link, so that the products come back
# with other signs and sizes. Principal moments, mass and centre are right, and a diagonal tensor comes back as it was.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
[ -x /usr/bin/python3 ] || { echo "no python3 here"; exit 77; }
mkdir -p debs/partial root
apt-get install -y --no-install-recommends --download-only -o Debug::NoLocking=1 -o APT::Sandbox::User=root -o Dir::Cache::archives="$folder/debs" \
    collada-urdf-tools=1.12.13-8+b2 >apt.log 2>&1 || { tail -n 3 apt.log; exit 77; }
for package in debs/*.deb; do dpkg -x "$package" root; done
cat >finding.py <<'FILE'
import os
import subprocess
import sys
from xml.etree import ElementTree

ROBOT = """<robot name="arm"><link name="base"/>
<link name="rod"><inertial><origin xyz="0.1 0.02 -0.03"/><mass value="2"/><inertia {}/></inertial></link>
<joint name="hinge" type="revolute"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/><limit lower="-1" upper="2" effort="10" velocity="3"/></joint></robot>"""
NAMES = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
FOLDER = "root/usr/lib/collada_urdf/"


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "LD_LIBRARY_PATH": "root/usr/lib/x86_64-linux-gnu"})
    if done.returncode:
        sys.exit(f"{command}: {done.stdout}{done.stderr}")


def again(tensor):
    with open("robot.urdf", "w", encoding="utf-8") as file:
        file.write(ROBOT.format(" ".join(f'{n}="{x}"' for n, x in zip(NAMES, tensor))))
    run(FOLDER + "urdf_to_collada", "robot.urdf", "robot.dae")
    run(FOLDER + "collada_to_urdf", "robot.dae", "-O", "back.urdf")
    inertial = ElementTree.parse("back.urdf").find("link[@name='rod']/inertial")
    assert inertial.find("mass").get("value") == "2" and inertial.find("origin").get("xyz") == "0.1 0.02 -0.03" and inertial.find("origin").get("rpy").replace("-0", "0") == "0 0 0"
    return [round(float(inertial.find("inertia").get(n)), 6) + 0.0 for n in NAMES]


print("collada_urdf 1.12.13: xx, yy, zz, xy, xz, yz of a link, to COLLADA and back")
seen = True
for tensor, same in (([0.1, 0.2, 0.25, 0, 0, 0], True), ([0.1, 0.2, 0.25, 0.01, 0.02, -0.03], False), ([0.1, 0.2, 0.15, 0.03, 0, 0], False)):
    back = again(tensor)
    print(f"expected {tensor}, found {back}")
    seen = seen and (max(abs(a - b) for a, b in zip(tensor, back)) < 1e-5) == same and abs(sum(back[:3]) - sum(tensor[:3])) < 1e-5
sys.exit(0 if seen else 1)
FILE
/usr/bin/python3 finding.py
