/* test_hybrid_dynamics.c - checks forward dynamics with driven coordinates (moving bases, passive joints) against the
 * dense partition of M, on every target. */
#include "tests/dynamics/support/check.h"
#include "tests/dynamics/support/rows.h"
#include "tests/dynamics/support/trial.h"
#include "tests/target.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROBOTS = 400, ROWS = 3 };

/* Rounding errors of a few units in the last place of M and of the forces, times the condition of the robot
 * (trial_leverage). */
#define TOLERANCE (8 * DBL_EPSILON)

/* Holds a robot with some coordinates driven: `driven_qdd` is their qdd, 0 for all others. */
typedef struct hybrid {
    trial   t;
    bool   *driven;
    double *driven_qdd, *qdd, *tau, *singular;
} hybrid;

/* Decides whether coordinate v is driven. Five cases: a driven base with free joints, a free base with driven joints,
 * half of both, one driven coordinate, one free coordinate. */
static bool choose_driven(const trial *t, uint64_t seed, random_source *source, size_t v)
{
    bool of_base = t->model->floating && v < 6;
    switch (seed / 3 % 5) {
    case 0: return !of_base;
    case 1: return of_base;
    case 2: return v == seed % t->nv;
    case 3: return v != seed % t->nv;
    default: return random_chance(source, 0.5);
    }
}

static hybrid hybrid_of(trial t, bool (*chosen)(const trial *, uint64_t, random_source *, size_t))
{
    hybrid        h      = {.t = t, .driven = calloc(t.nv, sizeof *h.driven)};
    random_source source = {.state = t.seed * 5};
    assert_non_null(h.driven);
    h.driven_qdd = trial_array(&t, t.nv);
    h.qdd        = trial_array(&t, t.nv);
    h.tau        = trial_array(&t, t.nv);
    h.singular   = trial_array(&t, 1);
    for (size_t v = 0; v < t.nv; v++)
        h.driven[v] = chosen(&t, t.seed, &source, v);
    for (size_t i = 0; i < t.rows * t.nv; i++)
        if (h.driven[i % t.nv]) h.driven_qdd[i] = t.qdd[i];
    return h;
}

static hybrid hybrid_make(uint64_t seed)
{
    return hybrid_of(trial_make(seed, ROWS), choose_driven);
}

static void hybrid_free(hybrid *h)
{
    free(h->driven), free(h->driven_qdd), free(h->qdd), free(h->tau), free(h->singular);
    trial_free(&h->t);
}

static void forward(const dyn_kernels *k, const hybrid *h)
{
    rows_forward_dynamics(k, &h->t.scene, h->t.rows,
                          (dyn_forward_dynamics){.q          = h->t.q,
                                                 .qd         = h->t.qd,
                                                 .tau        = h->t.tau,
                                                 .wrenches   = h->t.wrenches,
                                                 .driven     = h->driven,
                                                 .driven_qdd = h->driven_qdd,
                                                 .qdd        = h->qdd,
                                                 .singular   = h->singular});
}

static void inverse(const dyn_kernels *k, const hybrid *h)
{
    rows_inverse_dynamics(
        k, &h->t.scene, h->t.rows,
        (dyn_inverse_dynamics){.q = h->t.q, .qd = h->t.qd, .qdd = h->qdd, .wrenches = h->t.wrenches, .tau = h->tau});
}

/* Compares with the solution by the dense partition of M, which for a moving base is Khalil (2010), eqs. 83-88.
 * Prescribed accelerations are returned unchanged. */
static void compare_with_partition(const hybrid *h)
{
    const trial *t        = &h->t;
    double      *expected = trial_array(t, t->nv), *size = trial_array(t, 1);
    memcpy(expected, h->driven_qdd, t->rows * t->nv * sizeof *expected);
    for (size_t r = 0; r < t->rows; r++) {
        reference_wrench w[TRIAL_WRENCHES];
        reference_scene  scene  = trial_reference_scene(t, r, w);
        reference       *ref    = trial_reference(t, r);
        size_t           offset = r * t->nv;
        assert_true(reference_hybrid_dynamics(ref, &scene, h->driven, t->tau + offset, expected + offset));
        size[r] = trial_leverage(t, ref, &scene, t->tau + offset, expected + offset);
        reference_free(ref);
    }
    const dyn_kernels *k;
    for (size_t i = 0; (k = dyn_kernels_at(i)); i++) {
        forward(k, h);
        for (size_t r = 0; r < t->rows; r++) {
            size_t offset = r * t->nv;
            assert_true(h->singular[r] == -1);
            check_close_scaled(k->target, t->seed, t->nv, h->qdd + offset, expected + offset, TOLERANCE, size[r]);
            for (size_t v = 0; v < t->nv; v++)
                if (h->driven[v]) assert_memory_equal(&h->qdd[offset + v], &h->driven_qdd[offset + v], sizeof *h->qdd);
        }
    }
    free(expected), free(size);
}

static void test_random_robots(void **state)
{
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        hybrid h = hybrid_make(seed);
        compare_with_partition(&h);
        hybrid_free(&h);
    }
}

/* Inverse dynamics of the whole motion must return the torques of the free coordinates. Forward dynamics with all
 * torques and nothing driven must return the motion; for a moving base this is a floating base without force. */
