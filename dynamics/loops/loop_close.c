/* loop_close.c - closes the loops of a block of states and finds the matrices K and G (loop_kernels.h). */
#include "loop_workspace.h"
#include <math.h>
#include <string.h>

/* Actuated coordinates are independent if moving one of them leaves a constraint residual below this part of the
 * coordinate's column of the Jacobian. */
#define SINGULAR 1e-6

/* An entry of K J_a is rounding error below this part of the product of the largest entries of K's row and J_a's
 * column. */
#define ROUNDING 1e-13

/* The largest absolute value of n entries that are `step` apart. */
static double greatest(const double *x, size_t n, size_t step)
{
    double most = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs(x[i * step]));
    return most;
}

/* Sets column j of J_a, the constraint Jacobian of the actuated coordinates, to zero if it contains only rounding
 * errors. */
static void clear_negligible_column(dyn_loop_workspace *c, size_t j)
{
    size_t W = c->W, row = c->nv * W;
    for (size_t lane = 0; lane < W; lane++) {
        double *column     = c->row_matrix + j * W + lane;
        bool    negligible = true;
        for (size_t i = 0; i < c->nr; i++)
            negligible = negligible && fabs(column[i * row]) <= DYN_CLOSURE_NEGLIGIBLE;
        for (size_t i = 0; negligible && i < c->nr; i++)
            column[i * row] = 0;
    }
}

/* Sets entries of G = -K J_a, the passive velocities per actuated velocity, to zero if they are rounding errors. A
 * passive joint locked by the loops would otherwise have a velocity of about 1e-17 rad/s, and Coulomb friction with it.
 */
static void clear_rounding(dyn_loop_workspace *c)
{
    size_t  W = c->W, nv = c->nv;
    double *column = c->vector[0]; /* nv in lanes: the largest entries of J_a's columns */
    for (size_t j = 0; j < nv; j++)
        for (size_t lane = 0; lane < W; lane++)
            column[j * W + lane] = greatest(c->row_matrix + j * W + lane, c->nr, nv * W);
    for (size_t k = 0; k < c->np; k++)
        for (size_t lane = 0; lane < W; lane++) {
            const double row   = greatest(c->K + k * c->nr * W + lane, c->nr, W);
            double      *entry = c->G + (size_t)c->loops->passive_v[k] * nv * W + lane;
            for (size_t j = 0; j < nv; j++, entry += W)
                if (fabs(*entry) <= ROUNDING * (row * column[j * W + lane])) *entry = 0;
        }
}

static void find_G(dyn_loop_workspace *c)
{
    size_t W = c->W;
    memset(c->G, 0, c->nvt * c->nv * W * sizeof *c->G);
    for (size_t j = 0; j < c->nv && dyn_closure_may_continue(&c->closure); j++) {
        size_t v = (size_t)c->loops->active_v[j];
        for (size_t lane = 0; lane < W; lane++)
            c->G[(v * c->nv + j) * W + lane] = 1;
        for (size_t i = 0; i < c->nr; i++)
            memcpy(c->row_matrix + (i * c->nv + j) * W, c->J + (i * c->nvt + v) * W, W * sizeof *c->J);
        clear_negligible_column(c, j);
    }
    dyn_loop_subtract_passive(c, c->nv, c->row_matrix, c->G);
    clear_rounding(c);
}

/* The loop that has a row of J; the number of loops for the platform's rows. */
static size_t loop_of_row(const dyn_loops *l, size_t row)
{
    size_t k = 0;
    while (k < l->n && row >= l->loop[k].first + l->loop[k].rows)
        k++;
    return k;
}

/* Adds the row i of J G and of J_a to the largest entries of their columns: c->vector[0] and [1], one state; vector[2]
 * has the loop of the largest entry. J is mostly zero where there are many loops. */
static void compare_row(dyn_loop_workspace *c, size_t lane, size_t i)
{
    const size_t  loop = loop_of_row(c->loops, i);
    const double *J    = c->J + i * c->nvt * c->W + lane;
    size_t        n    = 0;
    for (size_t v = 0; v < c->nvt; v++)
        if (J[v * c->W] != 0) c->entry[n++] = v;
    for (size_t j = 0; j < c->nv; j++) {
        double sum = 0;
        for (size_t k = 0; k < n; k++)
            sum += J[c->entry[k] * c->W] * c->G[(c->entry[k] * c->nv + j) * c->W + lane];
        if (fabs(sum) > c->vector[0][j]) c->vector[0][j] = fabs(sum), c->vector[2][j] = (double)loop;
        c->vector[1][j] = fmax(c->vector[1][j], fabs(c->row_matrix[(i * c->nv + j) * c->W + lane]));
    }
}

