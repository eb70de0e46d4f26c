/* test_conservation.c - checks that the rate of energy is the input power, and that energy is constant without input.
 */
#include "tests/dynamics/support/check.h"
#include "tests/dynamics/support/complex_step.h"
#include "tests/dynamics/support/rows.h"
#include "tests/target.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROBOTS = 120 };

/* --- power balance ----------------------------------------------------------------------------------------- */

/* Computes d(kinetic + potential)/dt at the accelerations t->qdd, by the complex step. */
static double energy_rate(const trial *t)
{
    complex_state    s       = complex_state_make(t, 0);
    double _Complex *kinetic = complex_array(1), *potential = complex_array(1);
    double           rate[2];
    complex_state_move(&s, t->qd);
    complex_add(t->nv, s.qd, t->qdd);
    dyn_kernels_complex.energy(
        &t->scene, s.workspace,
        &(dyn_energy){
            .q = as_lanes(s.q), .qd = as_lanes(s.qd), .kinetic = as_lanes(kinetic), .potential = as_lanes(potential)},
        1);
    complex_derivative(1, kinetic, &rate[0]);
    complex_derivative(1, potential, &rate[1]);
    complex_state_free(&s);
    free(kinetic), free(potential);
    return rate[0] + rate[1];
}

/* Returns the power of friction at a rate: force times rate. */
static double friction_heat(const dyn_friction *f, double rate)
{
    double sign = f->coulomb_velocity > 0 ? tanh(rate / f->coulomb_velocity) : (rate > 0) - (rate < 0);
    double fast = rate > 0 ? f->positive : f->negative, slow = fast;
    if (f->stribeck_velocity > 0) slow = rate > 0 ? f->breakaway_positive : f->breakaway_negative;
    double share = f->stribeck_velocity > 0 ? exp(-pow(rate / f->stribeck_velocity, 2)) : 0;
    return rate * (f->viscous * rate + (fast + share * (slow - fast)) * sign);
}

/* Returns the power that friction and dampers turn into heat: force times rate of every joint or motor. */
static double dissipation(const trial *t)
{
    double heat = 0;
    for (size_t b = 0; b < t->model->n_bodies; b++) {
        const dyn_body *body = &t->model->body[b];
        for (int k = 0; k < dyn_joint_nv(body->joint.kind); k++) {
            double            rate = body->joint.ratio * t->qd[body->joint.v + k];
            const dyn_spring *d    = &body->joint.spring;
            heat += friction_heat(&body->joint.friction, rate) + d->damping * rate * rate +
                    d->damping2 * pow(fabs(rate), 3) + d->damping3 * pow(rate, 4);
        }
    }
    for (size_t k = 0; k < t->model->n_drives; k++) {
        const dyn_drive *d    = &t->model->drive[k];
        double           rate = 0;
        for (size_t j = 0; j < d->n; j++)
            rate += d->weight[j] * t->qd[d->joint[j]];
        heat += friction_heat(&d->friction, rate);
    }
    for (size_t i = 0; i < t->model->n_couplings; i++) {
        const dyn_coupling *c    = &t->model->coupling[i];
        double              rate = t->qd[c->v] - t->qd[c->v_theta];
        heat += c->spring.damping * rate * rate;
    }
    return heat;
}

/* Returns component j, in link axes, of a force or torque x given in the axes of its site. */
static double wrench_component(const dyn_wrench_site *site, const double x[3], int j)
{
    const double *row = site->axes[j];
    return site->has_axes ? row[0] * x[0] + row[1] * x[1] + row[2] * x[2] : x[j];
}

/* Returns the power of the external wrenches: force and torque times the velocity of their point. */
static double wrench_power(const trial *t)
{
    double power = 0;
    for (size_t i = 0; i < t->scene.n_wrenches; i++) {
        const dyn_wrench_site *site  = &t->site[i];
        const double          *w     = t->wrenches + 9 * i;
        dyn_frame              point = {site->body, site->X_bl};
        double                 velocity[6];
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++)
                point.X_bf.p[r] += site->X_bl.R[r][c] * w[6 + c];
        rows_kinematics(
            test_kernels(), &t->scene, 1,
            (dyn_kinematics){
                .q = t->q, .qd = t->qd, .frame = &point, .frame_axes = !site->world_axes, .velocity = velocity});
        for (int j = 0; j < 6; j++)
            power += wrench_component(site, w + j / 3 * 3, j % 3) * velocity[j];
    }
    return power;
}

