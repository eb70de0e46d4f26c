/* point_motion.c - see point_motion.h. */
#include "point_motion.h"
#include "dynamics/loops/loop_kernels.h"

/* Returns the entries of point k in `results`; NULL: not requested. */
static double *of_point(const api_evaluation *e, double *results, size_t entries, size_t k)
{
    return results ? results + k * entries * e->lanes : NULL;
}

static void find_motion(const api_evaluation *e, size_t block, const api_fixed_points *points, size_t k,
                        const api_point_motion *to)
{
    size_t         columns = 6 * e->model->nv;
    dyn_kinematics io      = {
             .q            = api_state_block(e, API_Q, block),
             .qd           = api_state_block(e, API_QD, block),
             .qdd          = api_state_block(e, API_QDD, block),
             .n_frames     = 1,
             .frames       = &points->frames[k],
             .positions    = of_point(e, to->positions, 3, k),
             .frame        = &points->frames[k],
             .frame_axes   = points->frame_axes,
             .jacobian     = of_point(e, to->jacobians, columns, k),
             .jacobian_dot = of_point(e, to->jacobians_dot, columns, k),
             .velocity     = of_point(e, to->velocities, 6, k),
             .acceleration = of_point(e, to->accelerations, 6, k),
    };
    e->kernels->kinematics(&e->query->scene, e->workspace, &io, 1);
}

bool api_point_motion_evaluate(const api_evaluation *e, size_t block, const api_fixed_points *points,
                               const api_point_motion *to)
{
    const dyn_frame_sensitivity io = {.q                 = api_state_block(e, API_Q, block),
                                      .qd                = api_state_block(e, API_QD, block),
                                      .qdd               = api_state_block(e, API_QDD, block),
                                      .n_frames          = points->n,
                                      .frames            = points->frames,
                                      .frame_axes        = points->frame_axes,
                                      .dvelocity_dq      = to->velocities_by_q,
                                      .dacceleration_dq  = to->accelerations_by_q,
                                      .dacceleration_dqd = to->accelerations_by_qd,
                                      .djacobian_dq      = to->jacobians_by_q};
    bool moves = to->positions || to->jacobians || to->jacobians_dot || to->velocities || to->accelerations;
    for (size_t k = 0; moves && k < points->n; k++) {
        if (k > 0 && !api_deadline_check(e->query->input->deadline, e->problem)) return false;
        find_motion(e, block, points, k, to);
    }
    if (!io.dvelocity_dq && !io.dacceleration_dq && !io.dacceleration_dqd && !io.djacobian_dq) return true;
    e->kernels->frame_sensitivity(&e->query->scene, e->workspace, &io, 1);
    return true;
}
