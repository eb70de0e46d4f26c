#!/bin/bash
# FCL: every geometry tells its volume, its centre of mass and its inertia about the origin and about its centre of mass (class CollisionGeometry), at
# density 1: Box, Sphere, Cone and BVHModel do. Convex returns the inertia per unit of VOLUME, but the move to the centre of mass still
# subtracts volume times distance squared. The same box of 1 kg/m^3 and 0.048 m^3 has 21 times the inertia, and off its centre 6000 times.
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
#include <fcl/geometry/bvh/BVH_model.h>
#include <fcl/geometry/shape/box.h>
#include <fcl/geometry/shape/convex.h>
#include <fcl/math/bv/OBBRSS.h>

static const double SIDES[3] = {0.2, 0.4, 0.6};
static const int TRIANGLES[] = {0, 1, 3, 0, 3, 2, 4, 6, 7, 4, 7, 5, 0, 4, 5, 0, 5, 1, 2, 3, 7, 2, 7, 6, 0, 2, 6, 0, 6, 4, 1, 5, 7, 1, 7, 3};

static double print(const char *name, const fcl::CollisionGeometryd &geometry)
{
    fcl::Matrix3d inertia = geometry.computeMomentofInertiaRelatedToCOM();
    printf("%-31s: volume %.4f m^3, inertia about its centre of mass %.5f %.5f %.5f\n", name, geometry.computeVolume(), inertia(0, 0), inertia(1, 1),
           inertia(2, 2));
    return inertia(0, 0);
}

int main()
{
    puts("FCL 0.7.0: the same box at density 1");
    double box = print("Box", fcl::Boxd(SIDES[0], SIDES[1], SIDES[2]));
    bool seen = std::abs(box - 0.00208) < 1e-9;
    for (double away : {0., 3.}) {
        auto points = std::make_shared<std::vector<fcl::Vector3d>>();
        auto faces = std::make_shared<std::vector<int>>();
        std::vector<fcl::Triangle> triangles;
        for (int i = 0; i < 8; i++)
            points->push_back(fcl::Vector3d(i & 4 ? 0.5 : -0.5, i & 2 ? 0.5 : -0.5, i & 1 ? 0.5 : -0.5).cwiseProduct(fcl::Vector3d(SIDES)) +
                              fcl::Vector3d(0, 0, away));
        for (int i = 0; i < 36; i += 3) {
            faces->insert(faces->end(), {3, TRIANGLES[i], TRIANGLES[i + 1], TRIANGLES[i + 2]});
            triangles.emplace_back(TRIANGLES[i], TRIANGLES[i + 1], TRIANGLES[i + 2]);
        }
        fcl::BVHModel<fcl::OBBRSSd> mesh;
        mesh.beginModel();
        mesh.addSubModel(*points, triangles);
        mesh.endModel();
        seen = std::abs(print(away ? "BVHModel, 3 m off its centre" : "BVHModel", mesh) - box) < 1e-9 && seen;
        double volume = mesh.computeVolume(), convex = print(away ? "Convex, 3 m off its centre" : "Convex", fcl::Convexd(points, 12, faces));
        seen = std::abs(convex - (box / volume + (1 - volume) * away * away)) < 1e-9 && seen;
    }
    return seen ? 0 : 1;
}
FILE
g++ -w -O0 -I root/usr/include -I root/usr/include/eigen3 finding.cpp -o finding -L root/usr/lib/x86_64-linux-gnu -lfcl -l:libccd.so.2 -loctomap -loctomath
LD_LIBRARY_PATH=root/usr/lib/x86_64-linux-gnu ./finding
