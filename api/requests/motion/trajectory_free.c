/* trajectory_free.c - finds the motion of free coordinates along a trajectory (trajectory_free.h). */
#include "trajectory_free.h"
#include "api/requests/evaluate/free_motion.h"
#include <string.h>

/* --- motion ------------------------------------------------------------------------------------------------------- */

size_t api_trajectory_free_motion_room(size_t nv)
{
    return 1 + nv + api_free_jerks_room(nv);
}

/* Sets the entries of free coordinates to zero. */
static void clear_free(const api_evaluation *e, const api_free_efforts *f, double *lanes)
{
    for (size_t i = 0; i < e->model->nv * e->lanes; i++)
        if (!f->driven[i / e->lanes]) lanes[i] = 0;
}

bool api_trajectory_free_motion(const api_evaluation *e, const api_free_efforts *f, size_t block, bool jerks,
                                double *room)
{
    const size_t          nv = e->model->nv, size = nv * e->lanes;
    double               *qdd   = api_block(e, e->plan->state[API_QDD], nv, block);
    double               *qddd  = api_block(e, e->plan->state[API_QDDD], nv, block);
    double               *found = api_behind(e, room, 1, 1), *next = api_behind(e, found, nv, 1);
    dyn_torque_derivative io = {.q            = api_state_block(e, API_Q, block),
                                .qd           = api_state_block(e, API_QD, block),
                                .qdd          = qdd,
                                .qddd         = qddd,
                                .wrenches     = api_wrench_block(e, block),
                                .wrench_rates = api_wrench_rate_block(e, block)};
    clear_free(e, f, qdd);
    if (!api_free_accelerations(e, f->driven, room, found, block, 1)) return false;
    memcpy(qdd, found, size * sizeof *qdd);
    if (jerks) api_free_jerks(e, f->driven, &io, api_block(e, f->rates, nv, block), qddd, next);
    return true;
}

void api_trajectory_free_restore(const api_evaluation *e, const api_free_efforts *f, size_t block, double *tau,
                                 double *tau_dot)
{
    const size_t  W = e->lanes, nv = e->model->nv;
    const double *rates = api_block(e, f->rates, nv, block);
    if (tau) api_free_restore(e, f->driven, block, 1, tau);
    for (size_t i = 0; tau_dot && i < nv * W; i++)
        if (!f->driven[i / W]) tau_dot[i] = rates ? rates[i] : 0;
}

/* --- derivatives -------------------------------------------------------------------------------------------------- */

size_t api_trajectory_free_room(size_t nv)
{
    return 2 * nv * nv + nv + dyn_free_room(nv);
}

void api_trajectory_free_partials(const api_evaluation *e, const api_free_efforts *f, size_t block,
                                  const dyn_torque_partials *p, double *room)
{
    const size_t               nv = e->model->nv, W = e->lanes;
    double                    *jerk = api_behind(e, room, nv * nv, 1), *load = api_behind(e, jerk, nv * nv, 1);
    const dyn_inverse_dynamics state  = {.q        = api_state_block(e, API_Q, block),
                                         .qd       = api_state_block(e, API_QD, block),
                                         .qdd      = api_state_block(e, API_QDD, block),
                                         .wrenches = api_wrench_block(e, block)};
    dyn_free_motion            motion = {.driven            = f->driven,
                                         .by_duration       = api_block(e, f->by_duration, nv, block),
                                         .rates_by_duration = api_block(e, f->rates_by_duration, nv, block),
                                         .jerk              = jerk};
    memcpy(room, p->tau.by[2], nv * nv * W * sizeof *room);
    motion.block      = dyn_free_lay_out(nv, W, f->driven, room, api_behind(e, load, nv, 1));
    motion.block.load = api_free_find_load(e, state, load);
    dyn_free_partials(&motion, p);
}
