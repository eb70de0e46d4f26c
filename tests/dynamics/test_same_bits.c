/* test_same_bits.c - checks that a state gives the same bits in a batch of one, in a batch of any size, at any place in
 * a batch, and on any target of the same arithmetic class. */
#include "tests/dynamics/support/check.h"
#include "tests/dynamics/support/results.h"
#include "tests/target.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#ifndef SAME_BITS_ROBOTS
#define SAME_BITS_ROBOTS 16 /* fewer robots if a processor is emulated, which is slow */
#endif
enum { BATCH = 25, ROBOTS = SAME_BITS_ROBOTS };

/* Copies rows first, first + 1, ... (cyclically) of `from` to the front of `to`. */
static void copy_rows(const trial *from, trial *to, size_t first, size_t n)
{
    size_t        w         = from->scene.n_wrenches;
    const double *source[]  = {from->q, from->qd, from->qdd, from->qddd, from->tau, from->wrenches, from->wrench_rates};
    double       *target[]  = {to->q, to->qd, to->qdd, to->qddd, to->tau, to->wrenches, to->wrench_rates};
    const size_t  entries[] = {to->nq, to->nv, to->nv, to->nv, to->nv, 9 * w, 6 * w};
    to->rows                = n;
    for (size_t a = 0; a < sizeof entries / sizeof *entries; a++)
        for (size_t i = 0; i < n; i++)
            memcpy(target[a] + i * entries[a], source[a] + (first + i) % BATCH * entries[a],
                   entries[a] * sizeof(double));
}

static void compare(const dyn_kernels *k, const trial *t, size_t first, const results *got, const results *expected)
{
    size_t n = t->nv, b = t->bodies, w = t->scene.n_wrenches;
    for (size_t i = 0; i < t->rows; i++) {
        size_t r = (first + i) % BATCH;
#define X(name, entries)                                                                                               \
    if (memcmp(got->name + i * (entries), expected->name + r * (entries), (entries) * sizeof(double)) != 0)            \
        fail_msg("%s of state %zu differs on %s, at place %zu of %zu (seed %llu)", #name, r, k->target, i, t->rows,    \
                 (unsigned long long)t->seed);
        RESULTS(X)
#undef X
    }
}

/* Evaluates one state after another on the first one-lane target of an arithmetic class: the expected bits. Returns
 * zeros if this build has no such target. */
static results evaluate_one_by_one(const trial *t, bool fused)
{
    const dyn_kernels *k;
    for (size_t i = 0; (k = dyn_kernels_at(i)); i++)
        if (k->fused == fused && k->lanes == 1) break;
    trial   single   = trial_make(t->seed, BATCH);
    results expected = results_allocate(t), one = results_allocate(t);
    size_t  n = t->nv, b = t->bodies, w = t->scene.n_wrenches;
    for (size_t r = 0; k && r < BATCH; r++) {
        copy_rows(t, &single, r, 1);
        results_evaluate(k, &single, &one);
#define X(name, entries) memcpy(expected.name + r * (entries), one.name, (entries) * sizeof(double));
        RESULTS(X)
#undef X
    }
    results_free(&one);
    trial_free(&single);
    return expected;
}

static void test_every_target_size_and_place(void **state)
{
    assert_int_equal(dyn_kernels_at(0)->lanes, 1);
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial              all = trial_make(seed, BATCH), some = trial_make(seed, BATCH);
        results            expected[2] = {evaluate_one_by_one(&all, false), evaluate_one_by_one(&all, true)};
        results            got         = results_allocate(&all);
        const dyn_kernels *k;
        for (size_t i = 0; (k = dyn_kernels_at(i)); i++)
            for (size_t n = 1; n <= BATCH; n++) {
                /* starts at another row each time, so that every state is in every lane once */
                size_t first = (n * 7 + i) % BATCH;
                copy_rows(&all, &some, first, n);
                results_evaluate(k, &some, &got);
                compare(k, &some, first, &got, &expected[k->fused]);
            }
        results_free(&expected[0]);
        results_free(&expected[1]);
        results_free(&got);
        trial_free(&all);
        trial_free(&some);
    }
}

