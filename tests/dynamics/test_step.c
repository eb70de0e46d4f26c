/* test_step.c - compares the matrices A, B of a time step with the complex step, and the state after the step with the
 * equations of the method. */
#include "tests/dynamics/support/check.h"
#include "tests/dynamics/support/complex_step.h"
#include "tests/dynamics/support/rows.h"
#include "tests/target.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TOLERANCE 1e-11 /* relative to the largest entry of both matrices */

enum { ROBOTS = 60, METHODS = 4 };

static const char *const names[METHODS] = {"explicit Euler", "semi-implicit Euler", "RK4", "implicit Euler"};

/* Holds the results of a step of all rows of a trial. */
typedef struct stepped {
    double *q, *qd, *A, *B, *by_wrench, *by_parameter, *singular, *unsolved, *contradictory;
} stepped;

static stepped allocate(const trial *t)
{
    size_t n = t->nv;
    return (stepped){.q             = trial_array(t, t->nq),
                     .qd            = trial_array(t, n),
                     .A             = trial_array(t, 4 * n * n),
                     .B             = trial_array(t, 2 * n * n),
                     .by_wrench     = trial_array(t, 12 * n * t->scene.n_wrenches + 1),
                     .by_parameter  = trial_array(t, 20 * n * t->model->n_rows),
                     .singular      = trial_array(t, 1),
                     .unsolved      = trial_array(t, 1),
                     .contradictory = trial_array(t, 1)};
}

static void release(stepped *s)
{
    free(s->q), free(s->qd), free(s->A), free(s->B), free(s->by_wrench), free(s->by_parameter);
    free(s->singular), free(s->unsolved), free(s->contradictory);
}

/* True for trials with derivatives by wrenches and parameters, which change the layout of the kernel's memory. */
static bool has_more(const trial *t)
{
    return t->seed % 3 == 0;
}

/* Takes the step from the states of a trial. */
static void run_step(const dyn_kernels *k, const trial *t, const dyn_step *step, const stepped *to)
{
    dyn_step io     = *step;
    io.q            = t->q;
    io.qd           = t->qd;
    io.tau          = t->tau;
    io.wrenches     = t->wrenches;
    io.q_after      = to->q;
    io.qd_after     = to->qd;
    io.state_matrix = to->A;
    io.input_matrix = to->B;
    if (has_more(t) && t->scene.n_wrenches > 0) io.wrench_matrix = to->by_wrench;
    if (has_more(t)) io.parameter_matrix = to->by_parameter;
    io.singular      = to->singular;
    io.unsolved      = to->unsolved;
    io.contradictory = to->contradictory;
    rows_step(k, &t->scene, t->rows, io);
}

static void run(const dyn_kernels *k, const trial *t, dyn_step_method method, double h, const stepped *to)
{
    run_step(k, t, &(dyn_step){.method = method, .h = h}, to);
}

/* --- derivatives ------------------------------------------------------------------------------------------------ */

/* Converts a change dq of a free joint to the tangent vector e with dq = d/de of q * exp(e). For a quaternion (x, s),
 * e_w = 2 (s dx - ds x - x x dx); e_v = R^T dp follows from R^T v = v + 2 x x (x x v - s v). */
static void free_tangent(const double *r, const double *dp, const double *dr, double *v, double *w)
{
    double a[3];
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        w[i] = 2 * (r[3] * dr[i] - dr[3] * r[i] - (r[j] * dr[k] - r[k] * dr[j]));
        if (dp) a[i] = r[j] * dp[k] - r[k] * dp[j] - r[3] * dp[i];
    }
    for (int i = 0; dp && i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        v[i] = dp[i] + 2 * (r[j] * a[k] - r[k] * a[j]);
    }
}

/* Converts a change of the entries of q (nq) to a change on the tangent space (nv). */
static void tangent(const dyn_model *m, const double *q, const double *dq, double *e)
{
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body_joint *j = &m->body[i].joint;
        if (j->mimic) continue;
        if (j->kind == DYN_FLOATING)
            free_tangent(q + j->q + 3, dq + j->q, dq + j->q + 3, e + j->v, e + j->v + 3);
        else if (j->kind == DYN_SPHERICAL)
            free_tangent(q + j->q, NULL, dq + j->q, NULL, e + j->v);
        else
            e[j->v] = dq[j->q];
    }
}

