/* test_same_bits.c - a state gives the same bits alone, in a batch of any size, at any place in it and on any target.
 */
#include "check.h"
#include "rows.h"
#include "trial.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#ifndef SAME_BITS_ROBOTS
#define SAME_BITS_ROBOTS 16 /* fewer where a processor is emulated */
#endif
enum { BATCH = 40, ROBOTS = SAME_BITS_ROBOTS };

/* Every result of every kernel: name, entries of one state with n = nv, b = bodies, w = wrenches. */
/* clang-format off */
#define RESULTS(X)                                                                               \
    X(tau, n) X(joint_wrenches, 6 * b)                                                           \
    X(tau_beside_rate, n) X(tau_dot, n) X(wrenches_beside_rate, 6 * b) X(wrench_rates, 6 * b)    \
    X(dtau_dq, n * n) X(dtau_dqd, n * n) X(dtau_dqdd, n * n)                                     \
    X(dwrenches_dq, 6 * b * n) X(dwrenches_dqd, 6 * b * n) X(dwrenches_dqdd, 6 * b * n)          \
    X(dtau_dwrench, 6 * w * n) X(dtau_dgravity, 3 * n)                                           \
    X(dtau_dq_dot, n * n) X(dtau_dqd_dot, n * n) X(dtau_dqdd_dot, n * n)                         \
    X(qdd_beside_derivative, n) X(pivot_beside_derivative, 1)                                    \
    X(dqdd_dq, n * n) X(dqdd_dqd, n * n) X(dqdd_dtau, n * n) X(dqdd_dwrench, 6 * w * n)          \
    X(coriolis_matrix, n * n) X(christoffel, n * n * n)                                          \
    X(regressor, 10 * b * n) X(joint_regressor, 3 * joints(t) * n)                               \
    X(qdd, n) X(pivot, 1) X(qdd_beside_driven, n) X(pivot_beside_driven, 1)                      \
    X(mass_matrix, n * n) X(inverse, n * n) X(pivot_of_m, 1)                                     \
    X(bias, n) X(coriolis, n) X(gravity, n) X(friction, n)                                       \
    X(positions, 6) X(orientations, 8) X(jacobian, 6 * n) X(jacobian_dot, 6 * n)                 \
    X(velocity, 6) X(acceleration, 6) X(jerk, 6)                                                 \
    X(turned_jacobian, 6 * n) X(turned_jacobian_dot, 6 * n)                                      \
    X(turned_velocity, 6) X(turned_acceleration, 6) X(turned_jerk, 6)                            \
    X(kinetic, 1) X(potential, 1) X(com, 3) X(com_velocity, 3) X(com_jacobian, 3 * n)            \
    X(momentum, 6) X(momentum_matrix, 6 * n)                                                     \
    X(seen_position, 3) X(seen_rotation, 9)                                                      \
    X(seen_jacobian, 6 * n) X(seen_jacobian_dot, 6 * n) X(seen_jacobian_ddot, 6 * n)
/* clang-format on */

typedef struct results {
#define X(name, entries) double *name;
    RESULTS(X)
#undef X
} results;

static size_t joints(const trial *t)
{
    return t->model->n_movers;
}

static results allocate(const trial *t)
{
    results r;
    size_t  n = t->nv, b = t->bodies, w = t->scene.n_wrenches;
#define X(name, entries) r.name = trial_array(t, entries);
    RESULTS(X)
#undef X
    return r;
}

static void free_results(results *r)
{
#define X(name, entries) free(r->name);
    RESULTS(X)
#undef X
}

/* Two frames: on the base link and on the last link. */
static void two_frames(const trial *t, dyn_frame frames[2])
{
    const dyn_link_place *last = &t->model->link[t->model->n_links - 1];
    frames[0]                  = (dyn_frame){t->model->base.body, t->model->base.X_bl};
    frames[1]                  = (dyn_frame){last->body, last->X_bl};
}

