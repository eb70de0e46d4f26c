/* stiction.c - see stiction.h. */
#include "stiction.h"
#include <lapacke.h>
#include <math.h>

#define ROUNDING 1e-12 /* of the limits, and of what an acceleration is the sum of */

enum { MOST_TURNS = 100000 /* of pivoting, of which a few are needed */ };

/* --- joints ------------------------------------------------------------------------------------------------------ */

/* Adds the friction of a body to that of its coordinate; n are listed so far. */
static size_t add(api_stiction_joint *joints, size_t n, const dyn_body *b)
{
    size_t k = 0;
    while (k < n && joints[k].v != (size_t)b->v)
        k++;
    if (k == n) joints[n++] = (api_stiction_joint){.v = (size_t)b->v};
    double along = fabs(b->ratio) * b->friction.positive, back = fabs(b->ratio) * b->friction.negative;
    joints[k].with += b->ratio > 0 ? along : back;
    joints[k].against += b->ratio > 0 ? back : along;
    return n;
}

size_t api_stiction_list_joints(const dyn_model *m, api_stiction_joint *joints)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n_bodies; i++)
        if (api_stiction_is_possible(&m->body[i])) n = add(joints, n, &m->body[i]);
    return n;
}

/* --- the complementarity problem --------------------------------------------------------------------------------- */

/* Friction of the joints that let go. */
static void set_sliding(const api_stiction_problem *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->side[i] != 0) s->f[i] = s->side[i] > 0 ? s->with[i] : -s->against[i];
}

/* Friction of the joints that hold, whose accelerations are zero: A_hh f_h = b_h - A_hl f_l. */
static bool find_holding(const api_stiction_problem *s)
{
    size_t k = 0, n = s->n;
    for (size_t i = 0; i < n; i++) {
        if (s->side[i] != 0) continue;
        double sum = s->b[i];
        size_t j   = 0;
        for (size_t col = 0; col < n; col++) {
            if (s->side[col] != 0)
                sum -= s->A[i * n + col] * s->f[col];
            else
                s->matrix[k * n + j++] = s->A[i * n + col];
        }
        s->free[k++] = sum;
    }
    if (k > 0 && LAPACKE_dposv_work(LAPACK_COL_MAJOR, 'L', (lapack_int)k, 1, s->matrix, (lapack_int)n, s->free,
                                    (lapack_int)n) != 0)
        return false;
    for (size_t i = 0, j = 0; i < n; i++)
        if (s->side[i] == 0) s->f[i] = s->free[j++];
    return true;
}

/* The side on which joint i belongs, if all others stay. */
static int side_of(const api_stiction_problem *s, size_t i)
{
    double near = ROUNDING * (s->with[i] + s->against[i]);
    if (s->side[i] == 0) return s->f[i] > s->with[i] + near ? 1 : s->f[i] < -s->against[i] - near ? -1 : 0;
    double a = s->b[i], size = fabs(a);
    for (size_t j = 0; j < s->n; j++) {
        double part = s->A[i * s->n + j] * s->f[j];
        a -= part;
        size += fabs(part);
    }
    return a * s->side[i] < -ROUNDING * size ? 0 : s->side[i];
}

/* How many joints are on a wrong side; the last of them. All sides are those before any changes. */
static size_t count_wrong(const api_stiction_problem *s, size_t *last)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        if (side_of(s, i) != s->side[i]) {
            *last = i;
            n++;
        }
    return n;
}

/* All joints that are on a wrong side change it; the accelerations that decide it are those before. */
static void change_all(const api_stiction_problem *s)
{
    for (size_t i = 0; i < s->n; i++)
        s->free[i] = side_of(s, i);
    for (size_t i = 0; i < s->n; i++)
        s->side[i] = (int)s->free[i];
}

bool api_stiction_solve(const api_stiction_problem *s)
{
    size_t fewest = s->n + 1, patience = 0, last = 0;
    for (size_t i = 0; i < s->n; i++)
        s->side[i] = 0;
    for (size_t turn = 0; turn < MOST_TURNS; turn++) {
        set_sliding(s);
        if (!find_holding(s)) return false;
        size_t wrong = count_wrong(s, &last);
        if (wrong == 0) return true;
        if (wrong < fewest) {
            fewest   = wrong;
            patience = 10; /* tries of all at once before one at a time */
        }
        if (patience > 0) {
            patience--;
            change_all(s);
        } else {
            s->side[last] = side_of(s, last);
        }
    }
    return false;
}
