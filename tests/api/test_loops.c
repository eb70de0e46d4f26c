/* test_loops.c - checks the parts that the computation of closed loops uses: their documents, residuals and constraint
 * rows, motions of coordinates, and products of matrices in lanes. */
#include "dynamics/model/coordinates.h"
#include "dynamics/loops/lane_matrix.h"
#include "dynamics/math/least_squares.h"
#include "dynamics/loops/loops.h"
#include "dynamics/dynamics.h"
#include "tests/api/support/models.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BAR(name, parent, x, more)                                                                                     \
    "{'name':'" name "','parent':'" parent "','joint':{'name':'of_" name "','type':'revolute','axis':[0,0,1],"         \
    "'origin':{'xyz':[" x ",0,0]}" more "}}"
#define FOUR_BAR(kind)                                                                                                 \
    "{'links':[" BAR("left", "base", "0", "") "," BAR("rod", "left", "1", ",'actuated':false,'home':-0.5") "," BAR(    \
        "right", "base", "2", ",'actuated':false") "],"                                                                \
                                                   "'frames':[{'name':'a','link':'rod','xyz':[2,0,0]},{'name':'b','"   \
                                                   "link':'right','xyz':[1,0,0]}],"                                    \
                                                   "'loops':[{'name':'pin','frame_a':'a','frame_b':'b'," kind "}]}"
#define PIN "'type':'revolute','axis':[0,0,2]"

/* --- documents --------------------------------------------------------------------------------------------------- */

static void coordinates_are_of_actuated_joints(void **state)
{
    api_model       *model = model_of(FOUR_BAR(PIN));
    const dyn_loops *l     = model->loops;
    assert_int_equal(model->nq, 1);
    assert_string_equal(model->position_names[0], "of_left");
    assert_int_equal(l->nv, 3);
    assert_int_equal(l->n_passive, 2);
    assert_string_equal(l->passive_names[1], "of_right");
    assert_string_equal(l->velocity_names[1], "of_rod");
    assert_true(l->home[1] == -0.5 && l->home[2] == 0);
    assert_int_equal(api_first_position(model, &model->dyn->body[0]), 0);
    assert_int_equal(api_first_position(model, &model->dyn->body[1]), -1);
    assert_int_equal(l->rows, 5);
    assert_true(l->loop[0].u[2] == 1);
    assert_true(l->length == 2);
    api_model_release(model);
}

/* Builds the model of a document without closing its loops: some of these mechanisms have no reference
 * configuration. */
static api_model *unclosed_model(const char *text)
{
    api_problem problem;
    json_t     *document = json_of(text);
    api_problem_clear(&problem);
    api_model *model = api_model_from_document(document, "robot", 4096, &problem);
    json_decref(document);
    assert_non_null(model);
    return model;
}

static void canonical_text_reads_back(void **state)
{
    api_model *model = unclosed_model(FOUR_BAR("'type':'helical','axis':[0,0,2],'pitch':0.1"));
    assert_non_null(strstr(model->document, "\"axis\":[0,0,2],\"pitch\":0.1"));
    assert_non_null(strstr(model->document, "\"home\":-0.5"));
    api_model *again = unclosed_model(model->document);
    assert_string_equal(again->document, model->document);
    api_model_release(again);
    api_model_release(model);
}

static void refusals(void **state)
{
    assert_refused(FOUR_BAR("'type':'floating'"), "bad-value", "/loops/0/type", "floating");
    assert_refused(FOUR_BAR("'type':'universal','axis':[0,0,1]"), "missing-field", "/loops/0/axis_b", "axis_b");
    assert_refused(FOUR_BAR("'type':'universal','axis':[0,0,1],'axis_b':[0,0,0]"), "bad-value", "/loops/0/axis_b",
                   "direction");
    assert_refused(FOUR_BAR("'type':'cylindrical','axis':[0,0,1],'axis_b':[1,0,0]"), "bad-value", "/loops/0/axis_b",
                   "cylindrical");
    assert_refused(FOUR_BAR("'type':'spherical','axis':[0,0,1]"), "bad-value", "/loops/0/axis", "spherical");
    assert_refused(FOUR_BAR("'type':'revolute','axis':[0,0,1],'pitch':1"), "bad-value", "/loops/0/pitch", "pitch");
    assert_refused(FOUR_BAR("'type':'revolute','axis':[0,0,0]"), "bad-value", "/loops/0/axis", "direction");
    assert_refused(
        "{'links':[" BAR("l", "base", "0", "") "],'loops':[{'name':'x','frame_a':'l','frame_b':'nobody','type':"
                                               "'fixed'}]}",
        "unknown-name", "/loops/0/frame_b", "nobody");
    assert_refused("{'links':[" BAR("l", "base", "0", "") "],'frames':[{'name':'f','link':'l'}],'loops':[{'name':'x',"
                                                          "'frame_a':'l','frame_b':'f','type':'fixed'}]}",
                   "bad-model", "/loops/0", "one body");
    assert_refused(
        "{'links':[" BAR("l", "base", "0", "") "],'loops':[{'name':'x','frame_a':'base','frame_b':'l','type':"
                                               "'fixed'}]}",
        "bad-model", "/loops", "all joints are actuated");
}