static void check_round_trip(hybrid *h)
{
    const trial       *t = &h->t;
    const dyn_kernels *k = test_kernels();
    double            *M = trial_array(t, t->nv * t->nv), *bias = trial_array(t, t->nv), *back = trial_array(t, t->nv);
    double             size = 0;
    forward(k, h);
    inverse(k, h);
    rows_bias(k, &t->scene, t->rows, (dyn_bias){.q = t->q, .qd = t->qd, .wrenches = t->wrenches, .bias = bias});
    rows_mass_matrix(k, &t->scene, t->rows, (dyn_mass_matrix){.q = t->q, .mass_matrix = M});
    for (size_t r = 0; r < t->rows; r++)
        size = fmax(size, largest_row_sum(M + r * t->nv * t->nv, t->nv) * largest(t->nv, h->qdd + r * t->nv));
    size += largest(t->rows * t->nv, bias);
    for (size_t i = 0; i < t->rows * t->nv; i++)
        if (!h->driven[i % t->nv]) check_close_scaled("tau", t->seed, 1, &h->tau[i], &t->tau[i], 1e-15, size);
    rows_forward_dynamics(
        k, &t->scene, t->rows,
        (dyn_forward_dynamics){.q = t->q, .qd = t->qd, .tau = h->tau, .wrenches = t->wrenches, .qdd = back});
    for (size_t r = 0; r < t->rows; r++) {
        reference_wrench w[TRIAL_WRENCHES];
        reference_scene  scene  = trial_reference_scene(t, r, w);
        reference       *ref    = trial_reference(t, r);
        size_t           offset = r * t->nv;
        check_close_scaled("qdd", t->seed, t->nv, back + offset, h->qdd + offset, TOLERANCE,
                           trial_leverage(t, ref, &scene, h->tau + offset, h->qdd + offset));
        reference_free(ref);
    }
    free(M), free(bias), free(back);
}

static void test_round_trip(void **state)
{
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        hybrid h = hybrid_make(seed);
        check_round_trip(&h);
        hybrid_free(&h);
    }
}

static bool all(const trial *t, uint64_t seed, random_source *source, size_t v)
{
    return true;
}
static bool none(const trial *t, uint64_t seed, random_source *source, size_t v)
{
    return false;
}

/* With nothing driven the result must be that of forward dynamics; with everything driven, the prescribed motion: both
 * bit by bit. */
static void test_all_or_no_coordinates_driven(void **state)
{
    const dyn_kernels *k = test_kernels();
    for (uint64_t seed = 1; seed <= 60; seed++) {
        hybrid  h   = hybrid_of(trial_make(seed, ROWS), none);
        trial  *t   = &h.t;
        double *qdd = trial_array(t, t->nv);
        rows_forward_dynamics(
            k, &t->scene, t->rows,
            (dyn_forward_dynamics){.q = t->q, .qd = t->qd, .tau = t->tau, .wrenches = t->wrenches, .qdd = qdd});
        forward(k, &h);
        assert_memory_equal(h.qdd, qdd, t->rows * t->nv * sizeof *qdd);
        hybrid_free(&h);
        free(qdd);
        h = hybrid_of(trial_make(seed, ROWS), all);
        forward(k, &h);
        assert_memory_equal(h.qdd, h.t.qdd, h.t.rows * h.t.nv * sizeof *qdd);
        for (size_t r = 0; r < h.t.rows; r++)
            assert_true(h.singular[r] == -1);
        hybrid_free(&h);
    }
}

/* Prescribed accelerations that are NULL mean zeros; torques of driven coordinates are ignored. */
static void test_null_and_ignored_arrays(void **state)
{
    const dyn_kernels *k = test_kernels();
    for (uint64_t seed = 1; seed <= 60; seed++) {
        hybrid  h   = hybrid_make(seed);
        trial  *t   = &h.t;
        double *qdd = trial_array(t, t->nv);
        memset(h.driven_qdd, 0, t->rows * t->nv * sizeof *h.driven_qdd);
        forward(k, &h);
        for (size_t i = 0; i < t->rows * t->nv; i++)
            if (h.driven[i % t->nv]) t->tau[i] = NAN;
        rows_forward_dynamics(
            k, &t->scene, t->rows,
            (dyn_forward_dynamics){
                .q = t->q, .qd = t->qd, .tau = t->tau, .wrenches = t->wrenches, .driven = h.driven, .qdd = qdd});
        assert_memory_equal(h.qdd, qdd, t->rows * t->nv * sizeof *qdd);
        free(qdd);
        hybrid_free(&h);
    }
}

static bool last(const trial *t, uint64_t seed, random_source *source, size_t v)
{
    return v == t->nv - 1;
}
static bool but_last(const trial *t, uint64_t seed, random_source *source, size_t v)
{
    return v != t->nv - 1;
}

/* A massless last link has no pivot: it is reported if its joint is free, and has no effect if its joint is driven. */
static void test_massless_end(void **state)
{
    for (uint64_t seed = 1; seed <= 40; seed++)
        for (int drives = 0; drives < 2; drives++) {
            random_tree tree = random_chain_make(seed, 8, seed % 2, 0);
            size_t      end  = tree.description.n_links;
            while (tree.links[--end].joint == DYN_FIXED)
                tree.links[end].inertia = (dyn_inertia){0};
            tree.links[end].inertia = (dyn_inertia){0};
            hybrid             h    = hybrid_of(trial_of(seed, tree, ROWS, 0), drives ? last : but_last);
            const dyn_kernels *k;
            for (size_t i = 0; (k = dyn_kernels_at(i)); i++) {
                forward(k, &h);
                for (size_t r = 0; r < h.t.rows; r++)
                    assert_int_equal(h.singular[r] == (double)h.t.bodies - 1, !drives);
            }
            hybrid_free(&h);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_robots),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_all_or_no_coordinates_driven),
        cmocka_unit_test(test_null_and_ignored_arrays),
        cmocka_unit_test(test_massless_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
