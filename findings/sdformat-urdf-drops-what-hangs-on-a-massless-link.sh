#!/bin/bash
# sdformat reads URDF, as Gazebo does. A link without <inertial> within a robot, such as the cross of a universal joint or a flange fixed between wrist and gripper,
# is left out with its joint, and so is all that hangs on it, links with a mass as well. Load returns no error, and nothing is printed: the
# robot has fewer joints and weighs less.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
command -v g++ >g++.log 2>&1 && [ "$(uname -m)" = x86_64 ] || { echo "no g++ for x86-64 here"; exit 77; }
apt-get download libsdformat-dev=12.3.0+ds-2 libsdformat12-12=12.3.0+ds-2 libignition-math-dev=6.10.0+ds3-7+b4 libignition-math6-6=6.10.0+ds3-7+b4 \
    libignition-utils-dev=1.2.0+ds-1 libtinyxml2-9=9.0.0+dfsg-3.1 liburdfdom-model3.0=3.0.1-1 libconsole-bridge1.0=1.0.1+dfsg2-3+b1 \
    libtinyxml2.6.2v5=2.6.2-6+deb12u1 >apt.log 2>&1 || { tail -n 3 apt.log; exit 77; }
for package in *.deb; do dpkg -x "$package" root; done
cat >finding.cpp <<'FILE'
#include <cstdio>
#include <string>
#include <ignition/math/Inertial.hh>
#include <sdf/sdf.hh>

// A robot whose hand, 0.7 kg, hangs on the link `cross` by a turning joint; `joint` is the type of the joint that carries the cross
static std::string robot(const char *joint, const char *inertial)
{
    const std::string mass = "<inertial><mass value=\"%\"/><inertia ixx=\"0.01\" iyy=\"0.01\" izz=\"0.01\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial>";
    auto of = [&](const char *kg) { std::string own = mass; return own.replace(own.find('%'), 1, kg); };
    const std::string limit = "<limit lower=\"-1\" upper=\"1\" effort=\"9\" velocity=\"3\"/></joint>";
    return "<robot name=\"arm\"><link name=\"rod\">" + of("1.5") + "</link><link name=\"cross\">" + (*inertial ? of(inertial) : "") + "</link><link name=\"hand\">" + of("0.7") +
           "</link><joint name=\"first\" type=\"" + joint + "\"><parent link=\"rod\"/><child link=\"cross\"/><axis xyz=\"1 0 0\"/>" + limit +
           "<joint name=\"second\" type=\"revolute\"><parent link=\"cross\"/><child link=\"hand\"/><axis xyz=\"0 1 0\"/>" + limit + "</robot>";
}

struct Seen { size_t errors, joints; double mass; };

static Seen load(const char *what, const std::string &urdf, size_t joints, double mass)
{
    sdf::Root root;
    const Seen errors = {root.LoadSdfString(urdf).size(), 0, 0};
    Seen seen = errors;
    const sdf::Model *model = root.Model();
    seen.joints = model->JointCount();
    for (uint64_t i = 0; i < model->LinkCount(); i++)
        seen.mass += model->LinkByIndex(i)->Inertial().MassMatrix().Mass();
    printf("%s: expected %zu joints, %.2f kg; found %zu joints, %.2f kg, %zu errors\n", what, joints, mass, seen.joints, seen.mass, seen.errors);
    return seen;
}

int main()
{
    printf("sdformat %s\n", SDF_VERSION_FULL);
    const Seen heavy = load("the cross with 0.1 kg", robot("revolute", "0.1"), 2, 2.3);
    const Seen light = load("the cross without mass", robot("revolute", ""), 2, 2.2);
    const Seen fixed = load("the same, fixed to the rod", robot("fixed", ""), 1, 2.2);
    auto lost = [](const Seen &seen) { return seen.errors == 0 && seen.joints == 0 && seen.mass < 1.51; };
    return heavy.joints == 2 && heavy.mass > 2.29 && lost(light) && lost(fixed) ? 0 : 1;
}
FILE
g++ -std=c++17 -w -O1 -I root/usr/include/sdformat-12.3 -I root/usr/include/ignition/math6 -I root/usr/include/ignition/utils1 finding.cpp -o finding -L root/usr/lib/x86_64-linux-gnu \
    -Wl,-rpath-link,root/usr/lib/x86_64-linux-gnu -lsdformat12 -lignition-math6
LD_LIBRARY_PATH=root/usr/lib/x86_64-linux-gnu ./finding
