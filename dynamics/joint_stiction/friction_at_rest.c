/* friction_at_rest.c - finds the friction of joints and motors at rest, one lane after the other (friction_at_rest.h).
 */
#include "friction_at_rest.h"
#include "dynamics/friction_map.h"
#include <string.h>

/* --- memory ------------------------------------------------------------------------------------------------------- */

size_t dyn_friction_at_rest_entries(size_t nv, size_t n)
{
    return nv * nv + 1 + 2 * nv + n + dyn_friction_rows_entries(n, nv);
}

/* b->stuck comes first, because dyn_friction_at_rest_stop reads it from the start of the scratch memory. */
static void lay_out(dyn_friction_at_rest *b, double *scratch)
{
    const size_t nv = b->nv, W = (size_t)b->kernels->lanes;
    b->stuck       = scratch;
    b->M           = b->stuck + nv * W;
    b->singular    = b->M + nv * nv * W;
    b->efforts     = b->singular + W;
    void *integers = b->efforts + nv * W; /* b->index takes the memory of n doubles */
    b->index       = integers;
    void *rows     = b->index + b->n;
    b->rows        = rows;
}

/* --- a block ------------------------------------------------------------------------------------------------------ */

void dyn_friction_at_rest_begin(dyn_friction_at_rest *b, double *scratch)
{
    lay_out(b, scratch);
    const size_t     n      = b->nv * (size_t)b->kernels->lanes;
    dyn_mass_matrix  mass   = {.q = b->q, .mass_matrix = b->M};
    dyn_friction_map unheld = {.qd = b->qd, .tau = b->tau, .result = b->efforts};
    if (!b->held) b->kernels->mass_matrix(b->scene, b->workspace, &mass, 1);
    if (b->G)
        memcpy(b->efforts, b->tau, n * sizeof *b->efforts); /* load coefficients are zero with loops */
    else
        b->kernels->friction_map(b->scene, b->workspace, &unheld, 1);
    memset(b->stuck, 0, n * sizeof *b->stuck);
    memset(b->friction, 0, n * sizeof *b->friction);
}

void dyn_friction_at_rest_finish(const dyn_friction_at_rest *b)
{
    for (size_t i = 0; i < b->nv * (size_t)b->kernels->lanes; i++)
        b->efforts[i] = b->tau[i] - b->friction[i];
    dyn_forward_dynamics moving = {
        .q = b->q, .qd = b->qd, .tau = b->efforts, .wrenches = b->wrenches, .qdd = b->qdd, .singular = b->singular};
    b->kernels->forward_dynamics(b->scene, b->workspace, &moving, 1);
}

void dyn_friction_at_rest_stop(const double *scratch, size_t n, double *qdd)
{
    for (size_t i = 0; i < n; i++)
        if (scratch[i] != 0) qdd[i] = 0;
}

/* --- one lane ----------------------------------------------------------------------------------------------------- */

/* Sets up one row for each joint or motor at rest in one lane: its coefficients and its friction limits. */
static dyn_friction_rows gather(const dyn_friction_at_rest *b, const dyn_friction_state *state)
{
    dyn_friction_rows r = dyn_friction_rows_lay_out(b->n, b->nv, b->rows);
    for (size_t k = 0; k < b->n; k++) {
        const dyn_stiction_joint *j = &b->joint[k];
        if (!dyn_friction_row_rests(state, j)) continue;
        const double             u     = j->v != DYN_NO_COORDINATE ? b->efforts[j->v * state->W + state->lane] : 0;
        const dyn_stiction_joint limit = dyn_stiction_limit_at(j, u);
        b->index[r.n]                  = k;
        r.positive[r.n]                = limit.positive;
        r.negative[r.n]                = limit.negative;
        dyn_friction_row_fill(state, j, r.W + r.n * b->nv);
        r.n++;
    }
    return r;
}

/* Writes the friction of one lane as efforts in b->friction, and marks in b->stuck the coordinates that stick. */
static void put(const dyn_friction_at_rest *b, const dyn_friction_state *state, const dyn_friction_rows *r)
{
    const size_t nv = b->nv, W = state->W, lane = state->lane;
    for (size_t i = 0; i < r->n; i++) {
        const size_t v = b->joint[b->index[i]].v;
        for (size_t c = 0; c < nv; c++)
            if (r->W[i * nv + c] != 0) b->friction[c * W + lane] += r->W[i * nv + c] * r->f[i];
        if (v != DYN_NO_COORDINATE) b->stuck[v * W + lane] = r->side[i] == 0;
    }
}

dyn_friction_status dyn_friction_at_rest_find(const dyn_friction_at_rest *b, size_t lane, dyn_deadline deadline)
{
    const dyn_friction_state state = {.nv       = b->nv,
                                      .G        = b->G,
                                      .qd       = b->qd,
                                      .W        = (size_t)b->kernels->lanes,
                                      .lane     = lane,
                                      .fused    = b->kernels->fused,
                                      .deadline = deadline};
    dyn_friction_rows        r     = gather(b, &state);
    if (!dyn_may_continue(deadline)) return DYN_FRICTION_STOPPED;
    if (r.n == 0 || (b->held && !dyn_contact_solve(b->held, NULL, lane))) return DYN_FRICTION_FOUND;
    if (!(b->held ? dyn_friction_rows_set_held(&r, &state, b->held, b->qdd)
                  : dyn_friction_rows_set(&r, &state, b->M, NULL, b->qdd)))
        return dyn_may_continue(deadline) ? DYN_FRICTION_UNDECIDED : DYN_FRICTION_STOPPED;
    const dyn_friction_status status = dyn_friction_rows_solve(&r, deadline);
    if (status == DYN_FRICTION_FOUND) put(b, &state, &r);
    return status;
}