/* Puts special values into every lane: zeros of both signs, denormals, the largest angle. */
static void test_special_values(void **state)
{
    const double special[] = {
        0, -0.0, 5e-324, -1e-310, 1e-200, 1, -1, 3.141592653589793, DYN_MAX_ANGLE, -DYN_MAX_ANGLE};
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial         all    = trial_make(seed, BATCH);
        random_source source = {.state = seed};
        for (size_t i = 0; i < BATCH * all.nv; i++) {
            all.qd[i]  = special[random_below(&source, 8)];
            all.qdd[i] = special[random_below(&source, 8)];
            for (size_t j = all.nq; j-- > 0 && i < BATCH && all.nq == all.nv;)
                all.q[i * all.nq + j] = special[random_below(&source, 10)];
        }
        results            expected[2] = {evaluate_one_by_one(&all, false), evaluate_one_by_one(&all, true)};
        results            got         = results_allocate(&all);
        const dyn_kernels *k;
        for (size_t i = 0; (k = dyn_kernels_at(i)); i++) {
            results_evaluate(k, &all, &got);
            compare(k, &all, 0, &got, &expected[k->fused]);
        }
        results_free(&expected[0]);
        results_free(&expected[1]);
        results_free(&got);
        trial_free(&all);
    }
}

typedef struct worker {
    pthread_t    thread;
    const trial *t;
    results      got;
} worker;

static void *work(void *argument)
{
    worker *w = argument;
    results_evaluate(test_kernels(), w->t, &w->got);
    return NULL;
}

/* Evaluates in several threads at once, which share only the model. */
static void test_threads_at_once(void **state)
{
    enum { THREADS = 4 };
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial   t        = trial_make(seed, BATCH);
        results expected = evaluate_one_by_one(&t, test_kernels()->fused);
        worker  workers[THREADS];
        for (int i = 0; i < THREADS; i++) {
            workers[i] = (worker){.t = &t, .got = results_allocate(&t)};
            assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
        }
        for (int i = 0; i < THREADS; i++) {
            assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
            compare(test_kernels(), &t, 0, &workers[i].got, &expected);
            results_free(&workers[i].got);
        }
        results_free(&expected);
        trial_free(&t);
    }
}

/* Requests a single output, in `one`, and compares it with the same output in `all`. */
#define ALONE(kernel, field, entries, ...)                                                                             \
    rows_##kernel(k, &t->scene, t->rows, (dyn_##kernel){__VA_ARGS__, .field = one->field});                            \
    assert_memory_equal(one->field, all->field, t->rows *(entries) * sizeof(double))

static void compare_single_efforts(const dyn_kernels *k, const trial *t, const results *all, const results *one)
{
    const size_t n = t->nv;
    ALONE(inverse_dynamics, tau, n, .q = t->q, .qd = t->qd, .qdd = t->qdd, .wrenches = t->wrenches);
    assert_memory_equal(all->tau_beside_rate, all->tau, t->rows * n * sizeof(double));
    assert_memory_equal(all->wrenches_beside_rate, all->joint_wrenches, t->rows * t->bodies * 6 * sizeof(double));
    ALONE(torque_derivative, tau_dot, n, .q = t->q, .qd = t->qd, .qdd = t->qdd, .qddd = t->qddd,
          .wrenches = t->wrenches, .wrench_rates = t->wrench_rates);
    ALONE(bias, bias, n, .q = t->q, .qd = t->qd, .wrenches = t->wrenches);
    ALONE(bias, coriolis, n, .q = t->q, .qd = t->qd);
    ALONE(bias, gravity, n, .q = t->q);
    ALONE(bias, friction, n, .q = t->q, .qd = t->qd);
}

/* The derivatives of tau are one result: the kernel computes all three or none. */
static void compare_single_matrices(const dyn_kernels *k, const trial *t, const results *all, const results *one)
{
    const size_t entries = t->rows * t->nv * t->nv * sizeof(double);
    ALONE(mass_matrix, mass_matrix, t->nv * t->nv, .q = t->q);
    rows_sensitivity(k, &t->scene, t->rows,
                     (dyn_sensitivity){.q         = t->q,
                                       .qd        = t->qd,
                                       .qdd       = t->qdd,
                                       .wrenches  = t->wrenches,
                                       .dtau_dq   = one->dtau_dq,
                                       .dtau_dqd  = one->dtau_dqd,
                                       .dtau_dqdd = one->dtau_dqdd});
    assert_memory_equal(one->dtau_dq, all->dtau_dq, entries);
    assert_memory_equal(one->dtau_dqd, all->dtau_dqd, entries);
    assert_memory_equal(one->dtau_dqdd, all->dtau_dqdd, entries);
}