/* --- residuals --------------------------------------------------------------------------------------------------- */

/* Computes the rotation by an angle about axis k (x, y, z). */
static void turn(double angle, int k, double R[9])
{
    int i = (k + 1) % 3, j = (k + 2) % 3;
    memset(R, 0, 9 * sizeof *R);
    R[4 * k] = 1;
    R[4 * i] = R[4 * j] = cos(angle);
    R[3 * i + j]        = -sin(angle);
    R[3 * j + i]        = sin(angle);
}

/* At a closed pose the residual must change by the rows of E for small motions. */
static void check_rows(const dyn_loops *l, const double y[3], const double R[9])
{
    const double    h    = 1e-6;
    const dyn_loop *loop = &l->loop[0];
    double          n[6] = {0}; /* the last row of a universal joint rotates with the joint */
    if (loop->kind == DYN_LOOP_UNIVERSAL) dyn_loop_universal_row(loop, R, n + 3);
    for (int d = 0; d < 6; d++) {
        double open[2][DYN_LOOP_ROWS];
        for (int s = 0; s < 2; s++) {
            double by = s ? -h : h, moved[3], small[9], turned[9];
            for (int i = 0; i < 3; i++)
                moved[i] = y[i] + (d == i ? by : 0);
            turn(d < 3 ? 0 : by, d % 3, small);
            for (int i = 0; i < 9; i++)
                turned[i] = small[i / 3 * 3] * R[i % 3] + small[i / 3 * 3 + 1] * R[3 + i % 3] +
                            small[i / 3 * 3 + 2] * R[6 + i % 3];
            dyn_loop_residual(l, 0, moved, turned, open[s]);
        }
        for (size_t r = 0; r < loop->rows; r++)
            assert_true(fabs((open[0][r] - open[1][r]) / (2 * h) - loop->E[r][d] - (r == 3 ? n[d] : 0)) < 1e-8);
    }
}

