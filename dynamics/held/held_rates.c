/* held_rates.c - differentiates the wrenches on held frames under a given motion (held_rates.h). */
#include "held_rates.h"
#include "cone_newton.h"
#include "dynamics/held_directions.h"
#include "dynamics/math/geometry.h"
#include <math.h>
#include <string.h>

size_t dyn_held_rates_entries(size_t nv, const dyn_held_choice *choice)
{
    return nv + 3 * choice->contact->k + choice->n_passive + 3 * DYN_FRAME_AXES;
}

dyn_held_rates dyn_held_rates_lay_out(const dyn_held_block *b, dyn_least_norm *limited, double *lanes)
{
    const size_t   W = b->W, k = b->choice->contact->k;
    dyn_held_rates r = {.block = b, .limited = limited, .mu = lanes};
    r.jerks          = r.mu + b->nv * W;
    r.jerks_scale    = r.jerks + k * W;
    r.direction      = r.jerks_scale + k * W;
    r.effort         = r.direction + k * W;
    r.velocity       = r.effort + b->choice->n_passive * W;
    r.acceleration   = r.velocity + DYN_FRAME_AXES * W;
    r.jerk           = r.acceleration + DYN_FRAME_AXES * W;
    memset(r.mu, 0, b->nv * W * sizeof *r.mu);
    return r;
}

/* --- multipliers -------------------------------------------------------------------------------------------------- */

/* Writes nu = L^T mu of one lane to r->effort: the multipliers of E x = e (held_rates.h). Returns false if the active
 * limits depend on each other. */
static bool set_duals(const dyn_held_rates *r, size_t lane)
{
    const dyn_held_block *b = r->block;
    const size_t          W = b->W, n = b->choice->n_passive;
    if (!r->limited) {
        for (size_t u = 0; u < n; u++)
            r->effort[u * W + lane] = b->e[u * W + lane];
        return true;
    }
    dyn_least_norm *s = &r->limited[lane];
    if (!dyn_cone_newton_factor(s)) return false;
    const double *stress = dyn_cone_newton_equations(s);
    for (size_t u = 0; u < n; u++) {
        double sum = 0;
        for (size_t a = 0; a < s->k; a++)
            sum += s->equation[u * s->k + a] * stress[a];
        r->effort[u * W + lane] = sum;
    }
    return true;
}

bool dyn_held_rates_begin(dyn_held_rates *r, size_t lane)
{
    const dyn_held_block *b = r->block;
    const size_t          W = b->W, n = b->choice->n_passive;
    for (size_t u = 0; u < n; u++)
        if (!(b->R[(u * n + u) * W + lane] > 0)) return false;
    if (!set_duals(r, lane)) return false;
    for (size_t u = n; u-- > 0;) {
        double sum = r->effort[u * W + lane];
        for (size_t j = u + 1; j < n; j++)
            sum -= b->R[(j * n + u) * W + lane] * r->mu[b->choice->passive[j] * W + lane];
        r->mu[b->choice->passive[u] * W + lane] = sum / b->R[(u * n + u) * W + lane];
    }
    return r->ready[lane] = true;
}

/* --- motion ------------------------------------------------------------------------------------------------------- */

/* Sets `jerk` to the second time derivatives of the components of v and w in the axes of the frame, which rotate. The
 * derivatives of v are j - w' x v - 2 w x a + w x (w x v), and of w are w'' - w x w', with the acceleration a and the
 * jerk j, w'' of r. */
static void turn_jerk(const dyn_held_rates *r, size_t lane, double jerk[6])
{
    const size_t W = r->block->W;
    double       v[3], w[3], a[3], turn[3], x[3][3], to[6];
    for (size_t i = 0; i < 3; i++) {
        v[i] = r->velocity[i * W + lane], w[i] = r->velocity[(3 + i) * W + lane];
        a[i] = r->acceleration[i * W + lane], turn[i] = r->acceleration[(3 + i) * W + lane];
        to[i] = r->jerk[i * W + lane], to[3 + i] = r->jerk[(3 + i) * W + lane];
    }
    for (size_t i = 0; i < 3; i++) {
        const size_t y = (i + 1) % 3, z = (i + 2) % 3;
        x[0][i] = turn[y] * v[z] - turn[z] * v[y];
        x[1][i] = 2 * a[i] - (w[y] * v[z] - w[z] * v[y]);
        x[2][i] = w[y] * turn[z] - w[z] * turn[y];
    }
    for (size_t i = 0; i < 3; i++) {
        const size_t y = (i + 1) % 3, z = (i + 2) % 3;
        jerk[i]     = to[i] - x[0][i] - (w[y] * x[1][z] - w[z] * x[1][y]);
        jerk[3 + i] = to[3 + i] - x[2][i];
    }
}

/* Returns sqrt(g / R), 1/s, with gravity g and the reach R of a held frame: a typical angular velocity, that of a
 * pendulum of length R. */
static double pendulum_rate(const dyn_scene *scene, const dyn_held_frame *frame)
{
    const double gravity = fmax(dyn_norm(scene->gravity), DYN_STANDARD_GRAVITY);
    return sqrt(gravity / dyn_point_reach(scene->model, frame->frame.body, frame->frame.X_bf.p));
}

