/* held_wrenches.c - chooses the wrenches on held frames under a given motion (held_wrenches.h). */
#include "held_wrenches.h"
#include "dynamics/contact/rolling.h"
#include <math.h>
#include <string.h>

/* --- a block of states ------------------------------------------------------------------------------------------ */

/* Sets the pointers of a block from `lanes` on; NULL: counts the entries only. */
static size_t lay_out_held(dyn_held_block *b, double *lanes)
{
    const size_t       k = b->choice->contact->k, n = b->choice->n_passive, frames = b->choice->contact->n;
    dyn_contact_block *rows    = &b->rows;
    double **const     array[] = {
            &b->moves,         &b->moves_scale,   &b->x,    &b->E,         &b->R,          &b->e,
            &b->remains,       &b->remains_scale, &rows->J, &rows->levers, &rows->frame_J, &rows->frame_J_dot,
            &rows->frame_turn, &rows->frame_rates};
    const size_t entries[] = {k, k, k, n * k, n * n, n, n, n, k * b->nv, 3 * frames, 6 * b->nv, 6 * b->nv, 4, 9};
    size_t       total     = 0;
    for (size_t i = 0; i < sizeof entries / sizeof *entries; total += entries[i++])
        if (lanes) *array[i] = lanes + total * b->W;
    rows->jdot_qd = b->moves;
    rows->sizes   = b->moves_scale;
    return total;
}

static dyn_held_block unplaced_held(const dyn_held_choice *choice, size_t nv, size_t W)
{
    return (dyn_held_block){
        .choice = choice, .nv = nv, .W = W, .rows = {.contact = choice->contact, .nv = nv, .W = W, .unsettled = 1}};
}

size_t dyn_held_entries(size_t nv, const dyn_held_choice *choice)
{
    dyn_held_block b = unplaced_held(choice, nv, 1);
    return lay_out_held(&b, NULL);
}

dyn_held_block dyn_held_lay_out(const dyn_held_choice *choice, size_t nv, size_t W, double *lanes)
{
    dyn_held_block b = unplaced_held(choice, nv, W);
    lay_out_held(&b, lanes);
    return b;
}

void dyn_held_solve(const dyn_held_block *b, const dyn_contact_states *states, const double *qdd, const double *tau)
{
    const dyn_held_choice *c  = b->choice;
    const dyn_held_balance io = {.nv            = b->nv,
                                 .k             = c->contact->k,
                                 .n_passive     = c->n_passive,
                                 .passive       = c->passive,
                                 .root          = c->root,
                                 .scale         = c->scale,
                                 .J             = b->rows.J,
                                 .qdd           = qdd,
                                 .tau           = tau,
                                 .moves         = b->moves,
                                 .moves_scale   = b->moves_scale,
                                 .E             = b->E,
                                 .R             = b->R,
                                 .e             = b->e,
                                 .remains       = b->remains,
                                 .remains_scale = b->remains_scale,
                                 .x             = b->x};
    dyn_contact_evaluate(&b->rows, states);
    states->kernels->held_balance(states->scene, states->workspace, &io, 1);
}

/* --- one state -------------------------------------------------------------------------------------------------- */

bool dyn_held_is_finite(const dyn_held_block *b, size_t lane)
{
    double sum = 0;
    for (size_t a = 0; a < b->choice->contact->k; a++)
        sum += fabs(b->moves[a * b->W + lane]) + b->moves_scale[a * b->W + lane] + fabs(b->x[a * b->W + lane]);
    for (size_t u = 0; u < b->choice->n_passive; u++)
        sum += fabs(b->remains[u * b->W + lane]) + b->remains_scale[u * b->W + lane];
    return isfinite(sum);
}

/* Returns 0, or 1 + the first of n values that is not negligible compared with its scale. */
static size_t find_first(const dyn_held_block *b, const double *values, const double *scale, size_t n, size_t lane)
{
    for (size_t i = 0; i < n; i++)
        if (!(fabs(values[i * b->W + lane]) <= DYN_HELD_MOTION * scale[i * b->W + lane])) return 1 + i;
    return 0;
}

size_t dyn_held_find_moving(const dyn_held_block *b, size_t lane)
{
    return find_first(b, b->moves, b->moves_scale, b->choice->contact->k, lane);
}

size_t dyn_held_find_unbalanced(const dyn_held_block *b, size_t lane)
{
    return find_first(b, b->remains, b->remains_scale, b->choice->n_passive, lane);
}