/* Writes the derivative of x+ along the imaginary part of the state to column j of a matrix. */
static void differentiate(const trial *t, complex_state *s, const dyn_step *step, size_t j, size_t columns, double *to)
{
    size_t           nq = t->nq, nv = t->nv;
    double _Complex *q = complex_array(nq), *qd = complex_array(nv);
    double _Complex *work = complex_array(step_work(&t->scene, step)), contradictory, stops[2];
    double  *dq = trial_array(t, nq), *dqd = trial_array(t, nv), *real = trial_array(t, nq), *e = trial_array(t, nv);
    dyn_step io = *step;
    for (size_t i = 0; i < step->n_stopping; i++)
        stops[i] = step->stops[i];
    io.q             = as_lanes(s->q);
    io.qd            = as_lanes(s->qd);
    io.tau           = as_lanes(s->tau);
    io.wrenches      = as_lanes(s->wrenches);
    io.stops         = step->n_stopping > 0 ? as_lanes(stops) : NULL;
    io.q_after       = as_lanes(q);
    io.qd_after      = as_lanes(qd);
    io.work          = as_lanes(work);
    io.contradictory = as_lanes(&contradictory);
    dyn_kernels_complex.step(&t->scene, s->workspace, &io, 1);
    complex_derivative(nq, q, dq);
    complex_derivative(nv, qd, dqd);
    for (size_t i = 0; i < nq; i++)
        real[i] = creal(q[i]);
    tangent(t->model, real, dq, e);
    for (size_t i = 0; i < nv; i++) {
        to[i * columns + j]        = e[i];
        to[(nv + i) * columns + j] = dqd[i];
    }
    free(q), free(qd), free(work), free(dq), free(dqd), free(real), free(e);
    complex_state_free(s);
}

static void expect(const trial *t, const dyn_step *step, stepped *to)
{
    size_t nv = t->nv;
    for (size_t j = 0; j < nv; j++) {
        complex_state s = complex_state_along(t, j);
        differentiate(t, &s, step, j, 2 * nv, to->A);
        s = complex_state_make(t, 0);
        s.qd[j] += I * COMPLEX_STEP;
        differentiate(t, &s, step, nv + j, 2 * nv, to->A);
        s = complex_state_make(t, 0);
        s.tau[j] += I * COMPLEX_STEP;
        differentiate(t, &s, step, j, nv, to->B);
    }
}

/* Computes the derivatives by the wrenches. Derivatives by inertial parameters, which are real constants of the model,
 * are compared with differences end to end. */
static void expect_wrenches(const trial *t, const dyn_step *step, double *to)
{
    size_t nv = t->nv, nw = t->scene.n_wrenches;
    for (size_t w = 0; has_more(t) && w < nw; w++)
        for (size_t j = 0; j < 6; j++) {
            complex_state s = complex_state_make(t, 0);
            s.wrenches[9 * w + j] += I * COMPLEX_STEP;
            differentiate(t, &s, step, j, 6, to + w * 12 * nv);
        }
}

/* Compares the matrices of every target. Returns false if the implicit equation is not solved: where joints should
 * stick it may have no solution. */
static bool check_matrices(const trial *t, const dyn_step *step)
{
    stepped            expected = allocate(t), got = allocate(t);
    size_t             n = t->nv * t->nv;
    const dyn_kernels *k;
    expect(t, step, &expected);
    expect_wrenches(t, step, expected.by_wrench);
    for (size_t i = 0; (k = dyn_kernels_at(i)); i++) {
        run_step(k, t, step, &got);
        if (got.unsolved[0] != DYN_STEP_SOLVED) continue;
        assert_true(got.contradictory[0] == 0);
        check_close_scaled(names[step->method], t->seed, 4 * n, got.A, expected.A, TOLERANCE,
                           largest(2 * n, expected.B));
        check_close(names[step->method], t->seed, 2 * n, got.B, expected.B, TOLERANCE);
        check_close(names[step->method], t->seed, has_more(t) ? 12 * t->nv * t->scene.n_wrenches : 0, got.by_wrench,
                    expected.by_wrench, TOLERANCE);
    }
    const bool solved = got.unsolved[0] == DYN_STEP_SOLVED;
    assert_true(solved || (t->model->has_load && step->method == DYN_IMPLICIT_EULER));
    release(&expected), release(&got);
    return solved;
}

