/* test_sequential_qr.c - checks least squares solved block by block: normal equations, condition, and unknowns that the
 * rows do not determine. */
#include "dynamics/identification/sequential_qr.h"
#include "tests/api/support/draws.h"
#include "tests/api/support/models.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 7, ROWS = 200 };

/* Draws rows of unknowns and right side, stored by columns. */
static void draw_rows(double *rows, uint64_t seed)
{
    for (size_t j = 0; j <= N; j++)
        for (size_t i = 0; i < ROWS; i++)
            rows[j * ROWS + i] = draw(&seed) * pow(10, (double)j - 3);
}

/* Factors the rows in blocks of `block`; the caller frees the result. */
static double *factor(const double *rows, size_t block)
{
    double *R = numbers((N + 1) * (N + 1)), part[(N + 1) * ROWS];
    for (size_t first = 0; first < ROWS; first += block) {
        size_t m = ROWS - first < block ? ROWS - first : block;
        for (size_t j = 0; j <= N; j++)
            memcpy(part + j * ROWS, rows + j * ROWS + first, m * sizeof *part);
        assert_true(dyn_qr_add_rows(R, N + 1, part, m, ROWS));
    }
    return R;
}

typedef struct solution {
    double x[N], inverse[N * N], condition;
    bool   unseen[N];
} solution;

static dyn_solved solve(const double *R, solution *s)
{
    double      *scratch = numbers(dyn_qr_solve_scratch(N));
    dyn_unknowns u       = {.n = N, .x = s->x, .inverse = s->inverse, .unseen = s->unseen};
    dyn_solved   solved  = dyn_qr_solve(R, &u, scratch);
    s->condition         = u.condition;
    free(scratch);
    return solved;
}

/* Solves for two unknowns with the columns (a, 0) and (b, c). */
static dyn_solved solve_two(double a, double b, double c, double *condition, bool unseen[2])
{
    double       R[9]    = {[0] = a, [3] = b, [4] = c, [6] = 1, [7] = 1}, x[2], inverse[4];
    double      *scratch = numbers(dyn_qr_solve_scratch(2));
    dyn_unknowns u       = {.n = 2, .x = x, .inverse = inverse, .unseen = unseen};
    dyn_solved   solved  = dyn_qr_solve(R, &u, scratch);
    *condition           = u.condition;
    free(scratch);
    return solved;
}

/* Two directions must count as dependent below 1e-8 of the larger one, and a column as zero below 1e-12 of the
 * longest. */
static void dependent_columns_are_found(void **state)
{
    double condition;
    bool   unseen[2];
    assert_int_equal(solve_two(1, 1, 4e-8, &condition, unseen), DYN_SOLVED);
    assert_true(condition > 4.9e7 && condition < 5.1e7);
    assert_int_equal(solve_two(1, 1, 1e-8, &condition, unseen), DYN_DEFICIENT);
    assert_true(unseen[0] && unseen[1]);
    assert_int_equal(solve_two(1, 0, 1e-11, &condition, unseen), DYN_SOLVED);
    assert_true(fabs(condition - 1) < 1e-12);
    assert_int_equal(solve_two(1, 0, 1e-13, &condition, unseen), DYN_DEFICIENT);
    assert_true(!unseen[0] && unseen[1]);
}

/* Checks A^T (A x - b) = 0, and that `inverse` times its transpose is the inverse of A^T A. */
static void blocks_make_the_least_squares(void **state)
{
    static const size_t blocks[] = {1, 5, 64, ROWS};
    double             *rows     = numbers((N + 1) * ROWS);
    draw_rows(rows, 1);
    for (size_t b = 0; b < 4; b++) {
        solution s;
        double  *R = factor(rows, blocks[b]), left[ROWS];
        assert_int_equal(solve(R, &s), DYN_SOLVED);
        for (size_t i = 0; i < ROWS; i++) {
            left[i] = -rows[N * ROWS + i];
            for (size_t j = 0; j < N; j++)
                left[i] += rows[j * ROWS + i] * s.x[j];
        }
        for (size_t j = 0; j < N; j++) {
            double along = 0, size = 0, unit[N] = {0}, square[N] = {0};
            for (size_t i = 0; i < ROWS; i++) {
                along += rows[j * ROWS + i] * left[i];
                size += fabs(rows[j * ROWS + i] * left[i]);
                for (size_t k = 0; k < N; k++)
                    square[k] += rows[k * ROWS + i] * rows[j * ROWS + i];
            }
            assert_true(fabs(along) < 1e-12 * size);
            for (size_t k = 0; k < N; k++)
                for (size_t l = 0; l < N; l++)
                    for (size_t p = 0; p < N; p++)
                        unit[k] += s.inverse[p * N + k] * s.inverse[p * N + l] * square[l];
            for (size_t k = 0; k < N; k++)
                assert_true(fabs(unit[k] - (k == j)) < 1e-9 * pow(10, fabs((double)k - (double)j)));
        }
        free(R);
    }
    free(rows);
}

