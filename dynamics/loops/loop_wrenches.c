/* loop_wrenches.c - turns constraint forces (loop_kernels.h) into wrenches on the two links of each loop. */
#include "dynamics/math/geometry.h"
#include "loop_workspace.h"
#include <string.h>

/* Adds the constraint moment of universal joint k: lambda of the joint's last row, along the normal n of its two axes.
 */
static void add_universal_moment(const dyn_loop_workspace *c, size_t k, const double *lambda, double *moment)
{
    const dyn_loop *loop = &c->loops->loop[k];
    double          R[9], n[3];
    for (size_t lane = 0; lane < c->W; lane++) {
        for (size_t i = 0; i < 9; i++)
            R[i] = c->pair_rotation[(9 * k + i) * c->W + lane];
        dyn_loop_universal_row(loop, R, n);
        for (size_t i = 0; i < 3; i++)
            moment[i * c->W + lane] += n[i] * lambda[(loop->first + loop->rows - 1) * c->W + lane];
    }
}

/* Adds n' lambda, the rate of a universal joint's constraint moment at constant lambda. The normal n of the joint's
 * axes changes with the angular velocity w of frame b relative to frame a. */
static void add_cross_rate(const dyn_loop_workspace *c, size_t k, const double *motion, double *moment)
{
    static const double still[3];
    const dyn_loop     *loop = &c->loops->loop[k];
    double              R[9], w[3], nd[3], ndd[3];
    for (size_t lane = 0; lane < c->W; lane++) {
        for (size_t i = 0; i < 9; i++)
            R[i] = c->pair_rotation[(9 * k + i) * c->W + lane];
        dyn_get3(motion + 3 * c->W + lane, c->W, 1, w);
        dyn_loop_universal_row_rates(loop, R, w, still, nd, ndd);
        for (size_t i = 0; i < 3; i++)
            moment[i * c->W + lane] += nd[i] * c->lambda[(loop->first + loop->rows - 1) * c->W + lane];
    }
}

void dyn_loop_wrenches(const dyn_loop_workspace *c, const double *lambda, double *wrenches)
{
    size_t W = c->W;
    memset(wrenches, 0, 6 * c->loops->n * W * sizeof *wrenches);
    for (size_t k = 0; k < c->loops->n; k++) {
        const dyn_loop *loop = &c->loops->loop[k];
        for (size_t r = 0; r < loop->rows; r++)
            for (size_t i = 0; i < 6; i++)
                for (size_t l = 0; l < W; l++)
                    wrenches[(6 * k + i) * W + l] += loop->E[r][i] * lambda[(loop->first + r) * W + l];
        if (loop->kind == DYN_LOOP_UNIVERSAL) add_universal_moment(c, k, lambda, wrenches + (6 * k + 3) * W);
    }
}

static void put3(double *lanes, size_t W, size_t lane, double factor, const double v[3])
{
    for (size_t i = 0; i < 3; i++)
        lanes[i * W + lane] = factor * v[i];
}

/* Sets out = R^T x, with R the rotation of frame b relative to frame a of a loop. */
static void turn_back(const dyn_loop_workspace *c, size_t loop, size_t lane, const double x[3], double out[3])
{
    for (size_t i = 0; i < 3; i++) {
        out[i] = 0;
        for (size_t j = 0; j < 3; j++)
            out[i] += c->pair_rotation[(9 * loop + 3 * j + i) * c->W + lane] * x[j];
    }
}

/* Transforms the wrench of a loop, force F and moment N on frame b in the axes of frame a. Writes the wrench on b in
 * the axes of b, and the reaction on frame a at the origin of a. */
static void put_pair(dyn_loop_workspace *c, size_t loop, size_t lane, double *on_b, double *on_a)
{
    double F[3], N[3], y[3], v[3];
    size_t W = c->W;
    dyn_get3(c->loop_wrenches + 6 * loop * W + lane, W, 1, F);
    dyn_get3(c->loop_wrenches + (6 * loop + 3) * W + lane, W, 1, N);
    dyn_get3(c->pair_position + 3 * loop * W + lane, W, 1, y);
    turn_back(c, loop, lane, F, v);
    put3(on_b, W, lane, 1, v);
    turn_back(c, loop, lane, N, v);
    put3(on_b + 3 * W, W, lane, 1, v);
    dyn_cross(y, F, v);
    for (int i = 0; i < 3; i++)
        v[i] += N[i];
    put3(on_a, W, lane, -1, F);
    put3(on_a + 3 * W, W, lane, -1, v);
}

