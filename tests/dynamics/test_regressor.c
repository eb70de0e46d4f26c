/* test_regressor.c - compares the regressors times the parameters of the description with inverse dynamics, energy and
 * momentum. */
#include "tests/dynamics/support/check.h"
#include "tests/dynamics/support/complex_step.h"
#include "tests/dynamics/support/rows.h"
#include "tests/dynamics/support/trial.h"
#include "tests/target.h"
#include <stdlib.h>
#include <string.h>

/* Relative to the largest torque or joint wrench: rounding of sums along at most 40 bodies. */
#define TOLERANCE 1e-12

/* Relative to the largest value or to the order of the terms: rounding of sums along at most 40 bodies. */
#define ENERGY_TOLERANCE 1e-13

enum { ROBOTS = 200, ROWS = 3 };

/* Adds an inertia in a link frame to the parameters about the origin of the body's link frame. X: pose of the inertia's
 * frame in the body's link frame. */
static void add_parameters(const dyn_pose *X, const dyn_inertia *inertia, double *p)
{
    static const int indices[6][2] = {{0, 0}, {0, 1}, {1, 1}, {0, 2}, {1, 2}, {2, 2}};
    const double    *t             = inertia->about_com;
    double           T[3][3] = {{t[0], t[1], t[2]}, {t[1], t[3], t[4]}, {t[2], t[4], t[5]}}, c[3], square = 0;
    for (int i = 0; i < 3; i++) {
        c[i] = X->p[i];
        for (int k = 0; k < 3; k++)
            c[i] += X->R[i][k] * inertia->com[k];
        square += c[i] * c[i];
        p[1 + i] += inertia->mass * c[i];
    }
    p[0] += inertia->mass;
    for (int e = 0; e < 6; e++) {
        int    i = indices[e][0], j = indices[e][1];
        double sum = inertia->mass * ((i == j ? square : 0) - c[i] * c[j]);
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++)
                sum += X->R[i][a] * T[a][b] * X->R[j][b];
        p[4 + e] += sum;
    }
}

/* Computes X_lf from X_bl and X_bf. */
static dyn_pose relative_pose(const dyn_pose *X_bl, const dyn_pose *X_bf)
{
    dyn_pose X = {0};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            X.p[i] += X_bl->R[k][i] * (X_bf->p[k] - X_bl->p[k]);
            for (int j = 0; j < 3; j++)
                X.R[i][j] += X_bl->R[k][i] * X_bf->R[k][j];
        }
    return X;
}

static double *parameters_of(const trial *t)
{
    const dyn_model *m = t->model;
    double          *p = calloc(10 * t->bodies, sizeof *p);
    assert_non_null(p);
    if (m->floating) {
        dyn_pose X = relative_pose(&m->body[0].pose.X_bl, &m->base.X_bl);
        add_parameters(&X, &t->tree.description.base_inertia, p);
    }
    for (size_t i = 0; i < m->n_links; i++) {
        int body = m->link[i].body;
        if (body == DYN_WORLD) continue;
        dyn_pose X = relative_pose(&m->body[body].pose.X_bl, &m->link[i].X_bl);
        add_parameters(&X, &t->tree.description.links[i].inertia, p + 10 * m->body[body].tree.row);
    }
    return p;
}

/* Computes torque += Y p for one row. */
static void multiply(size_t nv, size_t n, const double *Y, const double *p, double *torque)
{
    for (size_t i = 0; i < nv; i++)
        for (size_t k = 0; k < n; k++)
            torque[i] += Y[i * n + k] * p[k];
}

/* Lists the parameters of joints in the order of their links, then of the motors of elastic joints and of coupled
 * transmissions: rotor or spin inertia, viscous, Coulomb. */