/* Returns `least` plus the sum over v of |qd_v| times the largest angular entry of column v of a frame's Jacobian: a
 * bound on the frame's angular velocity. */
static double turning_of(const dyn_held_rates *r, const double *qd, double least, size_t lane)
{
    const size_t nv = r->block->nv, W = r->block->W;
    double       sum = least;
    for (size_t v = 0; qd && v < nv; v++) {
        double most = 0;
        for (size_t i = 3; i < 6; i++)
            most = fmax(most, fabs(r->block->rows.frame_J[(i * nv + v) * W + lane]));
        sum += most * fabs(qd[v * W + lane]);
    }
    return sum;
}

/* Sets the jerks of one held frame, and their scales (dyn_held_rates_find_moving), in one lane, from row `first` on. */
static void set_jerks(const dyn_held_rates *r, const dyn_held_frame *frame, double w, const double *qddd, size_t first,
                      size_t lane)
{
    const dyn_held_block *b  = r->block;
    const size_t          nv = b->nv, W = b->W;
    double                jerk[6];
    for (size_t i = 0; i < 6; i++)
        jerk[i] = r->jerk[i * W + lane];
    if (frame->frame_axes) turn_jerk(r, lane, jerk);
    for (size_t i = 0; i < frame->n; i++) {
        const size_t  row   = (first + i) * W + lane;
        const double *J     = b->rows.frame_J + (size_t)frame->axis[i] * nv * W + lane;
        double        scale = 3 * w * b->moves_scale[row];
        for (size_t v = 0; qddd && v < nv; v++)
            scale += fabs(J[v * W] * qddd[v * W + lane]);
        r->jerks[row]       = jerk[frame->axis[i]];
        r->jerks_scale[row] = scale;
    }
}

/* Sets the rows of one held frame in r->direction (A'^T mu of held_rates.h), from row `first` on. */
static void set_direction(const dyn_held_rates *r, const dyn_held_frame *frame, size_t first)
{
    const dyn_held_block *b  = r->block;
    const size_t          nv = b->nv, W = b->W;
    for (size_t i = 0; i < frame->n; i++) {
        double *to = r->direction + (first + i) * W;
        memset(to, 0, W * sizeof *to);
        for (size_t u = 0; u < b->choice->n_passive; u++)
            for (size_t lane = 0; lane < W; lane++) {
                const size_t v = b->choice->passive[u];
                to[lane] += b->rows.frame_J_dot[((size_t)frame->axis[i] * nv + v) * W + lane] * r->mu[v * W + lane];
            }
    }
}

void dyn_held_rates_follow(const dyn_held_rates *r, const dyn_contact_states *states, const double *qdd,
                           const double *qddd)
{
    const dyn_held_block *b       = r->block;
    const dyn_held_set   *contact = b->choice->contact;
    for (size_t i = 0, first = 0; i < contact->n; first += contact->frame[i++].n) {
        const dyn_held_frame *frame = &contact->frame[i];
        const double          least = pendulum_rate(states->scene, frame);
        dyn_kinematics        io    = {.q            = states->q,
                                       .qd           = states->qd,
                                       .qdd          = qdd,
                                       .qddd         = qddd,
                                       .frame        = &frame->frame,
                                       .frame_axes   = frame->frame_axes,
                                       .jacobian     = b->rows.frame_J,
                                       .jacobian_dot = b->rows.frame_J_dot,
                                       .velocity     = r->velocity,
                                       .acceleration = r->acceleration,
                                       .jerk         = r->jerk};
        states->kernels->kinematics(states->scene, states->workspace, &io, 1);
        for (size_t lane = 0; lane < b->W; lane++)
            set_jerks(r, frame, turning_of(r, states->qd, least, lane), qddd, first, lane);
        set_direction(r, frame, first);
    }
}

size_t dyn_held_rates_find_moving(const dyn_held_rates *r, size_t lane)
{
    const size_t W = r->block->W;
    for (size_t a = 0; a < r->block->choice->contact->k; a++)
        if (!(fabs(r->jerks[a * W + lane]) <= DYN_HELD_MOTION * r->jerks_scale[a * W + lane])) return 1 + a;
    return 0;
}

/* --- derivatives -------------------------------------------------------------------------------------------------- */

/* Replaces h, the derivative of the efforts in r->effort of one lane, by L^-1 h. */
static void substitute_efforts(const dyn_held_rates *r, size_t lane)
{
    const size_t  W = r->block->W, n = r->block->choice->n_passive;
    const double *L = r->block->R + lane;
    for (size_t u = 0; u < n; u++) {
        double sum = r->effort[u * W + lane];
        for (size_t i = 0; i < u; i++)
            sum -= L[(u * n + i) * W] * r->effort[i * W + lane];
        r->effort[u * W + lane] = L[(u * n + u) * W] > 0 ? sum / L[(u * n + u) * W] : 0;
    }
}

/* Finds l', the derivative of the efforts l along the held directions, in one lane without limits: x' of held_rates.h,
 * with l = x / sqrt(w). */
