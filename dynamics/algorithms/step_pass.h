/* step_pass.h - evaluates forward dynamics for a step of integration, and writes the rows of its matrices. Part of
 * step.c. */
#pragma once
#include "kernels.h"
#include "dynamics/step.h"
#include "dynamics/recursion/coordinate_tree.h"
#include "dynamics/algorithms/step_displacement.h"
#include "held_derivatives.h"
#include "row_products.h"
#include <string.h>

typedef struct step_workspace {
    held_workspace held;   /* set only with held frames */
    step_tree      tree;   /* set only for implicit Euler */
    void          *memory; /* workspace of the kernels that this one calls */
} step_workspace;

static inline step_workspace step_place(arena *a, const dyn_model *m, bool held)
{
    step_workspace ws = {.tree = step_tree_place(a, m)};
    if (held) ws.held = held_workspace_place(a, m);
    ws.memory = arena_take(a, 0, 1);
    return ws;
}

static inline step_workspace step_prepare(const dyn_scene *scene, void *memory, const dyn_step *io, bool differentiates)
{
    arena          a  = {.base = memory};
    step_workspace ws = step_place(&a, scene->model, held_chains(io) > 0);
    if (held_chains(io) > 0) held_workspace_prepare(scene, io, differentiates, &ws.held);
    /* step_implicit_tree.h uses the zeros of a tree, which the coordinates of a mechanism with loops do not have. */
    if (io->method == DYN_IMPLICIT_EULER && !io->mechanism) step_tree_prepare(scene->model, &ws.tree);
    return ws;
}

/* One block of a step: its scratch memory, and the accelerations of the last evaluation with their derivatives. */
typedef struct step_pass {
    const dyn_scene *scene;
    void            *memory; /* workspace of the kernels that this one calls */
    const dyn_step  *io;
    size_t           nv, inputs; /* inputs: tau, then wrenches and parameters if they are wanted */
    bool             differentiates;
    lane            *A, *B;              /* state matrix, 2 nv x 2 nv; input matrix, 2 nv x inputs */
    lane            *a_q, *a_qd, *a_tau; /* [nv x nv] each: derivatives of qdd with respect to q, qd and tau */
    lane            *a_input;            /* [nv x inputs] derivatives of qdd with respect to the inputs */
    lane *efforts, *unused; /* [nv x (inputs - nv)] derivatives of tau with respect to wrenches and parameters; [3 nv x
                               nv] scratch */
    lane       *qdd, *u, *v, *stage_q; /* [nv] acceleration; of a stage: u, v [nv] (step_rk4.h), position [nq] */
    lane       *matrices, *vectors;    /* further scratch */
    lane       *singular, *unsolved, *contradictory;
    held_system held;
    step_tree   tree;
} step_pass;

/* If there are inputs besides tau, places a_input, B, efforts and unused at `next`; else a_input is a_tau. Returns the
 * first entry after them. */
static inline lane *step_place_inputs(step_pass *p, lane *next)
{
    const size_t nv = p->nv;
    p->a_input      = p->a_tau;
    if (p->inputs == nv) return next;
    p->a_input = next;
    p->B       = p->a_input + nv * p->inputs;
    p->efforts = p->B + 2 * nv * p->inputs;
    p->unused  = p->efforts + nv * (p->inputs - nv);
    return p->unused + 3 * nv * nv;
}

static inline step_pass step_begin(const dyn_scene *scene, const step_workspace *ws, const dyn_step *io, lane *singular,
                                   lane *unsolved, lane *contradictory)
{
    const size_t nq = (size_t)scene->model->nq, nv = (size_t)scene->model->nv;
    lane        *work    = block_out(io->work, 0, 0);
    lane        *vectors = work + 3 * nv * nv + nq;
    step_pass    p       = {.scene          = scene,
                            .memory         = ws->memory,
                            .io             = io,
                            .nv             = nv,
                            .inputs         = dyn_step_inputs(scene, io->wrench_matrix, io->parameter_matrix),
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
                            .singular       = singular,
                            .unsolved       = unsolved,
                            .contradictory  = contradictory,
                            .tree           = ws->tree};
    p.matrices           = step_place_inputs(&p, vectors + 6 * nv);
    p.held               = held_place(scene, io, &ws->held, work + dyn_step_work(scene->model, io->method, p.inputs));
    return p;
}

/* Returns whether held frames or the loops of a mechanism connect all coordinates, so that the model counts as one part
 * (coordinate_tree.h). */
static inline bool step_connects_parts(const step_pass *p)
{
    return held_chains(p->io) > 0 || p->io->mechanism;
}

