/* test_constraint.c - checks the kernels that solve for the wrenches on held frames: the equations that define their
 * results, LAPACK's solutions of single states, and equal bits in all lanes and on all targets; and the laws of contact
 * and friction of forces on rigid points. */
#include "tests/dynamics/support/check.h"
#include "dynamics/contact/contact.h"
#include "dynamics/held_directions.h"
#include "dynamics/rigid_contact/rigid_contact_solver.h"
#include "tests/dynamics/support/trial.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROBOTS = 16, ROWS = 11, FRAMES = 3, AXES = 15 };

/* Factor of the accelerations of free robots: far larger than gravity and velocities explain, as under strong efforts.
 */
#define STRONG 300

/* One robot whose base is held and whose last link is held twice, along all axes or some: the held directions are
   linearly dependent, and those of a fixed base count as zero. */
typedef struct problem {
    const trial   *t;
    dyn_held_frame frame[FRAMES];
    dyn_held_set   contact;
    double         damping;
    bool           drives; /* true if some coordinates of some states are driven */
} problem;

/* The results of all states, one row for each state. */
typedef struct solutions {
    double efforts[ROWS][AXES], along[ROWS][AXES], change[ROWS][DYN_MAX_DOF], energy[ROWS], rank[ROWS];
    double contradictory[ROWS];
} solutions;

static problem problem_of(const trial *t)
{
    const dyn_link_place *last = trial_last_link(t);
    problem               p    = {.t = t};
    p.frame[0] = (dyn_held_frame){.frame = {t->model->base.body, t->model->base.X_bl}, .n = 3, .axis = {0, 1, 2}};
    p.frame[1] = (dyn_held_frame){.frame = {last->body, last->X_bl}, .n = 6, .axis = {0, 1, 2, 3, 4, 5}};
    p.frame[2] = p.frame[1];
    return p;
}

static void close_problem(problem *p)
{
    p->contact = (dyn_held_set){.n = FRAMES, .k = AXES, .frame = p->frame};
}

static bool is_driven(const problem *p, size_t row, size_t v)
{
    return p->drives && (row + v) % 5 == 0;
}

/* A block of states in lanes: rows from `first` on, cyclically. */
typedef struct block {
    dyn_contact_block  b;
    dyn_contact_states states;
    double            *room, *q, *qd, *qdd;
    void              *workspace;
} block;

static double *take_lanes(size_t entries, size_t W)
{
    double *room = aligned_alloc(DYN_ALIGN, (entries * W * sizeof *room + DYN_ALIGN) / DYN_ALIGN * DYN_ALIGN);
    assert_non_null(room);
    memset(room, 0xff, entries * W * sizeof *room); /* all bytes 0xff: NaN */
    return room;
}

static double *lanes_of(const double *rows, size_t n, size_t W, size_t first)
{
    double *to = take_lanes(n, W);
    for (size_t i = 0; i < n; i++)
        for (size_t l = 0; l < W; l++)
            to[i * W + l] = rows[(first + l) % ROWS * n + i];
    return to;
}

static void open_block(const problem *p, const dyn_kernels *k, size_t first, block *x)
{
    const trial *t = p->t;
    const size_t W = (size_t)k->lanes;
    x->room        = take_lanes(dyn_contact_entries(t->nv, &p->contact), W);
    x->workspace   = aligned_alloc(DYN_ALIGN, (k->workspace_size(t->model) + DYN_ALIGN) / DYN_ALIGN * DYN_ALIGN);
    assert_non_null(x->workspace);
    x->q   = lanes_of(t->q, t->nq, W, first);
    x->qd  = lanes_of(t->qd, t->nv, W, first);
    x->qdd = lanes_of(t->qdd, t->nv, W, first);
    for (size_t i = 0; i < t->nv * W; i++)
        x->qdd[i] *= STRONG;
    x->b         = dyn_contact_lay_out(&p->contact, t->nv, W, x->room);
    x->b.damping = p->damping;
    x->states =
        (dyn_contact_states){.kernels = k, .scene = &t->scene, .workspace = x->workspace, .q = x->q, .qd = x->qd};
    dyn_contact_evaluate(&x->b, &x->states);
    x->b.decoupled = p->drives;
    for (size_t l = 0; p->drives && l < W; l++) {
        bool driven[DYN_MAX_DOF];
        for (size_t v = 0; v < t->nv; v++)
            driven[v] = is_driven(p, (first + l) % ROWS, v);
        dyn_contact_set_driven(&x->b, driven, l);
    }
    assert_true(dyn_contact_factor(&x->b, &x->states));
}

