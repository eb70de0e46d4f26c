#!/bin/bash
# ODE: dRFromEulerAngles and dRFromAxisAndAngle stand side by side in ODE's header of rotations; both make a rotation matrix. An angle about one axis
# should give the same matrix from both. dRFromEulerAngles makes the INVERSE: 30 degrees about x turn a body by -30 degrees. With three angles it
# is the transpose of Rz(psi) Ry(theta) Rx(phi), the roll, pitch and yaw of URDF.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
command -v g++ >g++.log 2>&1 && [ "$(uname -m)" = x86_64 ] || { echo "no g++ for x86-64 here"; exit 77; }
apt-get download libode-dev=2:0.16.2-1 libode8=2:0.16.2-1 libccd2=2.1-2+b1 >apt.log 2>&1 || { tail -n 3 apt.log; exit 77; }
for package in *.deb; do dpkg -x "$package" root; done
cat >finding.cpp <<'FILE'
#include <cmath>
#include <cstdio>
#include <ode/ode.h>

static double distance(const dMatrix3 A, const dMatrix3 B, bool transposed)
{
    double most = 0;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            most = std::fmax(most, std::abs(A[4 * i + k] - (transposed ? B[4 * k + i] : B[4 * i + k])));
    return most;
}

// How far a body that is turned by R leans: the direction of the tip of its x, y or z axis
static bool single(int axis)
{
    dReal unit[3] = {0, 0, 0}, angle[3] = {0, 0, 0}, theta = std::acos(-1.0) / 6;
    dMatrix3 wanted, seen;
    unit[axis] = 1;
    angle[axis] = theta;
    dRFromAxisAndAngle(wanted, unit[0], unit[1], unit[2], theta);
    dRFromEulerAngles(seen, angle[0], angle[1], angle[2]);
    int from = (axis + 1) % 3, to = (axis + 2) % 3;
    printf("30 degrees about %c: dRFromAxisAndAngle turns by %+.1f, dRFromEulerAngles by %+.1f degrees\n", "xyz"[axis],
           180 / std::acos(-1.0) * std::asin(wanted[4 * to + from]), 180 / std::acos(-1.0) * std::asin(seen[4 * to + from]));
    return distance(seen, wanted, true) < 1e-6 && distance(seen, wanted, false) > 0.9;
}

int main()
{
    dInitODE2(0);
    puts("ODE 0.16.2");
    bool seen = single(0);
    seen = single(1) && seen;
    seen = single(2) && seen;
    dMatrix3 roll, pitch, yaw, half, all, euler;
    dRFromAxisAndAngle(roll, 1, 0, 0, 0.1);
    dRFromAxisAndAngle(pitch, 0, 1, 0, 0.2);
    dRFromAxisAndAngle(yaw, 0, 0, 1, 0.3);
    dMultiply0(half, pitch, roll, 3, 3, 3);
    dMultiply0(all, yaw, half, 3, 3, 3);
    dRFromEulerAngles(euler, 0.1, 0.2, 0.3);
    printf("angles 0.1, 0.2, 0.3: distance from Rz Ry Rx %.2g, from its transpose %.2g\n", distance(euler, all, false), distance(euler, all, true));
    return seen && distance(euler, all, true) < 1e-6 ? 0 : 1;
}
FILE
g++ -O1 -I root/usr/include finding.cpp -o finding -L root/usr/lib/x86_64-linux-gnu -l:libode.so.8 -Wl,-rpath-link,root/usr/lib/x86_64-linux-gnu
LD_LIBRARY_PATH=root/usr/lib/x86_64-linux-gnu ./finding
