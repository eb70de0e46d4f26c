/* test_task_inertia.c - checks task-space inertia Lambda and inverse Jbar against the equations that define them. */
#include "dynamics/contact/task_inertia.h"
#include "tests/api/support/draws.h"
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { MOST = 12 /* coordinates */, AXES = 6 };

typedef struct problem {
    dyn_task task;
    double   M[MOST * MOST], J[AXES * MOST]; /* stored by columns: nv x nv, k x nv */
    double  *room;
} problem;

/* Draws a task: M = A A^T + 1 is positive definite, J has random directions. */
static problem random_problem(uint64_t seed, size_t nv, size_t k, double damping)
{
    problem p = {.task = {.nv = nv, .k = k, .damping = damping}};
    double  A[MOST * MOST];
    for (size_t e = 0; e < nv * nv; e++)
        A[e] = draw(&seed);
    for (size_t i = 0; i < nv; i++)
        for (size_t j = 0; j < nv; j++) {
            p.M[i + nv * j] = i == j;
            for (size_t e = 0; e < nv; e++)
                p.M[i + nv * j] += A[i + nv * e] * A[j + nv * e];
        }
    for (size_t e = 0; e < k * nv; e++)
        p.J[e] = draw(&seed);
    return p;
}

static dyn_task_status solve(problem *p)
{
    size_t nv = p->task.nv, k = p->task.k;
    p->room = calloc(dyn_task_entries(nv, k), sizeof *p->room);
    assert_non_null(p->room);
    dyn_task_lay_out(&p->task, p->room);
    memcpy(p->task.M, p->M, nv * nv * sizeof *p->M);
    for (size_t a = 0; a < k; a++)
        for (size_t v = 0; v < nv; v++)
            p->task.X[v + nv * a] = p->J[a + k * v];
    return dyn_task_solve(&p->task);
}

/* Checks M Jbar = J^T Lambda and J Jbar + damping^2 Lambda = 1, which define Lambda and Jbar. */
static void check_equations(const problem *p, double tolerance)
{
    const dyn_task *t  = &p->task;
    size_t          nv = t->nv, k = t->k;
    for (size_t a = 0; a < k; a++) {
        for (size_t v = 0; v < nv; v++) {
            double difference = 0, size = 0;
            for (size_t u = 0; u < nv; u++) {
                difference += p->M[v + nv * u] * t->X[u + nv * a];
                size += fabs(p->M[v + nv * u] * t->X[u + nv * a]);
            }
            for (size_t b = 0; b < k; b++)
                difference -= p->J[b + k * v] * t->Lambda[b + k * a];
            assert_true(fabs(difference) <= tolerance * fmax(size, 1));
        }
        for (size_t b = 0; b < k; b++) {
            double one = t->damping * t->damping * t->Lambda[b + k * a], size = fabs(one);
            for (size_t v = 0; v < nv; v++) {
                one += p->J[b + k * v] * t->X[v + nv * a];
                size += fabs(p->J[b + k * v] * t->X[v + nv * a]);
            }
            assert_true(fabs(one - (a == b)) <= tolerance * fmax(size, 1));
            assert_true(t->Lambda[a + k * b] == t->Lambda[b + k * a]);
        }
    }
}

static void equations_hold(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        size_t  k = 1 + seed % AXES, nv = k + seed % (MOST + 1 - k);
        problem p = random_problem(seed, nv, k, seed % 2 ? 0 : 0.1);
        assert_int_equal(solve(&p), DYN_TASK_DONE);
        assert_int_equal(dyn_task_rank(&p.task), k);
        check_equations(&p, p.task.S[0] / p.task.S[k - 1] * p.task.S[0] / p.task.S[k - 1] * 1e-13);
        free(p.room);
    }
}

/* Directions along the coordinates must have the masses of these coordinates; eigenvalues are in ascending order. */
static void directions_of_coordinates(void **state)
{
    (void)state;
    problem p = {.task = {.nv = 3, .k = 2}, .M = {4, 0, 0, 0, 9, 0, 0, 0, 16}, .J = {0, 1, 0, 0, 1, 0}};
    assert_int_equal(solve(&p), DYN_TASK_DONE);
    const double Lambda[] = {16, 0, 0, 4}, Jbar[] = {0, 0, 1, 1, 0, 0};
    for (int e = 0; e < 4; e++)
        assert_true(fabs(p.task.Lambda[e] - Lambda[e]) <= 16 * DBL_EPSILON * 16);
    for (int e = 0; e < 6; e++)
        assert_true(fabs(p.task.X[e] - Jbar[e]) <= 16 * DBL_EPSILON);
    assert_true(fabs(p.task.mass[0] - 4) < 1e-14 && fabs(p.task.mass[1] - 16) < 1e-13);
    free(p.room);
}

/* Two equal rows of J, or fewer coordinates than directions, must be reported as singular, with the rank, unless
 * damped. */
static void missing_directions(void **state)
{
    (void)state;
    for (int damped = 0; damped < 2; damped++) {
        problem twice = random_problem(7, 5, 3, damped ? 0.2 : 0), few = random_problem(8, 2, 3, damped ? 0.2 : 0);
        for (size_t v = 0; v < 5; v++)
            twice.J[2 + 3 * v] = twice.J[1 + 3 * v];
        assert_int_equal(solve(&twice), damped ? DYN_TASK_DONE : DYN_TASK_SINGULAR);
        assert_int_equal(solve(&few), damped ? DYN_TASK_DONE : DYN_TASK_SINGULAR);
        assert_int_equal(dyn_task_rank(&twice.task), 2);
        assert_int_equal(dyn_task_rank(&few.task), 2);
        if (damped) {
            check_equations(&twice, 1e-11);
            check_equations(&few, 1e-11);
        }
        free(twice.room), free(few.room);
    }
    problem none = {.task = {.nv = 0, .k = 2, .damping = 0.5}};
    assert_int_equal(solve(&none), DYN_TASK_DONE);
    assert_true(none.task.Lambda[0] == 4 && none.task.Lambda[1] == 0 && none.task.Lambda[3] == 4);
    free(none.room);
}