/* Returns the end of the part of the model that begins with coordinate `first` (coordinate_tree.h): no derivative of an
 * acceleration connects two parts. */
static inline size_t step_part_end(const step_pass *p, size_t first)
{
    return step_connects_parts(p) ? p->nv : part_end(p->scene->model, first);
}

/* Sets the derivatives of tau with respect to the wrenches, [wrench][nv][6], and to the parameters, [nv][10 n_rows], at
 * (q, qd, qdd). With held frames, friction that depends on the load is applied after the kernels, with T of
 * held_frames.h: the kernels called here do not know the wrenches that hold the frames. */
static inline void step_set_efforts(const step_pass *p, const lane *q, const lane *qd)
{
    const bool       held  = held_chains(p->io) > 0;
    const dyn_scene *scene = held ? &p->held.free : p->scene;
    const size_t     nv = p->nv, matrix = nv * nv, wrenches = p->io->wrench_matrix ? 6 * p->scene->n_wrenches : 0;
    const size_t     parameters    = p->io->parameter_matrix ? 10 * p->scene->model->n_rows : 0;
    dyn_sensitivity  by_wrenches   = {.q            = (const double *)q,
                                      .qd           = (const double *)qd,
                                      .qdd          = (const double *)p->qdd,
                                      .wrenches     = p->io->wrenches,
                                      .dtau_dq      = (double *)p->unused,
                                      .dtau_dqd     = (double *)(p->unused + matrix),
                                      .dtau_dqdd    = (double *)(p->unused + 2 * matrix),
                                      .dtau_dwrench = (double *)p->efforts};
    dyn_regressor    by_parameters = {.q         = (const double *)q,
                                      .qd        = (const double *)qd,
                                      .qdd       = (const double *)p->qdd,
                                      .wrenches  = p->io->wrenches,
                                      .regressor = (double *)(p->efforts + nv * wrenches)};
    const dyn_step_mechanism *own  = p->io->mechanism;
    if (own) {
        if (wrenches > 0) own->differentiate_by_wrenches(own->mechanism, &by_wrenches);
        if (parameters > 0) own->differentiate_by_parameters(own->mechanism, &by_parameters);
        return;
    }
    if (wrenches > 0) LANE_NAME(sensitivity)(scene, p->memory, &by_wrenches, 1);
    if (parameters > 0) LANE_NAME(regressor)(scene, p->memory, &by_parameters, 1);
    for (size_t w = 0; held && w < wrenches; w += 6)
        held_multiply_rows(&p->held, 6, p->efforts + nv * w);
    if (held && parameters > 0) held_multiply_rows(&p->held, parameters, p->efforts + nv * wrenches);
}

/* An input that acts on one body, a wrench or the parameters of a body, with its columns of E, where dtau = E
 * dinput. */
typedef struct step_group {
    int         body;
    size_t      input, columns; /* number of its first input; how many inputs */
    const lane *E;
    size_t      stride; /* distance of the rows of E, in lanes */
} step_group;

/* Lists the rows first to end - 1 of E = dtau/dinput that are not zero: the coordinates that move the body. With held
 * frames or loops all rows count, because their efforts depend on every input. Returns the number of rows. */
static inline size_t step_list_rows(const step_pass *p, int body, size_t first, size_t end, int row[DYN_MAX_DOF])
{
    const dyn_body *all                = p->scene->model->body;
    const bool      connected          = step_connects_parts(p);
    bool            moves[DYN_MAX_DOF] = {false};
    size_t          n                  = 0;
    for (; body != DYN_WORLD && !connected; body = all[body].tree.parent)
        for (int k = 0; k < dyn_joint_nv(all[body].joint.kind); k++)
            moves[all[body].joint.v + k] = true;
    for (size_t v = first; v < end; v++)
        if (connected || moves[v]) row[n++] = (int)v;
    return n;
}

/* Sets the columns of the group in a_input = dqdd/dinput to -a_tau E, in the rows first to end - 1, those of one part
 * of the model. */
static inline void step_group_columns(const step_pass *p, const step_group *g, size_t first, size_t end)
{
    int               row[DYN_MAX_DOF];
    const row_product product = {.A      = p->a_tau + first * p->nv,
                                 .A_row  = p->nv,
                                 .A_term = 1,
                                 .X      = g->E,
                                 .stride = g->stride,
                                 .n      = step_list_rows(p, g->body, first, end, row),
                                 .terms  = row,
                                 .Y      = p->a_input + first * p->inputs + g->input,
                                 .Y_row  = p->inputs};
    multiply_rows(&product, end - first, 0, g->columns);
}