/* Rows that involve only the last columns, factored separately and then joined, must give the same solution as all rows
 * factored at once. */
static void joined_factors_equal_one_factor(void **state)
{
    enum { FIRST = 3, LEFT = N + 1 - FIRST };
    double *rows = numbers((N + 1) * ROWS), part[(N + 1) * ROWS];
    draw_rows(rows, 4);
    for (size_t j = 0; j < FIRST; j++)
        memset(rows + j * ROWS + ROWS / 2, 0, ROWS / 2 * sizeof *rows);
    double *all = factor(rows, ROWS), *R = numbers((N + 1) * (N + 1)), *small = numbers(LEFT * LEFT);
    for (size_t j = 0; j <= N; j++)
        memcpy(part + j * ROWS, rows + j * ROWS, ROWS / 2 * sizeof *part);
    assert_true(dyn_qr_add_rows(R, N + 1, part, ROWS / 2, ROWS));
    for (size_t j = 0; j < LEFT; j++)
        memcpy(part + j * ROWS, rows + (FIRST + j) * ROWS + ROWS / 2, ROWS / 2 * sizeof *part);
    assert_true(dyn_qr_add_rows(small, LEFT, part, ROWS / 2, ROWS));
    memset(part, 0, sizeof part);
    memcpy(part + FIRST * LEFT, small, LEFT * LEFT * sizeof *part);
    assert_true(dyn_qr_add_triangle(R, N + 1, FIRST, part, LEFT));
    solution joined, whole;
    assert_int_equal(solve(R, &joined), DYN_SOLVED);
    assert_int_equal(solve(all, &whole), DYN_SOLVED);
    for (size_t j = 0; j < N; j++)
        assert_true(fabs(joined.x[j] - whole.x[j]) <= 1e-11 * fabs(whole.x[j]));
    assert_true(fabs(joined.condition / whole.condition - 1) < 1e-12);
    assert_true(fabs(fabs(R[N * (N + 1) + N] / all[N * (N + 1) + N]) - 1) < 1e-12); /* the norm of the residual */
    free(rows);
    free(all);
    free(R);
    free(small);
}

/* The condition must not depend on the lengths of columns: two at an angle of cosine c have the condition sqrt((1 + c)
 * / (1 - c)). */
static void condition_is_of_unit_columns(void **state)
{
    double *rows = numbers((N + 1) * ROWS), c = 0.6;
    for (size_t j = 0; j < N; j++)
        rows[j * ROWS + j] = pow(10, (double)j - 3);
    rows[0]        = 5;
    rows[ROWS]     = 0.1 * c;
    rows[ROWS + 1] = 0.1 * sqrt(1 - c * c);
    double  *R     = factor(rows, 3);
    solution s;
    assert_int_equal(solve(R, &s), DYN_SOLVED);
    assert_true(fabs(s.condition - sqrt((1 + c) / (1 - c))) < 1e-12);
    free(R);
    free(rows);
}

static void undetermined_unknowns_are_found(void **state)
{
    double  *rows = numbers((N + 1) * ROWS);
    solution s;
    draw_rows(rows, 2);
    for (size_t i = 0; i < ROWS; i++) {
        rows[2 * ROWS + i] = 0;
        rows[5 * ROWS + i] = 3 * rows[ROWS + i] - 2 * rows[3 * ROWS + i];
    }
    double *R = factor(rows, 64);
    assert_int_equal(solve(R, &s), DYN_DEFICIENT);
    static const bool expected[N] = {false, true, true, true, false, true, false};
    for (size_t j = 0; j < N; j++)
        assert_int_equal(s.unseen[j], expected[j]);
    free(R);

    draw_rows(rows, 3);
    rows[3 * ROWS] = 1e200;
    R              = factor(rows, 64);
    assert_int_equal(solve(R, &s), DYN_UNSOLVED);
    free(R);
    free(rows);
}