/* Returns entry i of z, where z^T A = 0, z_u = 1 and z_j = 0 for j > u, by back substitution in R. `scratch` holds the
 * entries after i. */
static double dependence_factor(const dyn_held_block *b, size_t lane, size_t u, size_t i, const double *scratch)
{
    const size_t  W = b->W, n = b->choice->n_passive;
    const double *R = b->R + lane, pivot = R[(i * n + i) * W];
    double        sum = R[(u * n + i) * W];
    for (size_t j = i + 1; j < u; j++)
        sum += scratch[j * W] * R[(j * n + i) * W];
    return pivot > 0 ? -sum / pivot : 0;
}

size_t dyn_held_describe_unbalanced(const dyn_held_block *b, size_t lane, size_t u, double *remains)
{
    const size_t W     = b->W;
    double      *z     = b->e + lane; /* e is not needed any more and serves as scratch */
    double       total = b->remains[u * W + lane], most = b->choice->scale[u];
    size_t       found = u;
    *remains           = total;
    for (size_t i = u; i-- > 0;) {
        z[i * W] = dependence_factor(b, lane, u, i, z);
        if (!(fabs(z[i * W]) * b->choice->scale[i] > most)) continue;
        most     = fabs(z[i * W]) * b->choice->scale[i];
        *remains = total / z[i * W];
        found    = i;
    }
    return found;
}

/* True if, for the x of a lane, the efforts of the coordinates U balance up to rounding errors. Wrenches that are very
 * large compared with the robot's weight may fail this test. */
static bool is_balanced(const dyn_held_block *b, size_t lane, const dyn_least_norm *s)
{
    const size_t W = b->W, n = b->choice->n_passive;
    for (size_t u = 0; u < n; u++) {
        double left = 0;
        for (size_t i = 0; i <= u; i++) {
            double part = s->right[i];
            for (size_t a = 0; a < s->k; a++)
                part -= s->equation[i * s->k + a] * s->x[a];
            left += b->R[(u * n + i) * W + lane] * part;
        }
        if (!(fabs(left) <= DYN_HELD_BALANCE * b->choice->scale[u])) return false;
    }
    return true;
}

dyn_least_norm_status dyn_held_limit(const dyn_held_block *b, size_t lane, dyn_least_norm *s)
{
    const dyn_held_choice *c = b->choice;
    const size_t           W = b->W;
    s->n_rows = c->n_rows, s->n_cones = c->n_cones;
    s->row = c->row, s->cone = c->cone;
    for (size_t i = 0; i < c->n_passive * s->k; i++)
        s->equation[i] = b->E[i * W + lane];
    for (size_t u = 0; u < c->n_passive; u++)
        s->right[u] = b->e[u * W + lane];
    for (size_t a = 0; a < s->k; a++)
        s->x[a] = b->x[a * W + lane];
    const dyn_least_norm_status status = dyn_least_norm_solve(s);
    for (size_t a = 0; a < s->k; a++)
        b->x[a * W + lane] = s->x[a];
    return status == DYN_LEAST_NORM_DONE && !is_balanced(b, lane, s) ? DYN_LEAST_NORM_UNDECIDED : status;
}

void dyn_held_put_wrenches(const dyn_held_block *b, double *wrenches)
{
    const dyn_held_choice *c = b->choice;
    const size_t           W = b->W;
    size_t                 entry[DYN_MAX_HELD_AXES];
    memset(wrenches, 0, c->contact->n * DYN_FRAME_AXES * W * sizeof *wrenches);
    dyn_contact_list_entries(c->contact, entry);
    for (size_t a = 0; a < c->contact->k; a++)
        for (size_t lane = 0; lane < W; lane++)
            wrenches[entry[a] * W + lane] = c->root[a] * b->x[a * W + lane];
    for (size_t i = 0, first = 0; i < c->contact->n; first += c->contact->frame[i++].n) {
        const dyn_held_frame *frame = &c->contact->frame[i];
        for (size_t lane = 0; frame->rolling && lane < W; lane++) {
            double along[DYN_FRAME_AXES];
            for (size_t a = 0; a < frame->n; a++)
                along[a] = c->root[first + a] * b->x[(first + a) * W + lane];
            dyn_rolling_put_wrench(frame, W, b->rows.levers + 3 * i * W + lane, along,
                                   wrenches + i * DYN_FRAME_AXES * W + lane);
        }
    }
}
