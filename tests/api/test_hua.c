/* test_hua.c - checks the controller `hua` against the published equations, evaluated one by one at the accelerations
 * that its torques cause. */
#include "dynamics/control/hua_torques.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { JOINTS = 3, MOTORS = 2, NV = JOINTS + MOTORS };

static const dyn_coupling couplings[MOTORS] = {
    {.v = 2, .v_theta = 3, .spring = {.stiffness = 50, .damping = 0.7, .rest = 0.1}},
    {.v = 0, .v_theta = 4, .spring = {.stiffness = 90, .rest = -0.2}}};

/* Holds the inputs of the control law: the dynamics of a robot, and of the same robot with a load (A, zeta). */
typedef struct state {
    double M[NV][NV], C[NV][NV], known[NV], A[NV][NV], zeta[NV], q[NV], qd[NV], r[NV], rd[NV], rdd[NV], x1[MOTORS],
        x2[MOTORS], kp[NV], kd[NV];
} state;

static uint64_t seed;

static double draw(double low, double high)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(seed >> 11) * 0x1p-53;
}

static void draw_all(double *to, size_t n, double low, double high)
{
    for (size_t i = 0; i < n; i++)
        to[i] = draw(low, high);
}

/* Draws a symmetric matrix that is positive definite because its diagonal dominates. */
static void draw_matrix(double M[NV][NV])
{
    for (int i = 0; i < NV; i++)
        for (int j = 0; j <= i; j++)
            M[i][j] = M[j][i] = i == j ? draw(3, 5) : draw(-0.5, 0.5);
}

static state draw_state(uint64_t from)
{
    state s;
    seed = from;
    draw_matrix(s.M);
    draw_matrix(s.A);
    draw_all(&s.C[0][0], NV * NV, -1, 1);
    double *const vectors[] = {s.known, s.zeta, s.q, s.qd, s.r, s.rd, s.rdd};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        draw_all(vectors[i], NV, -1, 1);
    draw_all(s.x1, MOTORS, -1, 1);
    draw_all(s.x2, MOTORS, -1, 1);
    draw_all(s.kp, NV, 0, 20);
    draw_all(s.kd, NV, 1, 5);
    return s;
}

static void solve(double A[NV][NV], double x[NV])
{
    for (int k = 0; k < NV; k++)
        for (int i = k + 1; i < NV; i++) {
            double f = A[i][k] / A[k][k];
            for (int j = k; j < NV; j++)
                A[i][j] -= f * A[k][j];
            x[i] -= f * x[k];
        }
    for (int k = NV; k-- > 0;) {
        for (int j = k + 1; j < NV; j++)
            x[k] -= A[k][j] * x[j];
        x[k] /= A[k][k];
    }
}

static dyn_hua_state run(const state *s, double filter, size_t n, double *room)
{
    dyn_hua_state h = {.nv = NV, .n = n, .coupling = couplings, .filter = filter, .kp = s->kp, .kd = s->kd};
    dyn_hua_lay_out(&h, room);
    memcpy(h.M, s->M, sizeof s->M), memcpy(h.C, s->C, sizeof s->C), memcpy(h.A, s->A, sizeof s->A);
    memcpy(h.known_bias, s->known, sizeof s->known), memcpy(h.zeta, s->zeta, sizeof s->zeta);
    memcpy(h.q, s->q, sizeof s->q), memcpy(h.qd, s->qd, sizeof s->qd);
    memcpy(h.r, s->r, sizeof s->r), memcpy(h.rd, s->rd, sizeof s->rd), memcpy(h.rdd, s->rdd, sizeof s->rdd);
    memcpy(h.x1, s->x1, n * sizeof *s->x1), memcpy(h.x2, s->x2, n * sizeof *s->x2);
    dyn_hua_find_torques(&h);
    return h;
}

static bool is_motor(int i)
{
    return i >= JOINTS;
}

/* Returns the torque by equations (37)-(39) for joint i, with theta'' from the accelerations a, and sets sigma and the
   reference. */
static double wanted(const state *s, const double *a, int i, double *sigma, double *reference)
{
    double sum = s->known[i];
    for (int j = 0; j < NV; j++) {
        double ratio = s->kp[j] / s->kd[j], e = s->r[j] - s->q[j], ed = s->rd[j] - s->qd[j];
        sum += is_motor(j) ? s->M[i][j] * a[j] + s->C[i][j] * s->qd[j]
                           : s->M[i][j] * (s->rdd[j] + ratio * ed) + s->C[i][j] * (s->rd[j] + ratio * e);
    }
    double ratio = s->kp[i] / s->kd[i], e = s->r[i] - s->q[i], ed = s->rd[i] - s->qd[i];
    *sigma     = ed + ratio * e;
    *reference = s->rdd[i] + ratio * ed;
    return sum + s->kd[i] * *sigma;
}

