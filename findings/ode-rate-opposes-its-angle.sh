#!/bin/bash
# ODE: dJointGet...Rate is the time derivative of dJointGet...Angle (so the comments of its header of objects say). For two of its joints the second one is the NEGATIVE
# derivative: of a hinge-2 joint, and of a universal joint whose first body is the world (0) and whose second is the robot's. The first angle, and a
# universal joint between two bodies or attached the other way about, are right. A PD law on this pair has one gain of the wrong sign.
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

typedef dReal Get(dJointID);
static dWorldID world;

// Whether the rate is the derivative (1) or its negative (-1), from one second at 0.3 rad/s about the axis, which the constraint admits
static int sense(const char *what, dJointID joint, dBodyID body, bool first, Get *angle, Get *rate)
{
    dReal before = angle(joint);
    dBodySetAngularVel(body, 0, first ? 0 : 0.3, first ? 0.3 : 0);
    for (int step = 0; step < 100; step++)
        dWorldStep(world, 0.01);
    dReal mean = angle(joint) - before, seen = rate(joint);
    printf("%-54s the angle changes by %+.3f rad in 1 s; the rate is %+.3f rad/s\n", what, mean, seen);
    return std::abs(std::abs(mean) - 0.3) > 1e-6 || std::abs(std::abs(seen) - 0.3) > 1e-6 ? 0 : mean * seen > 0 ? 1 : -1;
}

static int universal(const char *what, bool second, bool two, bool reversed)
{
    dBodyID fixed = two ? dBodyCreate(world) : nullptr, body = dBodyCreate(world);
    if (fixed)
        dBodySetKinematic(fixed);
    dJointID joint = dJointCreateUniversal(world, nullptr);
    dJointAttach(joint, reversed ? body : fixed, reversed ? fixed : body);
    dJointSetUniversalAnchor(joint, 0, 0, 0);
    dJointSetUniversalAxis1(joint, 0, 0, 1);
    dJointSetUniversalAxis2(joint, 0, 1, 0);
    return second ? sense(what, joint, body, false, dJointGetUniversalAngle2, dJointGetUniversalAngle2Rate)
                  : sense(what, joint, body, true, dJointGetUniversalAngle1, dJointGetUniversalAngle1Rate);
}

static int hinge2(const char *what, bool second)
{
    dBodyID fixed = dBodyCreate(world), body = dBodyCreate(world);
    dBodySetKinematic(fixed);
    dJointID joint = dJointCreateHinge2(world, nullptr);
    dJointAttach(joint, fixed, body);
    dVector3 axis1 = {0, 0, 1}, axis2 = {0, 1, 0};
    dJointSetHinge2Anchor(joint, 0, 0, 0);
    dJointSetHinge2Axes(joint, axis1, axis2);
    return second ? sense(what, joint, body, false, dJointGetHinge2Angle2, dJointGetHinge2Angle2Rate)
                  : sense(what, joint, body, true, dJointGetHinge2Angle1, dJointGetHinge2Angle1Rate);
}

int main()
{
    dInitODE2(0);
    world = dWorldCreate();
    puts("ODE 0.16.2; expected: one sign in each line");
    bool right = universal("universal, axis 1, world and body:", false, false, false) == 1;
    right = universal("universal, axis 2, two bodies:", true, true, false) == 1 && right;
    right = universal("universal, axis 2, body and world:", true, false, true) == 1 && right;
    right = hinge2("hinge-2, axis 1, two bodies:", false) == 1 && right;
    bool wrong = universal("universal, axis 2, world and body:", true, false, false) == -1;
    wrong = hinge2("hinge-2, axis 2, two bodies:", true) == -1 && wrong;
    return right && wrong ? 0 : 1;
}
FILE
g++ -O1 -I root/usr/include finding.cpp -o finding -L root/usr/lib/x86_64-linux-gnu -l:libode.so.8 -Wl,-rpath-link,root/usr/lib/x86_64-linux-gnu
LD_LIBRARY_PATH=root/usr/lib/x86_64-linux-gnu ./finding
