/* point_gradients.c - computes gradients of positions, velocities and accelerations of points along a motion.
 *
 * With the Jacobian J of a point, its rate J' and the derivatives x_r of q (x_0 = q, x_1 = qd, x_2 = qdd), the partial
 * derivatives are
 *
 *     position p: dp/dx_0 = J;   velocity v: dv/dx_0, dv/dx_1 = J;
 *     acceleration a: da/dx_0, da/dx_1 = J' + dv/dx_0, da/dx_2 = J
 *
 * and the chain rule of motion_chain.h gives the gradients. With free coordinates the accelerations qdd follow from the
 * spline, and da/dx_r = da/dx_r at constant qdd + J dqdd/dx_r. */
#include "point_gradients.h"
#include "coordinate_change.h"
#include <string.h>

enum { MATRICES = 4 /* 6 x nv matrices of a point: J, dv/dx_0, da/dx_0, da/dx_1 */ };

size_t dyn_point_partials_entries(size_t nv, size_t n)
{
    return MATRICES * n * 6 * nv + 6 * nv + 6;
}

dyn_point_partials dyn_point_partials_lay_out(const dyn_motion_block *b, size_t n, const dyn_point_gradients *gradients,
                                              double *room)
{
    const size_t size          = n * 6 * b->motion->robot.nv * b->W;
    const bool   of_velocity   = gradients->velocities_by_points || gradients->velocities_by_duration,
               of_acceleration = gradients->accelerations_by_points || gradients->accelerations_by_duration;
    dyn_point_partials p       = {.n = n, .room = room + MATRICES * size};
    if (of_velocity || of_acceleration || gradients->positions_by_points) p.jacobians = room;
    if (of_velocity || of_acceleration) p.velocities_by_q = room + size;
    if (of_acceleration) p.accelerations_by_q = room + 2 * size;
    if (of_acceleration) p.accelerations_by_qd = room + 3 * size;
    return p;
}

/* Returns the partial derivatives of point k, `rows` x nv each, from matrices of all points. */
static dyn_partials of_point(const dyn_motion_block *b, size_t k, size_t rows, size_t orders, double *const matrices[])
{
    dyn_partials p = {.rows = rows, .orders = orders};
    for (size_t r = 0; r < orders; r++)
        if (matrices[r]) p.by[r] = matrices[r] + k * 6 * b->motion->robot.nv * b->W;
    return p;
}

/* Returns the entries of point k in a gradient with `rows` rows for each point, or NULL if it is not requested. */
static double *entries_of(const dyn_motion_block *b, double *gradient, size_t k, size_t rows, size_t columns)
{
    return gradient ? gradient + k * rows * columns * b->W : NULL;
}

/* Adds J y to `to`, for `columns` columns of y. */
static void add_jacobian_product(const dyn_motion_block *b, const double *J, const double *y, size_t columns,
                                 double *to)
{
    const size_t W = b->W, nv = b->motion->robot.nv;
    for (size_t i = 0; i < 6; i++)
        for (size_t k = 0; k < nv; k++)
            for (size_t j = 0; j < columns; j++)
                for (size_t lane = 0; lane < W; lane++)
                    to[(i * columns + j) * W + lane] += J[(i * nv + k) * W + lane] * y[(k * columns + j) * W + lane];
}

/* Replaces the partial derivatives of an acceleration by those with respect to the spline's coordinates. With free
 * coordinates da/dx_2 and the derivative by the duration are stored in p->room. */
static void change_acceleration(const dyn_motion_block *b, const dyn_point_partials *p, dyn_partials *a)
{
    const size_t        nv  = b->motion->robot.nv;
    const double       *J   = a->by[2];
    const dyn_partials *qdd = p->qdd;
    if (!a->by[0]) return;
    if (!qdd) {
        dyn_change_partials(b, a);
        return;
    }
    a->orders = 2;
    dyn_change_partials(b, a);
    dyn_change_highest_partial(b, 6, a->by[1]);
    a->orders      = 3;
    a->by[2]       = p->room;
    a->by_duration = p->room + 6 * nv * b->W;
    memset(p->room, 0, (6 * nv + 6) * b->W * sizeof *p->room);
    for (size_t r = 0; r < 3; r++)
        add_jacobian_product(b, J, qdd->by[r], nv, a->by[r]);
    add_jacobian_product(b, J, qdd->by_duration, 1, a->by_duration);
}

/* Writes the gradients of point k. */
static void put_point(const dyn_motion_block *b, const dyn_point_partials *partial, size_t k,
                      const dyn_point_gradients *to)
{
    double *const      position[]     = {partial->jacobians};
    double *const      velocity[]     = {partial->velocities_by_q, partial->jacobians};
    double *const      acceleration[] = {partial->accelerations_by_q, partial->accelerations_by_qd, partial->jacobians};
    const size_t       width = (b->dense ? b->motion->spline.n : b->motion->spline.degree + 1) * b->motion->robot.nv;
    const dyn_partials p = of_point(b, k, 3, 1, position), v = of_point(b, k, 6, 2, velocity);
    dyn_partials       a = of_point(b, k, 6, 3, acceleration);
    change_acceleration(b, partial, &a);
    dyn_change_partials(b, &v);
    dyn_change_highest_partial(b, 6, v.by[1]);
    dyn_chain_by_points(b, &p, entries_of(b, to->positions_by_points, k, 3, width));
    dyn_chain_by_points(b, &v, entries_of(b, to->velocities_by_points, k, 6, width));
    dyn_chain_by_duration(b, &v, entries_of(b, to->velocities_by_duration, k, 6, 1));
    dyn_chain_by_points(b, &a, entries_of(b, to->accelerations_by_points, k, 6, width));
    dyn_chain_by_duration(b, &a, entries_of(b, to->accelerations_by_duration, k, 6, 1));
}

void dyn_point_gradients_put(const dyn_motion_block *b, const dyn_point_partials *p,
                             const dyn_point_gradients *gradients)
{
    for (size_t k = 0; p->jacobians && k < p->n; k++)
        put_point(b, p, k, gradients);
}