/* Computes `to` = a b of k x k matrices by columns. */
static void multiply(size_t k, const double *a, const double *b, double *to)
{
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++) {
            to[i + k * j] = 0;
            for (size_t e = 0; e < k; e++)
                to[i + k * j] += a[i + k * e] * b[e + k * j];
        }
}

static void assert_close(const double *a, const double *b, size_t n, double tolerance)
{
    double size = 0;
    for (size_t e = 0; e < n; e++)
        size = fmax(size, fmax(fabs(a[e]), fabs(b[e])));
    for (size_t e = 0; e < n; e++)
        assert_true(fabs(a[e] - b[e]) <= tolerance * size);
}

/* The functions that copy matrices from one lane must not mix in those of neighbouring lanes; they read J by rows and X
   by columns. */
static void one_lane_is_taken(void **state)
{
    (void)state;
    enum { NV = 3, K = 2, LANES = 4, LANE = 2 };
    double   room[1000], M[NV * NV * LANES], J[K * NV * LANES];
    dyn_task task = {.nv = NV, .k = K};
    for (size_t i = 0; i < sizeof M / sizeof *M; i++)
        M[i] = 1000 + (double)i;
    for (size_t i = 0; i < sizeof J / sizeof *J; i++)
        J[i] = 2000 + (double)i;
    assert_true(dyn_task_entries(NV, K) <= sizeof room / sizeof *room);
    dyn_task_lay_out(&task, room);
    dyn_task_take_lane(&task, M, J, LANES, LANE);
    for (size_t i = 0; i < NV * NV; i++)
        assert_true(task.M[i] == M[i * LANES + LANE]);
    for (size_t a = 0; a < K; a++)
        for (size_t v = 0; v < NV; v++)
            assert_true(task.X[v + NV * a] == J[(a * NV + v) * LANES + LANE]);
}

/* Checks more directions than coordinates, each a mixture of `rank` of them, with M = 1: Lambda is the pseudo-inverse
 * of A = J J^T, by Penrose's equations, and Jbar = J^T Lambda. */
static void redundant_directions(void **state)
{
    (void)state;
    enum { NV = 7, K = 9 };
    for (size_t rank = 1; rank <= NV; rank++) {
        uint64_t seed      = rank;
        problem  p         = random_problem(seed, NV, 1, 0);
        double   J[K * NV] = {0}, A[K * K] = {0}, AL[K * K], check[K * K], Jbar[NV * K] = {0};
        for (size_t r = 0; r < rank; r++) {
            double mix[K], row[NV];
            for (size_t a = 0; a < K; a++)
                mix[a] = draw(&seed);
            for (size_t v = 0; v < NV; v++)
                row[v] = draw(&seed);
            for (size_t e = 0; e < K * NV; e++)
                J[e] += mix[e % K] * row[e / K];
        }
        p.task = (dyn_task){.nv = NV, .k = K, .redundant = true};
        p.room = calloc(dyn_task_entries(NV, K), sizeof *p.room);
        dyn_task_lay_out(&p.task, p.room);
        for (size_t v = 0; v < NV; v++)
            for (size_t a = 0; a < K; a++) {
                p.task.M[v + NV * v] = 1;
                p.task.X[v + NV * a] = J[a + K * v];
                for (size_t b = 0; b < K; b++)
                    A[a + K * b] += J[a + K * v] * J[b + K * v];
            }
        assert_int_equal(dyn_task_solve(&p.task), DYN_TASK_DONE);
        assert_int_equal(dyn_task_rank(&p.task), rank);
        const double *L      = p.task.Lambda;
        double        spread = p.task.S[0] / p.task.S[rank - 1], tolerance = spread * spread * 1e-13;
        multiply(K, A, L, AL);
        multiply(K, AL, A, check);
        assert_close(check, A, K * K, tolerance);
        multiply(K, L, AL, check);
        assert_close(check, L, K * K, tolerance);
        for (size_t v = 0; v < NV; v++)
            for (size_t a = 0; a < K; a++)
                for (size_t b = 0; b < K; b++)
                    Jbar[v + NV * a] += J[b + K * v] * L[b + K * a];
        assert_close(p.task.X, Jbar, NV * K, tolerance);
        assert_true(p.task.mass[rank - 1] > 0);
        for (size_t a = rank; a < K; a++)
            assert_true(p.task.mass[a] == 0);
        free(p.room);
    }
}

static void invalid_tasks_are_not_computed(void **state)
{
    (void)state;
    problem negative = random_problem(3, 4, 2, 0.1), endless = random_problem(4, 4, 2, 0.1), wild = endless;
    negative.M[0] = -1;
    endless.M[5]  = INFINITY;
    wild.J[3]     = NAN;
    assert_int_equal(solve(&negative), DYN_TASK_NOT_COMPUTED);
    assert_int_equal(solve(&endless), DYN_TASK_NOT_COMPUTED);
    assert_int_equal(solve(&wild), DYN_TASK_NOT_COMPUTED);
    free(negative.room), free(endless.room), free(wild.room);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equations_hold),       cmocka_unit_test(directions_of_coordinates),
        cmocka_unit_test(one_lane_is_taken),    cmocka_unit_test(missing_directions),
        cmocka_unit_test(redundant_directions), cmocka_unit_test(invalid_tasks_are_not_computed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