static double *joint_parameters_of(const trial *t)
{
    const dyn_description *d = &t->tree.description;
    double                *p = calloc(3 * t->model->n_movers + 1, sizeof *p), *next = p;
    assert_non_null(p);
    for (size_t i = 0; i < d->n_links; i++) {
        const dyn_link *l = &d->links[i];
        if (l->joint == DYN_FIXED) continue;
        if (!l->elastic) next[0] = l->motor.present ? l->motor.spin_inertia : l->rotor_inertia;
        next[1] = l->friction.viscous + (l->elastic ? 0 : l->motor.friction.viscous);
        next[2] = l->friction.positive + (l->elastic ? 0 : l->motor.friction.positive);
        next += 3;
    }
    for (size_t i = 0; i < d->n_links; i++) {
        const dyn_link *l = &d->links[i];
        if (!l->elastic) continue;
        next[0] = l->motor.present ? l->motor.spin_inertia : l->rotor_inertia;
        next[1] = l->motor.friction.viscous;
        next[2] = l->motor.friction.positive;
        next += 3;
    }
    for (size_t k = 0; k < d->n_drives; k++, next += 3) {
        next[0] = d->drives[k].rotor_inertia;
        next[1] = d->drives[k].friction.viscous;
        next[2] = d->drives[k].friction.positive;
    }
    assert_ptr_equal(next, p + 3 * t->model->n_movers);
    return p;
}

/* Makes a random robot whose base has no rotor, since the regressor has no column for the rotor of a base. */
static trial trial_in_columns(uint64_t seed, size_t rows)
{
    trial t = trial_make(seed, rows);
    dyn_model_free(t.model);
    t.tree.description.base_rotor_inertia = 0;
    random_tree_share_compensation(&t.tree);
    assert_int_equal(dyn_model_build(&t.tree.description, &t.model, NULL), DYN_OK);
    t.scene.model = t.model;
    return t;
}

/* Compares with inverse dynamics without wrenches, friction and springs; the rotors are in the joint regressor. */
static void test_inverse_dynamics(void **state)
{
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial     t     = trial_in_columns(seed, ROWS);
        dyn_scene scene = t.scene;
        size_t    nj = t.model->n_movers, n = 10 * t.bodies;
        scene.terms = 0, scene.n_wrenches = 0;
        double *Y = trial_array(&t, t.nv * n), *Yj = trial_array(&t, t.nv * 3 * nj), *p = parameters_of(&t);
        double *tau = trial_array(&t, t.nv), *expected = trial_array(&t, t.nv),
               *wrenches = trial_array(&t, 6 * t.bodies);
        double *joint    = joint_parameters_of(&t);
        for (size_t i = 0; i < nj; i++)
            joint[3 * i + 1] = joint[3 * i + 2] = 0;
        rows_regressor(test_kernels(), &scene, ROWS,
                       (dyn_regressor){.q = t.q, .qd = t.qd, .qdd = t.qdd, .regressor = Y, .joint_regressor = Yj});
        rows_inverse_dynamics(
            test_kernels(), &scene, ROWS,
            (dyn_inverse_dynamics){.q = t.q, .qd = t.qd, .qdd = t.qdd, .tau = expected, .joint_wrenches = wrenches});
        for (size_t r = 0; r < ROWS; r++) {
            multiply(t.nv, n, Y + r * t.nv * n, p, tau + r * t.nv);
            multiply(t.nv, 3 * nj, Yj + r * t.nv * 3 * nj, joint, tau + r * t.nv);
        }
        check_close_scaled("tau", seed, ROWS * t.nv, tau, expected, TOLERANCE, largest(ROWS * 6 * t.bodies, wrenches));
        free(Y), free(Yj), free(p), free(tau), free(expected), free(wrenches), free(joint);
        trial_free(&t);
    }
}

/* Compares at a reference velocity and acceleration, with gravity. */
static void test_reference(void **state)
{
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial     t     = trial_in_columns(seed, 1);
        dyn_scene scene = t.scene;
        size_t    nj = t.model->n_movers, n = 10 * t.bodies;
        scene.terms = 0, scene.n_wrenches = 0;
        double *Y = trial_array(&t, t.nv * n), *Yj = trial_array(&t, t.nv * 3 * nj), *p = parameters_of(&t),
               *joint = joint_parameters_of(&t), *tau = trial_array(&t, t.nv), *expected = trial_array(&t, t.nv);
        for (size_t i = 0; i < nj; i++)
            joint[3 * i + 1] = joint[3 * i + 2] = 0;
        rows_regressor(test_kernels(), &scene, 1,
                       (dyn_regressor){.q               = t.q,
                                       .qd              = t.qd,
                                       .qd_reference    = t.qdd,
                                       .qdd_reference   = t.qddd,
                                       .regressor       = Y,
                                       .joint_regressor = Yj});
        rows_reference_dynamics(
            test_kernels(), &scene, 1,
            (dyn_reference_dynamics){
                .q = t.q, .qd = t.qd, .qd_reference = t.qdd, .qdd_reference = t.qddd, .tau = expected});
        multiply(t.nv, n, Y, p, tau);
        multiply(t.nv, 3 * nj, Yj, joint, tau);
        check_close_scaled("tau", seed, t.nv, tau, expected, TOLERANCE, largest(t.nv, expected));
        free(Y), free(Yj), free(p), free(joint), free(tau), free(expected);
        trial_free(&t);
    }
}

