/* step_pass.h - evaluates forward dynamics for a step of integration, and writes the rows of its matrices. Part of
 * step.c. */
#pragma once
#include "kernels.h"
#include "dynamics/step.h"
#include "dynamics/recursion/displacement.h"
#include "held_frames.h"
#include <string.h>

/* One block of a step: its scratch memory, and the accelerations of the last evaluation with their derivatives. */
typedef struct step_pass {
    const dyn_scene *scene;
    void            *memory; /* workspace of the kernels that this one calls */
    const dyn_step  *io;
    size_t           nv;
    bool             differentiates;
    lane            *A, *B;              /* state and input matrix */
    lane            *a_q, *a_qd, *a_tau; /* [nv x nv] derivatives of qdd */
    lane       *qdd, *u, *v, *stage_q;   /* [nv], [nq]: acceleration; displacement, velocity and position of a stage */
    lane       *matrices, *vectors;      /* further scratch */
    lane       *singular, *unsolved, *contradictory;
    held_system held;
} step_pass;

static inline step_pass step_begin(const dyn_scene *scene, void *memory, const dyn_step *io, lane *singular,
                                   lane *unsolved, lane *contradictory)
{
    const size_t nq = (size_t)scene->model->nq, nv = (size_t)scene->model->nv;
    lane        *work    = block_out(io->work, 0, 0);
    lane        *vectors = work + 3 * nv * nv + nq;
    return (step_pass){.scene          = scene,
                       .memory         = memory,
                       .io             = io,
                       .nv             = nv,
                       .differentiates = io->state_matrix != NULL,
                       .A              = block_out(io->state_matrix, 0, 0),
                       .B              = block_out(io->input_matrix, 0, 0),
                       .a_q            = work,
                       .a_qd           = work + nv * nv,
                       .a_tau          = work + 2 * nv * nv,
                       .stage_q        = work + 3 * nv * nv,
                       .qdd            = vectors,
                       .u              = vectors + nv,
                       .v              = vectors + 2 * nv,
                       .vectors        = vectors + 3 * nv,
                       .matrices       = vectors + 6 * nv,
                       .singular       = singular,
                       .unsolved       = unsolved,
                       .contradictory  = contradictory,
                       .held           = held_place(scene, io, work + dyn_step_work(scene->model, io->method))};
}

/* Computes qdd at (q, qd) and, if `differentiates`, its derivatives. Keeps the first singular body. */
static inline void step_evaluate(const step_pass *p, const lane *q, const lane *qd, bool differentiates)
{
    lane          singular;
    const double *tau = p->io->tau, *wrenches = p->io->wrenches;
    if (p->io->n_held > 0)
        held_evaluate(&p->held, q, qd, &(held_outputs){p->qdd, p->a_q, p->a_qd, p->a_tau, &singular, p->contradictory},
                      differentiates, p->memory);
    else if (differentiates)
        LANE_NAME(forward_sensitivity)
    (p->scene, p->memory,
     &(dyn_forward_sensitivity){.q         = (const double *)q,
                                .qd        = (const double *)qd,
                                .tau       = tau,
                                .wrenches  = wrenches,
                                .qdd       = (double *)p->qdd,
                                .dqdd_dq   = (double *)p->a_q,
                                .dqdd_dqd  = (double *)p->a_qd,
                                .dqdd_dtau = (double *)p->a_tau,
                                .singular  = (double *)&singular},
     1);
    else LANE_NAME(forward_dynamics)(p->scene, p->memory,
                                     &(dyn_forward_dynamics){.q        = (const double *)q,
                                                             .qd       = (const double *)qd,
                                                             .tau      = tau,
                                                             .wrenches = wrenches,
                                                             .qdd      = (double *)p->qdd,
                                                             .singular = (double *)&singular},
                                     1);
    *p->singular = lane_select(lane_less(*p->singular, lane_of(0)), singular, *p->singular);
}

/* Entry i of qd; qd NULL means zeros. */
LANE_INLINE lane velocity_at(const lane *qd, size_t i)
{
    return qd ? qd[i] : lane_of(0);
}

