/* test_free_turns.c - checks spherical and floating joints inside the tree against other models that must have the same
 * results, on every target. */
#include "tests/dynamics/support/check.h"
#include "tests/dynamics/support/rows.h"
#include "tests/target.h"
#include "tests/dynamics/support/trial.h"
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
    t.links[0] = (dyn_link){.parent               = DYN_WORLD,
                            .joint                = DYN_FLOATING,
                            .before               = here,
                            .after                = here,
                            .ratio                = 1,
                            .rotor_inertia        = d->base_rotor_inertia,
                            .spring               = {.damping = d->base_damping},
                            .inertia              = d->base_inertia,
                            .gravity_compensation = d->base_gravity_compensation};
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
   mass moves as without the body: m l^2 qdd = tau + m g l cos q about y. */
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

/* --- rotors ------------------------------------------------------------------------------------------------------ */

enum { PAIRS = 120, ORDER = 3 };

/* A robot with rotors in all joints with a quaternion that connect links to the world (`with`), and one with additional
   bodies instead of the rotors (`without`). */
typedef struct rotor_pair {
    trial      with;
    dyn_model *without;
} rotor_pair;

static bool turns_in_world(const dyn_body *b)
{
    return b->tree.parent == DYN_WORLD && dyn_joint_has_quaternion(b->joint.kind);
}

