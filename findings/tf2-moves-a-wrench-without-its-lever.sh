#!/bin/bash
# ROS: tf2_geometry_msgs transforms a WrenchStamped from one frame into another, like points and poses. The force and the torque are rotated, and that is all:
# the lever between the origins is left out, so that 10 N at the tip of a tool of 0.3 m are a wrench without torque at its flange.
# The power of the wrench with the twist of the tool, the same in every frame, is another one at the flange.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
[ -x /usr/bin/python3 ] || { echo "no python3 here"; exit 77; }
mkdir -p debs/partial root
apt-get install -y --no-install-recommends --download-only -o Debug::NoLocking=1 -o APT::Sandbox::User=root -o Dir::Cache::archives="$folder/debs" \
    python3-tf2-geometry-msgs=0.7.6-1 >apt.log 2>&1 || { tail -n 3 apt.log; exit 77; }
for package in debs/*.deb; do dpkg -x "$package" root; done
cat >finding.py <<'FILE'
import math
import sys
from geometry_msgs.msg import TransformStamped, WrenchStamped
from tf2_geometry_msgs import do_transform_wrench


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


values = lambda vector: [round(x, 12) + 0.0 for x in (vector.x, vector.y, vector.z)]
good = True
print("tf2_geometry_msgs 0.7.6")
for lever, angle in (((0.3, 0, 0), 0), ((0, 0.2, 0.1), math.pi / 2)):
    transform = TransformStamped()      # pose of the tip in the flange: a turn about z
    transform.transform.translation.x, transform.transform.translation.y, transform.transform.translation.z = lever
    transform.transform.rotation.z, transform.transform.rotation.w = math.sin(angle / 2), math.cos(angle / 2)
    tip = WrenchStamped()
    tip.wrench.force.x, tip.wrench.force.z, tip.wrench.torque.y = 4, 10, 0.5
    flange = do_transform_wrench(tip, transform).wrench
    c, s = math.cos(angle), math.sin(angle)
    force, torque = [4 * c, 4 * s, 10], [-0.5 * s, 0.5 * c, 0]
    whole = [t + m for t, m in zip(torque, cross(lever, force))]
    print(f"tip at {lever} m, turned by {angle:.3f}: force {values(flange.force)} N")
    print(f"  torque at the flange: expected {[round(x, 12) + 0.0 for x in whole]} N m, found {values(flange.torque)}")
    near = lambda a, b: max(abs(x - y) for x, y in zip(a, b)) < 1e-9
    good = good and near(values(flange.force), force) and near(values(flange.torque), torque) and not near(whole, torque)
sys.exit(0 if good else 1)
FILE
PYTHONPATH=root/usr/lib/python3/dist-packages LD_LIBRARY_PATH=root/usr/lib/x86_64-linux-gnu /usr/bin/python3 finding.py