/* Scaling all rows by a power of two must scale the factors exactly, also where squares overflow or underflow; and a
 * number that is not finite is refused. */
static void lengths_beyond_those_of_squares_are_right(void **state)
{
    static const double scales[] = {0x1p-600, 0x1p600};
    double             *rows = numbers((N + 1) * ROWS), *scaled = numbers((N + 1) * ROWS);
    draw_rows(rows, 6);
    double *R = factor(rows, 64);
    for (size_t s = 0; s < 2; s++) {
        for (size_t e = 0; e < (N + 1) * ROWS; e++)
            scaled[e] = scales[s] * rows[e];
        double *S = factor(scaled, 64);
        for (size_t j = 0; j <= N; j++)
            for (size_t i = 0; i <= j; i++)
                assert_true(fabs(S[j * (N + 1) + i] / scales[s] - R[j * (N + 1) + i]) <=
                            1e-12 * fabs(R[j * (N + 1) + j]));
        free(S);
    }
    scaled[5 * ROWS + 3] = INFINITY;
    assert_false(dyn_qr_add_rows(R, N + 1, scaled, 64, ROWS));
    free(rows);
    free(scaled);
    free(R);
}

static bool goes_on(void *arg)
{
    return arg == NULL;
}

/* With columns of any length, column 4 = 2 column 1 - 3 column 0 and column 6 = 0 must be found. In another order of
   the columns other ones are kept as independent. */
static void columns_are_combined(void **state)
{
    static const size_t orders[2][N] = {{0, 1, 2, 3, 4, 5, 6}, {6, 5, 4, 3, 2, 1, 0}};
    double *rows = numbers((N + 1) * ROWS), *K = numbers(N * N), *scratch = numbers(dyn_qr_combine_scratch(N));
    size_t  kept[N];
    bool    unseen[N];
    draw_rows(rows, 5);
    for (size_t i = 0; i < ROWS; i++) {
        rows[4 * ROWS + i] = 2 * rows[ROWS + i] - 3 * rows[i];
        rows[6 * ROWS + i] = 0;
    }
    double      *R = factor(rows, ROWS), *solving = numbers(dyn_qr_solve_scratch(N));
    dyn_unknowns u = {.n = N, .unseen = unseen};
    assert_int_equal(dyn_qr_examine(R, &u, solving), DYN_DEFICIENT);
    for (size_t way = 0; way < 2; way++) {
        dyn_combinations c       = {.n = N, .order = orders[way], .kept = kept, .K = K, .go_on = goes_on};
        const size_t     dropped = way == 0 ? 4 : 0;
        assert_true(dyn_qr_combine(R, &c, scratch));
        assert_int_equal(c.n_kept, N - 2);
        for (size_t k = 0; k < c.n_kept; k++)
            assert_true(kept[k] != dropped && kept[k] != 6);
        for (size_t j = 0; j < N; j++)
            for (size_t i = 0; i < N; i++) {
                double expected = 0;
                if (j == dropped && way == 0) expected = i == 1 ? 2 : i == 0 ? -3 : 0;
                if (j == dropped && way == 1) expected = i == 1 ? 2.0 / 3 : i == 4 ? -1.0 / 3 : 0;
                assert_true(fabs(K[j * N + i] - expected) < 1e-9);
            }
        c.arg = &c;
        assert_false(dyn_qr_combine(R, &c, scratch));
    }
    free(rows);
    free(K);
    free(scratch);
    free(R);
    free(solving);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dependent_columns_are_found),
        cmocka_unit_test(blocks_make_the_least_squares),
        cmocka_unit_test(joined_factors_equal_one_factor),
        cmocka_unit_test(condition_is_of_unit_columns),
        cmocka_unit_test(undetermined_unknowns_are_found),
        cmocka_unit_test(lengths_beyond_those_of_squares_are_right),
        cmocka_unit_test(columns_are_combined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
