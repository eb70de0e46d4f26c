/* test_forward_sensitivity.c - derivatives of forward dynamics against the complex step. */
#include "check.h"
#include "complex_step.h"
#include "rows.h"
#include <math.h>
#include <stdlib.h>

/* Errors grow with the condition of the mass matrix, which these robots keep moderate. Relative to the largest entry.
 */
#define TOLERANCE 1e-12

enum { ROBOTS = 150 };

/* Column j of the derivative of qdd, from a state that carries its direction. */
static void differentiate(const trial *t, complex_state *s, size_t j, size_t columns, double *out)
{
    double _Complex *qdd = complex_array(t->nv);
    double          *d   = trial_array(t, t->nv);
    dyn_kernels_complex.forward_dynamics(&t->scene, s->workspace,
                                         &(dyn_forward_dynamics){.q        = as_lanes(s->q),
                                                                 .qd       = as_lanes(s->qd),
                                                                 .tau      = as_lanes(s->tau),
                                                                 .wrenches = as_lanes(s->wrenches),
                                                                 .qdd      = as_lanes(qdd)},
                                         1);
    complex_derivative(t->nv, qdd, d);
    for (size_t i = 0; i < t->nv; i++)
        out[i * columns + j] = d[i];
    free(qdd), free(d);
    complex_state_free(s);
}

typedef struct derivatives {
    double *qdd, *q, *qd, *tau, *wrench;
} derivatives;

static derivatives allocate(const trial *t)
{
    size_t n = t->nv * t->nv;
    return (derivatives){trial_array(t, t->nv), trial_array(t, n), trial_array(t, n), trial_array(t, n),
                         trial_array(t, t->scene.n_wrenches * t->nv * 6)};
}

static void release(derivatives *d)
{
    free(d->qdd), free(d->q), free(d->qd), free(d->tau), free(d->wrench);
}

static void expect(const trial *t, derivatives *d)
{
    for (size_t j = 0; j < t->nv; j++) {
        complex_state s = complex_state_along(t, j);
        differentiate(t, &s, j, t->nv, d->q);
        s = complex_state_make(t, 0);
        s.qd[j] += I * COMPLEX_STEP;
        differentiate(t, &s, j, t->nv, d->qd);
        s = complex_state_make(t, 0);
        s.tau[j] += I * COMPLEX_STEP;
        differentiate(t, &s, j, t->nv, d->tau);
    }
    for (size_t n = 0; n < t->scene.n_wrenches; n++)
        for (size_t c = 0; c < 6; c++) {
            complex_state s = complex_state_make(t, 0);
            s.wrenches[9 * n + c] += I * COMPLEX_STEP;
            differentiate(t, &s, c, 6, d->wrench + n * t->nv * 6);
        }
    rows_forward_dynamics(
        dyn_kernels_find(NULL), &t->scene, 1,
        (dyn_forward_dynamics){.q = t->q, .qd = t->qd, .tau = t->tau, .wrenches = t->wrenches, .qdd = d->qdd});
}

static void test_random_robots(void **state)
{
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial              t        = trial_make(seed, 1);
        derivatives        expected = allocate(&t), got = allocate(&t);
        size_t             n = t.nv * t.nv, nw = t.scene.n_wrenches * t.nv * 6;
        const dyn_kernels *k;
        expect(&t, &expected);
        for (size_t i = 0; (k = dyn_kernels_at(i)); i++) {
            rows_forward_sensitivity(k, &t.scene, 1,
                                     (dyn_forward_sensitivity){.q            = t.q,
                                                               .qd           = t.qd,
                                                               .tau          = t.tau,
                                                               .wrenches     = t.wrenches,
                                                               .qdd          = got.qdd,
                                                               .dqdd_dq      = got.q,
                                                               .dqdd_dqd     = got.qd,
                                                               .dqdd_dtau    = got.tau,
                                                               .dqdd_dwrench = got.wrench});
            assert_memory_equal(got.qdd, expected.qdd, t.nv * sizeof *got.qdd);
            double size = largest(n, expected.tau);
            check_close_scaled("dqdd_dq", seed, n, got.q, expected.q, TOLERANCE, size);
            check_close_scaled("dqdd_dqd", seed, n, got.qd, expected.qd, TOLERANCE, size);
            check_close("dqdd_dtau", seed, n, got.tau, expected.tau, TOLERANCE);
            if (nw) check_close("dqdd_dwrench", seed, nw, got.wrench, expected.wrench, TOLERANCE);
        }
        release(&expected);
        release(&got);
        trial_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_robots)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