/* Builds both robots; false if no joint of the world has a quaternion. */
static bool make_pair(uint64_t seed, rotor_pair *pair)
{
    random_tree  tree  = random_tree_make(seed, 6 + seed % 14, seed % 2 == 0, TREE_ALL & ~(unsigned)TREE_ROTORS);
    dyn_model   *plain = NULL;
    dyn_payload  part[40];
    size_t       n = 0;
    const double J = 0.3 + 0.1 * (double)(seed % 7);
    memset(tree.description.gravity, 0, sizeof tree.description.gravity);
    assert_int_equal(dyn_model_build(&tree.description, &plain, NULL), DYN_OK);
    for (size_t i = 0; i < plain->n_bodies; i++)
        if (turns_in_world(&plain->body[i]))
            part[n++] = (dyn_payload){.body    = (int)i,
                                      .X_bf    = {.R = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
                                      .inertia = {.mass = J, .about_com = {J, 0, 0, J, 0, J}}};
    assert_int_equal(dyn_model_with_payload(plain, n, part, &pair->without), DYN_OK);
    for (size_t i = 0; i < plain->n_bodies; i++) {
        const int link = plain->body[i].tree.link;
        if (turns_in_world(&plain->body[i]))
            *(link == DYN_WORLD ? &tree.description.base_rotor_inertia : &tree.links[link].rotor_inertia) = J;
    }
    dyn_model_free(plain);
    pair->with = trial_of(seed, tree, 1, 0);
    return n > 0;
}

static void pair_free(rotor_pair *pair)
{
    dyn_model_free(pair->without);
    trial_free(&pair->with);
}

/* Results of one model: `size` numbers each. */
typedef struct result {
    const char *what;
    size_t      size;
    double     *values[2];
} result;

enum { RESULTS = 15 };

static void set_results(const trial *t, result r[RESULTS])
{
    const size_t n             = t->nv;
    const char  *what[RESULTS] = {"M",         "C",       "christoffel", "bias",          "coriolis",
                                  "tau",       "tau dot", "reference",   "dtau/dq",       "dtau/dqd",
                                  "dtau/dqdd", "rate",    "hessian",     "torque series", "kinetic energy"};
    const size_t size[RESULTS] = {n * n, n * n, n * n * n,       n, n, n, n, n, n * n, n * n, n * n,
                                  n * n, n * n, n * (ORDER + 1), 1};
    for (int i = 0; i < RESULTS; i++) {
        r[i] = (result){.what = what[i], .size = size[i]};
        for (int k = 0; k < 2; k++)
            r[i].values[k] = trial_array(t, size[i]);
    }
}

static void compute_all(const trial *t, const dyn_scene *scene, const double *motion, int k, result r[RESULTS])
{
    const dyn_kernels *kernels   = test_kernels();
    double            *unused[2] = {trial_array(t, t->nv * t->nv), trial_array(t, t->nv * t->nv)};
    rows_mass_matrix(kernels, scene, 1, (dyn_mass_matrix){.q = t->q, .mass_matrix = r[0].values[k]});
    rows_coriolis(
        kernels, scene, 1,
        (dyn_coriolis){.q = t->q, .qd = t->qd, .coriolis_matrix = r[1].values[k], .christoffel = r[2].values[k]});
    rows_bias(kernels, scene, 1,
              (dyn_bias){.q = t->q, .qd = t->qd, .bias = r[3].values[k], .coriolis = r[4].values[k]});
    rows_torque_derivative(
        kernels, scene, 1,
        (dyn_torque_derivative){
            .q = t->q, .qd = t->qd, .qdd = t->qdd, .qddd = t->qddd, .tau = r[5].values[k], .tau_dot = r[6].values[k]});
    rows_reference_dynamics(
        kernels, scene, 1,
        (dyn_reference_dynamics){
            .q = t->q, .qd = t->qd, .qd_reference = t->tau, .qdd_reference = t->qdd, .tau = r[7].values[k]});
    rows_sensitivity(kernels, scene, 1,
                     (dyn_sensitivity){.q         = t->q,
                                       .qd        = t->qd,
                                       .qdd       = t->qdd,
                                       .dtau_dq   = r[8].values[k],
                                       .dtau_dqd  = r[9].values[k],
                                       .dtau_dqdd = r[10].values[k]});
    rows_sensitivity_rate(kernels, scene, 1,
                          (dyn_sensitivity_rate){.q             = t->q,
                                                 .qd            = t->qd,
                                                 .qdd           = t->qdd,
                                                 .qddd          = t->qddd,
                                                 .dtau_dq_dot   = unused[0],
                                                 .dtau_dqd_dot  = r[11].values[k],
                                                 .dtau_dqdd_dot = unused[1]});
    rows_hessian(kernels, scene, 1,
                 (dyn_hessian){.q = t->q, .qd = t->qd, .qdd = t->qdd, .multipliers = t->tau, .qd_qd = r[12].values[k]});
    rows_torque_series(kernels, scene, 1,
                       (dyn_torque_series){.order = ORDER, .motion = motion, .tau = r[13].values[k]});
    rows_energy(kernels, scene, 1, (dyn_energy){.q = t->q, .qd = t->qd, .kinetic = r[14].values[k]});
    free(unused[0]), free(unused[1]);
}

static double *motion_of(const trial *t)
{
    random_source source = {.state = t->seed};
    double       *motion = trial_array(t, t->nq + (ORDER + 2) * t->nv);
    memcpy(motion, t->q, t->nq * sizeof *motion);
    random_vector(&source, (ORDER + 2) * t->nv, 2, motion + t->nq);
    return motion;
}

/* The rotor of a spherical or floating joint of the world, without gravity, is a point mass in its place that has an
 * isotropic tensor: T = J (p'.p' + w.w) / 2 is the energy of both. The tolerance is the rounding of sums along at most
 * 40 bodies, relative to the largest entry. */
static void test_rotor_of_the_world_is_a_body(void **state)
{
    size_t compared = 0;
    for (uint64_t seed = 1; seed <= PAIRS; seed++) {
        rotor_pair pair;
        if (make_pair(seed, &pair)) {
            const trial    *t      = &pair.with;
            const dyn_scene scene  = {.model = pair.without, .terms = DYN_ALL_TERMS};
            double         *motion = motion_of(t);
            result          r[RESULTS];
            set_results(t, r);
            compute_all(t, &t->scene, motion, 0, r);
            compute_all(t, &scene, motion, 1, r);
            for (int i = 0; i < RESULTS; i++) {
                check_close_scaled(r[i].what, seed, r[i].size, r[i].values[0], r[i].values[1], 1e-12,
                                   largest(t->nv * t->nv, r[0].values[1]));
                free(r[i].values[0]), free(r[i].values[1]);
            }
            free(motion);
            compared++;
        }
        pair_free(&pair);
    }
    assert_true(compared > PAIRS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_floating_base_is_a_floating_link),
        cmocka_unit_test(test_floating_bodies_do_not_load_their_parent),
        cmocka_unit_test(test_rotor_of_the_world_is_a_body),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
