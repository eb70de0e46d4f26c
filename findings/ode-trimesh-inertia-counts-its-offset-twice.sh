#!/bin/bash
# ODE: a dMass holds the inertia about the origin of its frame (dMassTranslate adds m r^2 once, and dMassSetBox is about the box's centre).
# dMassSetTrimesh adds m r^2 TWICE for a mesh whose centre of mass is off the origin. Moving the mass to its centre with
# dMassTranslate, as ODE wants it for a body, takes it away once, so m r^2 remains: a part drawn off its centre turns far too heavily.
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

static const dReal SIDES[3] = {0.2, 0.4, 0.6};

static void mesh(dMass *mass, const dReal centre[3])
{
    static float vertices[8][3];
    static const dTriIndex triangles[] = {0, 1, 3, 0, 3, 2, 4, 6, 7, 4, 7, 5, 0, 4, 5, 0, 5, 1,
                                          2, 3, 7, 2, 7, 6, 0, 2, 6, 0, 6, 4, 1, 5, 7, 1, 7, 3};
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 3; k++)
            vertices[i][k] = centre[k] + (i >> (2 - k) & 1 ? 0.5 : -0.5) * SIDES[k];
    dTriMeshDataID data = dGeomTriMeshDataCreate();
    dGeomTriMeshDataBuildSingle(data, vertices, 3 * sizeof(float), 8, triangles, 36, 3 * sizeof(dTriIndex));
    dMassSetTrimesh(mass, 1000, dCreateTriMesh(nullptr, data, nullptr, nullptr, nullptr));
}

// Whether the moments of the mesh are those of the box plus `surplus` times m r^2
static bool compare(const char *what, const dReal centre[3], bool centred, int surplus)
{
    dMass box, seen;
    dMassSetBox(&box, 1000, SIDES[0], SIDES[1], SIDES[2]);
    mesh(&seen, centre);
    bool equal = std::abs(seen.mass - box.mass) < 1e-4 && std::abs(seen.c[0] - centre[0]) < 1e-5;
    if (centred)
        dMassTranslate(&seen, -seen.c[0], -seen.c[1], -seen.c[2]);
    else
        dMassTranslate(&box, centre[0], centre[1], centre[2]);
    printf("%s: expected %.4f %.4f %.4f, seen %.4f %.4f %.4f kg m^2\n", what, box.I[0], box.I[5], box.I[10], seen.I[0], seen.I[5], seen.I[10]);
    for (int k = 0; k < 3; k++) {
        dReal a = centre[(k + 1) % 3], b = centre[(k + 2) % 3];
        equal = equal && std::abs(seen.I[5 * k] - box.I[5 * k] - surplus * box.mass * (a * a + b * b)) < 1e-3;
    }
    return equal;
}

int main()
{
    dInitODE2(0);
    puts("ODE 0.16.2: moments of a box of 48 kg as a mesh");
    const dReal middle[3] = {0, 0, 0}, away[3] = {0.1, 0.5, 0.2};
    bool right = compare("mesh about its centre                            ", middle, false, 0);
    bool twice = compare("mesh off its centre, about the origin            ", away, false, 1);
    return compare("mesh off its centre, moved to it by dMassTranslate", away, true, 1) && right && twice ? 0 : 1;
}
FILE
g++ -O1 -I root/usr/include finding.cpp -o finding -L root/usr/lib/x86_64-linux-gnu -l:libode.so.8 -Wl,-rpath-link,root/usr/lib/x86_64-linux-gnu
LD_LIBRARY_PATH=root/usr/lib/x86_64-linux-gnu ./finding