static void compare_single_motions(const dyn_kernels *k, const trial *t, const results *all, const results *one)
{
    const size_t n = t->nv;
    dyn_frame    frames[2];
    results_frames(t, frames);
    ALONE(kinematics, positions, 6, .q = t->q, .n_frames = 2, .frames = frames);
    ALONE(kinematics, orientations, 8, .q = t->q, .n_frames = 2, .frames = frames);
    ALONE(kinematics, jacobian, 6 * n, .q = t->q, .frame = &frames[1]);
    ALONE(kinematics, jacobian_dot, 6 * n, .q = t->q, .qd = t->qd, .frame = &frames[1]);
    ALONE(kinematics, velocity, 6, .q = t->q, .qd = t->qd, .frame = &frames[1]);
    ALONE(kinematics, acceleration, 6, .q = t->q, .qd = t->qd, .qdd = t->qdd, .frame = &frames[1]);
    ALONE(energy, kinetic, 1, .q = t->q, .qd = t->qd);
    ALONE(energy, potential, 1, .q = t->q);
    ALONE(energy, com, 3, .q = t->q);
    ALONE(energy, com_velocity, 3, .q = t->q, .qd = t->qd);
    ALONE(energy, com_jacobian, 3 * n, .q = t->q);
    ALONE(energy, momentum, 6, .q = t->q, .qd = t->qd);
    ALONE(energy, momentum_matrix, 6 * n, .q = t->q);
    ALONE(energy, centroidal_inertia, 9, .q = t->q);
}
#undef ALONE

/* Other requested outputs must not change a result. */
static void test_results_do_not_depend_on_other_outputs(void **state)
{
    const dyn_kernels *k = test_kernels();
    for (uint64_t seed = 1; seed <= 60; seed++) {
        trial   t   = trial_make(seed, 5);
        results all = results_allocate(&t), one = results_allocate(&t);
        results_evaluate(k, &t, &all);
        compare_single_efforts(k, &t, &all, &one);
        compare_single_matrices(k, &t, &all, &one);
        compare_single_motions(k, &t, &all, &one);
        results_free(&all);
        results_free(&one);
        trial_free(&t);
    }
}

/* Compares two results, n entries a state. With zeros_are_set the kernel may leave out entries that are always zero:
 * they keep their initial bits (all set, rows.c) in `with_zeros`, and must be zero in `whole`. All others must agree.
 * Returns the number of entries left out. */
static size_t count_unwritten(const trial *t, size_t n, const double *with_zeros, const double *whole)
{
    size_t left = 0;
    for (size_t i = 0; i < t->rows * n; i++) {
        const uint64_t untouched = UINT64_MAX;
        const double   zero      = 0;
        bool           same      = memcmp(&with_zeros[i], &untouched, sizeof untouched) == 0;
        left += same;
        assert_memory_equal(&whole[i], same ? &zero : &with_zeros[i], sizeof zero);
    }
    return left;
}

/* Computes all outputs that zeros_are_set concerns. */
static void evaluate_with_zeros(const dyn_kernels *k, const trial *t, bool zeros_are_set, const results *r)
{
    dyn_frame frames[2];
    results_frames(t, frames);
    rows_mass_matrix(
        k, &t->scene, t->rows,
        (dyn_mass_matrix){
            .q = t->q, .zeros_are_set = zeros_are_set, .mass_matrix = r->mass_matrix, .inverse = r->inverse});
    rows_coriolis(
        k, &t->scene, t->rows,
        (dyn_coriolis){.q = t->q, .qd = t->qd, .zeros_are_set = zeros_are_set, .coriolis_matrix = r->coriolis_matrix});
    rows_regressor(
        k, &t->scene, t->rows,
        (dyn_regressor){
            .q = t->q, .qd = t->qd, .qdd = t->qdd, .zeros_are_set = zeros_are_set, .regressor = r->regressor});
    rows_kinematics(k, &t->scene, t->rows,
                    (dyn_kinematics){.q             = t->q,
                                     .qd            = t->qd,
                                     .frame         = &frames[1],
                                     .zeros_are_set = zeros_are_set,
                                     .jacobian      = r->jacobian,
                                     .jacobian_dot  = r->jacobian_dot});
}

