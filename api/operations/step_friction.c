/* step_friction.c - stops joints within a step of integration by sharp Coulomb friction (step_friction.h). */
#include "step_friction.h"
#include <string.h>

/* --- request ---------------------------------------------------------------------------------------------------- */

bool api_step_friction_read(api_query *q, const api_held_ranges *held, dyn_step_method method, const api_node *given,
                            const api_place *up, const api_static_friction **friction)
{
    const api_contact *contact = NULL;
    api_place          at      = api_place_key(up, "friction_at_rest");
    *friction                  = NULL;
    for (size_t r = 0; r < held->n; r++)
        if (held->range[r].contact) contact = held->range[r].contact;
    if (!api_static_friction_read(q, contact, given, up, friction)) return false;
    size_t                    n      = 0;
    const api_stiction_joint *joints = *friction ? api_static_friction_joints(*friction, &n) : NULL;
    for (size_t i = 0; i < n; i++)
        if (joints[i].stribeck)
            return api_fail_at(
                q->problem, &at, API_NOT_SUPPORTED,
                "friction_at_rest \"stick\" of a step is not for joints with a stribeck_velocity: %.64s has one",
                q->model->velocity_names[joints[i].v]);
    return !*friction || method == DYN_EXPLICIT_EULER || method == DYN_SEMI_IMPLICIT_EULER ||
           api_fail_at(q->problem, &at, API_NOT_SUPPORTED,
                       "friction_at_rest \"stick\" is for the integrators explicit_euler and semi_implicit_euler");
}

/* --- lanes ------------------------------------------------------------------------------------------------------ */

/* Arrays of one block. */
typedef struct arrays {
    double *tau, *A, *B, *stops;                                     /* in lanes: nv, 2 nv x 2 nv, 2 nv x nv, n */
    double *block, *factor, *v, *positive, *negative, *f, *solution; /* one state: n x n, n x n, n each */
    size_t *coordinate;                                              /* [n] */
    int    *side;                                                    /* [n] */
} arrays;

size_t api_step_friction_joints(const api_static_friction *friction)
{
    size_t n = 0;
    if (friction) api_static_friction_joints(friction, &n);
    return n;
}

size_t api_step_friction_entries(const api_model *m, const api_static_friction *friction)
{
    const size_t nv = m->nv;
    return friction ? nv + 6 * nv * nv + nv + 2 * nv * nv + 7 * nv : 0;
}

size_t api_step_friction_work(const api_query *q, const api_static_friction *friction)
{
    const size_t n = api_step_friction_joints(friction);
    return n > 0 ? dyn_step_held_work(q->model->dyn, q->scene.n_wrenches, 0, n) : 0;
}

static arrays lay_out(size_t nv, size_t n, size_t W, double *room)
{
    arrays a       = {.tau = room};
    a.A            = a.tau + nv * W;
    a.B            = a.A + 4 * nv * nv * W;
    a.stops        = a.B + 2 * nv * nv * W;
    a.block        = a.stops + nv * W;
    a.factor       = a.block + n * n;
    a.v            = a.factor + n * n;
    a.positive     = a.v + n;
    a.negative     = a.positive + n;
    a.f            = a.negative + n;
    a.solution     = a.f + n;
    void *integers = a.solution + n; /* the memory of 2 n doubles holds the integers */
    a.coordinate   = integers;
    a.side         = (int *)(a.coordinate + n);
    return a;
}

/* Adds the sharp friction that the kernel subtracts, by the sign of the velocity before the step. */
static void leave_out_friction(const api_stiction_joint *joint, size_t n, const double *qd, size_t W, double *tau)
{
    for (size_t k = 0; k < n; k++)
        for (size_t lane = 0; qd && lane < W; lane++) {
            const double rate = qd[joint[k].v * W + lane];
            if (rate != 0) tau[joint[k].v * W + lane] += rate > 0 ? joint[k].positive : -joint[k].negative;
        }
}

/* Decides which joints of one lane stop: subtracts the friction from tau and sets `stops`. False if that cannot be
 * decided. */
static bool decide(const api_stiction_joint *joint, size_t n, const arrays *a, const dyn_step *first, size_t lane,
                   size_t nv, size_t W)
{
    const api_stiction_problem p = {.n        = n,
                                    .A        = a->block,
                                    .b        = a->v,
                                    .positive = a->positive,
                                    .negative = a->negative,
                                    .f        = a->f,
                                    .side     = a->side,
                                    .factor   = a->factor,
                                    .solution = a->solution};
    for (size_t i = 0; i < n; i++) {
        const double *row = first->input_matrix + (nv + joint[i].v) * nv * W + lane;
        a->v[i]           = first->qd_after[joint[i].v * W + lane];
        a->positive[i]    = joint[i].positive;
        a->negative[i]    = joint[i].negative;
        for (size_t j = 0; j < n; j++)
            a->block[i * n + j] = row[joint[j].v * W];
    }
    if (!api_stiction_solve(&p)) return false;
    for (size_t i = 0; i < n; i++) {
        a->tau[joint[i].v * W + lane] -= a->f[i];
        a->stops[i * W + lane] = a->side[i] == 0;
    }
    return true;
}

/* --- a step ----------------------------------------------------------------------------------------------------- */

/* Evaluates the step without the friction of the joints, with A and B. */
static dyn_step evaluate_free(const api_step_means *by, const dyn_step *io, const arrays *a)
{
    dyn_step first         = *io;
    first.tau              = a->tau;
    first.state_matrix     = a->A;
    first.input_matrix     = a->B;
    first.wrench_matrix    = NULL;
    first.parameter_matrix = NULL;
    dyn_step_kernel_of(by->kernels)(by->scene, by->workspace, &first, 1);
    return first;
}

void api_step_friction_apply(const api_static_friction *friction, const api_step_means *by, dyn_step io,
                             double *sticking)
{
    const size_t              nv = (size_t)by->scene->model->nv, W = (size_t)by->kernels->lanes;
    size_t                    n     = 0;
    const api_stiction_joint *joint = api_static_friction_joints(friction, &n);
    const arrays              a     = lay_out(nv, n, W, by->room);
    bool                      decided[DYN_MAX_LANES];
    memcpy(a.tau, io.tau, nv * W * sizeof *a.tau);
    leave_out_friction(joint, n, io.qd, W, a.tau);
    const dyn_step first = evaluate_free(by, &io, &a);
    memset(a.stops, 0, n * W * sizeof *a.stops);
    for (size_t lane = 0; lane < W; lane++)
        decided[lane] = decide(joint, n, &a, &first, lane, nv, W);
    for (size_t i = 0; i < n; i++)
        a.coordinate[i] = joint[i].v;
    io.tau        = a.tau;
    io.n_stopping = n;
    io.stopping   = a.coordinate;
    io.stops      = a.stops;
    dyn_step_kernel_of(by->kernels)(by->scene, by->workspace, &io, 1);
    for (size_t lane = 0; lane < W; lane++)
        if (!decided[lane]) io.unsolved[lane] = API_STEP_UNDECIDED;
    if (sticking) memset(sticking, 0, nv * W * sizeof *sticking);
    for (size_t i = 0; sticking && i < n; i++)
        memcpy(sticking + joint[i].v * W, a.stops + i * W, W * sizeof *sticking);
}
