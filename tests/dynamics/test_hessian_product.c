/* test_hessian_product.c - compares Hessian-vector products of inverse and forward dynamics with the complex step of
 * gradients, and with products of the matrices of second derivatives and directions. */
#include "check.h"
#include "complex_step.h"
#include "rows.h"
#include "tests/target.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Relative to the sums of the magnitudes of the terms. */
#define OF_MATRICES 1e-12
/* Relative to the largest product of the state. */
#define OF_COMPLEX_STEP 1e-11
/* Forward dynamics also loses digits to the square of the condition of M. */
#define OF_SOLUTIONS 1e-9

enum { ROBOTS = 120, LOADED = 40, DIRECTIONS = 2, Q = 0, QD, QDD, PARTS };

static const char *const names[PARTS] = {"by q", "by qd", "by qdd or tau"};

/* Directions and products of a trial: [DIRECTIONS][nv] for each part. */
typedef struct products {
    double *along[PARTS], *part[PARTS];
} products;

/* The first direction has the random numbers of three vectors, the second one permutes them. */
static products products_make(const trial *t)
{
    const double *const vectors[PARTS] = {t->qddd, t->tau, t->qdd};
    products            p;
    for (int part = 0; part < PARTS; part++) {
        p.along[part] = trial_array(t, DIRECTIONS * t->nv);
        p.part[part]  = trial_array(t, DIRECTIONS * t->nv);
        for (int i = 0; i < DIRECTIONS; i++)
            memcpy(p.along[part] + (size_t)i * t->nv, vectors[(part + i) % PARTS], t->nv * sizeof(double));
    }
    return p;
}

static void products_free(products *p)
{
    for (int part = 0; part < PARTS; part++)
        free(p->along[part]), free(p->part[part]);
}

/* The multipliers are the random numbers of qddd, turned around. */
static double *multipliers_make(const trial *t)
{
    double *m = trial_array(t, t->nv);
    for (size_t i = 0; i < t->nv; i++)
        m[i] = t->qddd[t->nv - 1 - i] + 0.25 * t->qd[i];
    return m;
}

static void run_products(const dyn_kernels *k, const trial *t, const double *multipliers, const products *p)
{
    rows_hessian_product(k, &t->scene, 1,
                         (dyn_hessian_product){.q             = t->q,
                                               .qd            = t->qd,
                                               .qdd           = t->qdd,
                                               .wrenches      = t->wrenches,
                                               .multipliers   = multipliers,
                                               .n             = DIRECTIONS,
                                               .direction_q   = p->along[Q],
                                               .direction_qd  = p->along[QD],
                                               .direction_qdd = p->along[QDD],
                                               .product_q     = p->part[Q],
                                               .product_qd    = p->part[QD],
                                               .product_qdd   = p->part[QDD]});
}

/* --- matrices --------------------------------------------------------------------------------------------------- */

/* Adds M times the direction, or M^T times it, to `sum`, and returns the largest sum of magnitudes. */
static double add_matrix(size_t n, const double *M, bool transposed, const double *direction, double *sum)
{
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        double size = 0;
        for (size_t j = 0; j < n; j++) {
            const double term = (transposed ? M[j * n + i] : M[i * n + j]) * direction[j];
            sum[i] += term;
            size += fabs(term);
        }
        most = fmax(most, size);
    }
    return most;
}

/* Compares the products of direction i. The second derivatives with respect to qdd twice are zero, and those of
 * different quantities commute. Rounding is that of the largest product. */
static void compare_direction(const trial *t, double *const H[5], const products *p, size_t i)
{
    /* q_q, q_qd, q_qdd, qd_qd, qd_qdd of row and column; -1: zero */
    static const int matrix[PARTS][PARTS] = {{0, 1, 2}, {1, 3, 4}, {2, 4, -1}};
    const size_t     nv                   = t->nv;
    double          *sum = trial_array(t, PARTS * nv), most = 0;
    for (int row = 0; row < PARTS; row++)
        for (int column = 0; column < PARTS; column++)
            if (matrix[row][column] >= 0)
                most = fmax(most, add_matrix(nv, H[matrix[row][column]], row > column, p->along[column] + i * nv,
                                             sum + (size_t)row * nv));
    for (int row = 0; row < PARTS; row++)
        check_close_scaled(names[row], t->seed, nv, p->part[row] + i * nv, sum + (size_t)row * nv, OF_MATRICES, most);
    free(sum);
}

