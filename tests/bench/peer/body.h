/* body.h - converts a body of the canonical model to the parameters of other libraries: a rotation matrix for its
 * joint's angles, and the inertia tensor about the centre of mass. */
#pragma once
#include "dynamics/model/model.h"
#include <math.h>

/* Computes R_pc(0) = Rz(gamma) Rx(alpha) Rz(theta), with theta split into quarter turns and a remainder. */
static inline void body_rotation(const dyn_body *b, double R[3][3])
{
    static const double quarter[4] = {1, 0, -1, 0}; /* cosines of quarter turns */
    const double        qc = quarter[b->pose.frame_quarters], qs = quarter[(b->pose.frame_quarters + 3) % 4];
    const double        c   = qc * cos(b->pose.frame_angle) - qs * sin(b->pose.frame_angle),
                 s          = qs * cos(b->pose.frame_angle) + qc * sin(b->pose.frame_angle);
    const double turn[3][3] = {{b->pose.cg, -b->pose.sg * b->pose.ca, b->pose.sg * b->pose.sa},
                               {b->pose.sg, b->pose.cg * b->pose.ca, -b->pose.cg * b->pose.sa},
                               {0, b->pose.sa, b->pose.ca}};
    for (int i = 0; i < 3; i++) {
        R[i][0] = turn[i][0] * c + turn[i][1] * s;
        R[i][1] = turn[i][1] * c - turn[i][0] * s;
        R[i][2] = turn[i][2];
    }
}

/* Computes c = h / m and, with E_c = E - m c c^T, the tensor trace(E_c) 1 - E_c. Order of `inertia`: xx yy zz xy xz
 * yz. */
static inline void body_inertia(const dyn_body *b, double com[3], double inertia[6])
{
    static const int indices[6][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}};
    double           E[6];
    for (int i = 0; i < 3; i++)
        com[i] = b->moments.mass > 0 ? b->moments.h[i] / b->moments.mass : 0;
    for (int e = 0; e < 6; e++)
        E[e] = b->moments.E[e] - b->moments.h[indices[e][0]] * com[indices[e][1]];
    const double tensor[6] = {E[3] + E[5], E[0] + E[5], E[0] + E[3], -E[1], -E[2], -E[4]};
    for (int e = 0; e < 6; e++)
        inertia[e] = tensor[e];
}

/* Returns true if all joints are revolute or prismatic, without ratio and mimic. */
static inline bool bodies_plain(const dyn_model *m)
{
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        if (b->joint.has_ratio || b->joint.mimic || b->joint.kind == DYN_FLOATING) return false;
    }
    return true;
}
