/* test_payload.c - checks that a model with payloads equals the model of a description with the same bodies fixed to
 * its links. */
#include "tests/dynamics/support/check.h"
#include "tests/dynamics/support/pose.h"
#include "tests/dynamics/support/rows.h"
#include "tests/dynamics/support/trial.h"
#include "tests/target.h"
#include <stdlib.h>
#include <string.h>

/* The two models have the same sums, added in another order. */
#define TOLERANCE 1e-14

enum { ROBOTS = 120, PAYLOADS = 3, ROWS = 3 };

/* Names the place of a payload: a frame on a link of the description. */
typedef struct load {
    int      link;
    dyn_pose X_lf;
} load;

static void random_loads(const trial *t, load loads[PAYLOADS], dyn_payload payload[PAYLOADS])
{
    random_source source = {.state = t->seed * 31};
    for (int i = 0; i < PAYLOADS; i++) {
        const int             link  = (int)random_below(&source, t->model->n_links + 1) - 1;
        const dyn_link_place *place = link < 0 ? &t->model->base : &t->model->link[link];
        loads[i].link               = link;
        payload[i]                  = (dyn_payload){.gravity_compensation = random_chance(&source, 0.5) ? 0.7 : 0};
        random_pose(&source, &loads[i].X_lf);
        payload[i].body = place->body;
        payload[i].X_bf = pose_compose(&place->X_bl, &loads[i].X_lf);
        random_inertia(&source, &payload[i].inertia);
    }
}

/* Returns the links of the description and one more fixed link for each payload. */
static dyn_link *edited_links(const dyn_description *d, const load loads[PAYLOADS], const dyn_payload payload[PAYLOADS])
{
    const dyn_pose identity = {.R = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    dyn_link      *links    = calloc(d->n_links + PAYLOADS, sizeof *links);
    assert_non_null(links);
    memcpy(links, d->links, d->n_links * sizeof *links);
    for (int i = 0; i < PAYLOADS; i++)
        links[d->n_links + (size_t)i] = (dyn_link){.parent               = loads[i].link,
                                                   .joint                = DYN_FIXED,
                                                   .before               = loads[i].X_lf,
                                                   .after                = identity,
                                                   .ratio                = 1,
                                                   .inertia              = payload[i].inertia,
                                                   .gravity_compensation = payload[i].gravity_compensation};
    return links;
}

static void assert_same_body(uint64_t seed, const dyn_body *got, const dyn_body *expected)
{
    check_close("mass", seed, 1, &got->moments.mass, &expected->moments.mass, TOLERANCE);
    check_close("subtree_mass", seed, 1, &got->derived.subtree_mass, &expected->derived.subtree_mass, TOLERANCE);
    check_close_scaled("h", seed, 3, got->moments.h, expected->moments.h, TOLERANCE, expected->moments.mass);
    check_close("E", seed, 6, got->moments.E, expected->moments.E, TOLERANCE);
    assert_int_equal(got->tree.is_leaf, expected->tree.is_leaf);
    assert_int_equal(got->tree.is_last_child, expected->tree.is_last_child);
    assert_int_equal(got->pose.turn, expected->pose.turn);
    assert_memory_equal(&got->pose.X_bl, &expected->pose.X_bl, sizeof got->pose.X_bl);
}

static void compare_torques(trial *t, const dyn_model *loaded, const dyn_description *edited)
{
    double   *tau = trial_array(t, t->nv), *expected = trial_array(t, t->nv);
    dyn_scene scene = t->scene;
    scene.model     = loaded;
    for (size_t r = 0; r < t->rows; r++) {
        reference_wrench w[TRIAL_WRENCHES];
        reference_scene  world  = trial_reference_scene(t, r, w);
        size_t           offset = r * t->nv;
        reference       *ref    = reference_at(
                     edited, (reference_state){.q = t->q + r * t->nq, .qd = t->qd + offset, .qdd = t->qdd + offset});
        reference_inverse_dynamics(ref, &world, expected + offset, NULL);
        reference_free(ref);
    }
    rows_inverse_dynamics(
        test_kernels(), &scene, t->rows,
        (dyn_inverse_dynamics){.q = t->q, .qd = t->qd, .qdd = t->qdd, .wrenches = t->wrenches, .tau = tau});
    check_close_scaled("tau", t->seed, t->rows * t->nv, tau, expected, 2 * TOLERANCE, 9.81 * loaded->mass);
    free(tau), free(expected);
}

static void test_payload_is_a_fixed_link(void **state)
{
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial       t = trial_make(seed, ROWS);
        load        loads[PAYLOADS];
        dyn_payload payload[PAYLOADS];
        dyn_model  *loaded = NULL, *expected = NULL;
        random_loads(&t, loads, payload);
        dyn_description edited = t.tree.description;
        dyn_link       *links  = edited_links(&edited, loads, payload);
        edited.links           = links;
        edited.n_links += PAYLOADS;
        assert_int_equal(dyn_model_with_payload(t.model, PAYLOADS, payload, &loaded), DYN_OK);
        assert_int_equal(dyn_model_build(&edited, &expected, NULL), DYN_OK);
        assert_int_equal(loaded->n_bodies, expected->n_bodies);
        check_close("mass", seed, 1, &loaded->mass, &expected->mass, TOLERANCE);
        for (size_t b = 0; b < loaded->n_bodies; b++)
            assert_same_body(seed, &loaded->body[b], &expected->body[b]);
        compare_torques(&t, loaded, &edited);
        dyn_model_free(loaded);
        dyn_model_free(expected);
        free(links);
        trial_free(&t);
    }
}

