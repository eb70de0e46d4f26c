/* test_free_turns.c - checks spherical and floating joints inside the tree against other models that must have the same
 * results, on every target. */
#include "check.h"
#include "rows.h"
#include "trial.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROBOTS = 40, ROWS = 5 };

static const dyn_pose here = {.R = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};

/* Builds the same tree on a fixed base, with the floating base as a link. */
static random_tree with_fixed_base(const random_tree *floating)
{
    const dyn_description *d = &floating->description;
    random_tree            t = {.description = *d, .links = calloc(d->n_links + 1, sizeof *t.links)};
    assert_non_null(t.links);
    t.links[0] = (dyn_link){.parent  = DYN_WORLD,
                            .joint   = DYN_FLOATING,
                            .before  = here,
                            .after   = here,
                            .ratio   = 1,
                            .inertia = d->base_inertia};
    for (size_t i = 0; i < d->n_links; i++) {
        dyn_link *l = &t.links[i + 1];
        *l          = d->links[i];
        l->parent++;
        l->leader++;
        l->motor.link++;
    }
    t.description.floating = false;
    t.description.n_links  = d->n_links + 1;
    t.description.links    = t.links;
    t.drives               = calloc(d->n_drives + 1, sizeof *t.drives);
    assert_non_null(t.drives);
    t.description.drives = t.drives;
    for (size_t k = 0; k < d->n_drives; k++) {
        t.drives[k] = d->drives[k];
        for (size_t j = 0; j < t.drives[k].n; j++)
            t.drives[k].joint[j]++;
    }
    return t;
}

static void same(const char *what, const trial *t, size_t n, const double *a, const double *b)
{
    if (memcmp(a, b, n * sizeof *a) != 0)
        fail_msg("seed %llu: %s of a floating base and of a floating link differ", (unsigned long long)t->seed, what);
}

static void compare(const dyn_kernels *k, const trial *t, const dyn_scene *scene)
{
    const dyn_scene *scenes[2] = {&t->scene, scene};
    size_t           n = t->nv, nj = 6 * t->bodies;
    double          *tau[2], *wrench[2], *qdd[2], *singular[2], *M[2], *inverse[2], *dq[2], *dqd[2], *dM[2], *C[2];
    for (int i = 0; i < 2; i++) {
        tau[i] = trial_array(t, n), wrench[i] = trial_array(t, nj), qdd[i] = trial_array(t, n);
        singular[i] = trial_array(t, 1), M[i] = trial_array(t, n * n), inverse[i] = trial_array(t, n * n);
        dq[i] = trial_array(t, n * n), dqd[i] = trial_array(t, n * n), dM[i] = trial_array(t, n * n);
        C[i] = trial_array(t, n * n);
        rows_inverse_dynamics(
            k, scenes[i], ROWS,
            (dyn_inverse_dynamics){.q = t->q, .qd = t->qd, .qdd = t->qdd, .tau = tau[i], .joint_wrenches = wrench[i]});
        rows_forward_dynamics(
            k, scenes[i], ROWS,
            (dyn_forward_dynamics){.q = t->q, .qd = t->qd, .tau = t->tau, .qdd = qdd[i], .singular = singular[i]});
        rows_mass_matrix(
            k, scenes[i], ROWS,
            (dyn_mass_matrix){.q = t->q, .mass_matrix = M[i], .inverse = inverse[i], .singular = singular[i]});
        rows_sensitivity(
            k, scenes[i], ROWS,
            (dyn_sensitivity){
                .q = t->q, .qd = t->qd, .qdd = t->qdd, .dtau_dq = dq[i], .dtau_dqd = dqd[i], .dtau_dqdd = dM[i]});
        rows_coriolis(k, scenes[i], ROWS, (dyn_coriolis){.q = t->q, .qd = t->qd, .coriolis_matrix = C[i]});
    }
    same("tau", t, ROWS * n, tau[0], tau[1]);
    same("joint wrenches", t, ROWS * nj, wrench[0], wrench[1]);
    same("qdd", t, ROWS * n, qdd[0], qdd[1]);
    same("the mass matrix", t, ROWS * n * n, M[0], M[1]);
    same("its inverse", t, ROWS * n * n, inverse[0], inverse[1]);
    same("dtau/dq", t, ROWS * n * n, dq[0], dq[1]);
    same("dtau/dqd", t, ROWS * n * n, dqd[0], dqd[1]);
    same("the Coriolis matrix", t, ROWS * n * n, C[0], C[1]);
    for (int i = 0; i < 2; i++) {
        free(tau[i]), free(wrench[i]), free(qdd[i]), free(singular[i]), free(M[i]), free(inverse[i]);
        free(dq[i]), free(dqd[i]), free(dM[i]), free(C[i]);
    }
}

