/* test_consistent_parameters.c - checks the search for physically consistent parameters: no parameters near the result
   have a lower objective; also checks the least deviation of a row that the objective assumes. */
#include "dynamics/identification/consistent_parameters.h"
#include "dynamics/identification/estimate_rows.h"
#include "tests/api/support/draws.h"
#include "tests/api/support/models.h"
#include "tests/api/support/rich_robot.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Computes log det of a 4 x 4 matrix by Gaussian elimination; NaN unless the matrix is positive definite. */
static double log_determinant(const double from[16])
{
    double A[4][4], sum = 0;
    memcpy(A, from, sizeof A);
    for (int k = 0; k < 4; k++) {
        if (!(A[k][k] > 0)) return NAN;
        sum += log(A[k][k]);
        for (int i = k + 1; i < 4; i++)
            for (int j = 3; j >= k; j--)
                A[i][j] -= A[i][k] / A[k][k] * A[k][j];
    }
    return sum;
}

/* Solves J0 X = J by Gauss-Jordan elimination and returns trace X. */
static double trace_of_quotient(const double J0[16], const double J[16])
{
    double A[4][8], trace = 0;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            A[i][j]     = J0[4 * i + j];
            A[i][4 + j] = J[4 * i + j];
        }
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < 4; i++)
            for (int j = 7; i != k && j >= k; j--)
                A[i][j] -= A[i][k] / A[k][k] * A[k][j];
    for (int k = 0; k < 4; k++)
        trace += A[k][4 + k] / A[k][k];
    return trace;
}

/* Computes the objective that consistent_parameters.h defines, term by term. */
static double objective(const dyn_consistent *c, const double *reference, const double *pi)
{
    const dyn_base *base = c->base;
    double          sum = 0, d = 0, J0[16], J[16];
    for (size_t i = 0; i < base->n; i++) {
        double row = 0;
        for (size_t k = i; k < base->n; k++)
            row += c->R[k * (base->n + 1) + i] / c->s * (dyn_base_value(base, k, pi) - c->beta[k]);
        sum += row * row / 2;
    }
    for (size_t i = 0; i < c->tree->n_rows; i++) {
        dyn_pseudo_inertia(reference + 10 * i, J0);
        dyn_pseudo_inertia(pi + 10 * i, J);
        d += trace_of_quotient(J0, J) - (log_determinant(J) - log_determinant(J0)) - 4;
    }
    for (size_t j = 0; j < c->tree->n_rows - (c->tree->floating ? 1 : 0); j++) {
        size_t rotor = dyn_joint_parameter(c->tree, j, DYN_ROTOR_INERTIA);
        d += pi[rotor] / reference[rotor] - log(pi[rotor] / reference[rotor]) - 1;
        for (size_t k = DYN_VISCOUS; k < DYN_PER_JOINT; k++)
            d += pow(pi[rotor + k] - reference[rotor + k], 2) / 2;
    }
    return sum + DYN_CONSISTENT_WEIGHT * d;
}

static bool always(void *arg)
{
    return true;
}

static bool never(void *arg)
{
    return false;
}

/* Starts from base parameters that no real robot has: the minimum must lie inside the feasible region, and each of 2000
 * random steps away must raise the objective. `known` scales the information R of the measurements about the base
 * parameters. */
static void check_least(uint64_t seed, double known)
{
    enum { WITH = DYN_BASE_ROTORS | DYN_BASE_FRICTION };
    api_model    *m     = model_of(ROBOT("fixed"));
    dyn_mechanism robot = api_model_mechanism(m);
    bool          too_large;
    dyn_base     *base = dyn_base_find(&robot, dyn_kernels_find("scalar"), NULL, WITH, (dyn_deadline){0}, &too_large);
    size_t        n = dyn_parameter_count(m->dyn), nb = base->n;
    double       *reference = numbers(n), *found = numbers(n), *near = numbers(n), *beta = numbers(nb),
           *R = numbers((nb + 1) * (nb + 1)), *scratch = numbers(dyn_consistent_scratch(m->dyn, base, WITH));
    dyn_parameters_compute(m->dyn, reference);
    for (size_t k = 0; k < nb; k++) {
        beta[k] = dyn_base_value(base, k, reference) * (1 + draw(&seed)) - 0.5;
        for (size_t i = 0; i <= k; i++)
            R[k * (nb + 1) + i] = known * (10 * draw(&seed) + 50 * (i == k));
    }
    memcpy(found, reference, n * sizeof *reference);
    dyn_consistent c = {.tree       = m->dyn,
                        .base       = base,
                        .with       = WITH,
                        .row        = DYN_ALL_BODIES,
                        .R          = R,
                        .s          = 0.5,
                        .beta       = beta,
                        .parameters = found,
                        .go_on      = always};
    assert_true(dyn_consistent_find(&c, scratch));
    double least = objective(&c, reference, found);
    assert_true(isfinite(least) && least < objective(&c, reference, reference));
    for (int i = 0; i < 2000; i++) {
        double size = pow(10, -1 - 5 * fabs(draw(&seed)));
        for (size_t k = 0; k < n; k++)
            near[k] = found[k] + size * draw(&seed) * fabs(i % 2 ? found[k] : reference[k]);
        if (objective(&c, reference, near) < least * (1 - 1e-13))
            fail_msg("known %g: a step of %g lowers the objective", known, size);
    }
    c.go_on = never;
    memcpy(found, reference, n * sizeof *reference);
    assert_false(dyn_consistent_find(&c, scratch));
    free(reference);
    free(found);
    free(near);
    free(beta);
    free(R);
    free(scratch);
    dyn_base_free(base);
    api_model_release(m);
}

static void no_parameters_nearby_are_better(void **state)
{
    check_least(7, 1);
    for (uint64_t seed = 7; seed < 10; seed++)
        check_least(seed, 0.01); /* here the model's own parameters weigh as much as the measurements */
}

/* The least deviation of a row that counts is 1e-8 of the torques, whose root mean square is 3 N m. Rows are divided by
 * the deviation of their coordinate, of which the smallest is 0.04 N m: 1e-8 * 3 / 0.04, for any order of coordinates.
 */
static void rows_deviate_by_what_rounding_allows(void **state)
{
    const double        deviations[2][3] = {{0.7, 0.04, 0.3}, {0.04, 0.5, 0.6}};
    dyn_coordinate_rows rows[3];
    for (int order = 0; order < 2; order++) {
        dyn_estimate t = {.robot.nv = 3, .at = rows, .used = 5, .square = 9 * 5, .s = 2e-9};
        for (int v = 0; v < 3; v++)
            rows[v] = (dyn_coordinate_rows){.deviation = deviations[order][v]};
        assert_true(fabs(dyn_estimate_row_deviation(&t) - 1e-8 * 3 / 0.04) < 1e-20);
        t.s = 1.7; /* here the estimated deviation exceeds that of rounding errors, so that it counts instead */
        assert_true(dyn_estimate_row_deviation(&t) == 1.7);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_parameters_nearby_are_better),
        cmocka_unit_test(rows_deviate_by_what_rounding_allows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
