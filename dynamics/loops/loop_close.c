/* loop_close.c - closes the loops of a block of states and finds the matrices K and G (loop_kernels.h). */
#include "loop_workspace.h"
#include <math.h>
#include <string.h>

/* Actuated coordinates are independent if moving one of them, with the passive ones following, leaves a constraint
 * residual below this fraction of the coordinate's column of the Jacobian. */
#define SINGULAR 1e-6

/* An entry of K J_a is a rounding error if it is below this fraction of the product of the largest entries of K's row
 * and J_a's column. */
#define ROUNDING 1e-13

/* Copies the Jacobian entries that block b of a component lists to a dense matrix `to`, m x n; entries not listed are
 * zero. */
static void get_block(const dyn_loop_workspace *c, const dyn_closure_block *b, double *to)
{
    const size_t W = c->W;
    for (size_t e = 0; e < b->m * b->n; e++)
        if (b->entry[e] < 0)
            memset(to + e * W, 0, W * sizeof *to);
        else
            memcpy(to + e * W, c->J + (size_t)b->entry[e] * W, W * sizeof *to);
}

/* Writes, for each lane, the largest absolute value of n entries of x that are `step` apart. */
static void find_greatest(const dyn_loop_workspace *c, const double *x, size_t n, size_t step, double *most)
{
    for (size_t lane = 0; lane < c->W; lane++)
        most[lane] = 0;
    for (size_t i = 0; i < n; i++, x += step * c->W)
        for (size_t lane = 0; lane < c->W; lane++)
            most[lane] = fabs(x[lane]) > most[lane] ? fabs(x[lane]) : most[lane];
}

/* Sets to zero the columns of c->known, the Jacobian J_a of the actuated coordinates, that contain only rounding
 * errors. Writes the largest absolute entry of each column to c->vector[0]. */
static void clear_negligible_columns(const dyn_loop_workspace *c, const dyn_closure_block *known)
{
    const size_t W = c->W;
    for (size_t j = 0; j < known->n; j++) {
        double *most = c->vector[0] + j * W;
        find_greatest(c, c->known + j * W, known->m, known->n, most);
        for (size_t lane = 0; lane < W; lane++) {
            if (!(most[lane] <= DYN_CLOSURE_NEGLIGIBLE)) continue;
            most[lane] = 0;
            for (size_t i = 0; i < known->m; i++)
                c->known[(i * known->n + j) * W + lane] = 0;
        }
    }
}

/* Sets entries of K J_a, passive velocities per actuated velocity, to zero if they are rounding errors. A passive joint
 * locked by the loops would otherwise have a velocity of about 1e-17 rad/s, and Coulomb friction with it. */
static void clear_rounding(const dyn_loop_workspace *c, const dyn_closure_component *component, const double *K)
{
    const size_t W = c->W, m = component->block.m, n = component->known.n;
    double       row[DYN_MAX_LANES], *entry = c->change;
    for (size_t k = 0; k < component->block.n; k++) {
        find_greatest(c, K + k * m * W, m, 1, row);
        for (size_t j = 0; j < n; j++, entry += W)
            for (size_t lane = 0; lane < W; lane++)
                if (fabs(entry[lane]) <= ROUNDING * (row[lane] * c->vector[0][j * W + lane])) entry[lane] = 0;
    }
}

/* Returns the index of the loop that has row r of J; the number of loops if the platform frame has the row. */
static size_t loop_of_row(const dyn_loops *l, size_t row)
{
    size_t k = 0;
    while (k < l->n && row >= l->loop[k].first + l->loop[k].rows)
        k++;
    return k;
}

/* Compares the rows of J G = J_a - J_p K J_a that belong to a component with those rows of J_a. For each actuated
 * coordinate, c->vector[1] and [2] become the largest entries of J G and J_a over all components so far, and [3] the
 * loop that has the largest entry of J G. The largest entries of J_a in this component are in c->vector[0]. */
static void compare_columns(const dyn_loop_workspace *c, const dyn_closure_component *component)
{
    const size_t W = c->W, n = component->known.n;
    for (size_t i = 0; i < component->block.m; i++) {
        const double  loop  = (double)loop_of_row(c->loops, component->row[i]);
        const double *entry = c->known + i * n * W;
        for (size_t e = 0; e < n * W; e++) {
            const size_t j = component->actuated[e / W] * W + e % W;
            if (fabs(entry[e]) > c->vector[1][j]) c->vector[1][j] = fabs(entry[e]), c->vector[3][j] = loop;
        }
    }
    for (size_t e = 0; e < n * W; e++) {
        const size_t j  = component->actuated[e / W] * W + e % W;
        c->vector[2][j] = fmax(c->vector[2][j], c->vector[0][e]);
    }
}