static void rows_are_derivatives(void **state)
{
    static const struct {
        const char *kind;
        size_t      rows;
        double      angle, along[3];
    } cases[] = {
        {FOUR_BAR("'type':'fixed'"), 6, 0, {0, 0, 0}},
        {FOUR_BAR("'type':'spherical'"), 3, 0.7, {0, 0, 0}},
        {FOUR_BAR(PIN), 5, 2.5, {0, 0, 0}},
        {FOUR_BAR("'type':'prismatic','axis':[0,0,1]"), 5, 0, {0, 0, 0.3}},
        {FOUR_BAR("'type':'planar','axis':[0,0,1]"), 3, -1.2, {0.4, -0.2, 0}},
        {FOUR_BAR("'type':'helical','axis':[0,0,1],'pitch':0.1"), 5, 0.8, {0, 0, 0.1 * (0.8 + 4 * M_PI)}},
        {FOUR_BAR("'type':'cylindrical','axis':[0,0,1]"), 4, -1.2, {0, 0, 0.3}},
        {FOUR_BAR("'type':'universal','axis':[0,0,2],'axis_b':[3,-4,0]"), 4, 0.7, {0, 0, 0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        api_model *model = unclosed_model(cases[i].kind);
        double     R[9], open[DYN_LOOP_ROWS];
        turn(cases[i].angle, 2, R);
        assert_int_equal(model->loops->rows, cases[i].rows);
        dyn_loop_residual(model->loops, 0, cases[i].along, R, open);
        for (size_t r = 0; r < cases[i].rows; r++)
            assert_true(fabs(open[r]) < 1e-15);
        check_rows(model->loops, cases[i].along, R);
        api_model_release(model);
    }
}

/* An axis rotated by half a turn must have the largest residual, pi. */
static void half_turns_are_open(void **state)
{
    const double y[3]    = {0};
    const char  *kinds[] = {FOUR_BAR(PIN), FOUR_BAR("'type':'fixed'")};
    for (size_t i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++) {
            api_model *model = unclosed_model(kinds[i]);
            double     R[9], open[DYN_LOOP_ROWS], sum = 0;
            turn(M_PI, k, R);
            dyn_loop_residual(model->loops, 0, y, R, open);
            for (size_t r = 0; r < model->loops->rows; r++)
                sum += open[r] * open[r];
            assert_true(fabs(sqrt(sum) - M_PI) < 1e-7);
            for (int j = 0; j < 9; j++)
                R[j] = nearbyint(R[j]); /* exact half turns, for which the axis of rotation is undefined */
            dyn_loop_residual(model->loops, 0, y, R, open);
            sum = 0;
            for (size_t r = 0; r < model->loops->rows; r++)
                sum += open[r] * open[r];
            assert_true(fabs(sqrt(sum) - M_PI) < 1e-14);
            api_model_release(model);
        }
}

/* --- coordinates ------------------------------------------------------------------------------------------------- */

/* Moves q along a for `time`, in steps so short that they follow the rotation of the axes. */
static void flow(const dyn_body *body, double *q, const double *a, double time)
{
    enum { STEPS = 2000 };
    for (int i = 0; i < STEPS; i++)
        dyn_coordinates_move(body, q, 1, a, time / STEPS);
}

/* Moving along a, along b, back along a and back along b must leave the bracket [a, b] h^2, up to third order in h. */
static void brackets_equal_the_commutator(void **state)
{
    const dyn_joint_kind kinds[] = {DYN_FLOATING, DYN_SPHERICAL};
    const double         a[6] = {0.3, -0.2, 0.5, 0.7, 0.1, -0.4}, b[6] = {-0.6, 0.4, 0.2, 0.3, 0.9, 0.5}, h = 1e-3;
    for (size_t i = 0; i < 2; i++) {
        dyn_body body = {.joint.kind = kinds[i], .joint.ratio = 1};
        size_t   nq   = (size_t)dyn_joint_nq(kinds[i]);
        double   q[7] = {0}, expected[7], bracket[6];
        q[nq - 1]     = 1;
        memcpy(expected, q, sizeof q);
        flow(&body, q, a, h);
        flow(&body, q, b, h);
        flow(&body, q, a, -h);
        flow(&body, q, b, -h);
        dyn_coordinates_bracket(&body, 1, a, b, bracket);
        dyn_coordinates_move(&body, expected, 1, bracket, h * h);
        for (size_t k = 0; k < nq; k++)
            assert_true(fabs(q[k] - expected[k]) < 0.005 * h * h);
        assert_true(fabs(q[0]) > 0.05 * h * h);
    }
}

/* --- matrices of lanes ------------------------------------------------------------------------------------------- */

enum { M = 7, K = 4, N = 11 };

/* Returns the index, in lanes of width 8, of entry i of lanes of width W. */
static size_t place_of(size_t i, size_t W)
{
    return i / W * 8 + i % W;
}

/* Returns sum + a b, rounded as the kernels do: once in the class `fused`, twice in `unfused`. */
static double add_product(const dyn_kernels *kernels, double sum, double a, double b)
{
    const volatile double product = a * b;
    return kernels->fused ? fma(a, b, sum) : sum + product;
}

static void products_of_target(const dyn_kernels *kernels)
{
    const size_t               W     = (size_t)kernels->lanes;
    const dyn_lanes            lanes = {.kernels = kernels};
    _Alignas(DYN_ALIGN) double A[M * K * 8], B[K * N * 8], C[M * N * 8], At[M * K * 8], Ct[M * N * 8];
    for (size_t i = 0; i < M * K * W; i++)
        A[i] = sin((double)place_of(i, W));
    for (size_t i = 0; i < K * N * W; i++)
        B[i] = cos((double)place_of(i, W));
    dyn_matrix_mul(&lanes, M, K, N, A, B, 0, C);
    for (size_t i = 0; i < M; i++)
        for (size_t k = 0; k < K; k++)
            memcpy(At + (k * M + i) * W, A + (i * K + k) * W, W * sizeof *A);
    dyn_matrix_mul_transposed(&lanes, M, K, N, At, B, 0, Ct);
    assert_memory_equal(C, Ct, M * N * W * sizeof *C);
    for (size_t e = 0; e < M * N * W; e++) {
        size_t lane = e % W, i = e / W / N, j = e / W % N;
        double sum = 0;
        for (size_t k = 0; k < K; k++)
            sum =
                add_product(kernels, sum, sin((double)((i * K + k) * 8 + lane)), cos((double)((k * N + j) * 8 + lane)));
        assert_true(C[e] == sum);
    }
    dyn_matrix_mul(&lanes, M, K, N, A, B, 1, C);
    for (size_t e = 0; e < M * N * W; e++)
        assert_true(C[e] == 2 * Ct[e]);
    dyn_matrix_mul(&lanes, M, K, N, A, B, -1, Ct);
    for (size_t e = 0; e < M * N * W; e++)
        assert_true(Ct[e] == 0);
}

/* Sums are taken in the order of the entries, whatever tiles a target computes together. */
static void products_have_the_same_bits(void **state)
{
    for (size_t t = 0; dyn_kernels_at(t); t++)
        products_of_target(dyn_kernels_at(t));
}

enum { ROWS = 90, UNKNOWNS = 70, SIDES = 3 };

/* A system of numbers that do not repeat; its last column is `factor` times the first one, plus `apart` times a vector
   that does not depend on it. */
static void set_system(double *A, double *B, double factor, double apart)
{
    for (size_t j = 0; j < UNKNOWNS; j++)
        for (size_t i = 0; i < ROWS; i++)
            A[j * ROWS + i] = sin(0.37 * (double)((1 + i) * (1 + i)) * (double)(1 + j)) * (double)(1 + j % 5);
    for (size_t i = 0; i < ROWS; i++)
        A[(UNKNOWNS - 1) * ROWS + i] = factor * A[i] + apart * A[(UNKNOWNS - 1) * ROWS + i];
    for (size_t e = 0; e < (size_t)SIDES * ROWS; e++)
        B[e] = cos((double)(1 + e) * 0.9);
}

static bool is_over(const void *arg)
{
    return false;
}

/* x minimises |A x - b| where the residual is perpendicular to all columns of A. */
static void residuals_of_least_squares_are_normal(void **state)
{
    static double     A[ROWS * UNKNOWNS], B[ROWS * SIDES], copy[ROWS * UNKNOWNS], b[ROWS * SIDES], work[3 * UNKNOWNS];
    int               pivot[UNKNOWNS];
    dyn_least_squares s = {ROWS, UNKNOWNS, A, B, ROWS, work, pivot, {NULL, NULL}};
    set_system(A, B, 0, 1);
    memcpy(copy, A, sizeof A);
    memcpy(b, B, sizeof B);
    assert_int_equal(dyn_least_squares_solve(&s, SIDES, 1e-9), DYN_SQUARES_SOLVED);
    for (size_t side = 0; side < SIDES; side++) {
        double residual[ROWS];
        for (size_t i = 0; i < ROWS; i++) {
            residual[i] = -b[side * ROWS + i];
            for (size_t j = 0; j < UNKNOWNS; j++)
                residual[i] += copy[j * ROWS + i] * B[side * ROWS + j];
        }
        for (size_t j = 0; j < UNKNOWNS; j++) {
            double along = 0;
            for (size_t i = 0; i < ROWS; i++)
                along += copy[j * ROWS + i] * residual[i];
            assert_true(fabs(along) < 1e-9); /* the rounding errors of solutions of some hundreds */
        }
    }
}

/* If a column is a multiple of another one, the solver reports it and leaves B unchanged, so that the caller can solve
   by another method. After the deadline nothing is solved. */
static void deficient_systems_are_told(void **state)
{
    static double     A[ROWS * UNKNOWNS], B[ROWS * SIDES], b[ROWS * SIDES], work[3 * UNKNOWNS];
    int               pivot[UNKNOWNS];
    dyn_least_squares s = {ROWS, UNKNOWNS, A, B, ROWS, work, pivot, {NULL, NULL}};
    set_system(A, B, 2.5, 1e-12);
    memcpy(b, B, sizeof B);
    assert_int_equal(dyn_least_squares_solve(&s, SIDES, 1e-9), DYN_SQUARES_DEFICIENT);
    assert_memory_equal(b, B, sizeof B);
    set_system(A, B, 2.5, 1e-3);
    assert_int_equal(dyn_least_squares_solve(&s, SIDES, 1e-9), DYN_SQUARES_SOLVED);
    set_system(A, B, 2.5, 1e-3);
    s.deadline.may_continue = is_over;
    assert_int_equal(dyn_least_squares_solve(&s, SIDES, 1e-9), DYN_SQUARES_STOPPED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coordinates_are_of_actuated_joints),
        cmocka_unit_test(canonical_text_reads_back),
        cmocka_unit_test(refusals),
        cmocka_unit_test(rows_are_derivatives),
        cmocka_unit_test(half_turns_are_open),
        cmocka_unit_test(brackets_equal_the_commutator),
        cmocka_unit_test(products_have_the_same_bits),
        cmocka_unit_test(residuals_of_least_squares_are_normal),
        cmocka_unit_test(deficient_systems_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