/* True if J G = 0 up to SINGULAR: the loops let each actuated coordinate move independently. Otherwise notes a loop
 * that does not as the worst pair. */
static bool is_independent(dyn_loop_workspace *c, size_t lane)
{
    for (size_t i = 0; i < 3; i++)
        memset(c->vector[i], 0, c->nv * sizeof *c->vector[i]);
    for (size_t i = 0; i < c->nr && dyn_closure_may_continue(&c->closure); i++)
        compare_row(c, lane, i);
    for (size_t j = 0; j < c->nv; j++) {
        if (c->vector[0][j] <= fmax(SINGULAR * c->vector[1][j], DYN_CLOSURE_NEGLIGIBLE)) continue;
        c->closure.worst_pair[lane] = (size_t)c->vector[2][j];
        return false;
    }
    return true;
}

static dyn_loop_status classify(dyn_loop_workspace *c, size_t lane)
{
    const dyn_closure_solver *loops = &c->closure;
    if (loops->stopped[lane]) return DYN_LOOPS_STOPPED;
    if (loops->reached[lane] < 1) return DYN_LOOPS_PATH_SINGULAR;
    if (!dyn_closure_is_closed(loops, lane)) return DYN_LOOPS_OPEN;
    if (!dyn_closure_invert(&c->closure, lane, DYN_CLOSURE_SINGULAR, c->W, c->K + lane)) return DYN_LOOPS_OPEN;
    return loops->rank[lane] < c->np ? DYN_LOOPS_PASSIVE_UNDETERMINED : DYN_LOOPS_CLOSED;
}

/* Finds the matrices K and G of loop_kernels.h, and sets the status of each lane. Returns true if all live lanes are
 * closed. */
static bool find_matrices(dyn_loop_workspace *c)
{
    size_t live = c->closure.live;
    bool   good = true, any = false;
    for (size_t lane = 0; lane < live; lane++) {
        if (!dyn_may_continue(c->closure.deadline)) c->closure.stopped[lane] = true;
        c->status[lane] = classify(c, lane);
        any             = any || c->status[lane] != DYN_LOOPS_STOPPED;
    }
    for (size_t lane = live; lane < c->W; lane++)
        c->status[lane] = c->status[live - 1];
    if (!any) return false;
    dyn_closure_pad(&c->closure, c->np * c->nr, c->K);
    find_G(c);
    for (size_t lane = 0; lane < live; lane++) {
        if (c->status[lane] == DYN_LOOPS_CLOSED && !is_independent(c, lane))
            c->status[lane] = DYN_LOOPS_ACTUATED_DEPENDENT;
        good = good && c->status[lane] == DYN_LOOPS_CLOSED;
    }
    for (size_t lane = live; lane < c->W; lane++)
        c->status[lane] = c->status[live - 1];
    return good;
}

/* Closes the loops to rounding, starting at the end of the path. */
static bool finish(dyn_loop_workspace *c, const dyn_scene *scene)
{
    dyn_closure_iterate(&c->closure, scene);
    return find_matrices(c);
}

bool dyn_loop_close(dyn_loop_workspace *c, const dyn_scene *scene, const double *q, const dyn_approach *from,
                    size_t live)
{
    c->solving_platform        = false;
    c->closure.live            = live;
    dyn_continuation_path path = dyn_loop_path(c, scene, q, from);
    path.most_evaluations      = from ? from->most_evaluations : 0;
    dyn_continuation_follow(&c->closure, scene, &path);
    return finish(c, scene);
}

bool dyn_loop_restore(dyn_loop_workspace *c, const dyn_scene *scene, const double *tree_q, size_t live)
{
    c->solving_platform = false;
    c->closure.live     = live;
    memset(c->closure.remaining, 0, c->nr * c->W * sizeof *c->closure.remaining);
    memcpy(c->q, tree_q, c->loops->nq * c->W * sizeof *c->q);
    for (size_t lane = 0; lane < live; lane++) {
        c->closure.reached[lane] = 1;
        c->closure.stopped[lane] = false;
    }
    dyn_closure_check(&c->closure, scene);
    return find_matrices(c);
}

bool dyn_loop_close_towards(dyn_loop_workspace *c, const dyn_scene *scene, double *q)
{
    c->solving_platform        = false;
    c->closure.live            = c->W;
    dyn_continuation_path path = dyn_loop_path(c, scene, q, NULL);
    path.shortest              = 0.003;
    dyn_continuation_follow(&c->closure, scene, &path);
    for (size_t lane = 0; lane < c->W; lane++)
        c->closure.reached[lane] = 1;
    for (size_t i = 0; i < c->mechanism.nq; i++)
        memcpy(q + i * c->W, c->q + (size_t)c->loops->active_q[i] * c->W, c->W * sizeof *q);
    return finish(c, scene);
}
