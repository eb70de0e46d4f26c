#!/bin/bash
# FCL: distance() returns the two nearest points "in the world coordinates" (comment of DistanceResult). Between a mesh and a box they are. Between
# a mesh and a sphere each point is in the frame of its own object: with both away from the origin, the two points are not that far apart,
# and a robot that moves along them moves in a wrong direction. The distance itself is right. The depth of a contact of this pair is negative; a
# box's is positive. If the mesh is the second argument, result.o1 and nearest_points[0] belong to it, not to the first.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
command -v g++ >g++.log 2>&1 && [ "$(uname -m)" = x86_64 ] || { echo "no g++ for x86-64 here"; exit 77; }
apt-get download libfcl-dev=0.7.0-3+b1 libfcl0.7=0.7.0-3+b1 libccd2=2.1-2+b1 libccd-dev=2.1-2+b1 libeigen3-dev=3.4.0-4 \
    liboctomap-dev=1.9.7+dfsg-3+b1 liboctomap1.9=1.9.7+dfsg-3+b1 >apt.log 2>&1 || { tail -n 3 apt.log; exit 77; }
for package in *.deb; do dpkg -x "$package" root; done
cat >finding.cpp <<'FILE'
#include <cmath>
#include <cstdio>
#include <fcl/fcl.h>

typedef fcl::CollisionGeometryd Geometry;
static const fcl::Vector3d AT1(1, 2, 3), AT2(4, 2.02, 3.03);        // places of the first and of the second object

static fcl::Transform3d place(const fcl::Vector3d &at)
{
    fcl::Transform3d pose = fcl::Transform3d::Identity();
    pose.translation() = at;
    return pose;
}

// Whether the points are in the world's frame, that is, as far apart as the distance says; depth: of a contact; swapped: o1 is the second
static bool world(const char *name, const Geometry *first, const Geometry *second, double *depth, bool *swapped)
{
    fcl::DistanceResultd result;
    fcl::distance<double>(first, place(AT1), second, place(AT2), fcl::DistanceRequestd(true), result);
    const fcl::Vector3d *p = result.nearest_points;
    fcl::CollisionResultd contacts;
    fcl::collide<double>(first, place(AT1), second, place(AT1 + fcl::Vector3d(0.15, 0.02, 0.03)), fcl::CollisionRequestd(10, true), contacts);
    *depth = contacts.getContact(0).penetration_depth;
    *swapped = result.o1 != first;
    printf("%-15s: distance %.3f m; points (%.3f, %.3f, %.3f) and (%.3f, %.3f, %.3f), %.3f m apart; o1 is the %s; depth of a contact %+.3f m\n", name,
           result.min_distance, p[0][0], p[0][1], p[0][2], p[1][0], p[1][1], p[1][2], (p[0] - p[1]).norm(), *swapped ? "second" : "first", *depth);
    return std::abs((p[0] - p[1]).norm() - result.min_distance) < 1e-3;
}

int main()
{
    puts("FCL 0.7.0: objects at (1, 2, 3) and (4, 2.02, 3.03); expected: points as far apart as the distance, positive depths, o1 is the first");
    fcl::Boxd box(0.2, 0.4, 0.6);
    fcl::Sphered sphere(0.3);
    fcl::BVHModel<fcl::OBBRSSd> mesh;
    fcl::generateBVHModel(mesh, box, fcl::Transform3d::Identity());
    for (Geometry *geometry : {(Geometry *)&box, (Geometry *)&sphere, (Geometry *)&mesh})
        geometry->computeLocalAABB();
    double depth;
    bool swapped, seen = true;
    seen = world("sphere and box ", &sphere, &box, &depth, &swapped) && depth > 0 && !swapped && seen;
    seen = world("mesh and box   ", &mesh, &box, &depth, &swapped) && !swapped && seen;
    seen = world("box and mesh   ", &box, &mesh, &depth, &swapped) && swapped && seen;
    seen = !world("mesh and sphere", &mesh, &sphere, &depth, &swapped) && depth < 0 && !swapped && seen;
    seen = !world("sphere and mesh", &sphere, &mesh, &depth, &swapped) && depth < 0 && swapped && seen;
    return seen ? 0 : 1;
}
FILE
g++ -w -O0 -I root/usr/include -I root/usr/include/eigen3 finding.cpp -o finding -L root/usr/lib/x86_64-linux-gnu -lfcl -l:libccd.so.2 -loctomap -loctomath
LD_LIBRARY_PATH=root/usr/lib/x86_64-linux-gnu ./finding
