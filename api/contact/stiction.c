/* stiction.c - solves for the static friction of joints at rest (stiction.h). */
#include "stiction.h"
#include <lapacke.h>
#include <math.h>

#define ROUNDING 1e-12 /* tolerance, relative to the friction limits and to the terms of an acceleration */

enum { MAX_ROUNDS = 100000 /* most pivoting rounds; a few are typical */ };

/* --- joints ------------------------------------------------------------------------------------------------------ */

/* Sharp friction of a body's joint against motion of its coordinate in the direction `side` at a rate: in terms of the
 * coordinate, hence the factor ratio. */
static double magnitude(const dyn_body *b, int side, double rate)
{
    const dyn_friction *f       = &b->joint.friction;
    const double        r       = fabs(b->joint.ratio);
    const bool          forward = (b->joint.ratio > 0) == (side > 0);
    const double        fast    = forward ? f->positive : f->negative;
    if (!(f->stribeck_velocity > 0)) return r * fast;
    const double slow = forward ? f->breakaway_positive : f->breakaway_negative, u = r * rate / f->stribeck_velocity;
    return r * (fast + (slow - fast) * exp(-u * u));
}

/* The derivative of `magnitude` by the size of the rate. */
static double magnitude_slope(const dyn_body *b, int side, double rate)
{
    const dyn_friction *f       = &b->joint.friction;
    const double        r       = fabs(b->joint.ratio);
    const bool          forward = (b->joint.ratio > 0) == (side > 0);
    if (!(f->stribeck_velocity > 0)) return 0;
    const double excess = forward ? f->breakaway_positive - f->positive : f->breakaway_negative - f->negative;
    const double u      = r * fabs(rate) / f->stribeck_velocity;
    return -2 * r * r * u * excess * exp(-u * u) / f->stribeck_velocity;
}

/* Adds the friction of a body to the entry of its coordinate in `joints`, which has n entries so far. Returns the new
 * number of entries. */
static size_t add(api_stiction_joint *joints, size_t n, const dyn_body *b)
{
    size_t k = 0;
    while (k < n && joints[k].v != (size_t)b->joint.v)
        k++;
    if (k == n) joints[n++] = (api_stiction_joint){.v = (size_t)b->joint.v, .tree_v = (size_t)b->joint.v};
    joints[k].positive += magnitude(b, 1, 0);
    joints[k].negative += magnitude(b, -1, 0);
    joints[k].load += b->joint.friction.load;
    joints[k].stribeck |= b->joint.friction.stribeck_velocity > 0;
    return n;
}

size_t api_stiction_find_sharp_drive(const dyn_model *m)
{
    size_t k = 0;
    for (; k < m->n_drives; k++) {
        const dyn_friction *f = &m->drive[k].friction;
        if (!(f->coulomb_velocity > 0) && (f->positive > 0 || f->negative > 0 || f->stribeck_velocity > 0)) break;
    }
    return k;
}

size_t api_stiction_list_joints(const dyn_model *m, api_stiction_joint *joints)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n_bodies; i++)
        if (api_stiction_is_possible(&m->body[i])) n = add(joints, n, &m->body[i]);
    return n;
}

/* The friction f = coulomb + load |T| of a motion with T = u - f. */
static double limit_at(double coulomb, double load, double u)
{
    const double net = u - coulomb;
    return coulomb + load * fabs(net / (net < 0 ? 1 - load : 1 + load));
}

api_stiction_joint api_stiction_limit_at(const api_stiction_joint *joint, double u)
{
    api_stiction_joint at = *joint;
    at.positive           = limit_at(joint->positive, joint->load, u);
    at.negative           = limit_at(joint->negative, joint->load, -u);
    return at;
}

double api_stiction_sliding(const dyn_model *m, size_t v, int side, double rate)
{
    double friction = 0;
    for (size_t i = 0; i < m->n_bodies; i++)
        if ((size_t)m->body[i].joint.v == v && api_stiction_is_possible(&m->body[i]))
            friction += magnitude(&m->body[i], side, rate);
    return side > 0 ? friction : -friction;
}

double api_stiction_slope(const dyn_model *m, size_t v, int side, double rate)
{
    double slope = 0;
    for (size_t i = 0; i < m->n_bodies; i++)
        if ((size_t)m->body[i].joint.v == v && api_stiction_is_possible(&m->body[i]))
            slope += magnitude_slope(&m->body[i], side, rate);
    return slope;
}

/* --- the complementarity problem --------------------------------------------------------------------------------- */

/* Sets the friction of sliding joints to its limit. */
static void set_sliding(const api_stiction_problem *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->side[i] != 0) s->f[i] = s->side[i] > 0 ? s->positive[i] : -s->negative[i];
}

/* Finds the friction of holding joints (h), whose accelerations are zero, given that of sliding ones (s): A_hh f_h =
 * b_h - A_hs f_s. */
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
                s->factor[k * n + j++] = s->A[i * n + col];
        }
        s->solution[k++] = sum;
    }
    if (k > 0 && LAPACKE_dposv_work(LAPACK_COL_MAJOR, 'L', (lapack_int)k, 1, s->factor, (lapack_int)n, s->solution,
                                    (lapack_int)n) != 0)
        return false;
    for (size_t i = 0, j = 0; i < n; i++)
        if (s->side[i] == 0) s->f[i] = s->solution[j++];
    return true;
}

/* The side to which joint i should change if all other joints keep theirs. */
static int side_of(const api_stiction_problem *s, size_t i)
{
    double near = ROUNDING * (s->positive[i] + s->negative[i]);
    if (s->side[i] == 0) return s->f[i] > s->positive[i] + near ? 1 : s->f[i] < -s->negative[i] - near ? -1 : 0;
    double a = s->b[i], size = fabs(a);
    for (size_t j = 0; j < s->n; j++) {
        double part = s->A[i * s->n + j] * s->f[j];
        a -= part;
        size += fabs(part);
    }
    return a * s->side[i] < -ROUNDING * size ? 0 : s->side[i];
}

/* Counts the joints that violate the condition of their side, and notes the last one. */
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

/* Changes the side of every joint that violates its condition, judged before any change. */
static void change_all(const api_stiction_problem *s)
{
    for (size_t i = 0; i < s->n; i++)
        s->solution[i] = side_of(s, i);
    for (size_t i = 0; i < s->n; i++)
        s->side[i] = (int)s->solution[i];
}

bool api_stiction_solve(const api_stiction_problem *s)
{
    size_t fewest = s->n + 1, patience = 0, last = 0;
    for (size_t i = 0; i < s->n; i++)
        s->side[i] = 0;
    for (size_t round = 0; round < MAX_ROUNDS; round++) {
        set_sliding(s);
        if (!find_holding(s)) return false;
        size_t wrong = count_wrong(s, &last);
        if (wrong == 0) return true;
        if (wrong < fewest) {
            fewest   = wrong;
            patience = 10; /* number of rounds that change all wrong joints, before rounds change only one */
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