dyn_scene dyn_loop_add_wrenches(dyn_loop_workspace *c, const dyn_scene *scene, const double *wrenches)
{
    dyn_scene pushed = *scene;
    size_t    W = c->W, n = scene->n_wrenches;
    double   *to = c->wrenches + 9 * n * W;
    if (n > 0) memcpy(c->sites, scene->wrench, n * sizeof *c->sites);
    if (n > 0) memcpy(c->wrenches, wrenches, 9 * n * W * sizeof *wrenches);
    memset(to, 0, 18 * c->loops->n * W * sizeof *to);
    dyn_loop_wrenches(c, c->lambda, c->loop_wrenches);
    for (size_t k = 0; k < c->loops->n; k++, to += 18 * W) {
        const dyn_frame_pair *pair = &c->loops->pair[k];
        c->sites[n + 2 * k]        = (dyn_wrench_site){.body = pair->b.body, .X_bl = pair->b.X_bf};
        c->sites[n + 2 * k + 1]    = (dyn_wrench_site){.body = pair->a.body, .X_bl = pair->a.X_bf};
        for (size_t lane = 0; lane < W; lane++)
            put_pair(c, k, lane, to, to + 9 * W);
    }
    pushed.wrench     = c->sites;
    pushed.n_wrenches = n + 2 * c->loops->n;
    return pushed;
}

/* Writes the rates of the wrenches that put_pair writes: (R^T x)' = R^T (x' - w x x) and (N + y x F)' = N' + y' x F + y
 * x F'. */
static void put_pair_rates(dyn_loop_workspace *c, size_t loop, size_t lane, double *on_b, double *on_a)
{
    double        F[3], N[3], Fd[3], Nd[3], y[3], yd[3], w[3], turn[3], v[3], u[3];
    size_t        W    = c->W;
    const double *move = c->jacobian_work[0] + 6 * loop * W, *seen = c->loop_wrenches + 6 * loop * W,
                 *rate = c->jacobian_work[1] + 6 * loop * W;
    dyn_get3(seen + lane, W, 1, F), dyn_get3(seen + 3 * W + lane, W, 1, N);
    dyn_get3(rate + lane, W, 1, Fd), dyn_get3(rate + 3 * W + lane, W, 1, Nd);
    dyn_get3(move + lane, W, 1, yd), dyn_get3(move + 3 * W + lane, W, 1, w);
    dyn_get3(c->pair_position + 3 * loop * W + lane, W, 1, y);
    dyn_cross(w, F, turn);
    for (int i = 0; i < 3; i++)
        v[i] = Fd[i] - turn[i];
    turn_back(c, loop, lane, v, u);
    put3(on_b, W, lane, 1, u);
    dyn_cross(w, N, turn);
    for (int i = 0; i < 3; i++)
        v[i] = Nd[i] - turn[i];
    turn_back(c, loop, lane, v, u);
    put3(on_b + 3 * W, W, lane, 1, u);
    dyn_cross(yd, F, v);
    dyn_cross(y, Fd, u);
    for (int i = 0; i < 3; i++)
        v[i] += u[i] + Nd[i];
    put3(on_a, W, lane, -1, Fd);
    put3(on_a + 3 * W, W, lane, -1, v);
}

void dyn_loop_add_wrench_rates(dyn_loop_workspace *c, size_t given, const double *rates, const double *qd)
{
    size_t  W  = c->W;
    double *to = c->wrench_rates + 6 * given * W, *move = c->jacobian_work[0];
    if (given > 0 && rates) memcpy(c->wrench_rates, rates, 6 * given * W * sizeof *rates);
    if (given > 0 && !rates) memset(c->wrench_rates, 0, 6 * given * W * sizeof *c->wrench_rates);
    dyn_loop_wrenches(c, c->lambda, c->loop_wrenches);
    dyn_loop_wrenches(c, c->lambda_dot, c->jacobian_work[1]);
    if (qd)
        dyn_closure_pair_motions(&c->closure, qd, move);
    else
        memset(move, 0, 6 * c->loops->n * W * sizeof *move);
    for (size_t k = 0; k < c->loops->n; k++, to += 12 * W) {
        if (c->loops->loop[k].kind == DYN_LOOP_UNIVERSAL)
            add_cross_rate(c, k, move + 6 * k * W, c->jacobian_work[1] + (6 * k + 3) * W);
        for (size_t lane = 0; lane < W; lane++)
            put_pair_rates(c, k, lane, to, to + 6 * W);
    }
}
