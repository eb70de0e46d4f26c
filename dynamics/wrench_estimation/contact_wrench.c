/* contact_wrench.c - estimates the wrench at a frame from the torques that it causes (contact_wrench.h). */
#include "contact_wrench.h"
#include "dynamics/math/least_squares.h"
#include <math.h>
#include <string.h>

#define SINGULAR 1e-9 /* smallest pivot that counts as nonzero, relative to the first one */

size_t dyn_contact_wrench_room(size_t nv, size_t n, bool covariance)
{
    return nv * n + nv * (1 + (covariance ? nv : 0)) + 3 * n;
}

static double weight(const dyn_contact_wrench *w, size_t v)
{
    return w->sigma ? 1 / w->sigma[v] : 1;
}

/* Sets A to diag(1 / sigma) J^T with columns scaled to length 1, and `length` to the lengths before. Returns false if a
 * column is zero. */
static bool set_columns(const dyn_contact_wrench *w, const double *jacobian, double *A, double *length)
{
    for (size_t a = 0; a < w->n; a++) {
        double square = 0, *column = A + a * w->nv;
        for (size_t v = 0; v < w->nv; v++) {
            column[v] = weight(w, v) * jacobian[((size_t)w->axis[a] * w->nv + v) * w->stride];
            square += column[v] * column[v];
        }
        length[a] = sqrt(square);
        if (!(length[a] > 0)) return false;
        for (size_t v = 0; v < w->nv; v++)
            column[v] /= length[a];
    }
    return true;
}

/* Sets B to the torques divided by sigma and, for the covariance, the unit vectors. */
static void set_right_sides(const dyn_contact_wrench *w, const dyn_contact_wrench_state *s, double *B)
{
    for (size_t v = 0; v < w->nv; v++)
        B[v] = weight(w, v) * s->tau[v * w->stride];
    if (!s->covariance) return;
    memset(B + w->nv, 0, w->nv * w->nv * sizeof *B);
    for (size_t v = 0; v < w->nv; v++)
        B[w->nv + v * w->nv + v] = 1;
}

static void put_covariance(const dyn_contact_wrench *w, const dyn_contact_wrench_state *s, const double *B,
                           const double *length)
{
    for (size_t a = 0; a < w->n; a++)
        for (size_t b = 0; b < w->n; b++) {
            double sum = 0;
            for (size_t v = 0; v < w->nv; v++) {
                const double *column = B + (1 + v) * w->nv;
                sum += (s->variance ? s->variance[v] : 1) * (column[a] / length[a]) * (column[b] / length[b]);
            }
            s->covariance[(a * w->n + b) * w->stride] = sum;
        }
}

static void put_remainder(const dyn_contact_wrench *w, const dyn_contact_wrench_state *s)
{
    for (size_t v = 0; v < w->nv; v++) {
        double sum = s->tau[v * w->stride];
        for (size_t a = 0; a < w->n; a++) {
            const size_t axis = (size_t)w->axis[a];
            sum -= s->jacobian[(axis * w->nv + v) * w->stride] * s->wrench[axis * w->stride];
        }
        s->remainder[v * w->stride] = sum;
    }
}

bool dyn_contact_wrench_find(const dyn_contact_wrench *w, double *room, const dyn_contact_wrench_state *state)
{
    double                  length[DYN_WRENCH_AXES];
    int                     pivot[DYN_WRENCH_AXES];
    double                 *A = room, *B = A + w->nv * w->n, *work = B + w->nv * (1 + (state->covariance ? w->nv : 0));
    const dyn_least_squares squares = {.rows     = w->nv,
                                       .unknowns = w->n,
                                       .A        = A,
                                       .B        = B,
                                       .stride   = w->nv,
                                       .work     = work,
                                       .pivot    = pivot,
                                       .deadline = w->deadline};
    if (!set_columns(w, state->jacobian, A, length)) return false;
    set_right_sides(w, state, B);
    if (dyn_least_squares_solve(&squares, 1 + (state->covariance ? w->nv : 0), SINGULAR) != DYN_SQUARES_SOLVED)
        return false;
    for (size_t axis = 0; axis < DYN_WRENCH_AXES; axis++)
        state->wrench[axis * w->stride] = 0;
    for (size_t a = 0; a < w->n; a++)
        state->wrench[(size_t)w->axis[a] * w->stride] = B[a] / length[a];
    if (state->covariance) put_covariance(w, state, B, length);
    if (state->remainder) put_remainder(w, state);
    return true;
}