/* Sets the rows first to end - 1 of a_input = dqdd/dinput, those of one part of the model. */
static inline void step_input_rows(const step_pass *p, size_t first, size_t end)
{
    const size_t nv = p->nv, wrenches = p->io->wrench_matrix ? p->scene->n_wrenches : 0;
    const size_t rows          = p->io->parameter_matrix ? p->scene->model->n_rows : 0;
    const lane  *by_parameters = p->efforts + nv * 6 * wrenches;
    for (size_t i = first; i < end; i++)
        memcpy(p->a_input + i * p->inputs, p->a_tau + i * nv, nv * sizeof(lane));
    for (size_t w = 0; w < wrenches && goes_on(p->scene->deadline, nv); w++) {
        const step_group group = {p->scene->wrench[w].body, nv + 6 * w, 6, p->efforts + w * nv * 6, 6};
        step_group_columns(p, &group, first, end);
    }
    const bool connected = step_connects_parts(p); /* then all rows are listed, whatever the body */
    for (size_t r = 0; r < rows && goes_on(p->scene->deadline, nv); r++) {
        const int        body  = connected ? DYN_WORLD : p->scene->model->row_body[r];
        const step_group group = {body, nv + 6 * wrenches + 10 * r, 10, by_parameters + 10 * r, 10 * rows};
        step_group_columns(p, &group, first, end);
    }
}

/* Sets a_input = dqdd/dinput (nv x inputs). With dtau = E dinput at constant qdd, dqdd/dinput = -dqdd/dtau E; this
 * holds with held frames too. */
static inline void step_set_inputs(const step_pass *p, const lane *q, const lane *qd)
{
    const size_t nv = p->nv;
    if (p->inputs == nv) return;
    step_set_efforts(p, q, qd);
    for (size_t first = 0, end; first < nv; first = end) {
        end = step_part_end(p, first);
        step_input_rows(p, first, end);
    }
}

/* Copies the derivatives with respect to the inputs to the matrices of tau, wrenches and parameters. */
static inline void step_put_inputs(const step_pass *p)
{
    const size_t nv = p->nv, wrenches = p->io->wrench_matrix ? p->scene->n_wrenches : 0;
    const size_t parameters = p->inputs - nv - 6 * wrenches;
    lane        *by_tau = block_out(p->io->input_matrix, 0, 0), *by_wrench = block_out(p->io->wrench_matrix, 0, 0);
    lane        *by_parameter = block_out(p->io->parameter_matrix, 0, 0);
    for (size_t i = 0; p->inputs > nv && i < 2 * nv && goes_on(p->scene->deadline, nv); i++) {
        const lane *row = p->B + i * p->inputs;
        memcpy(by_tau + i * nv, row, nv * sizeof *row);
        for (size_t w = 0; w < wrenches; w++)
            memcpy(by_wrench + (w * 2 * nv + i) * 6, row + nv + 6 * w, 6 * sizeof *row);
        if (parameters > 0) memcpy(by_parameter + i * parameters, row + nv + 6 * wrenches, parameters * sizeof *row);
    }
}

/* Computes qdd at (q, qd) by forward dynamics or, unless io->dqdd_dq is NULL, with its derivatives. */
static inline void step_accelerate(const step_pass *p, const dyn_forward_sensitivity *io)
{
    const dyn_step_mechanism *own   = p->io->mechanism;
    dyn_forward_dynamics      alone = {
             .q = io->q, .qd = io->qd, .tau = io->tau, .wrenches = io->wrenches, .qdd = io->qdd, .singular = io->singular};
    if (own)
        own->accelerate(own->mechanism, io);
    else if (io->dqdd_dq)
        LANE_NAME(forward_sensitivity)(p->scene, p->memory, io, 1);
    else
        LANE_NAME(forward_dynamics)(p->scene, p->memory, &alone, 1);
}

/* Computes qdd at (q, qd) and, if `differentiates`, its derivatives. *p->singular keeps the first singular body of all
 * evaluations. */
static inline void step_evaluate(const step_pass *p, const lane *q, const lane *qd, bool differentiates)
{
    lane                    singular;
    dyn_forward_sensitivity io = {.q         = (const double *)q,
                                  .qd        = (const double *)qd,
                                  .tau       = p->io->tau,
                                  .wrenches  = p->io->wrenches,
                                  .qdd       = (double *)p->qdd,
                                  .dqdd_dq   = differentiates ? (double *)p->a_q : NULL,
                                  .dqdd_dqd  = differentiates ? (double *)p->a_qd : NULL,
                                  .dqdd_dtau = differentiates ? (double *)p->a_tau : NULL,
                                  .singular  = (double *)&singular};
    if (held_chains(p->io) > 0)
        held_evaluate(&p->held, q, qd, &(held_outputs){p->qdd, p->a_q, p->a_qd, p->a_tau, &singular, p->contradictory},
                      differentiates, p->memory);
    else
        step_accelerate(p, &io);
    if (differentiates) step_set_inputs(p, q, qd);
    *p->singular = lane_select(lane_less(*p->singular, lane_of(0)), singular, *p->singular);
}

