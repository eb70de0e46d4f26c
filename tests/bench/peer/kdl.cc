/* kdl.cc - calls the solvers of Orocos KDL for chains.
 *
 * Body i is a segment with a joint RotZ or TransZ, KDL's cheapest, whose tip is at the next joint, so that no segment
 * is needed for a fixed transform. The chain begins at the first joint; gravity is rotated into its frame. */
#include "body.h"
#include "peer.h"
#include <algorithm>
#include <kdl/config.h>
#include <kdl/chaindynparam.hpp>
#include <kdl/chainfdsolver_recursive_newton_euler.hpp>
#include <kdl/chainidsolver_recursive_newton_euler.hpp>
#include <kdl/chainjnttojacsolver.hpp>

namespace
{
KDL::Frame joint_frame(const dyn_body &b)
{
    double R[3][3];
    body_rotation(&b, R);
    return {KDL::Rotation(R[0][0], R[0][1], R[0][2], R[1][0], R[1][1], R[1][2], R[2][0], R[2][1], R[2][2]),
            KDL::Vector(b.pose.p_pc[0], b.pose.p_pc[1], b.pose.p_pc[2])};
}

/* Returns the inertia in the body's frame. */
KDL::RigidBodyInertia inertia(const dyn_body &b)
{
    double com[3], I[6];
    body_inertia(&b, com, I);
    return KDL::RigidBodyInertia(b.moments.mass, KDL::Vector(com[0], com[1], com[2]),
                                 KDL::RotationalInertia(I[0], I[1], I[2], I[3], I[4], I[5]));
}

/* Builds the chain. KDL expects a segment's inertia in the frame of its tip. */
KDL::Chain chain(const dyn_model &m)
{
    KDL::Chain c;
    for (size_t i = 0; i < m.n_bodies; i++) {
        const dyn_body  &b   = m.body[i];
        const KDL::Frame tip = i + 1 < m.n_bodies ? joint_frame(m.body[i + 1]) : KDL::Frame::Identity();
        const KDL::Joint joint(b.joint.kind == DYN_PRISMATIC ? KDL::Joint::TransZ : KDL::Joint::RotZ, 1, 0,
                               b.joint.rotor_inertia);
        c.addSegment(KDL::Segment(joint, tip, tip.Inverse() * inertia(b)));
    }
    return c;
}

bool is_chain(const dyn_model &m)
{
    for (size_t i = 0; i < m.n_bodies; i++)
        if (m.body[i].tree.parent != static_cast<int>(i) - 1) return false;
    return m.n_bodies > 0;
}

struct Robot {
    KDL::Chain                 chain;
    KDL::Rotation              base; /* rotation of the frame in which the chain begins */
    KDL::Vector                gravity;
    KDL::ChainIdSolver_RNE     inverse_dynamics;
    KDL::ChainDynParam         parameters;
    KDL::ChainFdSolver_RNE     forward_dynamics;
    KDL::ChainJntToJacSolver   jacobian_solver;
    KDL::JntArray              q, qd, qdd, tau, gravity_torque;
    KDL::JntSpaceInertiaMatrix M;
    KDL::Jacobian              jacobian;
    KDL::Wrenches              none;

    explicit Robot(const dyn_model &m)
        : chain(::chain(m)), base(joint_frame(m.body[0]).M),
          gravity(base.Inverse() * KDL::Vector(m.gravity[0], m.gravity[1], m.gravity[2])),
          inverse_dynamics(chain, gravity), parameters(chain, gravity), forward_dynamics(chain, gravity),
          jacobian_solver(chain), q(chain.getNrOfJoints()), qd(q), qdd(q), tau(q), gravity_torque(q),
          M(chain.getNrOfJoints()), jacobian(chain.getNrOfJoints()), none(chain.getNrOfSegments(), KDL::Wrench::Zero())
    {
    }
};

void put(const double *from, KDL::JntArray &to)
{
    std::copy_n(from, to.rows(), to.data.data());
}

void get(const Eigen::MatrixXd &from, double *to) /* symmetric or a column: the order of storage does not matter */
{
    if (to) std::copy_n(from.data(), from.size(), to);
}

const char *version()
{
    return KDL_VERSION_STRING;
}

void *build(const dyn_model *m)
{
    return bodies_plain(m) && is_chain(*m) ? new Robot(*m) : nullptr;
}

void evaluate(void *robot, operation op, const state *s, double *result)
{
    Robot &r = *static_cast<Robot *>(robot);
    put(s->q, r.q);
    switch (op) {
    case INVERSE_DYNAMICS:
        put(s->qd, r.qd);
        put(s->qdd, r.qdd);
        r.inverse_dynamics.CartToJnt(r.q, r.qd, r.qdd, r.none, r.tau);
        get(r.tau.data, result);
        break;
    case FORWARD_DYNAMICS:
        put(s->qd, r.qd);
        put(s->tau, r.tau);
        r.forward_dynamics.CartToJnt(r.q, r.qd, r.tau, r.none, r.qdd);
        get(r.qdd.data, result);
        break;
    case BIAS:
        put(s->qd, r.qd);
        r.parameters.JntToCoriolis(r.q, r.qd, r.tau);
        r.parameters.JntToGravity(r.q, r.gravity_torque);
        if (result) get(r.tau.data + r.gravity_torque.data, result);
        break;
    case JACOBIAN:
        r.jacobian_solver.JntToJac(r.q, r.jacobian);
        if (result) {
            r.jacobian.changeBase(r.base); /* to world axes, for the comparison */
            get(r.jacobian.data.transpose(), result);
        }
        break;
    default: r.parameters.JntToMass(r.q, r.M); get(r.M.data, result);
    }
}

void release(void *robot)
{
    delete static_cast<Robot *>(robot);
}
} // namespace

extern "C" const peer peer_kdl = {
    "KDL",
    version,
    {"ChainIdSolver_RNE::CartToJnt", "ChainDynParam::JntToMass", nullptr, "ChainFdSolver_RNE::CartToJnt", nullptr,
     "ChainDynParam::JntToCoriolis + JntToGravity", "ChainJntToJacSolver::JntToJac", nullptr, nullptr},
    build,
    evaluate,
    release};