static void close_block(block *x)
{
    free(x->room), free(x->workspace);
    free(x->q), free(x->qd), free(x->qdd);
}

/* Solves all states with J qdd for right sides, which all motions of the robot have. The first state of the first block
 * is row `first`. */
static void solve_states(const problem *p, const dyn_kernels *k, size_t first, solutions *to)
{
    const size_t W = (size_t)k->lanes, nv = p->t->nv;
    for (size_t begin = 0; begin < ROWS; begin += W) {
        block x;
        open_block(p, k, first + begin, &x);
        dyn_contact_find(&x.b, &x.states, NULL, x.qdd, 1, true);
        for (size_t l = 0; l < W; l++) {
            const size_t row = (first + begin + l) % ROWS;
            assert_true(dyn_contact_is_factored(&x.b, l));
            for (size_t a = 0; a < AXES; a++)
                to->efforts[row][a] = x.b.efforts[a * W + l], to->along[row][a] = x.b.along[a * W + l];
            for (size_t v = 0; v < nv; v++)
                to->change[row][v] = x.b.change[v * W + l];
            to->energy[row]        = x.b.energy[l];
            to->rank[row]          = x.b.factor.rank[l];
            to->contradictory[row] = x.b.contradictory[l];
        }
        close_block(&x);
    }
}

/* Checks that every state has the same bits on all targets of a class, at any lane of a block, whatever the other
   states are. */
static void compare_targets(const problem *p)
{
    solutions *expected[2] = {NULL, NULL};
    for (size_t i = 0; dyn_kernels_at(i); i++) {
        const dyn_kernels *k = dyn_kernels_at(i);
        for (size_t first = 0; first < 2; first++) {
            solutions *found = calloc(1, sizeof *found);
            assert_non_null(found);
            solve_states(p, k, first, found);
            if (expected[k->fused])
                assert_memory_equal(found, expected[k->fused], sizeof *found);
            else
                expected[k->fused] = found;
            if (expected[k->fused] != found) free(found);
        }
    }
    free(expected[0]), free(expected[1]);
}