/* d(kinetic + potential)/dt = tau qd + sum W v - dissipation, with tau of inverse dynamics for any motion. */
static void test_power_balance(void **state)
{
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial   t   = trial_make(seed, 1);
        double *tau = trial_array(&t, t.nv), in = wrench_power(&t) - dissipation(&t), size = fabs(in);
        rows_inverse_dynamics(
            test_kernels(), &t.scene, 1,
            (dyn_inverse_dynamics){.q = t.q, .qd = t.qd, .qdd = t.qdd, .wrenches = t.wrenches, .tau = tau});
        for (size_t i = 0; i < t.nv; i++) {
            in += tau[i] * t.qd[i];
            size += fabs(tau[i] * t.qd[i]);
        }
        double rate = energy_rate(&t);
        /* sums of up to 40 products of sums along 40 bodies, relative to the largest of them */
        check_close_scaled("power", seed, 1, &rate, &in, 2e-14, size);
        free(tau);
        trial_free(&t);
    }
}

/* --- energy along a motion --------------------------------------------------------------------------------- */

enum { STATES = 8 };

/* Holds positions, with quaternions, and velocities of STATES states. */
typedef struct motion {
    double *q, *qd;
} motion;

static void normalise(const trial *t, double *q)
{
    for (size_t i = 0; i < t->model->n_bodies; i++) {
        const dyn_body *b    = &t->model->body[i];
        double         *u    = q + b->joint.q + (b->joint.kind == DYN_FLOATING ? 3 : 0);
        double          norm = 0;
        for (int k = 0; k < 4 && dyn_joint_has_quaternion(b->joint.kind); k++)
            norm += u[k] * u[k];
        for (int k = 0; k < 4 && dyn_joint_has_quaternion(b->joint.kind); k++)
            u[k] /= sqrt(norm);
    }
}

/* Computes one stage of Runge-Kutta for all states: to = from + h * slope, with the slope at the motion `point`. Adds
 * slope times `weight` to `sum`. */
static void runge_kutta_stage(const trial *t, motion point, motion from, double h, motion to, double weight, motion sum)
{
    double *rate = trial_array(t, t->nq), *qdd = trial_array(t, t->nv), *pivot = trial_array(t, 1);
    for (size_t r = 0; r < t->rows; r++)
        position_rates(t->model, point.q + r * t->nq, point.qd + r * t->nv, rate + r * t->nq);
    rows_forward_dynamics(test_kernels(), &t->scene, t->rows,
                          (dyn_forward_dynamics){.q = point.q, .qd = point.qd, .qdd = qdd, .singular = pivot});
    for (size_t i = 0; i < t->rows * t->nq; i++) {
        sum.q[i] += weight * rate[i];
        to.q[i] = from.q[i] + h * rate[i];
    }
    for (size_t i = 0; i < t->rows * t->nv; i++) {
        sum.qd[i] += weight * qdd[i];
        to.qd[i] = from.qd[i] + h * qdd[i];
    }
    for (size_t r = 0; r < t->rows; r++)
        normalise(t, to.q + r * t->nq);
    free(rate), free(qdd), free(pivot);
}