static void evaluate_forces(const dyn_kernels *k, const trial *t, const results *r)
{
    rows_inverse_dynamics(k, &t->scene, t->rows,
                          (dyn_inverse_dynamics){.q              = t->q,
                                                 .qd             = t->qd,
                                                 .qdd            = t->qdd,
                                                 .wrenches       = t->wrenches,
                                                 .tau            = r->tau,
                                                 .joint_wrenches = r->joint_wrenches});
    rows_forward_dynamics(
        k, &t->scene, t->rows,
        (dyn_forward_dynamics){
            .q = t->q, .qd = t->qd, .tau = t->tau, .wrenches = t->wrenches, .qdd = r->qdd, .singular = r->pivot});
    rows_mass_matrix(
        k, &t->scene, t->rows,
        (dyn_mass_matrix){.q = t->q, .mass_matrix = r->mass_matrix, .inverse = r->inverse, .singular = r->pivot_of_m});
    rows_bias(k, &t->scene, t->rows,
              (dyn_bias){.q        = t->q,
                         .qd       = t->qd,
                         .wrenches = t->wrenches,
                         .bias     = r->bias,
                         .coriolis = r->coriolis,
                         .gravity  = r->gravity,
                         .friction = r->friction});
}

/* Every other coordinate driven. */
static void evaluate_driven(const dyn_kernels *k, const trial *t, const results *r)
{
    bool    driven[DYN_MAX_DOF];
    double *given = trial_array(t, t->nv);
    for (size_t i = 0; i < t->rows * t->nv; i++) {
        driven[i % t->nv] = i % t->nv % 2;
        if (driven[i % t->nv]) given[i] = t->qdd[i];
    }
    rows_forward_dynamics(k, &t->scene, t->rows,
                          (dyn_forward_dynamics){.q        = t->q,
                                                 .qd       = t->qd,
                                                 .tau      = t->tau,
                                                 .wrenches = t->wrenches,
                                                 .driven   = driven,
                                                 .given    = given,
                                                 .qdd      = r->qdd_beside_driven,
                                                 .singular = r->pivot_beside_driven});
    free(given);
}

/* The last link seen from the base. */
static void evaluate_closure(const dyn_kernels *k, const trial *t, const results *r)
{
    const dyn_link_place *first = &t->model->base, *last = &t->model->link[t->model->n_links - 1];
    const dyn_frame_pair  pair = {{first->body, first->X_bl}, {last->body, last->X_bl}};
    rows_closure(k, &t->scene, t->rows,
                 (dyn_closure){.q             = t->q,
                               .qd            = t->qd,
                               .qdd           = t->qdd,
                               .n_pairs       = 1,
                               .pairs         = &pair,
                               .positions     = r->seen_position,
                               .rotations     = r->seen_rotation,
                               .jacobian      = r->seen_jacobian,
                               .jacobian_dot  = r->seen_jacobian_dot,
                               .jacobian_ddot = r->seen_jacobian_ddot});
}

static void evaluate_derivatives(const dyn_kernels *k, const trial *t, const results *r)
{
    rows_torque_derivative(k, &t->scene, t->rows,
                           (dyn_torque_derivative){.q                  = t->q,
                                                   .qd                 = t->qd,
                                                   .qdd                = t->qdd,
                                                   .qddd               = t->qddd,
                                                   .wrenches           = t->wrenches,
                                                   .wrench_rates       = t->wrench_rates,
                                                   .tau                = r->tau_beside_rate,
                                                   .tau_dot            = r->tau_dot,
                                                   .joint_wrenches     = r->wrenches_beside_rate,
                                                   .joint_wrench_rates = r->wrench_rates});
    rows_sensitivity(k, &t->scene, t->rows,
                     (dyn_sensitivity){.q                    = t->q,
                                       .qd                   = t->qd,
                                       .qdd                  = t->qdd,
                                       .wrenches             = t->wrenches,
                                       .dtau_dq              = r->dtau_dq,
                                       .dtau_dqd             = r->dtau_dqd,
                                       .dtau_dqdd            = r->dtau_dqdd,
                                       .djoint_wrenches_dq   = r->dwrenches_dq,
                                       .djoint_wrenches_dqd  = r->dwrenches_dqd,
                                       .djoint_wrenches_dqdd = r->dwrenches_dqdd,
                                       .dtau_dwrench         = r->dtau_dwrench,
                                       .dtau_dgravity        = r->dtau_dgravity});
    rows_sensitivity_rate(k, &t->scene, t->rows,
                          (dyn_sensitivity_rate){.q             = t->q,
                                                 .qd            = t->qd,
                                                 .qdd           = t->qdd,
                                                 .qddd          = t->qddd,
                                                 .wrenches      = t->wrenches,
                                                 .dtau_dq_dot   = r->dtau_dq_dot,
                                                 .dtau_dqd_dot  = r->dtau_dqd_dot,
                                                 .dtau_dqdd_dot = r->dtau_dqdd_dot});
}

