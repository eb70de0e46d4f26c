/* rigid_newton.c - refines the forces of a contact problem by Newton's method (rigid_newton.h; Alart & Curnier 1991).
 */
#include "rigid_newton.h"
#include <lapacke.h>
#include <math.h>
#include <string.h>

#define SHORTEST 1e-4 /* smallest fraction of a Newton step that is tried */

enum { NEWTON_STEPS = 50 };

/* Adds `factor` times row a of A to row r of the system. */
static void add_inertia_row(const dyn_rigid_problem *p, size_t r, size_t a, double factor)
{
    const size_t k = dyn_rigid_rows(p);
    for (size_t c = 0; c < k; c++)
        p->system[r + k * c] += factor * p->A[a + k * c];
}

/* Writes the residual of the normal of contact i, f_n - max(0, y) with y = f_n - a_n / A_nn, and for a sliding contact
 * that of its friction, f_t + mu f_n d, with their derivatives. Returns y. */
static double fill_normal(const dyn_rigid_problem *p, size_t i)
{
    const size_t k = dyn_rigid_rows(p), a = 3 * i + 2;
    const double stiffness = p->A[a + k * a], y = dyn_rigid_is_mobile(p, a) ? p->force[a] - p->left[a] / stiffness : 0;
    p->right[a] = p->force[a] - fmax(y, 0);
    if (y > 0)
        add_inertia_row(p, a, a, 1 / stiffness);
    else
        p->system[a + k * a] = 1;
    for (size_t j = 0; j < 2 && p->mode[i] == DYN_RIGID_SLIDES; j++) {
        p->right[a - 2 + j]                    = p->force[a - 2 + j] - dyn_rigid_drag(p, a, j) * p->force[a];
        p->system[a - 2 + j + k * (a - 2 + j)] = 1;
        p->system[a - 2 + j + k * a]           = -dyn_rigid_drag(p, a, j);
    }
    return y;
}

/* Writes the residual of the friction of a sticking contact, f_t - P(z), and its derivatives: z = f_t - a_t / s, and P
 * is the projection on the disc of radius mu max(0, y), with y of fill_normal. For z outside the disc and u = z / |z|,
 * P changes by mu u y' + (radius / |z|) (1 - u u^T) z'. */
static void fill_friction(const dyn_rigid_problem *p, size_t i, double y)
{
    const size_t k = dyn_rigid_rows(p), a = 3 * i;
    const double s = dyn_rigid_friction_stiffness(p, i), radius = p->friction[i] * fmax(y, 0),
                 normal = p->A[(a + 2) * (k + 1)],
                 z[2] = {p->force[a] - p->left[a] / s, p->force[a + 1] - p->left[a + 1] / s}, size = hypot(z[0], z[1]);
    if (size <= radius) {
        for (size_t j = 0; j < 2; j++) {
            p->right[a + j] = p->left[a + j] / s;
            add_inertia_row(p, a + j, a + j, 1 / s);
        }
        return;
    }
    for (size_t j = 0; j < 2; j++) {
        const double u = z[j] / size, part = radius / size;
        p->right[a + j] = p->force[a + j] - part * z[j];
        p->system[a + j + k * (a + j)] += 1 - part;
        add_inertia_row(p, a + j, a + j, part / s);
        for (size_t c = 0; c < 2; c++) {
            p->system[a + j + k * (a + c)] += part * u * (z[c] / size);
            add_inertia_row(p, a + j, a + c, -part * u * (z[c] / size) / s);
        }
        if (!(y > 0)) continue;
        p->system[a + j + k * (a + 2)] -= p->friction[i] * u;
        add_inertia_row(p, a + j, a + 2, p->friction[i] * u / normal);
    }
}

/* Writes the residual of all contacts to p->right and its Jacobian to p->system (Alart & Curnier 1991). Returns the
 * norm of the residual. */
static double fill_residual(dyn_rigid_problem *p)
{
    const size_t k   = dyn_rigid_rows(p);
    double       sum = 0;
    dyn_rigid_find_left(p);
    memset(p->system, 0, k * k * sizeof *p->system);
    for (size_t i = 0; i < p->n; i++) {
        const double y = fill_normal(p, i);
        if (p->mode[i] == DYN_RIGID_STICKS) fill_friction(p, i, y);
    }
    for (size_t a = 0; a < k; a++)
        sum += p->right[a] * p->right[a];
    return sqrt(sum);
}

/* Returns the largest |f|. */
static double largest_force(const dyn_rigid_problem *p)
{
    double largest = 0;
    for (size_t a = 0; a < dyn_rigid_rows(p); a++)
        largest = fmax(largest, fabs(p->force[a]));
    return largest;
}

/* Moves the forces by a Newton step, which is halved until the norm of the residual, `before` the step, decreases.
 * Returns the new norm. */
static double take_newton_step(dyn_rigid_problem *p, double before)
{
    const size_t     k = dyn_rigid_rows(p);
    const lapack_int n = (lapack_int)k, room = 4 * n + 1;
    lapack_int       pivot[DYN_RIGID_MOST_ROWS] = {0}, rank = 0;
    double           step[DYN_RIGID_MOST_ROWS], start[DYN_RIGID_MOST_ROWS], part = 1, after = INFINITY;
    if (LAPACKE_dgelsy_work(LAPACK_COL_MAJOR, n, n, 1, p->system, n, p->right, n, pivot, DYN_RIGID_DEPENDENT, &rank,
                            p->work, room) != 0)
        return NAN;
    memcpy(step, p->right, k * sizeof *step);
    memcpy(start, p->force, k * sizeof *start);
    for (; part > SHORTEST && !(after <= (1 - 1e-4 * part) * before); part /= 2) {
        for (size_t a = 0; a < k; a++)
            p->force[a] = start[a] - part * step[a];
        after = fill_residual(p);
    }
    return after;
}

bool dyn_rigid_refine(dyn_rigid_problem *p, dyn_deadline deadline)
{
    double residual = fill_residual(p);
    for (int i = 0; i < NEWTON_STEPS && residual > DYN_RIGID_RESIDUAL * largest_force(p); i++) {
        if (!dyn_may_continue(deadline)) return false;
        const double before = residual;
        residual            = take_newton_step(p, before);
        if (!(residual < before)) break;
    }
    return residual <= DYN_RIGID_ACCEPTED * largest_force(p);
}