/* Sharp friction with equal magnitudes in both directions must equal the two friction columns times the parameters. */
static void test_friction(void **state)
{
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        random_tree tree = random_tree_make(seed, 12, false, TREE_ALL & ~(unsigned)TREE_SPRINGS);
        for (size_t i = 0; i < tree.description.n_links; i++) {
            dyn_friction *both[] = {&tree.links[i].friction, &tree.links[i].motor.friction};
            for (int k = 0; k < 2; k++)
                *both[k] = (dyn_friction){
                    .viscous = both[k]->viscous, .positive = both[k]->positive, .negative = both[k]->positive};
        }
        for (size_t k = 0; k < tree.description.n_drives; k++) {
            dyn_friction *f = &tree.drives[k].friction;
            *f              = (dyn_friction){.viscous = f->viscous, .positive = f->positive, .negative = f->positive};
        }
        trial   t = trial_of(seed, tree, 1, 0);
        size_t  n = 3 * t.model->n_movers;
        double *Y = trial_array(&t, t.nv * n), *p = joint_parameters_of(&t), *tau = trial_array(&t, t.nv),
               *expected = trial_array(&t, t.nv);
        for (size_t i = 0; i < n; i += 3)
            p[i] = 0;
        rows_regressor(test_kernels(), &t.scene, 1, (dyn_regressor){.q = t.q, .qd = t.qd, .joint_regressor = Y});
        rows_bias(test_kernels(), &t.scene, 1, (dyn_bias){.q = t.q, .qd = t.qd, .friction = expected});
        multiply(t.nv, n, Y, p, tau);
        check_close("friction", seed, t.nv, tau, expected, TOLERANCE);
        free(Y), free(p), free(tau), free(expected);
        trial_free(&t);
    }
}

/* Energies and momentum of all rows, by the energy kernel or from the regressors. */
typedef struct energies {
    double kinetic[ROWS], potential[ROWS], com[3 * ROWS], momentum[6 * ROWS];
} energies;

/* Adds the products of the rows of a matrix, m x n for each state, with n parameters. */
static void add_rows_times(size_t m, size_t n, const double *Y, const double *p, double *sum)
{
    for (size_t r = 0; r < ROWS; r++)
        multiply(m, n, Y + r * m * n, p, sum + r * m);
}

/* Computes energies and the momentum about the world's origin from the regressors. */
static energies regressed_energies(const trial *t, const dyn_scene *scene)
{
    const size_t n = 10 * t->bodies, nj = 3 * t->model->n_movers;
    double      *p = parameters_of(t), *joint = joint_parameters_of(t), *T = trial_array(t, n), *V = trial_array(t, n);
    double      *l = trial_array(t, 6 * n), *Tj = trial_array(t, nj), *lj = trial_array(t, 6 * nj);
    energies     e = {0};
    rows_energy_regressor(test_kernels(), scene, ROWS,
                          (dyn_energy_regressor){.q              = t->q,
                                                 .qd             = t->qd,
                                                 .kinetic        = T,
                                                 .potential      = V,
                                                 .momentum       = l,
                                                 .joint_kinetic  = Tj,
                                                 .joint_momentum = lj});
    add_rows_times(1, n, T, p, e.kinetic);
    add_rows_times(1, nj, Tj, joint, e.kinetic);
    add_rows_times(1, n, V, p, e.potential);
    add_rows_times(6, n, l, p, e.momentum);
    add_rows_times(6, nj, lj, joint, e.momentum);
    free(p), free(joint), free(T), free(V), free(l), free(Tj), free(lj);
    return e;
}

