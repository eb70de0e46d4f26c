#!/bin/bash
# MJCF: a body's inertia is the diaginertia of <inertial> or, without one, follows from mass and form of its geoms; angles are in degrees
# unless <compiler angle="radian"/> says otherwise (MuJoCo's XML reference). DART's reader of MJCF takes mass and centre of mass, and gives EVERY
# body the moments 1, 1, 1 kg m^2, in silence. The range of a hinge in degrees becomes radians: +-30 degrees are +-30 rad.
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

MASS, RADIUS, AWAY = 2, 0.1, 0.2
POINT = MASS * AWAY**2


def joint(content):
    with open("model.xml", "w", encoding="utf-8") as file:
        file.write(f"""<mujoco model="m"><default class="main"/><worldbody><body name="b">
            <joint name="j" type="hinge" axis="0 1 0" limited="true" range="-30 30"/>{content}</body></worldbody></mujoco>""")
    skeleton = dartpy.utils.MjcfParser.readWorld("file://" + os.path.abspath("model.xml")).getSkeleton(0)
    return skeleton.getMass(), skeleton.getMassMatrix()[0, 0], skeleton.getDof("j").getPositionUpperLimit()


print("DART 6.12.1: inertia about the hinge, 0.2 m from the centre of mass of a body of 2 kg")
seen = True
for name, own, content in (
    ("inertial, diaginertia 0.1 0.3 0.25", 0.3, f'<inertial pos="{AWAY} 0 0" mass="{MASS}" diaginertia="0.1 0.3 0.25"/><geom size="0.1"/>'),
    ("inertial, diaginertia of 0.001    ", 0.001, f'<inertial pos="{AWAY} 0 0" mass="{MASS}" diaginertia="0.001 0.001 0.001"/><geom size="0.1"/>'),
    ("sphere of 0.1 m                   ", 0.4 * MASS * RADIUS**2, f'<geom type="sphere" size="{RADIUS}" pos="{AWAY} 0 0" mass="{MASS}"/>'),
):
    mass, moment, limit = joint(content)
    print(f"{name}: expected {POINT + own:.4f} kg m^2, seen {moment:.4f} kg m^2")
    seen = seen and abs(mass - MASS) < 1e-12 and abs(moment - POINT - 1) < 1e-9
print(f"range of 30 degrees: expected {math.radians(30):.4f} rad, seen {limit:g} rad")
sys.exit(0 if seen and limit == 30 else 1)
FILE
LD_LIBRARY_PATH=root/usr/lib/x86_64-linux-gnu PYTHONPATH=root/usr/lib/python3/dist-packages /usr/bin/python3 finding.py