/* Writes the rows -K J_a of G that belong to the passive velocities of a component, and compares J G with J_a. */
static void find_component(dyn_loop_workspace *c, const dyn_closure_component *component)
{
    const size_t  W = c->W, m = component->block.m, n = component->block.n, columns = component->known.n;
    const double *K = c->closure.inverse + component->inverse * W;
    get_block(c, &component->block, c->unknown);
    get_block(c, &component->known, c->known);
    clear_negligible_columns(c, &component->known);
    dyn_matrix_mul(&c->lanes, n, m, columns, K, c->known, 0, c->change);
    clear_rounding(c, component, K);
    dyn_matrix_mul(&c->lanes, m, n, columns, c->unknown, c->change, -1, c->known);
    for (size_t k = 0; k < n; k++) {
        double *row = c->G + (size_t)c->loops->passive_v[component->unknown[k]] * c->nv * W;
        for (size_t j = 0; j < columns; j++)
            for (size_t lane = 0; lane < W; lane++)
                row[component->actuated[j] * W + lane] = -c->change[(k * columns + j) * W + lane];
    }
    compare_columns(c, component);
}

static void find_G(dyn_loop_workspace *c)
{
    size_t W = c->W;
    memset(c->G, 0, c->nvt * c->nv * W * sizeof *c->G);
    for (size_t i = 1; i <= 3; i++)
        memset(c->vector[i], 0, c->nv * W * sizeof *c->vector[i]);
    for (size_t j = 0; j < c->nv; j++)
        for (size_t lane = 0; lane < W; lane++)
            c->G[((size_t)c->loops->active_v[j] * c->nv + j) * W + lane] = 1;
    for (size_t i = 0; i < c->closure.layout.n && dyn_closure_may_continue(&c->closure); i++)
        find_component(c, &c->closure.layout.component[i]);
}

/* True if J G = 0 up to SINGULAR in a lane: the loops let each actuated coordinate move independently. Otherwise sets
 * worst_pair to a loop that prevents the motion. */
static bool is_independent(dyn_loop_workspace *c, size_t lane)
{
    for (size_t j = lane; j < c->nv * c->W; j += c->W) {
        if (c->vector[1][j] <= fmax(SINGULAR * c->vector[2][j], DYN_CLOSURE_NEGLIGIBLE)) continue;
        c->closure.worst_pair[lane] = (size_t)c->vector[3][j];
        return false;
    }
    return true;
}

/* Returns the status of a lane at the end of its path, before the pseudoinverse is known. */
static dyn_loop_status classify_lane(const dyn_loop_workspace *c, size_t lane)
{
    const dyn_closure_solver *loops = &c->closure;
    if (loops->stopped[lane]) return DYN_LOOPS_STOPPED;
    if (loops->reached[lane] < 1) return DYN_LOOPS_PATH_SINGULAR;
    return dyn_closure_is_closed(loops, lane) ? DYN_LOOPS_CLOSED : DYN_LOOPS_OPEN;
}

/* Finds the pseudoinverse K in lanes with closed loops. Sets the status of lanes in which the rank of J_p shows that
 * the loops do not determine the passive joints. */
static void find_inverse(dyn_loop_workspace *c)
{
    bool closed[DYN_MAX_LANES];
    for (size_t lane = 0; lane < c->closure.live; lane++)
        closed[lane] = c->status[lane] == DYN_LOOPS_CLOSED;
    dyn_closure_invert(&c->closure, closed);
    for (size_t lane = 0; lane < c->closure.live; lane++)
        if (closed[lane] && !c->closure.finite[lane])
            c->status[lane] = DYN_LOOPS_OPEN;
        else if (closed[lane] && c->closure.rank[lane] < c->np)
            c->status[lane] = DYN_LOOPS_PASSIVE_UNDETERMINED;
}

/* Finds the matrices K and G of loop_kernels.h, and sets the status of each lane. Returns true if all live lanes are
 * closed. */
static bool find_matrices(dyn_loop_workspace *c)
{
    size_t live = c->closure.live;
    bool   good = true, any = false;
    for (size_t lane = 0; lane < live; lane++) {
        if (!dyn_may_continue(c->closure.deadline)) c->closure.stopped[lane] = true;
        c->status[lane] = classify_lane(c, lane);
        any             = any || c->status[lane] != DYN_LOOPS_STOPPED;
    }
    if (any) {
        find_inverse(c);
        find_G(c);
    }
    for (size_t lane = 0; lane < live; lane++) {
        if (c->status[lane] == DYN_LOOPS_CLOSED && !is_independent(c, lane))
            c->status[lane] = DYN_LOOPS_ACTUATED_DEPENDENT;
        good = good && c->status[lane] == DYN_LOOPS_CLOSED;
    }
    for (size_t lane = live; lane < c->W; lane++)
        c->status[lane] = c->status[live - 1];
    return good;
}

/* Closes the loops to rounding by Newton's method, from the end of the path. */
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
    c->closure.evaluated = false;
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