static void evaluate_matrices(const dyn_kernels *k, const trial *t, const results *r)
{
    rows_forward_sensitivity(k, &t->scene, t->rows,
                             (dyn_forward_sensitivity){.q            = t->q,
                                                       .qd           = t->qd,
                                                       .tau          = t->tau,
                                                       .wrenches     = t->wrenches,
                                                       .qdd          = r->qdd_beside_derivative,
                                                       .dqdd_dq      = r->dqdd_dq,
                                                       .dqdd_dqd     = r->dqdd_dqd,
                                                       .dqdd_dtau    = r->dqdd_dtau,
                                                       .dqdd_dwrench = r->dqdd_dwrench,
                                                       .singular     = r->pivot_beside_derivative});
    rows_coriolis(
        k, &t->scene, t->rows,
        (dyn_coriolis){.q = t->q, .qd = t->qd, .coriolis_matrix = r->coriolis_matrix, .christoffel = r->christoffel});
    rows_regressor(
        k, &t->scene, t->rows,
        (dyn_regressor){
            .q = t->q, .qd = t->qd, .qdd = t->qdd, .regressor = r->regressor, .joint_regressor = r->joint_regressor});
}

static void evaluate_motions(const dyn_kernels *k, const trial *t, const results *r)
{
    dyn_frame frames[2];
    two_frames(t, frames);
    dyn_kinematics io = {.q            = t->q,
                         .qd           = t->qd,
                         .qdd          = t->qdd,
                         .qddd         = t->qddd,
                         .n_frames     = 2,
                         .frames       = frames,
                         .positions    = r->positions,
                         .orientations = r->orientations,
                         .at           = &frames[1],
                         .jacobian     = r->jacobian,
                         .jacobian_dot = r->jacobian_dot,
                         .velocity     = r->velocity,
                         .acceleration = r->acceleration,
                         .jerk         = r->jerk};
    rows_kinematics(k, &t->scene, t->rows, io);
    rows_kinematics(k, &t->scene, t->rows,
                    (dyn_kinematics){.q            = t->q,
                                     .qd           = t->qd,
                                     .qdd          = t->qdd,
                                     .qddd         = t->qddd,
                                     .at           = &frames[1],
                                     .frame_axes   = true,
                                     .jacobian     = r->turned_jacobian,
                                     .jacobian_dot = r->turned_jacobian_dot,
                                     .velocity     = r->turned_velocity,
                                     .acceleration = r->turned_acceleration,
                                     .jerk         = r->turned_jerk});
    rows_energy(k, &t->scene, t->rows,
                (dyn_energy){.q               = t->q,
                             .qd              = t->qd,
                             .kinetic         = r->kinetic,
                             .potential       = r->potential,
                             .com             = r->com,
                             .com_velocity    = r->com_velocity,
                             .com_jacobian    = r->com_jacobian,
                             .momentum        = r->momentum,
                             .momentum_matrix = r->momentum_matrix});
}

static void evaluate(const dyn_kernels *k, const trial *t, const results *r)
{
    evaluate_forces(k, t, r);
    evaluate_driven(k, t, r);
    evaluate_derivatives(k, t, r);
    evaluate_closure(k, t, r);
    evaluate_matrices(k, t, r);
    evaluate_motions(k, t, r);
}

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

/* The scalar target, one state after another: what all others must give. */
static results evaluate_one_by_one(const trial *t)
{
    trial   single   = trial_make(t->seed, BATCH);
    results expected = allocate(t), one = allocate(t);
    size_t  n = t->nv, b = t->bodies, w = t->scene.n_wrenches;
    for (size_t r = 0; r < BATCH; r++) {
        copy_rows(t, &single, r, 1);
        evaluate(dyn_kernels_at(0), &single, &one);
#define X(name, entries) memcpy(expected.name + r * (entries), one.name, (entries) * sizeof(double));
        RESULTS(X)
#undef X
    }
    free_results(&one);
    trial_free(&single);
    return expected;
}

