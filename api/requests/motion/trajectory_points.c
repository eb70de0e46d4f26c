/* trajectory_points.c - compute positions, velocities and accelerations of points along a trajectory, with gradients.
 *
 * With the Jacobian J of a point, its partial derivatives by the derivatives x_r of q are
 *
 *     position p: dp/dx_0 = J;   velocity v: dv/dx_0, dv/dx_1 = J;
 *     acceleration a: da/dx_0, da/dx_1 = J' + dv/dx_0, da/dx_2 = J
 *
 * and the chain rule of motion_chain.h gives their gradients. With free coordinates all accelerations qdd follow from
 * the spline, and da/dx_r = da/dx_r at constant qdd + J dqdd/dx_r. */
#include "trajectory_points.h"
#include "dynamics/motion/coordinate_change.h"
#include <string.h>

enum { MATRICES = 4 /* J, dv/dx_0, da/dx_0, da/dx_1 */ };

size_t api_trajectory_points_entries(const api_model *model, size_t n)
{
    return MATRICES * n * 6 * model->nv + 6 * model->nv + 6;
}

/* The partial derivatives of one point, `rows` x nv each. */
static dyn_partials of_point(const api_evaluation *e, size_t k, size_t rows, size_t orders, double *const matrices[])
{
    dyn_partials p = {.rows = rows, .orders = orders};
    for (size_t r = 0; r < orders; r++)
        if (matrices[r]) p.by[r] = matrices[r] + k * 6 * e->model->nv * e->lanes;
    return p;
}

/* The entries of point k in a gradient of `rows` for each point. NULL: not requested. */
static double *entries_of(const api_evaluation *e, double *gradient, size_t k, size_t rows, size_t columns)
{
    return gradient ? gradient + k * rows * columns * e->lanes : NULL;
}

/* to += J y for `columns` columns of y */
static void add_jacobian_product(const api_evaluation *e, const double *J, const double *y, size_t columns, double *to)
{
    const size_t W = e->lanes, nv = e->model->nv;
    for (size_t i = 0; i < 6; i++)
        for (size_t k = 0; k < nv; k++)
            for (size_t j = 0; j < columns; j++)
                for (size_t lane = 0; lane < W; lane++)
                    to[(i * columns + j) * W + lane] += J[(i * nv + k) * W + lane] * y[(k * columns + j) * W + lane];
}

/* Changes the partial derivatives of an acceleration to those by the spline's coordinates. `room` has 6 nv + 6 numbers
 * a state, for those with free coordinates. */
static void change_acceleration(const api_evaluation *e, const api_point_task *task, dyn_partials *a, double *room)
{
    const size_t        nv  = e->model->nv;
    const double       *J   = a->by[2];
    const dyn_partials *qdd = task->qdd;
    if (!a->by[0]) return;
    if (!qdd) {
        dyn_change_partials(task->samples, a);
        return;
    }
    a->orders = 2;
    dyn_change_partials(task->samples, a);
    dyn_change_highest_partial(task->samples, 6, a->by[1]);
    a->orders      = 3;
    a->by[2]       = room;
    a->by_duration = api_behind(e, room, 6 * nv, 1);
    memset(room, 0, (6 * nv + 6) * e->lanes * sizeof *room);
    for (size_t r = 0; r < 3; r++)
        add_jacobian_product(e, J, qdd->by[r], nv, a->by[r]);
    add_jacobian_product(e, J, qdd->by_duration, 1, a->by_duration);
}

static void put_gradients(const api_evaluation *e, const api_point_task *task, size_t k,
                          const api_point_motion *partial, const api_point_gradients *to)
{
    const dyn_motion_block *b          = task->samples;
    double *const           position[] = {partial->jacobians};
    double *const           velocity[] = {partial->velocities_by_q, partial->jacobians};
    double *const      acceleration[] = {partial->accelerations_by_q, partial->accelerations_by_qd, partial->jacobians};
    const size_t       width          = (b->dense ? b->motion->spline.n : b->motion->spline.degree + 1) * e->model->nv;
    const dyn_partials p = of_point(e, k, 3, 1, position), v = of_point(e, k, 6, 2, velocity);
    dyn_partials       a = of_point(e, k, 6, 3, acceleration);
    change_acceleration(e, task, &a,
                        api_behind(e, partial->jacobians, MATRICES * task->points.n * 6 * e->model->nv, 1));
    dyn_change_partials(b, &v);
    dyn_change_highest_partial(b, 6, v.by[1]);
    dyn_chain_by_points(b, &p, entries_of(e, to->positions_by_points, k, 3, width));
    dyn_chain_by_points(b, &v, entries_of(e, to->velocities_by_points, k, 6, width));
    dyn_chain_by_duration(b, &v, entries_of(e, to->velocities_by_duration, k, 6, 1));
    dyn_chain_by_points(b, &a, entries_of(e, to->accelerations_by_points, k, 6, width));
    dyn_chain_by_duration(b, &a, entries_of(e, to->accelerations_by_duration, k, 6, 1));
}

bool api_trajectory_points_evaluate(const api_evaluation *e, const api_point_task *task, size_t block,
                                    api_point_motion to, const api_point_gradients *gradients, double *room)
{
    const size_t size          = task->points.n * 6 * e->model->nv * e->lanes;
    const bool   of_velocity   = gradients->velocities_by_points || gradients->velocities_by_duration,
               of_acceleration = gradients->accelerations_by_points || gradients->accelerations_by_duration,
               differentiates  = of_velocity || of_acceleration || gradients->positions_by_points;
    if (differentiates) to.jacobians = room;
    if (of_velocity || of_acceleration) to.velocities_by_q = room + size;
    if (of_acceleration) to.accelerations_by_q = room + 2 * size;
    if (of_acceleration) to.accelerations_by_qd = room + 3 * size;
    if (!api_point_motion_evaluate(e, block, &task->points, &to)) return false;
    for (size_t k = 0; differentiates && k < task->points.n; k++)
        put_gradients(e, task, k, &to, gradients);
    return true;
}