static void compare_with_matrices(const trial *t)
{
    const size_t       nv          = t->nv;
    double            *multipliers = multipliers_make(t), *H[5];
    products           p           = products_make(t);
    const dyn_kernels *k;
    for (int i = 0; i < 5; i++)
        H[i] = trial_array(t, nv * nv);
    for (size_t target = 0; (k = dyn_kernels_at(target)); target++) {
        rows_hessian(k, &t->scene, 1,
                     (dyn_hessian){.q           = t->q,
                                   .qd          = t->qd,
                                   .qdd         = t->qdd,
                                   .wrenches    = t->wrenches,
                                   .multipliers = multipliers,
                                   .q_q         = H[0],
                                   .q_qd        = H[1],
                                   .q_qdd       = H[2],
                                   .qd_qd       = H[3],
                                   .qd_qdd      = H[4]});
        run_products(k, t, multipliers, &p);
        for (size_t i = 0; i < DIRECTIONS; i++)
            compare_direction(t, H, &p, i);
    }
    for (int i = 0; i < 5; i++)
        free(H[i]);
    free(multipliers);
    products_free(&p);
}

static void test_products_are_those_of_matrices_and_directions(void **state)
{
    trial_robots(ROBOTS, 1, compare_with_matrices);
    trial_terms(1, compare_with_matrices);
    for (uint64_t seed = 1; seed <= LOADED; seed++) {
        trial t = trial_make_loaded(seed, 1);
        compare_with_matrices(&t);
        trial_free(&t);
    }
}

/* --- the complex step ------------------------------------------------------------------------------------------- */

/* Sets the rates of the gradients of inverse or forward dynamics along direction i. */
static void complex_products(const trial *t, const double *multipliers, const products *p, size_t i, bool forward,
                             double *rate[PARTS])
{
    const size_t     nv = t->nv;
    complex_state    s  = complex_state_make(t, 0);
    double _Complex *m = complex_array(nv), *qdd = complex_array(nv), *gradient[PARTS];
    for (size_t v = 0; v < nv; v++)
        m[v] = multipliers[v];
    for (int part = 0; part < PARTS; part++)
        gradient[part] = complex_array(nv);
    complex_state_move(&s, p->along[Q] + i * nv);
    complex_add(nv, s.qd, p->along[QD] + i * nv);
    complex_add(nv, forward ? s.tau : s.qdd, p->along[QDD] + i * nv);
    if (forward)
        dyn_kernels_complex.forward_gradient(&t->scene, s.workspace,
                                             &(dyn_forward_gradient){.q            = as_lanes(s.q),
                                                                     .qd           = as_lanes(s.qd),
                                                                     .tau          = as_lanes(s.tau),
                                                                     .wrenches     = as_lanes(s.wrenches),
                                                                     .multipliers  = as_lanes(m),
                                                                     .qdd          = as_lanes(qdd),
                                                                     .gradient_q   = as_lanes(gradient[Q]),
                                                                     .gradient_qd  = as_lanes(gradient[QD]),
                                                                     .gradient_tau = as_lanes(gradient[QDD])},
                                             1);
    else
        dyn_kernels_complex.gradient(&t->scene, s.workspace,
                                     &(dyn_gradient){.q            = as_lanes(s.q),
                                                     .qd           = as_lanes(s.qd),
                                                     .qdd          = as_lanes(s.qdd),
                                                     .wrenches     = as_lanes(s.wrenches),
                                                     .multipliers  = as_lanes(m),
                                                     .gradient_q   = as_lanes(gradient[Q]),
                                                     .gradient_qd  = as_lanes(gradient[QD]),
                                                     .gradient_qdd = as_lanes(gradient[QDD])},
                                     1);
    for (int part = 0; part < PARTS; part++)
        complex_derivative(nv, gradient[part], rate[part]), free(gradient[part]);
    free(m), free(qdd);
    complex_state_free(&s);
}

