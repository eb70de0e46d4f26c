/* test_coriolis.c - compares the Coriolis matrix and the Christoffel symbols with their definitions from the
 * derivatives of the mass matrix, and with the bias. */
#include "tests/dynamics/support/check.h"
#include "tests/dynamics/support/complex_step.h"
#include "tests/dynamics/support/rows.h"
#include "tests/target.h"
#include <stdlib.h>

/* Relative to the largest entry: rounding of sums along at most 40 bodies; see test_sensitivity.c. */
#define TOLERANCE 1e-12

enum { ROBOTS = 120 };

typedef struct symbols {
    double *M, *dM; /* nv x nv mass matrix; nv x nv x nv: derivative of M_ij along coordinate k */
    double *C, *gamma;
} symbols;

static void mass_matrix_along(const trial *t, symbols *s)
{
    size_t           n = t->nv * t->nv;
    double _Complex *M = complex_array(n);
    double          *d = trial_array(t, n);
    for (size_t k = 0; k < t->nv; k++) {
        complex_state moved = complex_state_along(t, k);
        dyn_kernels_complex.mass_matrix(&t->scene, moved.workspace,
                                        &(dyn_mass_matrix){.q = as_lanes(moved.q), .mass_matrix = as_lanes(M)}, 1);
        complex_derivative(n, M, d);
        for (size_t e = 0; e < n; e++)
            s->dM[e * t->nv + k] = d[e];
        complex_state_free(&moved);
    }
    free(M), free(d);
}

static symbols symbols_of(const trial *t)
{
    size_t  n = t->nv * t->nv;
    symbols s = {trial_array(t, n), trial_array(t, n * t->nv), trial_array(t, n), trial_array(t, n * t->nv)};
    rows_mass_matrix(test_kernels(), &t->scene, 1, (dyn_mass_matrix){.q = t->q, .mass_matrix = s.M});
    rows_coriolis(test_kernels(), &t->scene, 1,
                  (dyn_coriolis){.q = t->q, .qd = t->qd, .coriolis_matrix = s.C, .christoffel = s.gamma});
    mass_matrix_along(t, &s);
    return s;
}

static void symbols_free(symbols *s)
{
    free(s->M), free(s->dM), free(s->C), free(s->gamma);
}

/* Returns the body, not a mimic, whose joint has velocity coordinate v. */
static const dyn_body *body_of(const trial *t, size_t v)
{
    for (size_t i = 0; i < t->model->n_bodies; i++) {
        const dyn_body *b = &t->model->body[i];
        if (!b->joint.mimic && (size_t)b->joint.v <= v && v < (size_t)(b->joint.v + dyn_joint_nv(b->joint.kind)))
            return b;
    }
    return NULL;
}

/* Computes the Lie bracket [E_a, E_b] of two axes of a joint with a quaternion, as a vector of velocities; zero for all
 * other pairs. */
static void bracket(const trial *t, size_t a, size_t b, double *out)
{
    for (size_t v = 0; v < t->nv; v++)
        out[v] = 0;
    const dyn_body *body = body_of(t, a);
    if (body != body_of(t, b) || !dyn_joint_has_quaternion(body->joint.kind)) return;
    /* a spherical joint has no linear axes */
    size_t none = body->joint.kind == DYN_SPHERICAL ? 3 : 0, first = (size_t)body->joint.v;
    a            = a - first + none;
    b            = b - first + none;
    double va[3] = {0}, wa[3] = {0}, vb[3] = {0}, wb[3] = {0};
    (a < 3 ? va : wa)[a % 3] = 1;
    (b < 3 ? vb : wb)[b % 3] = 1;
    for (size_t i = 0; i < 3; i++) {
        size_t j = (i + 1) % 3, k = (i + 2) % 3;
        if (none == 0) out[first + i] = wa[j] * vb[k] - wa[k] * vb[j] + va[j] * wb[k] - va[k] * wb[j];
        out[first + 3 - none + i] = wa[j] * wb[k] - wa[k] * wb[j];
    }
}

/* Returns <[E_a, E_b], E_c> in the metric of the mass matrix. */
static double bracket_product(const trial *t, const symbols *s, size_t a, size_t b, size_t c)
{
    double sum = 0, x[6 + DYN_MAX_DOF];
    bracket(t, a, b, x);
    for (size_t v = 0; v < t->nv; v++)
        sum += x[v] * s->M[v * t->nv + c];
    return sum;
}