/* Makes a robot with several states; every other robot has friction that grows with the load. */
static trial make(uint64_t seed)
{
    return seed % 2 ? trial_make_loaded(seed / 2, 1) : trial_make(seed / 2, 1);
}

/* Compares short steps and long ones, in which joints rotate by more than 1 rad or, with RK4, by a fraction of 1
   rad. */
static void test_matrices(void **state)
{
    static const double h[METHODS][2] = {{2e-3, 0.8}, {2e-3, 0.8}, {2e-3, 0.05}, {2e-3, 0}};
    size_t              solved        = 0;
    for (uint64_t seed = 2; seed <= 2 * ROBOTS + 1; seed++) {
        trial t = make(seed);
        for (int method = 0; method < (seed % 3 ? DYN_IMPLICIT_EULER : METHODS); method++)
            for (int i = 0; i < 2 && h[method][i] > 0; i++)
                solved += check_matrices(&t, &(dyn_step){.method = (dyn_step_method)method, .h = h[method][i]}) &&
                          t.model->has_load && method == DYN_IMPLICIT_EULER;
        trial_free(&t);
    }
    assert_true(solved >= 5);
}

/* Holds two frames on random links, each held along one or two directions of the world or of the frame. */
typedef struct grip {
    dyn_held_frame  held[2];
    dyn_wrench_site sites[TRIAL_WRENCHES + 2];
} grip;

static grip grip_make(const trial *t, double damping)
{
    random_source source = {.state = t->seed};
    grip          g      = {0};
    memcpy(g.sites, t->site, t->scene.n_wrenches * sizeof *g.sites);
    for (size_t i = 0; i < 2; i++) {
        dyn_held_frame *f = &g.held[i];
        do
            f->frame.body = (int)random_below(&source, t->model->n_bodies);
        while (t->model->body[f->frame.body].joint.is_rotor);
        random_pose(&source, &f->frame.X_bf);
        f->frame_axes                    = random_chance(&source, 0.5);
        f->n                             = 1 + random_below(&source, 2);
        f->axis[0]                       = (int)random_below(&source, 5);
        f->axis[1]                       = 5;
        g.sites[t->scene.n_wrenches + i] = dyn_held_site(f, damping);
    }
    return g;
}

/* Compares steps with held frames and with an impact at them, without damping and with it. Robots with few coordinates
 * are left out: their dependent directions may contradict each other. */
static void test_held_matrices(void **state)
{
    size_t checked = 0, loaded = 0, damped = 0;
    for (uint64_t seed = 2; seed <= 2 * ROBOTS + 1; seed++) {
        trial        t       = make(seed);
        const double damping = seed % 2 ? 0 : 0.3;
        grip         g       = grip_make(&t, damping);
        for (int method = 0; method < METHODS && t.nv >= 12 && t.nv <= 18; method++) {
            dyn_step step = {
                .method = (dyn_step_method)method, .h = 2e-3, .n_held = 2, .held = g.held, .sites = g.sites};
            step.damping = damping;
            bool solved  = check_matrices(&t, &step);
            step.impact  = true;
            solved &= check_matrices(&t, &step);
            checked += solved;
            damped += solved && damping > 0;
            loaded += solved && t.model->has_load;
        }
        trial_free(&t);
    }
    assert_true(checked >= 8 && loaded >= 4 && damped >= 4);
}

/* Checks steps in which two coordinates may stop against forward dynamics: a coordinate that stops has qdd = -qd / h
 * there. */