/* Computes the derivatives that zeros_are_set concerns. */
static void derive_with_zeros(const dyn_kernels *k, const trial *t, bool zeros_are_set, const results *r)
{
    rows_sensitivity(k, &t->scene, t->rows,
                     (dyn_sensitivity){.q             = t->q,
                                       .qd            = t->qd,
                                       .qdd           = t->qdd,
                                       .wrenches      = t->wrenches,
                                       .zeros_are_set = zeros_are_set,
                                       .dtau_dq       = r->dtau_dq,
                                       .dtau_dqd      = r->dtau_dqd,
                                       .dtau_dqdd     = r->dtau_dqdd});
    rows_forward_sensitivity(k, &t->scene, t->rows,
                             (dyn_forward_sensitivity){.q             = t->q,
                                                       .qd            = t->qd,
                                                       .tau           = t->tau,
                                                       .wrenches      = t->wrenches,
                                                       .zeros_are_set = zeros_are_set,
                                                       .qdd           = r->qdd,
                                                       .dqdd_dq       = r->dqdd_dq,
                                                       .dqdd_dqd      = r->dqdd_dqd,
                                                       .dqdd_dtau     = r->dqdd_dtau});
}

/* Matrices in which some entries must have been left out; zeros in the first three occur in few robots only. */
enum { OF_M, OF_DTAU_DQDD, OF_INVERSE, OF_CORIOLIS, OF_REGRESSOR, OF_JACOBIAN, OF_DQDD_DQ, LEFT };

/* Compares all outputs, and adds the numbers of entries that were not written to `left`. */
static void count_all_unwritten(const trial *t, const results *with_zeros, const results *whole, size_t left[LEFT])
{
    const size_t n = t->nv * t->nv;
    left[OF_M] += count_unwritten(t, n, with_zeros->mass_matrix, whole->mass_matrix);
    left[OF_DTAU_DQDD] += count_unwritten(t, n, with_zeros->dtau_dqdd, whole->dtau_dqdd);
    left[OF_INVERSE] += count_unwritten(t, n, with_zeros->inverse, whole->inverse);
    left[OF_CORIOLIS] += count_unwritten(t, n, with_zeros->coriolis_matrix, whole->coriolis_matrix);
    left[OF_REGRESSOR] += count_unwritten(t, 10 * t->model->n_rows * t->nv, with_zeros->regressor, whole->regressor);
    left[OF_JACOBIAN] += count_unwritten(t, 6 * t->nv, with_zeros->jacobian, whole->jacobian);
    left[OF_DQDD_DQ] += count_unwritten(t, n, with_zeros->dqdd_dq, whole->dqdd_dq);
    count_unwritten(t, n, with_zeros->dqdd_dqd, whole->dqdd_dqd);
    count_unwritten(t, n, with_zeros->dqdd_dtau, whole->dqdd_dtau);
    count_unwritten(t, n, with_zeros->dtau_dq, whole->dtau_dq);
    count_unwritten(t, n, with_zeros->dtau_dqd, whole->dtau_dqd);
    count_unwritten(t, 6 * t->nv, with_zeros->jacobian_dot, whole->jacobian_dot);
}

/* With zeros_are_set a kernel does not write entries that are zero in every state; all others must have the same bits
 * as without. Few robots have branches, so the test draws robots until such zeros occur. */
static void test_zeros_are_set(void **state)
{
    enum { MOST = 64 };
    size_t left[LEFT] = {0};
    for (uint64_t seed = 1;
         seed <= MOST && (seed <= 4 * ROBOTS || left[OF_M] == 0 || left[OF_DTAU_DQDD] == 0 || left[OF_INVERSE] == 0);
         seed++) {
        trial   t     = trial_make(seed, 11);
        results whole = results_allocate(&t), with_zeros = results_allocate(&t);
        for (size_t target = 0; dyn_kernels_at(target); target++) {
            const dyn_kernels *k = dyn_kernels_at(target);
            evaluate_with_zeros(k, &t, false, &whole), derive_with_zeros(k, &t, false, &whole);
            evaluate_with_zeros(k, &t, true, &with_zeros), derive_with_zeros(k, &t, true, &with_zeros);
            count_all_unwritten(&t, &with_zeros, &whole, left);
        }
        results_free(&whole);
        results_free(&with_zeros);
        trial_free(&t);
    }
    for (size_t i = 0; i < LEFT; i++)
        assert_true(left[i] > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_target_size_and_place),
        cmocka_unit_test(test_special_values),
        cmocka_unit_test(test_threads_at_once),
        cmocka_unit_test(test_results_do_not_depend_on_other_outputs),
        cmocka_unit_test(test_zeros_are_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