static void solve_free(const dyn_held_rates *r, size_t lane, double *l)
{
    const dyn_held_choice *c = r->block->choice;
    const size_t           W = r->block->W, k = c->contact->k;
    for (size_t a = 0; a < k; a++)
        l[a * W + lane] = c->root[a] * r->direction[a * W + lane];
    for (size_t u = 0; u < c->n_passive; u++) {
        const double *E    = r->block->E + u * k * W + lane;
        double        part = r->effort[u * W + lane];
        for (size_t a = 0; a < k; a++)
            part -= E[a * W] * (c->root[a] * r->direction[a * W + lane]);
        for (size_t a = 0; a < k; a++)
            l[a * W + lane] += part * E[a * W];
    }
    for (size_t a = 0; a < k; a++)
        l[a * W + lane] *= c->root[a];
}

static void solve_limited(const dyn_held_rates *r, size_t lane, double *l)
{
    const dyn_held_choice *c = r->block->choice;
    const size_t           W = r->block->W;
    dyn_least_norm        *s = &r->limited[lane];
    for (size_t a = 0; a < s->k; a++)
        s->direction[a] = c->root[a] * r->direction[a * W + lane];
    for (size_t u = 0; u < c->n_passive; u++)
        s->right[u] = r->effort[u * W + lane];
    const double *x = dyn_cone_newton_differentiate(s, s->direction, s->right);
    for (size_t a = 0; a < s->k; a++)
        l[a * W + lane] = c->root[a] * x[a];
}

void dyn_held_rates_solve(const dyn_held_rates *r, double *l)
{
    memset(l, 0, r->block->choice->contact->k * r->block->W * sizeof *l);
    for (size_t lane = 0; lane < r->block->W; lane++) {
        if (!r->ready[lane]) continue;
        substitute_efforts(r, lane);
        if (r->limited)
            solve_limited(r, lane, l);
        else
            solve_free(r, lane, l);
    }
}

/* --- columns of derivatives --------------------------------------------------------------------------------------- */

/* Copies h and A'^T mu (held_rates.h) of one column to r->effort and r->direction. */
static void take_column(const dyn_held_rates *r, const dyn_held_columns *columns, size_t column)
{
    const dyn_held_choice *c = r->block->choice;
    const size_t           W = r->block->W, k = c->contact->k, n = columns->n;
    for (size_t u = 0; u < c->n_passive; u++)
        memcpy(r->effort + u * W, columns->tau + (c->passive[u] * n + column) * W, W * sizeof *r->effort);
    for (size_t a = 0; columns->direction && a < k; a++)
        memcpy(r->direction + a * W, columns->direction + (a * n + column) * W, W * sizeof *r->direction);
    if (!columns->direction) memset(r->direction, 0, k * W * sizeof *r->direction);
}

/* Adds `lever` times l to `to` (nv rows, n numbers apart). `lever` is the column of one axis in a matrix nv x 6. */
static void add_lever(const dyn_held_rates *r, const double *lever, const double *l, size_t n, double *to)
{
    const size_t W = r->block->W;
    for (size_t v = 0; v < r->block->nv; v++)
        for (size_t lane = 0; lane < W; lane++)
            to[v * n * W + lane] += lever[6 * v * W + lane] * l[lane];
}

/* Adds the effect of the derivatives l' of the contact wrenches to the efforts of one column, and writes l'. The
 * efforts of the coordinates U become zero. */
static void put_wrench_column(const dyn_held_rates *r, const dyn_held_columns *columns, size_t column,
                              const double *levers, const double *l)
{
    const dyn_held_choice *c = r->block->choice;
    const size_t           W = r->block->W, n = columns->n;
    size_t                 entry[DYN_MAX_HELD_AXES];
    dyn_contact_list_entries(c->contact, entry);
    for (size_t a = 0; a < c->contact->k; a++) {
        const size_t frame = entry[a] / DYN_FRAME_AXES, axis = entry[a] % DYN_FRAME_AXES;
        add_lever(r, levers + (frame * r->block->nv * DYN_FRAME_AXES + axis) * W, l + a * W, n,
                  columns->tau + column * W);
        if (columns->wrenches) memcpy(columns->wrenches + (entry[a] * n + column) * W, l + a * W, W * sizeof *l);
    }
    for (size_t u = 0; u < c->n_passive; u++)
        memset(columns->tau + (c->passive[u] * n + column) * W, 0, W * sizeof *columns->tau);
}

void dyn_held_rates_complete(const dyn_held_rates *r, const dyn_held_columns *columns, const double *levers, double *l)
{
    const dyn_held_set *contact = r->block->choice->contact;
    const size_t        entries = DYN_FRAME_AXES * contact->n * columns->n * r->block->W;
    if (columns->wrenches) memset(columns->wrenches, 0, entries * sizeof *columns->wrenches);
    for (size_t column = 0; column < columns->n && dyn_may_continue(contact->deadline); column++) {
        take_column(r, columns, column);
        dyn_held_rates_solve(r, l);
        put_wrench_column(r, columns, column, levers, l);
    }
}
