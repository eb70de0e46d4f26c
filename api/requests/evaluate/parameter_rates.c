/* parameter_rates.c - differentiates tau_dot with respect to the inertial parameters (parameter_rates.h). */
#include "parameter_rates.h"
#include "api/requests/fields/fields.h"
#include "free_motion.h"

/* Scratch lanes of one block of states with free coordinates. */
typedef struct free_room {
    double *Y;        /* nv x 10 bodies: the regressor */
    double *C;        /* nv x nv: Coriolis matrix */
    double *by_q, *X; /* nv x nv: dtau/dq, and dtau/dqd, which becomes X */
    double *M, *room; /* nv x nv: mass matrix; scratch of dyn_free_lay_out */
} free_room;

static size_t columns_of(const api_model *model)
{
    return api_extent(model, NULL, API_BODY_PARAMETERS);
}

/* The rate of the regressor needs the regressor where friction depends on the load (dyn_regressor). */
size_t api_parameter_rates_room(const api_model *model, bool is_free)
{
    if (!is_free) return model->dyn->has_load ? model->nv * columns_of(model) : 0;
    return model->nv * (columns_of(model) + 4 * model->nv) + dyn_free_room(model->nv);
}

static free_room lay_out(const api_evaluation *e, double *next)
{
    const size_t square = e->model->nv * e->model->nv;
    free_room    r      = {.Y = next};
    r.C                 = api_behind(e, r.Y, e->model->nv * columns_of(e->model), 1);
    r.by_q              = api_behind(e, r.C, square, 1);
    r.X                 = api_behind(e, r.by_q, square, 1);
    r.M                 = api_behind(e, r.X, square, 1);
    r.room              = api_behind(e, r.M, square, 1);
    return r;
}

/* Sets M and X = M' + dtau/dqd (parameter_rates.h). */
static void find_matrices(const api_evaluation *e, const dyn_torque_derivative *motion, const free_room *r)
{
    const size_t    nv = e->model->nv, W = e->lanes;
    dyn_coriolis    coriolis    = {.q = motion->q, .qd = motion->qd, .coriolis_matrix = r->C};
    dyn_sensitivity sensitivity = {.q         = motion->q,
                                   .qd        = motion->qd,
                                   .qdd       = motion->qdd,
                                   .wrenches  = motion->wrenches,
                                   .dtau_dq   = r->by_q,
                                   .dtau_dqd  = r->X,
                                   .dtau_dqdd = r->M};
    e->kernels->coriolis(&e->query->scene, e->workspace, &coriolis, 1);
    e->kernels->sensitivity(&e->query->scene, e->workspace, &sensitivity, 1);
    for (size_t i = 0; i < nv; i++)
        for (size_t k = 0; k < nv; k++)
            for (size_t lane = 0; lane < W; lane++)
                r->X[(i * nv + k) * W + lane] += r->C[(i * nv + k) * W + lane] + r->C[(k * nv + i) * W + lane];
}

enum { BODY = 10 }; /* inertial parameters of a body */

/* Adds X dqdd/dp (parameter_rates.h) to columns [first, first + BODY) of `to` in one lane. */
static void add_accelerations(const dyn_free_block *b, const free_room *r, size_t lane, size_t columns, size_t first,
                              double *to)
{
    for (size_t c = first; c < first + BODY; c++) {
        for (size_t i = 0; i < b->n; i++)
            b->x[i] = -r->Y[(b->free[i] * columns + c) * b->W + lane];
        dyn_free_solve(b);
        for (size_t v = 0; v < b->nv; v++)
            for (size_t i = 0; i < b->n; i++)
                to[(v * columns + c) * b->W + lane] += r->X[(v * b->nv + b->free[i]) * b->W + lane] * b->x[i];
    }
}

/* Replaces the derivatives at constant motion by those with free coordinates. Checks the deadline at each body. */
static bool add_motion(const api_evaluation *e, const bool *driven, const free_room *r, double *to)
{
    const size_t         columns = columns_of(e->model);
    const dyn_free_block b       = dyn_free_lay_out(e->model->nv, e->lanes, driven, r->M, r->room);
    for (size_t lane = 0; lane < e->lanes; lane++) {
        dyn_free_factor(&b, lane);
        for (size_t first = 0; first < columns; first += BODY) {
            if (!api_deadline_check(e->query->input->deadline, e->problem)) return false;
            add_accelerations(&b, r, lane, columns, first, to);
        }
        if (!api_deadline_check(e->query->input->deadline, e->problem)) return false;
        dyn_free_differentiate(&b, lane, columns, to, NULL);
    }
    return true;
}

bool api_parameter_rates(const api_evaluation *e, const bool *driven, const dyn_torque_derivative *motion,
                         size_t blocks, double *room, double *to)
{
    dyn_regressor io = {.q             = motion->q,
                        .qd            = motion->qd,
                        .qdd           = motion->qdd,
                        .qddd          = motion->qddd,
                        .wrenches      = motion->wrenches,
                        .regressor_dot = to};
    if (!driven) {
        if (api_has_load(e->query)) io.regressor = room;
        e->kernels->regressor(&e->query->scene, e->workspace, &io, blocks);
        return true;
    }
    const free_room r = lay_out(e, room);
    io.regressor      = r.Y;
    e->kernels->regressor(&e->query->scene, e->workspace, &io, 1);
    find_matrices(e, motion, &r);
    return add_motion(e, driven, &r, to);
}