static void compare_with_complex_step(const trial *t, const char *what, const double *multipliers, const products *p,
                                      bool forward)
{
    double *rate[PARTS];
    for (int part = 0; part < PARTS; part++)
        rate[part] = trial_array(t, t->nv);
    for (size_t i = 0; i < DIRECTIONS; i++) {
        double most = 0;
        complex_products(t, multipliers, p, i, forward, rate);
        for (int part = 0; part < PARTS; part++)
            most = fmax(most, largest(t->nv, rate[part]));
        for (int part = 0; part < PARTS; part++)
            check_close_scaled(what, t->seed, t->nv, p->part[part] + i * t->nv, rate[part],
                               forward ? OF_SOLUTIONS : OF_COMPLEX_STEP, most);
    }
    for (int part = 0; part < PARTS; part++)
        free(rate[part]);
}

static void compare_inverse(const trial *t)
{
    double            *multipliers = multipliers_make(t);
    products           p           = products_make(t);
    const dyn_kernels *k;
    for (size_t target = 0; (k = dyn_kernels_at(target)); target++) {
        run_products(k, t, multipliers, &p);
        compare_with_complex_step(t, "products", multipliers, &p, false);
    }
    free(multipliers);
    products_free(&p);
}

static void test_products_are_complex_step_derivatives_of_gradients(void **state)
{
    trial_robots(ROBOTS, 1, compare_inverse);
    trial_terms(1, compare_inverse);
    for (uint64_t seed = 1; seed <= LOADED; seed++) {
        trial t = trial_make_loaded(seed, 1);
        compare_inverse(&t);
        trial_free(&t);
    }
}

/* The rates of qdd have the bits of forward_directional. */
static void compare_forward(const trial *t)
{
    const size_t nv          = t->nv;
    double      *multipliers = multipliers_make(t), *rates = trial_array(t, DIRECTIONS * nv),
           *expected = trial_array(t, DIRECTIONS * nv), *qdd = trial_array(t, nv), singular[1];
    products           p = products_make(t);
    const dyn_kernels *k;
    for (size_t target = 0; (k = dyn_kernels_at(target)); target++) {
        rows_forward_hessian_product(k, &t->scene, 1,
                                     (dyn_forward_hessian_product){.q             = t->q,
                                                                   .qd            = t->qd,
                                                                   .tau           = t->tau,
                                                                   .wrenches      = t->wrenches,
                                                                   .multipliers   = multipliers,
                                                                   .n             = DIRECTIONS,
                                                                   .direction_q   = p.along[Q],
                                                                   .direction_qd  = p.along[QD],
                                                                   .direction_tau = p.along[QDD],
                                                                   .product_q     = p.part[Q],
                                                                   .product_qd    = p.part[QD],
                                                                   .product_tau   = p.part[QDD],
                                                                   .rates         = rates,
                                                                   .qdd           = qdd,
                                                                   .singular      = singular});
        assert_true(singular[0] == -1);
        rows_forward_directional(k, &t->scene, 1,
                                 (dyn_forward_directional){.q             = t->q,
                                                           .qd            = t->qd,
                                                           .tau           = t->tau,
                                                           .wrenches      = t->wrenches,
                                                           .n             = DIRECTIONS,
                                                           .direction_q   = p.along[Q],
                                                           .direction_qd  = p.along[QD],
                                                           .direction_tau = p.along[QDD],
                                                           .rates         = expected,
                                                           .qdd           = qdd});
        assert_memory_equal(rates, expected, DIRECTIONS * nv * sizeof *rates);
        compare_with_complex_step(t, "forward products", multipliers, &p, true);
    }
    free(multipliers), free(rates), free(expected), free(qdd);
    products_free(&p);
}

static void test_forward_products_are_complex_step_derivatives_of_gradients(void **state)
{
    trial_robots(ROBOTS, 1, compare_forward);
    for (uint64_t seed = 1; seed <= LOADED; seed++) {
        trial t = trial_make_loaded(seed, 1);
        compare_forward(&t);
        trial_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products_are_those_of_matrices_and_directions),
        cmocka_unit_test(test_products_are_complex_step_derivatives_of_gradients),
        cmocka_unit_test(test_forward_products_are_complex_step_derivatives_of_gradients)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
