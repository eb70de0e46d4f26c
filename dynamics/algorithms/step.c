/* step.c - integrates the motion over one step and differentiates the result.
 *
 * Positions are displaced on their manifold (step_displacement.h). With the displacement u, the acceleration a, a
 * change e of q on its tangent space, a_q = da/dq and so on, q+ = q * exp(u) and qd+ = qd + h a have the derivatives
 *
 *     e+ = by_q e + by_u du,  dqd+ = dqd + h (a_q e + a_qd dqd + a_tau dtau),
 *
 * and du follows from the method of integration. by_q and by_u are the derivatives of the displaced position with
 * respect to q and u. The columns of the state matrix are e and dqd, nv each; those of the input matrix are the inputs:
 * tau and, if requested, wrenches and inertial parameters. step_rk4.h, step_implicit.h and step_implicit_tree.h have
 * the methods with several evaluations. */
#include "kernels.h"
#include "step_pass.h"
#include "held_impact.h"
#include "step_implicit_tree.h"
#include "step_rk4.h"

/* Sets the velocities of stopping coordinates (dyn_step.stopping) to zero after the step, and their rows of the
 * matrices A and B. */
static void stop(const step_pass *p)
{
    const size_t nv       = p->nv;
    lane        *qd_after = block_out(p->io->qd_after, 0, 0);
    for (size_t i = 0; i < p->io->n_stopping; i++) {
        const size_t    v     = p->io->stopping[i];
        const lane_mask stops = lane_less(lane_of(0), lane_abs(block_in(p->io->stops, 0, 0)[i]));
        lane           *A = p->A + (nv + v) * 2 * nv, *B = p->B + (nv + v) * p->inputs;
        qd_after[v] = lane_select(stops, lane_of(0), qd_after[v]);
        for (size_t c = 0; p->differentiates && c < 2 * nv; c++)
            A[c] = lane_select(stops, lane_of(0), A[c]);
        for (size_t c = 0; p->differentiates && c < p->inputs; c++)
            B[c] = lane_select(stops, lane_of(0), B[c]);
    }
}

/* Integrates by explicit Euler, with the displacement u = h qd, or by semi-implicit Euler, u = h qd+. */
static void euler(const step_pass *p)
{
    const lane *q = block_in(p->io->q, 0, 0), *qd = block_in(p->io->qd, 0, 0);
    lane       *qd_after = block_out(p->io->qd_after, 0, 0);
    bool        after    = p->io->method == DYN_SEMI_IMPLICIT_EULER;
    step_evaluate(p, q, qd, p->differentiates);
    step_put_residual(p);
    for (size_t i = 0; i < p->nv; i++)
        qd_after[i] = add_mul(velocity_at(qd, i), p->io->h, p->qdd[i]);
    if (p->differentiates) set_velocity_rows(p);
    stop(p);
    step_positions(p, q, after ? qd_after : qd, after);
}

static void integrate(const step_pass *p)
{
    switch (p->io->method) {
    case DYN_RK4: rk4(p); break;
    case DYN_IMPLICIT_EULER: implicit_euler(p); break;
    case DYN_EXPLICIT_EULER:
    case DYN_SEMI_IMPLICIT_EULER: euler(p); break;
    }
}

/* Integrates one step that starts from the velocities after an impact (held_impact.h). */
static void impact_and_integrate(const dyn_scene *scene, const dyn_step *io, const step_pass *p)
{
    held_impact  impact;
    dyn_step     after      = *io;
    step_pass    behind     = *p;
    const lane  *q          = block_in(io->q, 0, 0);
    const size_t parameters = io->parameter_matrix ? 10 * scene->model->n_rows : 0;
    impact_place(&impact, scene, io, p->held.ws,
                 block_out(io->work, 0, 0) + dyn_step_work(scene->model, io->method, p->inputs));
    impact_evaluate(&impact, q, block_in(io->qd, 0, 0), p->differentiates, p->singular, p->memory);
    after.qd  = (const double *)impact.v;
    behind.io = behind.held.io = &after;
    integrate(&behind);
    step_rows by_parameters = {p->B + p->inputs - parameters, p->inputs, parameters};
    if (parameters > 0) impact_add_parameters(&impact, q, p->A, by_parameters, p->memory);
    if (p->differentiates) impact_chain(&impact, p->A);
}

static void one_block(const dyn_scene *scene, const dyn_step *io, const step_pass *p)
{
    *p->singular      = lane_of(-1);
    *p->unsolved      = lane_of(DYN_STEP_SOLVED);
    *p->contradictory = lane_of(0);
    if (io->impact)
        impact_and_integrate(scene, io, p);
    else
        integrate(p);
    if (p->differentiates) step_put_inputs(p);
}

/* Returns the bytes of the workspace for a step with held frames, the case that needs most. */
size_t LANE_NAME(step_size)(const dyn_model *m)
{
    const size_t called[] = {LANE_NAME(inverse_dynamics_size)(m), LANE_NAME(mass_matrix_size)(m),
                             LANE_NAME(sensitivity_size)(m), LANE_NAME(regressor_size)(m)};
    size_t       most     = 0;
    arena        a        = {0};
    for (size_t i = 0; i < sizeof called / sizeof *called; i++)
        if (called[i] > most) most = called[i];
    step_place(&a, m, true);
    return a.used + most;
}

size_t LANE_NAME(held_sensitivity_size)(const dyn_model *m)
{
    return LANE_NAME(step_size)(m);
}