/* Writes the accelerations -delta l along the held directions (held_frames.h) at the last evaluation. A mechanism
 * writes them itself. */
static inline void step_put_residual(const step_pass *p)
{
    lane *to = block_out(p->io->contact_residual, 0, 0);
    if (!to || held_chains(p->io) == 0) return;
    clear(to, 6 * p->io->n_held);
    for (size_t i = 0, a = 0; i < p->io->n_held; i++)
        for (size_t j = 0; j < p->io->held[i].n; j++)
            to[6 * i + (size_t)p->io->held[i].axis[j]] = p->io->damping * p->held.l[a++];
}

/* Returns entry i of qd; zero if qd is NULL. */
LANE_INLINE lane velocity_at(const lane *qd, size_t i)
{
    return qd ? qd[i] : lane_of(0);
}

/* Rows of a matrix: entry (i, c) is at[i * stride + c]. */
typedef struct step_rows {
    lane  *at;
    size_t stride, columns;
} step_rows;

/* Adds by_u times the rows `from` to the rows `to`, in the rows of one joint. by_u: derivative of its displaced
 * position with respect to the displacement. */
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

/* Sets the rows of one joint's displaced position to by_q in the joint's own columns, from v on, and to zero in all
 * others. */
LANE_INLINE void set_own_columns(const displacement_rates *rates, size_t v, step_rows to)
{
    for (int i = 0; i < rates->n; i++) {
        clear(to.at + (size_t)i * to.stride, to.columns);
        for (int k = 0; k < rates->n; k++)
            to.at[(size_t)i * to.stride + v + (size_t)k] = rates->by_q[i][k];
    }
}

/* Multiplies by_u by h, the length of the step: the displacement is h times a velocity. */
LANE_INLINE void scale_rates(displacement_rates *rates, double h)
{
    for (int i = 0; i < rates->n; i++)
        for (int k = 0; k < rates->n; k++)
            rates->by_u[i][k] = h * rates->by_u[i][k];
}

/* Sets the rows of the velocities in A and B: [h a_q, 1 + h a_qd] and h a_input. */
static inline void set_velocity_rows(const step_pass *p)
{
    const size_t nv = p->nv;
    const double h  = p->io->h;
    for (size_t i = 0; i < nv && goes_on(p->scene->deadline, nv); i++) {
        lane *A = p->A + (nv + i) * 2 * nv, *B = p->B + (nv + i) * p->inputs;
        for (size_t c = 0; c < nv; c++) {
            A[c]      = h * p->a_q[i * nv + c];
            A[nv + c] = h * p->a_qd[i * nv + c];
        }
        for (size_t c = 0; c < p->inputs; c++)
            B[c] = h * p->a_input[i * p->inputs + c];
        A[nv + i] = A[nv + i] + 1.0;
    }
}

/* Sets the rows of one joint's position in A and B, where the displacement is h times a velocity: the velocity before
 * the step, or that after it, whose rows of A and B are already set. */
static inline void set_position_rows(const step_pass *p, const displacement_rates *rates, size_t v, bool after)
{
    const size_t nv = p->nv, inputs = p->inputs;
    step_rows    A = {p->A + v * 2 * nv, 2 * nv, 2 * nv}, B = {p->B + v * inputs, inputs, inputs};
    set_own_columns(rates, v, A);
    for (int i = 0; i < rates->n; i++)
        clear(B.at + (size_t)i * inputs, inputs);
    if (after) {
        add_displaced_rows(rates, (step_rows){p->A + (nv + v) * 2 * nv, 2 * nv, 2 * nv}, A);
        add_displaced_rows(rates, (step_rows){p->B + (nv + v) * inputs, inputs, inputs}, B);
        return;
    }
    for (int i = 0; i < rates->n; i++)
        for (int k = 0; k < rates->n; k++)
            A.at[(size_t)i * 2 * nv + nv + v + (size_t)k] = rates->by_u[i][k];
}

/* Sets q_after = q * exp(h qd) with the velocity before or after the step, and the rows of the positions in A and B. */
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
        if (!p->differentiates || !goes_on(p->scene->deadline, p->nv)) continue;
        scale_rates(&rates, p->io->h);
        set_position_rows(p, &rates, (size_t)b->joint.v, after);
    }
}