/* Rows of a matrix: entry (i, c) is at[i * stride + c]. */
typedef struct step_rows {
    lane  *at;
    size_t stride, columns;
} step_rows;

/* to += by_u from, for the rows of one joint. */
LANE_INLINE void add_displaced_rows(const displacement_rates *rates, step_rows from, step_rows to)
{
    for (size_t c = 0; c < to.columns; c++)
        for (int i = 0; i < rates->n; i++) {
            lane sum = to.at[(size_t)i * to.stride + c];
            for (int k = 0; k < rates->n; k++)
                sum = add_mul(sum, rates->by_u[i][k], from.at[(size_t)k * from.stride + c]);
            to.at[(size_t)i * to.stride + c] = sum;
        }
}

/* Sets the rows of one joint to the derivatives by_q with respect to its own coordinates, which begin at column v. */
LANE_INLINE void set_own_columns(const displacement_rates *rates, size_t v, step_rows to)
{
    for (int i = 0; i < rates->n; i++) {
        clear(to.at + (size_t)i * to.stride, to.columns);
        for (int k = 0; k < rates->n; k++)
            to.at[(size_t)i * to.stride + v + (size_t)k] = rates->by_q[i][k];
    }
}

/* Multiplies by_u by the step's duration, so that it applies to velocities. */
LANE_INLINE void scale_rates(displacement_rates *rates, double h)
{
    for (int i = 0; i < rates->n; i++)
        for (int k = 0; k < rates->n; k++)
            rates->by_u[i][k] = h * rates->by_u[i][k];
}

/* The rows of A and B of the velocities: [h a_q, 1 + h a_qd] and h a_tau. */
static inline void set_velocity_rows(const step_pass *p)
{
    const size_t nv = p->nv;
    const double h  = p->io->h;
    for (size_t i = 0; i < nv; i++) {
        lane *A = p->A + (nv + i) * 2 * nv, *B = p->B + (nv + i) * nv;
        for (size_t c = 0; c < nv; c++) {
            A[c]      = h * p->a_q[i * nv + c];
            A[nv + c] = h * p->a_qd[i * nv + c];
            B[c]      = h * p->a_tau[i * nv + c];
        }
        A[nv + i] = A[nv + i] + 1.0;
    }
}

/* The rows of A and B of one joint's position, whose displacement is h times its velocity: before the step, or after
 * it, in the rows that are already set. */
static inline void set_position_rows(const step_pass *p, const displacement_rates *rates, size_t v, bool after)
{
    const size_t nv = p->nv;
    step_rows    A = {p->A + v * 2 * nv, 2 * nv, 2 * nv}, B = {p->B + v * nv, nv, nv};
    set_own_columns(rates, v, A);
    for (int i = 0; i < rates->n; i++)
        clear(B.at + (size_t)i * nv, nv);
    if (after) {
        add_displaced_rows(rates, (step_rows){p->A + (nv + v) * 2 * nv, 2 * nv, 2 * nv}, A);
        add_displaced_rows(rates, (step_rows){p->B + (nv + v) * nv, nv, nv}, B);
        return;
    }
    for (int i = 0; i < rates->n; i++)
        for (int k = 0; k < rates->n; k++)
            A.at[(size_t)i * 2 * nv + nv + v + (size_t)k] = rates->by_u[i][k];
}

/* Sets q_after = q * exp(h qd), with the velocity before or after the step, and the rows of the positions. */
static inline void step_positions(const step_pass *p, const lane *q, const lane *qd, bool after)
{
    const dyn_model   *m = p->scene->model;
    displacement_rates rates;
    for (size_t i = 0; i < p->nv; i++)
        p->u[i] = p->io->h * velocity_at(qd, i);
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        if (b->joint.mimic) continue;
        displace_joint(b, q, p->u, block_out(p->io->q_after, 0, 0), p->differentiates ? &rates : NULL);
        if (!p->differentiates) continue;
        scale_rates(&rates, p->io->h);
        set_position_rows(p, &rates, (size_t)b->joint.v, after);
    }
}
