#!/bin/bash
# KDL: all velocity profiles share an interface (kdl/velocityprofile.hpp): SetProfile(from, to) sets a trajectory between two positions, and after
# Duration() the trapezoids hold the last position at rest. VelocityProfile_Spline does neither. SetProfile has no effect: the former
# trajectory stays, or the position 0 of a new object. After its end it goes on along the polynomial: a reading 1 s late is far beyond the end.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
command -v g++ >g++.log 2>&1 && [ "$(uname -m)" = x86_64 ] || { echo "no g++ for x86-64 here"; exit 77; }
apt-get download liborocos-kdl-dev=1.5.1-2+b4 liborocos-kdl1.5=1.5.1-2+b4 >apt.log 2>&1 || { tail -n 3 apt.log; exit 77; }
for package in *.deb; do dpkg -x "$package" root; done
cat >finding.cpp <<'FILE'
#include <cmath>
#include <cstdio>
#include <kdl/velocityprofile_spline.hpp>
#include <kdl/velocityprofile_trap.hpp>

static bool near(double a, double b) { return std::abs(a - b) < 1e-9; }

int main()
{
    puts("KDL 1.5.1");
    const double from = 0, to = 1, duration = 2, late = 3;
    KDL::VelocityProfile_Trap trapezoid(2, 4);
    KDL::VelocityProfile_Spline spline;
    trapezoid.SetProfileDuration(from, to, duration);
    spline.SetProfileDuration(from, 0, 0, to, 0, 0, duration);      // quintic, from rest to rest
    bool seen = true;
    for (const KDL::VelocityProfile *profile : {(KDL::VelocityProfile *)&trapezoid, (KDL::VelocityProfile *)&spline}) {
        printf("%s: at its end %g m, %g m/s; 1 s later expected %g m, 0 m/s, seen %g m, %g m/s\n", profile == &spline ? "spline   " : "trapezoid",
               profile->Pos(duration), profile->Vel(duration), to, profile->Pos(late), profile->Vel(late));
        seen = seen && near(profile->Pos(duration), to) && near(profile->Vel(duration), 0);
    }
    double x = late / duration;
    seen = seen && trapezoid.Pos(late) == to && trapezoid.Vel(late) == 0;
    seen = seen && near(spline.Pos(late), x * x * x * (10 + x * (6 * x - 15))) && spline.Vel(late) > 5;

    KDL::VelocityProfile_Spline fresh;
    for (KDL::VelocityProfile *profile : {(KDL::VelocityProfile *)&trapezoid, (KDL::VelocityProfile *)&spline, (KDL::VelocityProfile *)&fresh}) {
        profile->SetProfile(4, 5);
        printf("%s SetProfile(4, 5): expected from 4 m to 5 m, seen from %g m to %g m\n",
               profile == &trapezoid ? "trapezoid,  " : profile == &spline ? "spline,     " : "new spline, ", profile->Pos(0),
               profile->Pos(profile->Duration()));
    }
    seen = seen && trapezoid.Pos(0) == 4 && near(trapezoid.Pos(trapezoid.Duration()), 5);
    seen = seen && spline.Pos(0) == from && near(spline.Pos(spline.Duration()), to) && fresh.Pos(0) == 0 && fresh.Pos(fresh.Duration()) == 0;
    return seen ? 0 : 1;
}
FILE
g++ -O1 -I root/usr/include finding.cpp -o finding -L root/usr/lib/x86_64-linux-gnu -lorocos-kdl
LD_LIBRARY_PATH=root/usr/lib/x86_64-linux-gnu ./finding