/* Adding no payload, or a payload on the world, must change no bit; the model without payload stays unchanged. */
static void test_no_effect(void **state)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        trial                t       = trial_of(seed, random_tree_make(seed, 9, false, TREE_ALL), ROWS, 2);
        dyn_payload          payload = {.body = DYN_WORLD, .inertia = {.mass = 5, .com = {1, 1, 1}}};
        double              *tau = trial_array(&t, t.nv), *expected = trial_array(&t, t.nv);
        dyn_model           *copy = NULL, *loaded = NULL;
        dyn_scene            scene = t.scene;
        dyn_inverse_dynamics io    = {.q = t.q, .qd = t.qd, .qdd = t.qdd, .wrenches = t.wrenches};
        io.tau                     = expected;
        rows_inverse_dynamics(test_kernels(), &t.scene, t.rows, io);
        assert_int_equal(dyn_model_with_payload(t.model, 0, NULL, &copy), DYN_OK);
        assert_int_equal(dyn_model_with_payload(copy, 1, &payload, &loaded), DYN_OK);
        payload.body     = trial_last_link(&t)->body;
        payload.X_bf     = trial_last_link(&t)->X_bl;
        dyn_model *heavy = NULL;
        assert_int_equal(dyn_model_with_payload(t.model, 1, &payload, &heavy), DYN_OK);
        dyn_model_free(copy); /* the model with payload must not refer to the original */
        const dyn_model *same[] = {loaded, t.model};
        io.tau                  = tau;
        for (int i = 0; i < 2; i++) {
            scene.model = same[i];
            rows_inverse_dynamics(test_kernels(), &scene, t.rows, io);
            assert_memory_equal(tau, expected, t.rows * t.nv * sizeof *tau);
        }
        assert_true(heavy->mass > t.model->mass + 4.9);
        free(tau), free(expected);
        dyn_model_free(loaded);
        dyn_model_free(heavy);
        trial_free(&t);
    }
}

static void test_bad_payloads_are_refused(void **state)
{
    trial             t     = trial_make(1, 1);
    const dyn_payload bad[] = {{.body = -2},
                               {.body = (int)t.model->n_bodies},
                               {.body = 0, .inertia = {.mass = 0.0 / 0.0}},
                               {.body = 0, .inertia = {.about_com = {1.0 / 0.0}}}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        dyn_model *loaded = NULL;
        assert_int_equal(dyn_model_with_payload(t.model, 1, &bad[i], &loaded), DYN_BAD_NUMBER);
        assert_null(loaded);
    }
    trial_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_payload_is_a_fixed_link),
        cmocka_unit_test(test_no_effect),
        cmocka_unit_test(test_bad_payloads_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
