#!/bin/bash
# Bullet: a joint between a base (body A, fixed) and an arm (body B) has an angle, limits and a motor. All three count the turn of A against B: a motor of +1 rad/s turns
# the arm by -1 rad/s about the axis, and the angle rises, with btHingeConstraint, btSliderConstraint and btGeneric6DofSpring2Constraint alike.
# Fixed to the world without a base, the same hinge at the same place counts the turn of the arm, the other way. The last argument of
# btHingeConstraint, useReferenceFrameA, turns both over; the name tells of frames, not of signs.
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
#include <btBulletDynamicsCommon.h>

static const btVector3 ORIGIN(0, 0, 0), AXIS(0, 0, 1);
static bool seen = true;

static void tell(const char *what, double moved, double told, int sign)
{
    printf("%-46s expected +0.5 and +0.5; the arm moved by %+.3f, the joint tells %+.3f\n", what, moved, told);
    seen = seen && fabs(moved - 0.5 * sign) < 0.01 && fabs(told - 0.5) < 0.02;
}

// Runs the motor of a joint at +1 rad/s or m/s for 0.5 s, and tells by how much the arm has moved and the joint's coordinate.
template <typename Make, typename Coordinate> static void drive(const char *what, int sign, bool slides, Make make, Coordinate coordinate)
{
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher(&configuration);
    btDbvtBroadphase broadphase;
    btSequentialImpulseConstraintSolver solver;
    btDiscreteDynamicsWorld world(&dispatcher, &broadphase, &solver, &configuration);
    world.setGravity(ORIGIN);
    btBoxShape box(btVector3(0.5, 0.1, 0.1));
    btVector3 inertia;
    box.calculateLocalInertia(1, inertia);
    btRigidBody base(0, nullptr, &box), arm(1, nullptr, &box, inertia);
    arm.setActivationState(DISABLE_DEACTIVATION);
    world.addRigidBody(&base, 0, 0);
    world.addRigidBody(&arm, 0, 0);
    auto *joint = make(base, arm);
    world.addConstraint(joint, true);
    for (int i = 0; i < 60; i++)
        world.stepSimulation(1. / 120, 1, 1. / 120);
    const btQuaternion q = arm.getWorldTransform().getRotation();
    tell(what, slides ? arm.getWorldTransform().getOrigin().x() : 2 * atan2(q.z(), q.w()), coordinate(joint), sign);
    world.removeConstraint(joint);
    delete joint;
}

int main()
{
    printf("Bullet 3.24: a motor of +1 rad/s or m/s for 0.5 s\n");
    auto angle = [](btHingeConstraint *h) { return h->getHingeAngle(); };
    auto motor = [](btHingeConstraint *h) { h->enableAngularMotor(true, 1, 100); return h; };
    drive("hinge of base and arm", -1, false, [=](btRigidBody &a, btRigidBody &b) { return motor(new btHingeConstraint(a, b, ORIGIN, ORIGIN, AXIS, AXIS)); }, angle);
    drive("hinge of base and arm, useReferenceFrameA", 1, false, [=](btRigidBody &a, btRigidBody &b) { return motor(new btHingeConstraint(a, b, ORIGIN, ORIGIN, AXIS, AXIS, true)); }, angle);
    drive("hinge of the arm to the world", 1, false, [=](btRigidBody &, btRigidBody &b) { return motor(new btHingeConstraint(b, ORIGIN, AXIS)); }, angle);
    drive("slider of base and arm, reference B", -1, true, [=](btRigidBody &a, btRigidBody &b) {
        auto *s = new btSliderConstraint(a, b, btTransform::getIdentity(), btTransform::getIdentity(), false);
        s->setLowerLinLimit(-1);
        s->setUpperLinLimit(1);
        s->setPoweredLinMotor(true);
        s->setTargetLinMotorVelocity(1);
        s->setMaxLinMotorForce(100);
        return s;
    }, [](btSliderConstraint *s) { return s->getLinearPos(); });
    drive("btGeneric6DofSpring2Constraint of base and arm", -1, false, [=](btRigidBody &a, btRigidBody &b) {
        auto *g = new btGeneric6DofSpring2Constraint(a, b, btTransform::getIdentity(), btTransform::getIdentity());
        g->setAngularLowerLimit(btVector3(0, 0, -1));
        g->setAngularUpperLimit(btVector3(0, 0, 1));
        g->enableMotor(5, true);
        g->setTargetVelocity(5, 1);
        g->setMaxMotorForce(5, 100);
        return g;
    }, [](btGeneric6DofSpring2Constraint *g) { g->calculateTransforms(); return g->getAngle(2); });
    return seen ? 0 : 1;
}
FILE
g++ -w -O1 -I root/usr/include/bullet finding.cpp -o finding -L root/usr/lib/x86_64-linux-gnu -lBulletDynamics -lBulletCollision -lLinearMath
LD_LIBRARY_PATH=root/usr/lib/x86_64-linux-gnu ./finding