static void check_stops(const trial *t, const dyn_step *step)
{
    stepped s      = allocate(t);
    double *driven = trial_array(t, t->nv), *qdd = trial_array(t, t->nv);
    bool   *mask = calloc(t->nv, sizeof *mask);
    assert_non_null(mask);
    for (size_t v = 0; v < t->nv; v++)
        driven[v] = 0;
    for (size_t i = 0; i < step->n_stopping; i++)
        if (step->stops[i] != 0)
            mask[step->stopping[i]] = true, driven[step->stopping[i]] = -t->qd[step->stopping[i]] / step->h;
    rows_forward_dynamics(test_kernels(), &t->scene, 1,
                          (dyn_forward_dynamics){.q          = t->q,
                                                 .qd         = t->qd,
                                                 .tau        = t->tau,
                                                 .wrenches   = t->wrenches,
                                                 .driven     = mask,
                                                 .driven_qdd = driven,
                                                 .qdd        = qdd});
    run_step(test_kernels(), t, step, &s);
    for (size_t v = 0; v < t->nv; v++) {
        qdd[v] = mask[v] ? 0 : t->qd[v] + step->h * qdd[v];
        assert_true(!mask[v] || s.qd[v] == 0);
    }
    check_close_scaled("qd+ of joints that stop", t->seed, t->nv, s.qd, qdd, 1e-10, largest(t->nv, t->qd));
    release(&s), free(driven), free(qdd), free(mask);
}

static void test_stops(void **state)
{
    for (uint64_t seed = 2; seed <= 2 * ROBOTS + 1; seed++) {
        trial        t             = make(seed);
        const size_t coordinates[] = {0, t.nv - 1};
        const double stops[]       = {1, (double)(seed % 2)};
        dyn_step     step = {.h = 2e-3, .n_stopping = t.nv > 2 ? 2 : 1, .stopping = coordinates, .stops = stops};
        for (int method = 0; method < DYN_RK4; method++) {
            step.method = (dyn_step_method)method;
            check_stops(&t, &step);
            check_matrices(&t, &step);
        }
        trial_free(&t);
    }
}

/* --- values ----------------------------------------------------------------------------------------------------- */

/* Takes n steps of the duration h / n each and leaves the trial in the state after them. */
static void march(trial *t, dyn_step_method method, double h, size_t n)
{
    stepped s = allocate(t);
    for (size_t i = 0; i < n; i++) {
        run(test_kernels(), t, method, h / (double)n, &s);
        memcpy(t->q, s.q, t->nq * sizeof *s.q);
        memcpy(t->qd, s.qd, t->nv * sizeof *s.qd);
    }
    release(&s);
}

static double distance(const trial *a, const trial *b)
{
    double most = 0;
    for (size_t i = 0; i < a->nq; i++)
        most = fmax(most, fabs(a->q[i] - b->q[i]));
    for (size_t i = 0; i < a->nv; i++)
        most = fmax(most, fabs(a->qd[i] - b->qd[i]));
    return most;
}

/* Returns the error of n steps; the reference is the state after many steps of RK4. */
static double error_of(uint64_t seed, dyn_step_method method, size_t n)
{
    const double h    = 0.05;
    trial        fine = trial_make_plain(seed, TREE_FREELY), coarse = trial_make_plain(seed, TREE_FREELY);
    march(&fine, DYN_RK4, h, 400);
    march(&coarse, method, h, n);
    double error = distance(&fine, &coarse);
    trial_free(&fine), trial_free(&coarse);
    return error;
}

/* Halving the steps must divide the error by 2^order. */
static void test_orders(void **state)
{
    for (uint64_t seed = 1; seed <= 6; seed++) {
        for (int method = 0; method < METHODS; method++) {
            double order =
                log2(error_of(seed, (dyn_step_method)method, 50) / error_of(seed, (dyn_step_method)method, 100));
            double expected = method == DYN_RK4 ? 4 : 1;
            if (fabs(order - expected) > 0.35) fail_msg("method %d, seed %d: order %g", method, (int)seed, order);
        }
    }
}

/* Checks the equation of implicit Euler: qd+ - qd = h a(q+, qd+). A row in which a joint with sharp friction comes to
 * rest has no solution, which the kernel reports. */