/* Energies without springs, and the momentum, whose moment is taken from the centre of mass to the world's origin. The
 * rounding errors are those of the moments of the whole mass about the origin. */
static void test_energies_and_momentum(void **state)
{
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial     t     = trial_in_columns(seed, ROWS);
        dyn_scene scene = t.scene;
        scene.terms     = 0;
        energies got    = regressed_energies(&t, &scene), expected;
        rows_energy(test_kernels(), &scene, ROWS,
                    (dyn_energy){.q         = t.q,
                                 .qd        = t.qd,
                                 .kinetic   = expected.kinetic,
                                 .potential = expected.potential,
                                 .com       = expected.com,
                                 .momentum  = expected.momentum});
        for (size_t r = 0; r < ROWS; r++) {
            double *c = expected.com + 3 * r, *l = expected.momentum + 6 * r;
            for (int i = 0; i < 3; i++)
                l[3 + i] += c[(i + 1) % 3] * l[(i + 2) % 3] - c[(i + 2) % 3] * l[(i + 1) % 3];
        }
        check_close("kinetic", seed, ROWS, got.kinetic, expected.kinetic, ENERGY_TOLERANCE);
        check_close_scaled("potential", seed, ROWS, got.potential, expected.potential, ENERGY_TOLERANCE,
                           10 * t.model->mass);
        check_close_scaled("momentum", seed, 6 * ROWS, got.momentum, expected.momentum, ENERGY_TOLERANCE,
                           t.model->mass);
        trial_free(&t);
    }
}

/* Computes the rate of the rows of both energies together along the motion of t, by the complex step. */
static void rate_of_energy_rows(const trial *t, const dyn_scene *scene, size_t n, size_t nj, double *rate,
                                double *joint)
{
    double _Complex *T = complex_array(n), *V = complex_array(n), *Tj = complex_array(nj + 1);
    complex_state    s = complex_state_make(t, 0);
    complex_state_move(&s, t->qd);
    complex_add(t->nv, s.qd, t->qdd);
    dyn_kernels_complex.energy_regressor(scene, s.workspace,
                                         &(dyn_energy_regressor){.q             = as_lanes(s.q),
                                                                 .qd            = as_lanes(s.qd),
                                                                 .kinetic       = as_lanes(T),
                                                                 .potential     = as_lanes(V),
                                                                 .joint_kinetic = as_lanes(Tj)},
                                         1);
    for (size_t i = 0; i < n; i++)
        T[i] += V[i];
    complex_derivative(n, T, rate);
    complex_derivative(nj, Tj, joint);
    complex_state_free(&s);
    free(T), free(V), free(Tj);
}

/* The power of the torques of each single parameter is the rate of its energies: qd^T Y = d/dt (Y_T + Y_V). */
static void test_power_is_the_rate_of_energy(void **state)
{
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial        t     = trial_in_columns(seed, 1);
        dyn_scene    scene = t.scene;
        const size_t n = 10 * t.bodies, nj = 3 * t.model->n_movers;
        scene.terms = 0, scene.n_wrenches = 0;
        double *Y = trial_array(&t, t.nv * n), *Yj = trial_array(&t, t.nv * nj), *power = trial_array(&t, n + nj);
        double *rate = trial_array(&t, n + nj);
        rows_regressor(test_kernels(), &scene, 1,
                       (dyn_regressor){.q = t.q, .qd = t.qd, .qdd = t.qdd, .regressor = Y, .joint_regressor = Yj});
        for (size_t v = 0; v < t.nv; v++) {
            for (size_t c = 0; c < n; c++)
                power[c] += t.qd[v] * Y[v * n + c];
            for (size_t c = 0; c < nj; c += 3)
                power[n + c] += t.qd[v] * Yj[v * nj + c];
        }
        rate_of_energy_rows(&t, &scene, n, nj, rate, rate + n);
        check_close("power", seed, n + nj, power, rate, TOLERANCE);
        free(Y), free(Yj), free(power), free(rate);
        trial_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_inverse_dynamics), cmocka_unit_test(test_reference),
                                       cmocka_unit_test(test_friction), cmocka_unit_test(test_energies_and_momentum),
                                       cmocka_unit_test(test_power_is_the_rate_of_energy)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
