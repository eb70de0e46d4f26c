/* test_accuracy.c - measures the rounding errors of the fused and the unfused arithmetic class over the whole range of
 * angles, against the same kernels compiled for extended precision (long double). An unfused target may have twice the
 * error of a fused one. With CHECK_VERBOSE the test prints the table of tests/bench/NOTEBOOK.md. */
#include "tests/dynamics/support/check.h"
#include "tests/dynamics/support/rows.h"
#include "tests/dynamics/support/trial.h"
#include <math.h>
#include <stdlib.h>

extern const dyn_kernels dyn_kernels_extended;

enum { ROBOTS = 40, ROWS = 8, DECADES = 8, OUTPUTS = 7, LEAST_DECADE = -3 };

static const char *const output_names[OUTPUTS] = {"tau",     "tau_dot",  "mass_matrix", "qdd",
                                                  "dtau_dq", "dtau_dqd", "dtau_dqdd"};

/* Sums of the squared relative errors of the fused or of the unfused kernels over all states, by decade of the angles
 * and by output. */
typedef struct errors {
    double square[DECADES][OUTPUTS];
    size_t n[DECADES];
} errors;

/* Sets all revolute joints to angles of either sign with magnitudes from 10^decade to 10^(decade + 1). */
static void set_angles(const trial *t, int decade)
{
    random_source source = {.state = t->seed * 100 + (uint64_t)(decade - LEAST_DECADE)};
    for (size_t r = 0; r < t->rows; r++)
        for (size_t i = 0; i < t->model->n_bodies; i++) {
            const dyn_body *b = &t->model->body[i];
            if (b->joint.kind != DYN_REVOLUTE || b->joint.mimic) continue;
            double angle = pow(10, decade + random_between(&source, 0, 1)) * (random_chance(&source, 0.5) ? 1 : -1);
            t->q[r * t->nq + (size_t)b->joint.q] = angle / b->joint.ratio;
        }
}

static long double *extended_array(size_t n, const double *from)
{
    size_t       bytes = (n * sizeof(long double) + DYN_ALIGN) / DYN_ALIGN * DYN_ALIGN;
    long double *a     = aligned_alloc(DYN_ALIGN, bytes);
    assert_non_null(a);
    for (size_t i = 0; i < n; i++)
        a[i] = from ? from[i] : 0;
    return a;
}

static double *as_lanes(long double *x)
{
    return (double *)(void *)x;
}

static size_t entries(const trial *t, int output)
{
    return output == 2 || output >= 4 ? t->nv * t->nv : t->nv;
}

/* Computes the outputs of one row in extended precision. */
static void evaluate_exactly(const trial *t, size_t row, long double *out[OUTPUTS])
{
    long double *q = extended_array(t->nq, t->q + row * t->nq), *qd = extended_array(t->nv, t->qd + row * t->nv);
    long double *qdd = extended_array(t->nv, t->qdd + row * t->nv), *tau = extended_array(t->nv, t->tau + row * t->nv);
    long double *qddd        = extended_array(t->nv, t->qddd + row * t->nv);
    const dyn_kernels *k     = &dyn_kernels_extended;
    size_t             bytes = (k->workspace_size(t->model) + DYN_ALIGN) / DYN_ALIGN * DYN_ALIGN;
    void              *ws    = aligned_alloc(DYN_ALIGN, bytes);
    assert_non_null(ws);
    k->torque_derivative(&t->scene, ws,
                         &(dyn_torque_derivative){.q       = as_lanes(q),
                                                  .qd      = as_lanes(qd),
                                                  .qdd     = as_lanes(qdd),
                                                  .qddd    = as_lanes(qddd),
                                                  .tau     = as_lanes(out[0]),
                                                  .tau_dot = as_lanes(out[1])},
                         1);
    k->mass_matrix(&t->scene, ws, &(dyn_mass_matrix){.q = as_lanes(q), .mass_matrix = as_lanes(out[2])}, 1);
    k->forward_dynamics(
        &t->scene, ws,
        &(dyn_forward_dynamics){.q = as_lanes(q), .qd = as_lanes(qd), .tau = as_lanes(tau), .qdd = as_lanes(out[3])},
        1);
    k->sensitivity(&t->scene, ws,
                   &(dyn_sensitivity){.q         = as_lanes(q),
                                      .qd        = as_lanes(qd),
                                      .qdd       = as_lanes(qdd),
                                      .dtau_dq   = as_lanes(out[4]),
                                      .dtau_dqd  = as_lanes(out[5]),
                                      .dtau_dqdd = as_lanes(out[6])},
                   1);
    free(q), free(qd), free(qdd), free(tau), free(qddd), free(ws);
}