static void check(const state *s, double filter)
{
    double room[4 * NV * NV + 15 * NV + 2 * MOTORS], a[NV], A[NV][NV], theta_rdd[MOTORS], sigma[MOTORS], tau_c[MOTORS];
    dyn_hua_state h = run(s, filter, MOTORS, room);
    assert_int_equal(dyn_hua_entries(NV, MOTORS), sizeof room / sizeof *room);
    memcpy(A, s->A, sizeof A);
    for (int i = 0; i < NV; i++)
        a[i] = h.tau[i] - s->zeta[i];
    solve(A, a);
    for (int k = 0; k < MOTORS; k++) {
        const dyn_spring *e = &couplings[k].spring;
        int               i = couplings[k].v, t = couplings[k].v_theta;
        double            sigma_q, reference, ratio = s->kp[t] / s->kd[t];
        tau_c[k]        = wanted(s, a, i, &sigma_q, &reference);
        double theta_d  = s->q[i] - e->rest + (tau_c[k] - e->damping * (s->qd[t] - s->qd[i])) / e->stiffness;
        double theta_dd = filter * filter * (theta_d - s->x1[k]) - 2 * filter * s->x2[k];
        theta_rdd[k]    = theta_dd + ratio * (s->x2[k] - s->qd[t]) + (reference - a[i]);
        sigma[k]        = s->x2[k] + ratio * (theta_d - s->q[t]) + sigma_q - s->qd[t];
        assert_true(fabs(h.r[t] - theta_d) < 1e-11 && h.rd[t] == s->x2[k]);
        assert_true(h.x1[k] == s->x2[k] && fabs(h.x2[k] - theta_dd) < 1e-11 * (1 + filter * filter));
        assert_true(h.tau[i] == 0);
    }
    for (int k = 0; k < MOTORS; k++) {
        int    t   = couplings[k].v_theta;
        double tau = s->known[t] + tau_c[k] + s->kd[t] * sigma[k];
        for (int j = 0; j < NV; j++)
            tau += s->C[t][j] * s->qd[j] + (is_motor(j) ? 0 : s->M[t][j] * a[j]);
        for (int m = 0; m < MOTORS; m++)
            tau += s->M[t][couplings[m].v_theta] * theta_rdd[m];
        assert_true(fabs(h.tau[t] - tau) < 1e-10 * (1 + filter * filter));
    }
    double unused[2];
    assert_true(fabs(h.tau[1] - wanted(s, a, 1, &unused[0], &unused[1])) < 1e-11);
}

static void equations_hold(void **unused)
{
    for (uint64_t from = 1; from <= 200; from++) {
        state s = draw_state(from);
        check(&s, 0);
        check(&s, 3);
    }
}

/* Without elastic joints the law must be tau = M q''_r + C q'_r + g + kd sigma, whatever the robot carries. */
static void no_elastic_joints(void **unused)
{
    state         s = draw_state(7);
    double        room[4 * NV * NV + 15 * NV], sums[NV];
    dyn_hua_state h = run(&s, 10, 0, room);
    for (int i = 0; i < NV; i++) {
        sums[i] = s.known[i];
        for (int j = 0; j < NV; j++) {
            double ratio = s.kp[j] / s.kd[j], e = s.r[j] - s.q[j], ed = s.rd[j] - s.qd[j];
            sums[i] += s.M[i][j] * (s.rdd[j] + ratio * ed) + s.C[i][j] * (s.rd[j] + ratio * e);
            if (i == j) sums[i] += s.kd[i] * (ed + ratio * e);
        }
        assert_true(fabs(h.tau[i] - sums[i]) < 1e-12);
    }
}

/* With zero mass matrices no torques determine the accelerations: the results must not be finite. */
static void undetermined_accelerations_are_not_finite(void **unused)
{
    state  s = draw_state(9);
    double room[4 * NV * NV + 15 * NV + 2 * MOTORS];
    memset(s.A, 0, sizeof s.A);
    memset(s.M, 0, sizeof s.M);
    dyn_hua_state h = run(&s, 10, MOTORS, room);
    assert_int_equal(isfinite(h.tau[couplings[0].v_theta]), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equations_hold),
        cmocka_unit_test(no_elastic_joints),
        cmocka_unit_test(undetermined_accelerations_are_not_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