static double by_definition(const trial *t, const symbols *s, size_t i, size_t j, size_t k)
{
    size_t n       = t->nv;
    double plain   = s->dM[(i * n + j) * n + k] + s->dM[(i * n + k) * n + j] - s->dM[(j * n + k) * n + i];
    double turning = bracket_product(t, s, k, j, i) - bracket_product(t, s, j, i, k) + bracket_product(t, s, i, k, j);
    return 0.5 * (plain + turning);
}

static void test_definition(void **state)
{
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial   t        = trial_make(seed, 1);
        symbols s        = symbols_of(&t);
        double *expected = trial_array(&t, t.nv * t.nv * t.nv);
        for (size_t i = 0; i < t.nv; i++)
            for (size_t j = 0; j < t.nv; j++)
                for (size_t k = 0; k < t.nv; k++)
                    expected[(i * t.nv + j) * t.nv + k] = by_definition(&t, &s, i, j, k);
        check_close_scaled("christoffel", seed, t.nv * t.nv * t.nv, s.gamma, expected, TOLERANCE,
                           largest(t.nv * t.nv, s.M));
        free(expected);
        symbols_free(&s);
        trial_free(&t);
    }
}

/* Checks C_ij = sum_k gamma_ijk qd_k, and that C qd is the bias without gravity, friction and springs. */
static void test_matrix(void **state)
{
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial   t = trial_make(seed, 1);
        symbols s = symbols_of(&t);
        size_t  n = t.nv;
        double *C = trial_array(&t, n * n), *Cqd = trial_array(&t, n), *coriolis = trial_array(&t, n);
        for (size_t e = 0; e < n * n; e++)
            for (size_t k = 0; k < n; k++)
                C[e] += s.gamma[e * n + k] * t.qd[k];
        for (size_t e = 0; e < n * n; e++)
            Cqd[e / n] += s.C[e] * t.qd[e % n];
        rows_bias(test_kernels(), &t.scene, 1, (dyn_bias){.q = t.q, .qd = t.qd, .coriolis = coriolis});
        check_close_scaled("C", seed, n * n, s.C, C, TOLERANCE, largest(n * n, s.M));
        check_close_scaled("C qd", seed, n, Cqd, coriolis, TOLERANCE, largest(n * n, s.M));
        free(C), free(Cqd), free(coriolis);
        symbols_free(&s);
        trial_free(&t);
    }
}

/* Checks C + C^T = dM/dt along the motion. */
static void test_skew(void **state)
{
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial   t   = trial_make(seed, 1);
        symbols s   = symbols_of(&t);
        size_t  n   = t.nv;
        double *sum = trial_array(&t, n * n), *rate = trial_array(&t, n * n);
        for (size_t e = 0; e < n * n; e++) {
            sum[e] = s.C[e] + s.C[e % n * n + e / n];
            for (size_t k = 0; k < n; k++)
                rate[e] += s.dM[e * n + k] * t.qd[k];
        }
        check_close_scaled("M rate", seed, n * n, sum, rate, TOLERANCE, largest(n * n, s.M));
        free(sum), free(rate);
        symbols_free(&s);
        trial_free(&t);
    }
}

static void test_same_on_every_target(void **state)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        trial              t = trial_make(seed, 3);
        const dyn_kernels *k;
        size_t             n = 3 * t.nv * t.nv;
        double            *C = trial_array(&t, t.nv * t.nv), *alone = trial_array(&t, t.nv * t.nv);
        for (size_t i = 0; (k = dyn_kernels_at(i)); i++) {
            const dyn_kernels *one = dyn_kernels_at(0); /* the first target of the same arithmetic class */
            for (size_t j = 0; one->fused != k->fused; j++)
                one = dyn_kernels_at(j);
            rows_coriolis(k, &t.scene, 3, (dyn_coriolis){.q = t.q, .qd = t.qd, .coriolis_matrix = C});
            rows_coriolis(one, &t.scene, 3, (dyn_coriolis){.q = t.q, .qd = t.qd, .coriolis_matrix = alone});
            assert_memory_equal(C, alone, n * sizeof *C);
        }
        free(C), free(alone);
        trial_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_definition), cmocka_unit_test(test_matrix),
                                       cmocka_unit_test(test_skew), cmocka_unit_test(test_same_on_every_target)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