void LANE_NAME(step)(const dyn_scene *scene, void *memory, const dyn_step *io, size_t blocks)
{
    size_t               nq = (size_t)scene->model->nq, nv = (size_t)scene->model->nv, nw = scene->n_wrenches;
    const bool           differentiates = io->state_matrix || io->method == DYN_IMPLICIT_EULER;
    const step_workspace ws             = step_prepare(scene, memory, io, differentiates);
    for (size_t block = 0; block < blocks; block++) {
        dyn_step one         = *io;
        one.q                = (const double *)block_in(io->q, block, nq);
        one.qd               = (const double *)block_in(io->qd, block, nv);
        one.tau              = (const double *)block_in(io->tau, block, nv);
        one.stops            = (const double *)block_in(io->stops, block, io->n_stopping);
        one.wrenches         = nw ? (const double *)block_in(io->wrenches, block, 9 * nw) : NULL;
        one.q_after          = (double *)block_out(io->q_after, block, nq);
        one.qd_after         = (double *)block_out(io->qd_after, block, nv);
        one.state_matrix     = (double *)block_out(io->state_matrix, block, 4 * nv * nv);
        one.input_matrix     = (double *)block_out(io->input_matrix, block, 2 * nv * nv);
        one.wrench_matrix    = nw ? (double *)block_out(io->wrench_matrix, block, 12 * nw * nv) : NULL;
        one.parameter_matrix = (double *)block_out(io->parameter_matrix, block, 20 * nv * scene->model->n_rows);
        one.contact_residual = (double *)block_out(io->contact_residual, block, 6 * io->n_held);
        lane      singular, unsolved, contradictory;
        step_pass p = step_begin(scene, &ws, &one, &singular, &unsolved, &contradictory);
        one_block(scene, &one, &p);
        if (io->singular) *block_out(io->singular, block, 1) = singular;
        if (io->contradictory) *block_out(io->contradictory, block, 1) = contradictory;
        if (io->unsolved) *block_out(io->unsolved, block, 1) = unsolved;
    }
}

/* Returns the arrays of the step whose accelerations held_block evaluates; the step itself is not taken. */
static dyn_step step_of_held(const dyn_held_sensitivity *io)
{
    return (dyn_step){.q             = io->q,
                      .qd            = io->qd,
                      .tau           = io->tau,
                      .wrenches      = io->wrenches,
                      .method        = DYN_EXPLICIT_EULER,
                      .n_held        = io->n_held,
                      .held          = io->held,
                      .sites         = io->sites,
                      .damping       = io->damping,
                      .wrench_matrix = io->dqdd_dwrench,
                      .work          = io->work};
}

/* Evaluates the accelerations with held frames at (q, qd), and copies them and their derivatives to the results. */
static void held_block(const dyn_scene *scene, const step_workspace *ws, const dyn_held_sensitivity *io)
{
    const size_t   nv = (size_t)scene->model->nv, square = nv * nv * sizeof(lane);
    const dyn_step step      = step_of_held(io);
    lane          *by_wrench = block_out(io->dqdd_dwrench, 0, 0);
    step_pass p = step_begin(scene, ws, &step, block_out(io->singular, 0, 0), NULL, block_out(io->contradictory, 0, 0));
    *p.singular = lane_of(-1);
    *p.contradictory = lane_of(0);
    step_evaluate(&p, block_in(io->q, 0, 0), block_in(io->qd, 0, 0), true);
    memcpy(io->qdd, p.qdd, nv * sizeof(lane));
    memcpy(io->dqdd_dq, p.a_q, square);
    memcpy(io->dqdd_dqd, p.a_qd, square);
    memcpy(io->dqdd_dtau, p.a_tau, square);
    for (size_t w = 0; by_wrench && w < scene->n_wrenches; w++)
        for (size_t i = 0; i < nv; i++)
            memcpy(by_wrench + (w * nv + i) * 6, p.a_input + i * p.inputs + nv + 6 * w, 6 * sizeof(lane));
}

void LANE_NAME(held_sensitivity)(const dyn_scene *scene, void *memory, const dyn_held_sensitivity *io, size_t blocks)
{
    size_t               nq = (size_t)scene->model->nq, nv = (size_t)scene->model->nv, nw = scene->n_wrenches;
    const dyn_step       all = step_of_held(io);
    const step_workspace ws  = step_prepare(scene, memory, &all, true);
    for (size_t block = 0; block < blocks; block++) {
        dyn_held_sensitivity one = *io;
        one.q                    = (const double *)block_in(io->q, block, nq);
        one.qd                   = (const double *)block_in(io->qd, block, nv);
        one.tau                  = (const double *)block_in(io->tau, block, nv);
        one.wrenches             = nw ? (const double *)block_in(io->wrenches, block, 9 * nw) : NULL;
        one.qdd                  = (double *)block_out(io->qdd, block, nv);
        one.dqdd_dq              = (double *)block_out(io->dqdd_dq, block, nv * nv);
        one.dqdd_dqd             = (double *)block_out(io->dqdd_dqd, block, nv * nv);
        one.dqdd_dtau            = (double *)block_out(io->dqdd_dtau, block, nv * nv);
        one.dqdd_dwrench         = nw ? (double *)block_out(io->dqdd_dwrench, block, 6 * nw * nv) : NULL;
        one.singular             = (double *)block_out(io->singular, block, 1);
        one.contradictory        = (double *)block_out(io->contradictory, block, 1);
        held_block(scene, &ws, &one);
    }
}
