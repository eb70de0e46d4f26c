#!/bin/bash
# KDL: a Joint has an offset between its input and the geometry, a damping and a stiffness along its axis (comments of kdl/joint.hpp). In a Segment
# none of them acts. The offset cancels: a joint with an offset of 0.4 rad has the pose of one without, though Joint::pose alone heeds it. Damping
# and stiffness change no torque of the inverse and no acceleration of the forward dynamics. The inertia, given beside them, does act.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
command -v g++ >g++.log 2>&1 && [ "$(uname -m)" = x86_64 ] || { echo "no g++ for x86-64 here"; exit 77; }
apt-get download liborocos-kdl-dev=1.5.1-2+b4 liborocos-kdl1.5=1.5.1-2+b4 libeigen3-dev=3.4.0-4 >apt.log 2>&1 || { tail -n 3 apt.log; exit 77; }
for package in *.deb; do dpkg -x "$package" root; done
cat >finding.cpp <<'FILE'
#include <cmath>
#include <cstdio>
#include <kdl/chainfdsolver_recursive_newton_euler.hpp>
#include <kdl/chainfksolverpos_recursive.hpp>
#include <kdl/chainidsolver_recursive_newton_euler.hpp>

struct Seen {
    double joint, tip, torque, acceleration;
};

// At 0.3 rad, 2 rad/s: the angle of the joint alone and of its segment's tip, torque without acceleration, acceleration without torque
static Seen run(double offset, double inertia, double damping, double stiffness)
{
    KDL::Joint joint("j", KDL::Joint::RotZ, 1, offset, inertia, damping, stiffness);
    KDL::RigidBodyInertia body(1, KDL::Vector(0.5, 0, 0), KDL::RotationalInertia(0.1, 0.1, 0.1));
    KDL::Chain chain;
    chain.addSegment(KDL::Segment(joint, KDL::Frame(KDL::Vector(1, 0, 0)), body));
    KDL::JntArray q(1), v(1), a(1), torque(1), none(1), result(1);
    KDL::Wrenches outside(1, KDL::Wrench::Zero());
    q(0) = 0.3;
    v(0) = 2;
    KDL::Frame tip;
    KDL::ChainFkSolverPos_recursive(chain).JntToCart(q, tip);
    KDL::ChainIdSolver_RNE(chain, KDL::Vector(0, -9.81, 0)).CartToJnt(q, v, a, outside, torque);
    KDL::ChainFdSolver_RNE(chain, KDL::Vector(0, -9.81, 0)).CartToJnt(q, v, none, outside, result);
    KDL::Vector arm = joint.pose(0.3).M * KDL::Vector(1, 0, 0);
    return {std::atan2(arm.y(), arm.x()), std::atan2(tip.p.y(), tip.p.x()), torque(0), result(0)};
}

int main()
{
    puts("KDL 1.5.1: a joint at 0.3 rad, 2 rad/s");
    Seen plain = run(0, 0, 0, 0), offset = run(0.4, 0, 0, 0), damped = run(0, 0, 5, 0), stiff = run(0, 0, 0, 7), inert = run(0, 0.5, 0, 0);
    printf("plain:              angle of the tip %g rad, torque %.4f N m, acceleration %.4f rad/s^2\n", plain.tip, plain.torque, plain.acceleration);
    printf("offset 0.4 rad:     expected %g rad, as Joint::pose says (%g rad); seen %g rad at the tip\n", 0.3 + 0.4, offset.joint, offset.tip);
    printf("damping 5 N m s:    expected torque %.4f N m, seen %.4f N m; acceleration %.4f rad/s^2\n", plain.torque + 5 * 2, damped.torque,
           damped.acceleration);
    printf("stiffness 7 N m:    expected torque %.4f N m, seen %.4f N m; acceleration %.4f rad/s^2\n", plain.torque + 7 * 0.3, stiff.torque,
           stiff.acceleration);
    printf("inertia 0.5 kg m^2: acceleration %.4f rad/s^2\n", inert.acceleration);
    bool same = damped.torque == plain.torque && stiff.torque == plain.torque && damped.acceleration == plain.acceleration &&
                stiff.acceleration == plain.acceleration && std::abs(offset.tip - 0.3) < 1e-12 && std::abs(offset.joint - 0.7) < 1e-12;
    return same && std::abs(inert.acceleration - plain.acceleration) > 1 ? 0 : 1;
}
FILE
g++ -O1 -I root/usr/include -I root/usr/include/eigen3 finding.cpp -o finding -L root/usr/lib/x86_64-linux-gnu -lorocos-kdl
LD_LIBRARY_PATH=root/usr/lib/x86_64-linux-gnu ./finding