/* A floating base must equal a floating link on the ground, bit by bit. */
static void test_floating_base_is_a_floating_link(void **state)
{
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial       t     = trial_of(seed, random_tree_make(seed, 14, true, TREE_ALL), ROWS, 0);
        random_tree other = with_fixed_base(&t.tree);
        dyn_model  *m     = NULL;
        assert_int_equal(dyn_model_build(&other.description, &m, NULL), DYN_OK);
        dyn_scene scene = t.scene;
        scene.model     = m;
        assert_int_equal(m->nv, t.nv);
        const dyn_kernels *k;
        for (size_t i = 0; (k = dyn_kernels_at(i)); i++)
            compare(k, &t, &scene);
        dyn_model_free(m);
        random_tree_free(&other);
        trial_free(&t);
    }
}

/* Builds an arm with one joint that carries a floating body at `distance` metres. */
static trial arm_with_floating_body(double mass, double distance)
{
    random_tree tree = {.description = {.n_links = 2, .gravity = {0, 0, -9.81}},
                        .links       = calloc(2, sizeof *tree.links)};
    assert_non_null(tree.links);
    for (int i = 0; i < 2; i++)
        tree.links[i] = (dyn_link){.parent = i - 1, .before = here, .after = here, .axis = {0, 1, 0}, .ratio = 1};
    tree.links[0].joint    = DYN_REVOLUTE;
    tree.links[0].inertia  = (dyn_inertia){.mass = mass, .com = {0.1, 0, 0}};
    tree.links[1].joint    = DYN_FLOATING;
    tree.links[1].inertia  = (dyn_inertia){.mass = 3, .com = {0, 0.1, 0.2}, .about_com = {1, 0, 0, 2, 0, 2.5}};
    tree.description.links = tree.links;
    trial t                = trial_of(3, tree, ROWS, 0);
    for (size_t r = 0; r < ROWS; r++)
        t.q[r * t.nq + 1] += distance;
    return t;
}

/* A floating body must not load the arm that carries it, at any distance. A massless arm then has no pivot. An arm with
 * mass moves as if alone: m l^2 qdd = tau + m g l cos q about y. */
static void test_floating_bodies_do_not_load_their_parent(void **state)
{
    for (int weighs = 0; weighs < 2; weighs++)
        for (double distance = 0; distance <= 1e3; distance = 30 * distance + 1) {
            trial              t   = arm_with_floating_body(weighs ? 2 : 0, distance);
            double            *qdd = trial_array(&t, t.nv), *singular = trial_array(&t, 1);
            double            *M = trial_array(&t, t.nv * t.nv), *inverse = trial_array(&t, t.nv * t.nv);
            const dyn_kernels *k;
            for (size_t i = 0; (k = dyn_kernels_at(i)); i++) {
                rows_forward_dynamics(k, &t.scene, ROWS,
                                      (dyn_forward_dynamics){.q = t.q, .qd = t.qd, .qdd = qdd, .singular = singular});
                for (size_t r = 0; r < ROWS; r++) {
                    double expected = 9.81 * cos(t.q[r * t.nq]) / 0.1;
                    assert_true(singular[r] == (weighs ? -1 : 0));
                    if (weighs) check_close_scaled("qdd", r, 1, &qdd[r * t.nv], &expected, 1e-15, 98.1);
                }
                rows_mass_matrix(
                    k, &t.scene, ROWS,
                    (dyn_mass_matrix){.q = t.q, .mass_matrix = M, .inverse = inverse, .singular = singular});
                for (size_t r = 0; r < ROWS; r++) /* the floating body is subtracted from M */
                    assert_true(singular[r] == (weighs ? -1 : 0));
            }
            free(qdd), free(singular), free(M), free(inverse);
            trial_free(&t);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_floating_base_is_a_floating_link),
        cmocka_unit_test(test_floating_bodies_do_not_load_their_parent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