/* Moves t->q and t->qd by `steps` steps of the classical Runge-Kutta method of order four. */
static void integrate(trial *t, double h, size_t steps)
{
    motion now = {t->q, t->qd}, point = {trial_array(t, t->nq), trial_array(t, t->nv)};
    motion sum = {trial_array(t, t->nq), trial_array(t, t->nv)};
    for (size_t n = 0; n < steps; n++) {
        memset(sum.q, 0, t->rows * t->nq * sizeof *sum.q);
        memset(sum.qd, 0, t->rows * t->nv * sizeof *sum.qd);
        runge_kutta_stage(t, now, now, h / 2, point, 1, sum);
        runge_kutta_stage(t, point, now, h / 2, point, 2, sum);
        runge_kutta_stage(t, point, now, h, point, 2, sum);
        runge_kutta_stage(t, point, now, 0, point, 1, sum);
        for (size_t i = 0; i < t->rows * t->nq; i++)
            now.q[i] += h / 6 * sum.q[i];
        for (size_t i = 0; i < t->rows * t->nv; i++)
            now.qd[i] += h / 6 * sum.qd[i];
        for (size_t r = 0; r < t->rows; r++)
            normalise(t, now.q + r * t->nq);
    }
    free(point.q), free(point.qd), free(sum.q), free(sum.qd);
}

static void energies(const trial *t, double kinetic[STATES], double potential[STATES])
{
    rows_energy(test_kernels(), &t->scene, t->rows,
                (dyn_energy){.q = t->q, .qd = t->qd, .kinetic = kinetic, .potential = potential});
}

/* True if the spring of a spherical joint has passed half a turn, at which its moment jumps. */
static bool passed_half_turn(const dyn_model *m, const double *before, const double *after)
{
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        const int       w = b->joint.q + 3;
        if (b->joint.kind == DYN_SPHERICAL && b->joint.spring.stiffness != 0 && before[w] * after[w] < 0) return true;
    }
    return false;
}

/* Returns the largest change of energy over half a second, relative to the energies of the motion. */
static double energy_drift(uint64_t seed, size_t dof, unsigned features, double h)
{
    trial   t = trial_of(seed, random_tree_make(seed, dof, seed % 2, features), STATES, 0);
    double  kinetic[2][STATES], potential[2][STATES], most = 0;
    double *before = trial_array(&t, t.nq);
    memcpy(before, t.q, t.rows * t.nq * sizeof *before);
    energies(&t, kinetic[0], potential[0]);
    integrate(&t, h, (size_t)lround(0.5 / h));
    energies(&t, kinetic[1], potential[1]);
    for (size_t l = 0; l < STATES; l++) {
        if (passed_half_turn(t.model, before + l * t.nq, t.q + l * t.nq)) continue;
        double change = kinetic[1][l] + potential[1][l] - kinetic[0][l] - potential[0][l];
        most          = fmax(most, fabs(change) / (kinetic[0][l] + kinetic[1][l] + fabs(potential[0][l])));
    }
    free(before);
    trial_free(&t);
    return most;
}

/* Without friction and torques the energy is constant. The remaining error is the integrator's: half the step leaves a
 * sixteenth of it. An error of the dynamics would not shrink. 1e-13 allows for rounding in 2000 evaluations. */
static void check_conserved(uint64_t seeds, size_t dof, unsigned features, double step)
{
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        double coarse = energy_drift(seed, dof, features, 2 * step), fine = energy_drift(seed, dof, features, step);
        if (!(fine <= 2e-7) || !(fine <= fmax(coarse / 8, 1e-13)))
            fail_msg("seed %llu: energy drifts by %g in steps of %g s, %g in twice as long ones",
                     (unsigned long long)seed, fine, step, coarse);
    }
}

static void test_energy_is_conserved(void **state)
{
    check_conserved(24, 7, TREE_SPRINGS | TREE_ROTORS | TREE_GEARS, 1e-3);
}

/* The steps are shorter because motors on elastic joints oscillate faster than links fall. */
static void test_energy_of_motors_is_conserved(void **state)
{
    check_conserved(24, 7, TREE_ALL & ~(unsigned)(TREE_FRICTION | TREE_DAMPERS | TREE_MIMICS | TREE_FREELY), 2.5e-4);
}

/* Includes spherical and floating joints inside the tree. */
static void test_energy_with_quaternions_is_conserved(void **state)
{
    check_conserved(24, 12, TREE_SPRINGS | TREE_FREELY, 2.5e-4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_power_balance),
        cmocka_unit_test(test_energy_is_conserved),
        cmocka_unit_test(test_energy_of_motors_is_conserved),
        cmocka_unit_test(test_energy_with_quaternions_is_conserved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
