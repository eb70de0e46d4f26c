#!/bin/bash
# URDF: urdf::Rotation holds a quaternion; getRPY returns its angles, and exportURDF writes them. For any pitch within 0.256 degrees of
# +-90 degrees, not at the singularity alone, it returns 90 degrees, which turns the rotation by up to 4.5 mrad: a tool 1 m away moves by up to
# 4.5 mm when a robot is read and written. (The formula that it uses elsewhere has lost no more than 1e-13 there.)
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
command -v g++ >g++.log 2>&1 && [ "$(uname -m)" = x86_64 ] || { echo "no g++ for x86-64 here"; exit 77; }
apt-get download liburdfdom-dev=3.0.1-1 liburdfdom-headers-dev=1.0.5-3 liburdfdom-model3.0=3.0.1-1 libtinyxml-dev=2.6.2-6+deb12u1 \
    libtinyxml2.6.2v5=2.6.2-6+deb12u1 libconsole-bridge1.0=1.0.1+dfsg2-3+b1 >apt.log 2>&1 || { tail -n 3 apt.log; exit 77; }
for package in *.deb; do dpkg -x "$package" root; done
cat >finding.cpp <<'FILE'
#include <cmath>
#include <cstdio>
#include <string>
#include <tinyxml.h>
#include <urdf_parser/urdf_parser.h>

// Where the tool, 1 m along x of the child, is in the parent's frame
static urdf::Vector3 tool(const urdf::ModelInterface &model)
{
    return model.getJoint("j")->parent_to_joint_origin_transform.rotation * urdf::Vector3(1, 0, 0);
}

// How far reading, writing and reading again moves it [m]; the pitch that is written
static double moved(const char *pitch, std::string &written)
{
    auto model = urdf::parseURDF(std::string("<robot name='r'><link name='a'/><link name='b'/><joint name='j' type='fixed'>"
                                             "<parent link='a'/><child link='b'/><origin rpy='0 ") + pitch + " 0'/></joint></robot>");
    TiXmlDocument *document = urdf::exportURDF(*model);
    TiXmlPrinter printer;
    document->Accept(&printer);
    written = document->RootElement()->FirstChildElement("joint")->FirstChildElement("origin")->Attribute("rpy");
    auto again = urdf::parseURDF(printer.CStr());
    delete document;
    urdf::Vector3 from = tool(*model), to = tool(*again);
    return std::hypot(to.x - from.x, to.y - from.y, to.z - from.z);
}

int main()
{
    puts("urdfdom 3.0.1, urdfdom_headers 1.0.5: read, exportURDF, read again");
    bool seen = true;
    for (const char *pitch : {"1.55", "1.566", "1.5664", "1.567", "1.57", "-1.567"}) {
        std::string written;
        double shift = moved(pitch, written), distance = std::abs(std::acos(-1.0) / 2 - std::abs(std::stod(pitch)));
        bool snaps = distance < std::acos(0.99999);
        printf("rpy=\"0 %s 0\": expected the same, seen rpy=\"%s\"; the tool moves by %.2f mm\n", pitch, written.c_str(), 1000 * shift);
        seen = seen && std::abs(shift - (snaps ? distance : 0)) < 1e-5;
    }
    return seen ? 0 : 1;
}
FILE
g++ -O1 -I root/usr/include finding.cpp -o finding -L root/usr/lib/x86_64-linux-gnu -l:liburdfdom_model.so.3.0 -l:libtinyxml.so.2.6.2 \
    -Wl,-rpath-link,root/usr/lib/x86_64-linux-gnu
LD_LIBRARY_PATH=root/usr/lib/x86_64-linux-gnu ./finding