static void test_every_target_size_and_place(void **state)
{
    assert_int_equal(dyn_kernels_at(0)->lanes, 1);
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial              all = trial_make(seed, BATCH), some = trial_make(seed, BATCH);
        results            expected = evaluate_one_by_one(&all), got = allocate(&all);
        const dyn_kernels *k;
        for (size_t i = 0; (k = dyn_kernels_at(i)); i++)
            for (size_t n = 1; n <= BATCH; n++) {
                size_t first = (n * 7 + i) % BATCH; /* another start each time: every state visits every lane */
                copy_rows(&all, &some, first, n);
                evaluate(k, &some, &got);
                compare(k, &some, first, &got, &expected);
            }
        free_results(&expected);
        free_results(&got);
        trial_free(&all);
        trial_free(&some);
    }
}

/* Special values travel through every lane alike: zeros of both signs, denormals, the largest angle. */
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
        results            expected = evaluate_one_by_one(&all), got = allocate(&all);
        const dyn_kernels *k;
        for (size_t i = 0; (k = dyn_kernels_at(i)); i++) {
            evaluate(k, &all, &got);
            compare(k, &all, 0, &got, &expected);
        }
        free_results(&expected);
        free_results(&got);
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
    evaluate(dyn_kernels_find(NULL), w->t, &w->got);
    return NULL;
}

/* Threads share the model and nothing else. */
static void test_threads_at_once(void **state)
{
    enum { THREADS = 4 };
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial   t        = trial_make(seed, BATCH);
        results expected = evaluate_one_by_one(&t);
        worker  workers[THREADS];
        for (int i = 0; i < THREADS; i++) {
            workers[i] = (worker){.t = &t, .got = allocate(&t)};
            assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
        }
        for (int i = 0; i < THREADS; i++) {
            assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
            compare(dyn_kernels_find(NULL), &t, 0, &workers[i].got, &expected);
            free_results(&workers[i].got);
        }
        free_results(&expected);
        trial_free(&t);
    }
}

/* What else is asked for does not change a result. */
static void test_results_do_not_depend_on_what_else_is_asked(void **state)
{
    const dyn_kernels *k = dyn_kernels_find(NULL);
    for (uint64_t seed = 1; seed <= 60; seed++) {
        trial     t   = trial_make(seed, 5);
        results   all = allocate(&t), one = allocate(&t);
        dyn_frame frames[2];
        size_t    n = t.nv;
        two_frames(&t, frames);
        evaluate(k, &t, &all);
        rows_inverse_dynamics(
            k, &t.scene, t.rows,
            (dyn_inverse_dynamics){.q = t.q, .qd = t.qd, .qdd = t.qdd, .wrenches = t.wrenches, .tau = one.tau});
        rows_mass_matrix(k, &t.scene, t.rows, (dyn_mass_matrix){.q = t.q, .mass_matrix = one.mass_matrix});
        assert_memory_equal(one.tau, all.tau, t.rows * n * sizeof(double));
        assert_memory_equal(all.tau_beside_rate, all.tau, t.rows * n * sizeof(double));
        assert_memory_equal(all.wrenches_beside_rate, all.joint_wrenches, t.rows * t.bodies * 6 * sizeof(double));
        assert_memory_equal(one.mass_matrix, all.mass_matrix, t.rows * n * n * sizeof(double));
#define ALONE(kernel, field, entries, ...)                                                                             \
    rows_##kernel(k, &t.scene, t.rows, (dyn_##kernel){__VA_ARGS__, .field = one.field});                               \
    assert_memory_equal(one.field, all.field, t.rows *(entries) * sizeof(double))
        ALONE(torque_derivative, tau_dot, n, .q = t.q, .qd = t.qd, .qdd = t.qdd, .qddd = t.qddd, .wrenches = t.wrenches,
              .wrench_rates = t.wrench_rates);
        rows_sensitivity(k, &t.scene, t.rows,
                         (dyn_sensitivity){.q         = t.q,
                                           .qd        = t.qd,
                                           .qdd       = t.qdd,
                                           .wrenches  = t.wrenches,
                                           .dtau_dq   = one.dtau_dq,
                                           .dtau_dqd  = one.dtau_dqd,
                                           .dtau_dqdd = one.dtau_dqdd});
        assert_memory_equal(one.dtau_dq, all.dtau_dq, t.rows * n * n * sizeof(double));
        assert_memory_equal(one.dtau_dqd, all.dtau_dqd, t.rows * n * n * sizeof(double));
        assert_memory_equal(one.dtau_dqdd, all.dtau_dqdd, t.rows * n * n * sizeof(double));
        ALONE(bias, bias, n, .q = t.q, .qd = t.qd, .wrenches = t.wrenches);
        ALONE(bias, coriolis, n, .q = t.q, .qd = t.qd);
        ALONE(bias, gravity, n, .q = t.q);
        ALONE(bias, friction, n, .q = t.q, .qd = t.qd);
        ALONE(kinematics, positions, 6, .q = t.q, .n_frames = 2, .frames = frames);
        ALONE(kinematics, orientations, 8, .q = t.q, .n_frames = 2, .frames = frames);
        ALONE(kinematics, jacobian, 6 * n, .q = t.q, .at = &frames[1]);
        ALONE(kinematics, jacobian_dot, 6 * n, .q = t.q, .qd = t.qd, .at = &frames[1]);
        ALONE(kinematics, velocity, 6, .q = t.q, .qd = t.qd, .at = &frames[1]);
        ALONE(kinematics, acceleration, 6, .q = t.q, .qd = t.qd, .qdd = t.qdd, .at = &frames[1]);
        ALONE(energy, kinetic, 1, .q = t.q, .qd = t.qd);
        ALONE(energy, potential, 1, .q = t.q);
        ALONE(energy, com, 3, .q = t.q);
        ALONE(energy, com_velocity, 3, .q = t.q, .qd = t.qd);
        ALONE(energy, com_jacobian, 3 * n, .q = t.q);
        ALONE(energy, momentum, 6, .q = t.q, .qd = t.qd);
        ALONE(energy, momentum_matrix, 6 * n, .q = t.q);
#undef ALONE
        free_results(&all);
        free_results(&one);
        trial_free(&t);
    }
}