static void test_implicit_equation(void **state)
{
    size_t unsolved = 0;
    for (uint64_t seed = 1; seed <= ROBOTS; seed++) {
        trial   t   = trial_make(seed, 3);
        stepped s   = allocate(&t);
        double *qdd = trial_array(&t, t.nv), *left = trial_array(&t, t.nv), h = 1e-3;
        run(test_kernels(), &t, DYN_IMPLICIT_EULER, h, &s);
        rows_forward_dynamics(
            test_kernels(), &t.scene, t.rows,
            (dyn_forward_dynamics){.q = s.q, .qd = s.qd, .tau = t.tau, .wrenches = t.wrenches, .qdd = qdd});
        for (size_t i = 0; i < t.rows * t.nv; i++) {
            const bool solved = s.unsolved[i / t.nv] == DYN_STEP_SOLVED;
            left[i]           = solved ? s.qd[i] - t.qd[i] : 0;
            qdd[i]            = solved ? h * qdd[i] : 0;
        }
        for (size_t r = 0; r < t.rows; r++)
            unsolved += s.unsolved[r] != DYN_STEP_SOLVED;
        check_close_scaled("implicit equation", seed, t.rows * t.nv, left, qdd, 1e-10, largest(t.rows * t.nv, s.qd));
        free(qdd), free(left);
        release(&s), trial_free(&t);
    }
    assert_true(unsolved <= 2);
}

/* Returns the duration h for which dr/dv = M / h + D + h K of implicit Euler has a zero diagonal entry for the last
   coordinate, at rest; 0 if there is none. */
static double vanishing_step(const trial *t)
{
    const size_t n = t->nv * t->nv;
    double      *d[3];
    for (int i = 0; i < 3; i++)
        d[i] = trial_array(t, n);
    rows_sensitivity(
        test_kernels(), &t->scene, 1,
        (dyn_sensitivity){.q = t->q, .wrenches = t->wrenches, .dtau_dq = d[0], .dtau_dqd = d[1], .dtau_dqdd = d[2]});
    const double K = d[0][n - 1], D = d[1][n - 1], M = d[2][n - 1], h = (-D - sqrt(D * D - 4 * K * M)) / (2 * K);
    for (int i = 0; i < 3; i++)
        free(d[i]);
    return K < 0 ? h : 0;
}

/* A robot without friction that its motors hold at rest stays there. Where the first pivot of the Jacobian vanishes,
 * the factors without exchanges of rows are infinite; the derivatives must be right all the same. Robots are left out
 * whose Jacobian is nearly singular. */
static void test_a_pivot_that_vanishes(void **state)
{
    size_t checked = 0;
    for (uint64_t seed = 1; seed <= 2 * ROBOTS; seed++) {
        trial t = trial_make(seed, 1);
        t.scene.terms &= ~(unsigned)DYN_FRICTION;
        memset(t.qd, 0, t.nv * sizeof *t.qd);
        rows_inverse_dynamics(test_kernels(), &t.scene, 1,
                              (dyn_inverse_dynamics){.q = t.q, .wrenches = t.wrenches, .tau = t.tau});
        const double h      = vanishing_step(&t);
        stepped      at_end = allocate(&t);
        run(test_kernels(), &t, DYN_IMPLICIT_EULER, h > 0 && h < 0.5 ? h : 1e-3, &at_end);
        if (h > 0 && h < 0.5 && largest(4 * t.nv * t.nv, at_end.A) < 1e3)
            checked += check_matrices(&t, &(dyn_step){.method = DYN_IMPLICIT_EULER, .h = h});
        release(&at_end), trial_free(&t);
    }
    assert_true(checked >= 5);
}

/* A singular mass matrix must be reported. Implicit Euler evaluates at the end of the step, where it may be regular. */
static void test_failures(void **state)
{
    trial   t = trial_point_mass_arm(4);
    stepped s = allocate(&t);
    for (int method = 0; method < DYN_IMPLICIT_EULER; method++) {
        run(test_kernels(), &t, (dyn_step_method)method, 1e-3, &s);
        for (size_t row = 0; row < 4; row++)
            assert_true(row % 2 == 0 || s.singular[row] >= 0);
        assert_true(s.singular[0] < 0);
    }
    release(&s), trial_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_matrices),
                                       cmocka_unit_test(test_held_matrices),
                                       cmocka_unit_test(test_stops),
                                       cmocka_unit_test(test_orders),
                                       cmocka_unit_test(test_implicit_equation),
                                       cmocka_unit_test(test_a_pivot_that_vanishes),
                                       cmocka_unit_test(test_failures)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
