#!/bin/bash
# gz-math: Box::VolumeBelow returns the volume of the box below a plane (comment of Box.hh), the basis of a floating box's buoyancy. The result is
# right for some heights only: as the plane rises, the volume falls at times, is up to 2.7 times too large, and at the top face, it exceeds
# the whole box. CenterOfVolumeBelow is right at the same planes.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
command -v g++ >g++.log 2>&1 && [ "$(uname -m)" = x86_64 ] || { echo "no g++ for x86-64 here"; exit 77; }
apt-get download libignition-math-dev=6.10.0+ds3-7+b4 libignition-math6-6=6.10.0+ds3-7+b4 >apt.log 2>&1 || { tail -n 3 apt.log; exit 77; }
for package in *.deb; do dpkg -x "$package" root; done
cat >finding.cpp <<'FILE'
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ignition/math/Box.hh>

int main()
{
    const double x = 0.2, y = 0.4, z = 0.6;
    ignition::math::Boxd box(x, y, z);
    printf("gz-math 6.10.0: a box of %g x %g x %g m, %g m^3\n", x, y, z, box.Volume());
    double before = 0, ratio = 0, top = 0;
    bool falls = false, centres = true;
    for (double height : {-0.25, -0.2, -0.1, 0., 0.1, 0.2, 0.25, 0.3}) {
        ignition::math::Planed plane(ignition::math::Vector3d(0, 0, 1), height);
        double expected = x * y * (height + z / 2), seen = box.VolumeBelow(plane);
        auto centre = box.CenterOfVolumeBelow(plane);
        printf("plane at z = %5.2f m: expected %.4f, seen %.4f m^3\n", height, expected, seen);
        falls = falls || seen < before - 1e-4;
        before = top = seen;
        ratio = std::max(ratio, seen / expected);
        centres = centres && centre && std::abs(centre->Z() - (height - z / 2) / 2) < 1e-9;
    }
    return falls && centres && ratio > 2.5 && top > 1.1 * box.Volume() ? 0 : 1;
}
FILE
g++ -std=c++17 -O1 -I root/usr/include/ignition/math6 finding.cpp -o finding -L root/usr/lib/x86_64-linux-gnu -l:libignition-math6.so.6
LD_LIBRARY_PATH=root/usr/lib/x86_64-linux-gnu ./finding