/* One matrix of all rows, evaluated where results are said to stand already, beside another that is written whole. What
 * is left as the memory was (rows.c: all bits set) is zero in every state; how much of it there is. */
static size_t left_standing(const trial *t, const double *standing, const double *whole)
{
    size_t left = 0, n = t->nv * t->nv;
    for (size_t i = 0; i < t->rows * n; i++) {
        const uint64_t untouched = UINT64_MAX;
        const double   zero      = 0;
        bool           same      = memcmp(&standing[i], &untouched, sizeof untouched) == 0;
        left += same;
        assert_memory_equal(&whole[i], same ? &zero : &standing[i], sizeof zero);
    }
    return left;
}

/* Where zeros stand, all else gets the same bits. */
static void test_zeros_that_stand(void **state)
{
    size_t left[2] = {0};
    for (uint64_t seed = 1; seed <= 4 * ROBOTS; seed++) {
        trial   t     = trial_make(seed, 11);
        results whole = allocate(&t), standing = allocate(&t);
        for (size_t target = 0; dyn_kernels_at(target); target++) {
            const dyn_kernels *k      = dyn_kernels_at(target);
            results           *each[] = {&whole, &standing};
            for (int stand = 0; stand < 2; stand++) {
                const results *r = each[stand];
                rows_mass_matrix(
                    k, &t.scene, t.rows,
                    (dyn_mass_matrix){
                        .q = t.q, .zeros_stand = stand, .mass_matrix = r->mass_matrix, .inverse = r->inverse});
                rows_sensitivity(k, &t.scene, t.rows,
                                 (dyn_sensitivity){.q           = t.q,
                                                   .qd          = t.qd,
                                                   .qdd         = t.qdd,
                                                   .wrenches    = t.wrenches,
                                                   .zeros_stand = stand,
                                                   .dtau_dq     = r->dtau_dq,
                                                   .dtau_dqd    = r->dtau_dqd,
                                                   .dtau_dqdd   = r->dtau_dqdd});
            }
            assert_memory_equal(standing.inverse, whole.inverse, t.rows * t.nv * t.nv * sizeof(double));
            left[0] += left_standing(&t, standing.mass_matrix, whole.mass_matrix);
            left[1] += left_standing(&t, standing.dtau_dqdd, whole.dtau_dqdd);
            left_standing(&t, standing.dtau_dq, whole.dtau_dq);
            left_standing(&t, standing.dtau_dqd, whole.dtau_dqd);
        }
        free_results(&whole);
        free_results(&standing);
        trial_free(&t);
    }
    assert_true(left[0] > 0 && left[1] > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_target_size_and_place),
        cmocka_unit_test(test_special_values),
        cmocka_unit_test(test_threads_at_once),
        cmocka_unit_test(test_results_do_not_depend_on_what_else_is_asked),
        cmocka_unit_test(test_zeros_that_stand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
