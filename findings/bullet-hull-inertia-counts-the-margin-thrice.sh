#!/bin/bash
# Bullet: calculateLocalInertia of btConvexHullShape takes the box around the hull, as is known, which is exact for a hull that IS a
# box. But the collision margin, 4 cm by default, widens it by three margins on each side: a finger of 2 x 4 x 6 cm as a hull has
# 32 times the inertia that it has as btBoxShape. A smaller setMargin afterwards takes back two of the three: still 7 times.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
command -v g++ >g++.log 2>&1 && [ "$(uname -m)" = x86_64 ] || { echo "no g++ for x86-64 here"; exit 77; }
apt-get download libbullet-dev=3.24+dfsg-2 libbullet3.24=3.24+dfsg-2 >apt.log 2>&1 || { tail -n 3 apt.log; exit 77; }
for package in *.deb; do dpkg -x "$package" root; done
cat >finding.cpp <<'FILE'
#include <cmath>
#include <cstdio>
#include <btBulletCollisionCommon.h>

static const double MASS = 0.1;

// The x moment of a box of the half sides x, y, z
static double box_moment(double y, double z) { return MASS * (y * y + z * z) / 3; }

static bool compare(double x, double y, double z)
{
    btConvexHullShape hull;
    for (int i = 0; i < 8; i++)
        hull.addPoint(btVector3(i & 4 ? x : -x, i & 2 ? y : -y, i & 1 ? z : -z));
    btBoxShape box(btVector3(x, y, z));
    btVector3 inertia;
    box.calculateLocalInertia(MASS, inertia);
    double exact = inertia.x();
    bool seen = std::abs(exact / box_moment(y, z) - 1) < 1e-5;
    printf("box of %g x %g x %g cm: btBoxShape %.4g kg m^2\n", 200 * x, 200 * y, 200 * z, exact);
    for (double margin : {0.04, 0.001}) {
        hull.setMargin(margin);
        hull.calculateLocalInertia(MASS, inertia);
        printf("    as btConvexHullShape with a margin of %g mm: expected %.4g, seen %.4g kg m^2, %.2f times\n", 1000 * margin, exact, inertia.x(),
               inertia.x() / exact);
        seen = seen && std::abs(inertia.x() / box_moment(y + 0.04 + 2 * margin, z + 0.04 + 2 * margin) - 1) < 1e-5;
    }
    return seen;
}

int main()
{
    puts("Bullet 3.24");
    bool small = compare(0.01, 0.02, 0.03);
    return compare(0.1, 0.2, 0.3) && small ? 0 : 1;
}
FILE
g++ -w -O1 -I root/usr/include/bullet finding.cpp -o finding -L root/usr/lib/x86_64-linux-gnu -lBulletCollision -lLinearMath
LD_LIBRARY_PATH=root/usr/lib/x86_64-linux-gnu ./finding
