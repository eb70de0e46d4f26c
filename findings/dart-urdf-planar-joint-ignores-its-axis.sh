#!/bin/bash
# URDF: a planar joint moves in the plane perpendicular to its axis (URDF's <joint>, type). DART's reader of URDF ignores the axis of this type, in silence: the
# body always moves in the plane of x and y of the joint's frame and turns about z. With the axis along x, a wall, it leaves the wall along
# x and never moves along z. DART's revolute and prismatic joints heed the axis.
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
import os
import sys
import dartpy
import numpy

BODY = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def directions(kind, axis):
    """The twist (angular, linear) of the child per joint velocity, for all velocities of the joint."""
    with open("robot.urdf", "w", encoding="utf-8") as file:
        file.write(f"""<robot name="r"><link name="base">{BODY}</link><link name="b">{BODY}</link><joint name="j" type="{kind}">
            <parent link="base"/><child link="b"/><axis xyz="{axis}"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>""")
    joint = dartpy.utils.DartLoader().parseSkeleton(os.path.abspath("robot.urdf")).getJoint("j")
    return numpy.round(joint.getRelativeJacobian(), 9)


print("DART 6.12.1, a planar joint read from URDF")
seen = True
for axis in ("1 0 0", "0 1 0", "0 0 1"):
    normal = numpy.array([float(value) for value in axis.split()])
    jacobian = directions("planar", axis)
    leaves = numpy.linalg.norm(normal @ jacobian[3:]) > 0.5
    turns = ["xyz"[abs(column[:3]).argmax()] for column in jacobian.T if abs(column[:3]).max() > 0.5]
    moves = ["xyz"[abs(column[3:]).argmax()] for column in jacobian.T if abs(column[3:]).max() > 0.5]
    plane = "".join(letter for letter, value in zip("xyz", normal) if value == 0)
    print(f"axis {axis}: expected to move along {plane} and turn about {'xyz'[normal.argmax()]}; seen along {''.join(moves)}, about {''.join(turns)}")
    seen = seen and moves == ["x", "y"] and turns == ["z"] and leaves == (axis != "0 0 1")
    for kind, rows in (("revolute", slice(0, 3)), ("prismatic", slice(3, 6))):
        seen = seen and (directions(kind, axis)[rows, 0] == normal).all()
sys.exit(0 if seen else 1)
FILE
LD_LIBRARY_PATH=root/usr/lib/x86_64-linux-gnu PYTHONPATH=root/usr/lib/python3/dist-packages /usr/bin/python3 finding.py
