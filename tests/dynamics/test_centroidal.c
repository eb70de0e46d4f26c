/* test_centroidal.c - compares motion of the centre of mass, rates of the momentum and their derivatives with the complex
 * step of the quantities that they differentiate. */
#include "check.h"
#include "complex_step.h"
#include "rows.h"
#include "tests/target.h"
#include <stdlib.h>
#include <string.h>

/* Relative to the largest entry, or to 1, the order of the terms: those of a robot with one joint may cancel. The complex
 * step is exact to rounding. */
#define TOLERANCE 1e-12

enum { ROBOTS = 120 };

/* The kernel's outputs for one state. */
typedef struct outputs {
    double acceleration[3], jerk[3], rate[6], *matrix_dot, *momentum_by_q, *rate_by_q, *rate_by_qd;
} outputs;

static void compute(const trial *t, outputs *o)
{
    double *matrices = trial_array(t, 4 * 6 * t->nv);
    o->matrix_dot    = matrices;
    o->momentum_by_q = matrices + 6 * t->nv;
    o->rate_by_q     = matrices + 12 * t->nv;
    o->rate_by_qd    = matrices + 18 * t->nv;
    rows_centroidal(test_kernels(), &t->scene, 1,
                    (dyn_centroidal){.q                   = t->q,
                                     .qd                  = t->qd,
                                     .qdd                 = t->qdd,
                                     .qddd                = t->qddd,
                                     .com_acceleration    = o->acceleration,
                                     .com_jerk            = o->jerk,
                                     .momentum_rate       = o->rate,
                                     .momentum_matrix_dot = o->matrix_dot,
                                     .momentum_by_q       = o->momentum_by_q,
                                     .rate_by_q           = o->rate_by_q,
                                     .rate_by_qd          = o->rate_by_qd});
}

/* Complex results of one state. */
typedef struct results {
    double _Complex *velocity, *momentum, *matrix, *acceleration, *rate;
} results;

static results results_make(size_t nv)
{
    return (results){complex_array(3), complex_array(6), complex_array(6 * nv), complex_array(3), complex_array(6)};
}

static void results_free(results *r)
{
    free(r->velocity), free(r->momentum), free(r->matrix), free(r->acceleration), free(r->rate);
}

static void evaluate(const trial *t, const complex_state *s, const results *r)
{
    dyn_kernels_complex.energy(&t->scene, s->workspace,
                               &(dyn_energy){.q               = as_lanes(s->q),
                                             .qd              = as_lanes(s->qd),
                                             .com_velocity    = as_lanes(r->velocity),
                                             .momentum        = as_lanes(r->momentum),
                                             .momentum_matrix = as_lanes(r->matrix)},
                               1);
    dyn_kernels_complex.centroidal(&t->scene, s->workspace,
                                   &(dyn_centroidal){.q                = as_lanes(s->q),
                                                     .qd               = as_lanes(s->qd),
                                                     .qdd              = as_lanes(s->qdd),
                                                     .com_acceleration = as_lanes(r->acceleration),
                                                     .momentum_rate    = as_lanes(r->rate)},
                                   1);
}

/* Along the motion the velocity has the derivative acceleration, the acceleration the jerk, the momentum its rate. */
static void check_rates(const trial *t, const outputs *o, const results *r)
{
    double       *expected = trial_array(t, 6 * t->nv);
    complex_state s        = complex_state_make(t, 0);
    complex_state_move(&s, t->qd);
    complex_add(t->nv, s.qd, t->qdd);
    complex_add(t->nv, s.qdd, t->qddd);
    evaluate(t, &s, r);
    complex_derivative(3, r->velocity, expected);
    check_close_scaled("com_acceleration", t->seed, 3, o->acceleration, expected, TOLERANCE, 1);
    complex_derivative(3, r->acceleration, expected);
    check_close_scaled("com_jerk", t->seed, 3, o->jerk, expected, TOLERANCE, 1);
    complex_derivative(6, r->momentum, expected);
    check_close_scaled("momentum_rate", t->seed, 6, o->rate, expected, TOLERANCE, 1);
    complex_derivative(6 * t->nv, r->matrix, expected);
    check_close_scaled("momentum_matrix_dot", t->seed, 6 * t->nv, o->matrix_dot, expected, TOLERANCE, 1);
    complex_state_free(&s);
    free(expected);
}

static void put_column(const trial *t, const double _Complex *x, size_t j, double *to)
{
    double column[6];
    complex_derivative(6, x, column);
    for (size_t i = 0; i < 6; i++)
        to[i * t->nv + j] = column[i];
}

static void check_derivatives(const trial *t, const outputs *o, const results *r)
{
    double *momentum = trial_array(t, 6 * t->nv), *rate = trial_array(t, 6 * t->nv), *by_qd = trial_array(t, 6 * t->nv);
    for (size_t j = 0; j < t->nv; j++) {
        complex_state s = complex_state_along(t, j), v = complex_state_make(t, 0);
        evaluate(t, &s, r);
        put_column(t, r->momentum, j, momentum);
        put_column(t, r->rate, j, rate);
        v.qd[j] += COMPLEX_STEP * I;
        evaluate(t, &v, r);
        put_column(t, r->rate, j, by_qd);
        complex_state_free(&s);
        complex_state_free(&v);
    }
    check_close_scaled("momentum_by_q", t->seed, 6 * t->nv, o->momentum_by_q, momentum, TOLERANCE, 1);
    check_close_scaled("rate_by_q", t->seed, 6 * t->nv, o->rate_by_q, rate, TOLERANCE, 1);
    check_close_scaled("rate_by_qd", t->seed, 6 * t->nv, o->rate_by_qd, by_qd, TOLERANCE, 1);
    free(momentum), free(rate), free(by_qd);
}

static void test_rates_and_derivatives_are_those_of_the_complex_step(void **state)
{
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial   t = trial_make_plain(seed, TREE_ALL);
        outputs o;
        results r = results_make(t.nv);
        compute(&t, &o);
        check_rates(&t, &o, &r);
        check_derivatives(&t, &o, &r);
        results_free(&r);
        free(o.matrix_dot);
        trial_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rates_and_derivatives_are_those_of_the_complex_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