static double norm(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

/* Compares one state with l = -Lambda c and -Jbar c of LAPACK. The relative error of a solution grows with the
 * condition number S_1 / S_r of L^-1 J^T, and that of l once more with the drop of dependent directions. */
static void compare_with_lapack(const problem *p, block *x, size_t row, const solutions *got)
{
    const size_t nv = p->t->nv;
    bool         driven[DYN_MAX_DOF];
    for (size_t v = 0; v < nv; v++)
        driven[v] = is_driven(p, row, v);
    assert_true(dyn_contact_solve(&x->b, driven, 0));
    const dyn_task *t    = &x->b.task;
    const size_t    rank = dyn_task_rank(t);
    assert_int_equal(got->rank[row], rank);
    double efforts[AXES], change[DYN_MAX_DOF], energy = 0, condition = rank > 0 ? t->S[0] / t->S[rank - 1] : 1;
    if (condition > 1e4) return; /* near the limit the two programs may find different ranks */
    for (size_t a = 0; a < AXES; a++) {
        efforts[a] = 0;
        for (size_t c = 0; c < AXES; c++)
            efforts[a] -= t->Lambda[a + AXES * c] * got->along[row][c];
        energy -= efforts[a] * got->along[row][a];
    }
    for (size_t v = 0; v < nv; v++) {
        change[v] = 0;
        for (size_t c = 0; c < AXES; c++)
            change[v] -= t->X[v + nv * c] * got->along[row][c];
    }
    const double tolerance = 1e-13 * condition * condition;
    check_close("efforts", p->t->seed, AXES, got->efforts[row], efforts, tolerance);
    check_close("change", p->t->seed, nv, got->change[row], change, tolerance);
    check_close("energy", p->t->seed, 1, &got->energy[row], &energy, tolerance);
    if (!p->drives) assert_int_equal(got->contradictory[row], 0);
}

/* Checks that frames do not accelerate after the change: J (qdd + change) = -delta l. Only coordinates that are not
 * driven change. */
static void check_motion(const problem *p, const block *x, size_t row, const solutions *got)
{
    const size_t nv = p->t->nv;
    for (size_t a = 0; a < AXES; a++) {
        double left = got->along[row][a] + p->damping * got->efforts[row][a], size = fabs(left);
        for (size_t v = 0; v < nv; v++) {
            left += x->b.J[a * nv + v] * got->change[row][v];
            size += fabs(x->b.J[a * nv + v] * got->change[row][v]);
        }
        if (!p->drives) assert_true(fabs(left) <= 1e-9 * size);
    }
    for (size_t v = 0; v < nv; v++)
        if (is_driven(p, row, v)) assert_true(got->change[row][v] == 0);
}

static void check_problem(problem *p)
{
    const dyn_kernels *one = dyn_kernels_for_models();
    solutions         *got = calloc(1, sizeof *got);
    assert_non_null(got);
    close_problem(p);
    solve_states(p, one, 0, got);
    for (size_t row = 0; row < ROWS; row++) {
        block x;
        open_block(p, one, row, &x);
        compare_with_lapack(p, &x, row, got);
        check_motion(p, &x, row, got);
        assert_true(norm(got->along[row], AXES) > 0);
        close_block(&x);
    }
    free(got);
    compare_targets(p);
}

static void check_robot(const trial *t)
{
    problem p = problem_of(t);
    check_problem(&p);
    p.drives = true;
    check_problem(&p);
    p.drives  = false;
    p.damping = 0.01;
    check_problem(&p);
}

/* Frames of random robots, held twice: redundant directions have the wrenches of least norm. Where each state has other
   driven coordinates, the lanes of one block have different ranks. */
static void test_redundant_frames_of_random_robots(void **state)
{
    (void)state;
    trial_robots(ROBOTS, ROWS, check_robot);
}

/* Compares Lambda with that of LAPACK, and the bound with the product of the traces of G and Lambda, which is no less
 * than the condition number of G. Damping makes G regular whatever the robot. */
static void check_inertia_of_robot(const trial *t)
{
    enum { K = DYN_FRAME_AXES };
    problem            p   = problem_of(t);
    const dyn_kernels *one = dyn_kernels_for_models();
    const size_t       W   = (size_t)one->lanes;
    p.damping              = 0.03;
    p.contact              = (dyn_held_set){.n = 1, .k = K, .frame = &p.frame[1]};
    double *inertia = take_lanes((size_t)K * K, W), *bound = take_lanes(1, W);
    for (size_t row = 0; row < ROWS; row++) {
        block x;
        open_block(&p, one, row, &x);
        dyn_contact_find_inertia(&x.b, &x.states, inertia, NULL, bound);
        assert_true(dyn_contact_solve(&x.b, NULL, 0));
        double found[K * K], trace = 0;
        for (size_t e = 0; e < (size_t)K * K; e++)
            found[e] = inertia[e * W];
        for (size_t a = 0; a < K; a++)
            trace += found[a * (K + 1)];
        check_close("inertia", t->seed, (size_t)K * K, found, x.b.task.Lambda, 1e-13 * bound[0]);
        assert_true(fabs(bound[0] - trace * x.b.factor.trace[0]) <= 1e-13 * bound[0]);
        assert_true(bound[0] >= K * K * (1 - 1e-13)); /* tr G tr G^-1 >= k^2 */
        close_block(&x);
    }
    free(inertia), free(bound);
}

/* By this bound task-space decides whether the kernel's inertia is accurate enough. */
static void test_the_bound_is_the_product_of_traces(void **state)
{
    (void)state;
    trial_robots(ROBOTS, ROWS, check_inertia_of_robot);
}

/* --- rigid contacts, one state without lanes -------------------------------------------------------------------- */

enum { POINTS = 2, POINT_ROWS = DYN_RIGID_ROWS * POINTS, RIGID_COORDINATES = 9 };

/* A body on two points, at the instant at which the first begins to slide. The points do not move relative to each
 * other, so that A is singular and the forces with which both points stick are not unique: each choice violates a
 * friction cone. */
static const double INERTIA[POINT_ROWS][POINT_ROWS] = {
    {0.2804912459826356, 0.021705188758530072, 0.1514788918016873, 0.30273478326928566, 0.0060837366728764145,
     -0.0488522589838394},
    {0.021705188758530072, 0.9249617803512518, 0.10722746896765137, 0.46556617527314814, 0.22066808836050586,
     -0.21724156916975673},
    {0.1514788918016873, 0.10722746896765137, 0.8351451637526721, 0.25847208778783853, 0.036580129423418185,
     0.05976193103313986},
    {0.30273478326928566, 0.46556617527314814, 0.25847208778783853, 0.6431308979529031, -0.05342012573122486,
     -0.08970584905874368},
    {0.0060837366728764145, 0.22066808836050586, 0.036580129423418185, -0.05342012573122486, 0.3255876415454452,
     -0.16381053249389319},
    {-0.0488522589838394, -0.21724156916975673, 0.05976193103313986, -0.08970584905874368, -0.16381053249389319,
     0.6638279474416076}};
static const double FREE[POINT_ROWS] = {-1.8312051937350784, 2.593053057760572, -6.921201717211567,
                                        -2.226443171403429,  2.632350098814026, -8.810808254902593};
static const double FRICTION[POINTS] = {0.452762, 0.939643};

/* Forces with which one point slides and the other sticks satisfy Signorini's and Coulomb's laws; forces with which
   both points stick do not. */
static void test_a_contact_slides_once_no_forces_hold_both(void **state)
{
    (void)state;
    dyn_rigid_problem p       = {.nv = RIGID_COORDINATES, .n = POINTS};
    double           *room    = calloc(dyn_rigid_problem_entries(RIGID_COORDINATES, POINTS), sizeof *room);
    double            fastest = 0;
    assert_non_null(room);
    dyn_rigid_problem_lay_out(&p, POINTS, room);
    memcpy(p.A, INERTIA, sizeof INERTIA);
    memcpy(p.b, FREE, sizeof FREE);
    for (size_t i = 0; i < POINTS; i++) {
        p.friction[i] = FRICTION[i];
        p.mode[i]     = DYN_RIGID_STICKS;
    }
    assert_true(dyn_rigid_problem_solve(&p, (dyn_deadline){0}));
    for (size_t i = 0; i < POINTS; i++) {
        const double *f = p.force + DYN_RIGID_ROWS * i, *a = p.left + DYN_RIGID_ROWS * i;
        const double  rub = hypot(f[0], f[1]), slip = hypot(a[0], a[1]), most = FRICTION[i] * f[2];
        fastest = fmax(fastest, slip);
        assert_true(f[2] > 1 && fabs(a[2]) < 1e-7);
        assert_true(rub < most + 1e-7);
        if (slip > 1e-6) assert_true(rub > most - 1e-7 && f[0] * a[0] + f[1] * a[1] < -(1 - 1e-6) * rub * slip);
    }
    assert_true(fastest > 1e-6);
    free(room);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_contact_slides_once_no_forces_hold_both),
        cmocka_unit_test(test_redundant_frames_of_random_robots),
        cmocka_unit_test(test_the_bound_is_the_product_of_traces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
