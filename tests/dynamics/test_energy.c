/* test_energy.c - compares energies, centre of mass and momentum of random robots with the reference, on every target.
 */
#include "tests/dynamics/support/check.h"
#include "tests/dynamics/support/rows.h"
#include "tests/dynamics/support/trial.h"
#include "tests/target.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rounding of sums over at most 512 bodies: 90 units in the last place of the largest entry. */
#define TOLERANCE 2e-14

enum { ROBOTS = 240, ROWS = 4, RESULTS = 8 };

static const char *const names[RESULTS] = {
    "kinetic", "potential", "com", "com_velocity", "com_jacobian", "momentum", "momentum_matrix", "centroidal_inertia"};

static void sizes(const trial *t, size_t n[RESULTS])
{
    const size_t entries[RESULTS] = {1, 1, 3, 3, 3 * t->nv, 6, 6 * t->nv, 9};
    memcpy(n, entries, sizeof entries);
}

static void evaluate(const dyn_kernels *k, const trial *t, double *const result[RESULTS])
{
    rows_energy(k, &t->scene, t->rows,
                (dyn_energy){.q                  = t->q,
                             .qd                 = t->qd,
                             .kinetic            = result[0],
                             .potential          = result[1],
                             .com                = result[2],
                             .com_velocity       = result[3],
                             .com_jacobian       = result[4],
                             .momentum           = result[5],
                             .momentum_matrix    = result[6],
                             .centroidal_inertia = result[7]});
}

static void evaluate_reference(const trial *t, double *const result[RESULTS])
{
    for (size_t r = 0; r < t->rows; r++) {
        reference_wrench   w[TRIAL_WRENCHES];
        reference_scene    scene = trial_reference_scene(t, r, w);
        reference         *ref   = trial_reference(t, r);
        reference_energies e     = {.com_jacobian    = result[4] + r * 3 * t->nv,
                                    .momentum_matrix = result[6] + r * 6 * t->nv};
        reference_energy(ref, &scene, &e);
        result[0][r] = e.kinetic;
        result[1][r] = e.potential;
        memcpy(result[2] + 3 * r, e.com, sizeof e.com);
        memcpy(result[3] + 3 * r, e.com_velocity, sizeof e.com_velocity);
        memcpy(result[5] + 6 * r, e.momentum, sizeof e.momentum);
        memcpy(result[7] + 9 * r, e.centroidal_inertia, sizeof e.centroidal_inertia);
        reference_free(ref);
        check_close("mass", t->seed, 1, &t->model->mass, &e.mass, TOLERANCE);
    }
}

/* Returns the scale of a result. Potential energy is a difference of large terms if the robot is near the origin. */
static double natural_size(const trial *t, int result)
{
    return result == 1 ? 9.81 * t->model->mass : result == 2 ? 1 : 0;
}

static void compare_with_reference(const trial *t)
{
    size_t  n[RESULTS];
    double *got[RESULTS], *expected[RESULTS];
    sizes(t, n);
    for (int i = 0; i < RESULTS; i++)
        got[i] = trial_array(t, n[i]), expected[i] = trial_array(t, n[i]);
    evaluate_reference(t, expected);
    const dyn_kernels *k;
    for (size_t i = 0; (k = dyn_kernels_at(i)); i++) {
        evaluate(k, t, got);
        for (int j = 0; j < RESULTS; j++)
            check_close_scaled(names[j], t->seed, t->rows * n[j], got[j], expected[j], TOLERANCE, natural_size(t, j));
    }
    for (int i = 0; i < RESULTS; i++)
        free(got[i]), free(expected[i]);
}

static void test_random_robots(void **state)
{
    trial_robots(ROBOTS, ROWS, compare_with_reference);
}

static void test_longest_chain(void **state)
{
    trial_longest(compare_with_reference);
}

/* Checks kinetic = 1/2 qd^T M qd, momentum = matrix qd, com_velocity = com_jacobian qd = momentum / mass. */
static void test_quantities_agree_with_each_other(void **state)
{
    const dyn_kernels *k = test_kernels();
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial   t = trial_make(seed, 1);
        size_t  n[RESULTS];
        double *got[RESULTS], *M = trial_array(&t, t.nv * t.nv), kinetic = 0, sum[9] = {0};
        sizes(&t, n);
        for (int i = 0; i < RESULTS; i++)
            got[i] = trial_array(&t, n[i]);
        evaluate(k, &t, got);
        rows_mass_matrix(k, &t.scene, 1, (dyn_mass_matrix){.q = t.q, .mass_matrix = M});
        for (size_t j = 0; j < t.nv; j++) {
            for (size_t i = 0; i < t.nv; i++)
                kinetic += t.qd[i] * M[i * t.nv + j] * t.qd[j] / 2;
            for (size_t i = 0; i < 6; i++)
                sum[i] += got[6][i * t.nv + j] * t.qd[j];
            for (size_t i = 0; i < 3; i++)
                sum[6 + i] += got[4][i * t.nv + j] * t.qd[j];
        }
        check_close("kinetic", seed, 1, &kinetic, got[0], 1e-13);
        check_close("momentum", seed, 6, sum, got[5], 1e-13);
        check_close("com_velocity", seed, 3, sum + 6, got[3], 1e-13);
        for (int i = 0; i < 3; i++)
            sum[i] /= t.model->mass;
        check_close("momentum / mass", seed, 3, sum, got[3], 1e-13);
        for (int i = 0; i < RESULTS; i++)
            free(got[i]);
        free(M);
        trial_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_robots),
        cmocka_unit_test(test_longest_chain),
        cmocka_unit_test(test_quantities_agree_with_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