static void evaluate(const dyn_kernels *k, const trial *t, double *const out[OUTPUTS])
{
    rows_inverse_dynamics(k, &t->scene, t->rows,
                          (dyn_inverse_dynamics){.q = t->q, .qd = t->qd, .qdd = t->qdd, .tau = out[0]});
    rows_torque_derivative(
        k, &t->scene, t->rows,
        (dyn_torque_derivative){.q = t->q, .qd = t->qd, .qdd = t->qdd, .qddd = t->qddd, .tau_dot = out[1]});
    rows_mass_matrix(k, &t->scene, t->rows, (dyn_mass_matrix){.q = t->q, .mass_matrix = out[2]});
    rows_forward_dynamics(k, &t->scene, t->rows,
                          (dyn_forward_dynamics){.q = t->q, .qd = t->qd, .tau = t->tau, .qdd = out[3]});
    rows_sensitivity(
        k, &t->scene, t->rows,
        (dyn_sensitivity){
            .q = t->q, .qd = t->qd, .qdd = t->qdd, .dtau_dq = out[4], .dtau_dqd = out[5], .dtau_dqdd = out[6]});
}

/* Returns the largest error of n entries relative to the largest entry. */
static double relative_error(size_t n, const double *got, const long double *exact)
{
    long double error = 0, size = 0;
    for (size_t i = 0; i < n; i++) {
        error = fmaxl(error, fabsl(got[i] - exact[i]));
        size  = fmaxl(size, fabsl(exact[i]));
    }
    return size > 0 ? (double)(error / size) : 0;
}

/* Adds the errors that the kernels of two tables make on one robot with angles of one decade. */
static void measure(const trial *t, int decade, const dyn_kernels *const tables[2], errors sums[2])
{
    double      *got[2][OUTPUTS];
    long double *exact[OUTPUTS];
    for (int o = 0; o < OUTPUTS; o++) {
        exact[o] = extended_array(entries(t, o), NULL);
        for (int c = 0; c < 2; c++)
            got[c][o] = trial_array(t, entries(t, o));
    }
    for (int c = 0; c < 2; c++)
        evaluate(tables[c], t, got[c]);
    for (size_t r = 0; r < t->rows; r++) {
        evaluate_exactly(t, r, exact);
        for (int c = 0; c < 2; c++) {
            sums[c].n[decade]++;
            for (int o = 0; o < OUTPUTS; o++) {
                double e = relative_error(entries(t, o), got[c][o] + r * entries(t, o), exact[o]);
                sums[c].square[decade][o] += e * e;
            }
        }
    }
    for (int o = 0; o < OUTPUTS; o++)
        free(exact[o]), free(got[0][o]), free(got[1][o]);
}

/* Compares the root mean squares of both classes: fused / unfused. */
static void check_and_print(const char *what, const errors sums[2])
{
    for (int d = 0; d < DECADES; d++)
        for (int o = 0; o < OUTPUTS; o++) {
            double fused   = sqrt(sums[0].square[d][o] / (double)sums[0].n[d]);
            double unfused = sqrt(sums[1].square[d][o] / (double)sums[1].n[d]);
            if (getenv("CHECK_VERBOSE"))
                print_message("# %s, from 1e%d rad, %s: %.2g fused, %.2g unfused, ratio %.2f\n", what, d + LEAST_DECADE,
                              output_names[o], fused, unfused, unfused / fused);
            else if (!(unfused <= 2 * fused))
                fail_msg("%s, angles from 1e%d rad, %s: error %g, fused %g", what, d + LEAST_DECADE, output_names[o],
                         unfused, fused);
        }
}

static void measure_robots(const char *what, unsigned features)
{
    const dyn_kernels *tables[2] = {dyn_kernels_for_models(), dyn_kernels_find("scalar_unfused")};
    errors             sums[2]   = {0};
    if (!tables[1]) return; /* test_dispatch.c fails if a target that this machine can run is missing */
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial t = trial_of(seed, random_chain_make(seed, 7, false, features), ROWS, 0);
        for (int d = 0; d < DECADES; d++) {
            set_angles(&t, d + LEAST_DECADE);
            measure(&t, d, tables, sums);
        }
        trial_free(&t);
    }
    check_and_print(what, sums);
}

static void test_revolute_arms(void **state)
{
    measure_robots("revolute", TREE_PLAIN);
}

static void test_joints_with_ratio_and_offset(void **state)
{
    measure_robots("ratios", TREE_GEARS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_revolute_arms),
        cmocka_unit_test(test_joints_with_ratio_and_offset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
