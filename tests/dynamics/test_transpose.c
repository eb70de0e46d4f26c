/* test_transpose.c - checks the copies of rows of numbers to lanes and back, entry by entry, on every target. Nothing
 * may be read or written beyond the rows, and numbers that are not finite or out of bounds must be found at any
 * place. */
#include "tests/dynamics/support/check.h"
#include "dynamics/dynamics.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NUMBERS = 19, MOST_BLOCKS = 4, GAP = 3 /* GAP: entries of other vectors in a state's lanes */ };

/* Holds rows at any address, as in the body of a request. */
typedef struct rows {
    size_t n, states, W, entries;
    double value[MOST_BLOCKS * DYN_MAX_LANES * MOST_NUMBERS];
    char  *bytes; /* the rows, not aligned, in an allocation that ends with them */
    int    order[MOST_NUMBERS];
} rows;

static rows make(const dyn_kernels *k, size_t n, size_t states)
{
    rows r = {.n = n, .states = states, .W = (size_t)k->lanes, .entries = n + GAP};
    for (size_t i = 0; i < states * n; i++)
        r.value[i] = i % 5 == 4 ? -0.0 : ldexp(1 + (double)i, (int)(i * 37 % 1900) - 950);
    char *memory = malloc(1 + states * n * sizeof(double));
    assert_non_null(memory);
    r.bytes = memory + 1;
    memcpy(r.bytes, r.value, states * n * sizeof(double));
    for (size_t i = 0; i < n; i++)
        r.order[i] = (int)((i * 5 + 2) % n);
    if (n % 5 == 0)
        for (size_t i = 0; i < n; i++)
            r.order[i] = (int)(n - 1 - i);
    return r;
}

static double *make_lanes(const rows *r, double everywhere)
{
    size_t  blocks = (r->states + r->W - 1) / r->W;
    double *lanes  = aligned_alloc(DYN_ALIGN, (blocks * r->entries * r->W * sizeof(double) + 63) / 64 * 64);
    assert_non_null(lanes);
    for (size_t i = 0; i < blocks * r->entries * r->W; i++)
        lanes[i] = everywhere;
    return lanes;
}

static double *lane_at(const rows *r, double *lanes, size_t state, size_t entry)
{
    return &lanes[(state / r->W * r->entries + entry) * r->W + state % r->W];
}

static void assert_same(double a, double b)
{
    assert_memory_equal(&a, &b, sizeof a);
}

static bool read_rows(const dyn_kernels *k, const rows *r, bool ordered, double *lanes)
{
    dyn_rows from = {.begin = r->bytes,
                     .end   = r->bytes + r->states * r->n * sizeof(double),
                     .n     = r->n,
                     .order = ordered ? r->order : NULL};
    return k->from_rows(&from, lanes, r->entries, r->states / r->W);
}

static void check_from_rows(const dyn_kernels *k, const rows *r, bool ordered)
{
    double *lanes = make_lanes(r, 7);
    assert_true(read_rows(k, r, ordered, lanes));
    for (size_t s = 0; s < r->states; s++)
        for (size_t i = 0; i < r->entries; i++)
            assert_same(*lane_at(r, lanes, s, i < r->n && ordered ? (size_t)r->order[i] : i),
                        i < r->n ? r->value[s * r->n + i] : 7);
    free(lanes);
}

/* Copies any number of states into the middle of other bytes; other lanes and entries must be ignored. */
static void check_to_rows(const dyn_kernels *k, const rows *r, bool ordered)
{
    double *lanes = make_lanes(r, NAN);
    size_t  bytes = r->states * r->n * sizeof(double);
    char   *to    = malloc(bytes + 2);
    assert_non_null(to);
    for (size_t s = 0; s < r->states; s++)
        for (size_t i = 0; i < r->n; i++)
            *lane_at(r, lanes, s, ordered ? (size_t)r->order[i] : i) = r->value[s * r->n + i];
    memset(to, 'x', bytes + 2);
    assert_true(k->to_rows(lanes, r->entries, r->n, ordered ? r->order : NULL, to + 1, r->states));
    assert_memory_equal(to + 1, r->bytes, bytes);
    assert_int_equal(to[0], 'x');
    assert_int_equal(to[bytes + 1], 'x');
    free(lanes);
    free(to);
}

static void for_all(void (*check)(const dyn_kernels *, const rows *, bool), bool whole)
{
    const dyn_kernels *k;
    for (size_t t = 0; (k = dyn_kernels_at(t)); t++)
        for (size_t n = 0; n <= MOST_NUMBERS; n++)
            for (size_t states = 0; states <= MOST_BLOCKS * (size_t)k->lanes; states += whole ? (size_t)k->lanes : 1) {
                rows r = make(k, n, states);
                check(k, &r, false);
                check(k, &r, n > 0);
                free(r.bytes - 1);
            }
}

static void test_rows_become_lanes(void **state)
{
    for_all(check_from_rows, true);
}

static void test_lanes_become_rows(void **state)
{
    for_all(check_to_rows, false);
}

static void check_infinite(const dyn_kernels *k, const rows *r, bool ordered)
{
    const double bad[] = {INFINITY, -INFINITY, NAN};
    double      *lanes = make_lanes(r, 7), *back = malloc(r->states * r->n * sizeof *back + 1);
    for (size_t i = 0; i < r->states * r->n; i += 1 + i / 7) {
        memcpy(r->bytes + i * sizeof(double), &bad[i % 3], sizeof(double));
        assert_false(read_rows(k, r, ordered, lanes));
        assert_false(k->to_rows(lanes, r->entries, r->n, ordered ? r->order : NULL, back, r->states));
        memcpy(r->bytes + i * sizeof(double), &r->value[i], sizeof(double));
    }
    free(lanes);
    free(back);
}

static void test_non_finite_numbers_are_detected(void **state)
{
    for_all(check_infinite, true);
}

/* A number equal to the bound must be within it, the next number must not. */
static void check_bounds(const dyn_kernels *k, const rows *r, bool ordered)
{
    const dyn_bound bounds[] = {{0, 1, 0, 1e5}, {r->n - 1, -2, 1, 101}};
    double         *lanes    = make_lanes(r, 7);
    size_t          W = r->W, blocks = r->states / W;
    if (r->n < 2) return free(lanes);
    for (size_t i = 0; i < blocks * r->entries * W; i++)
        lanes[i] = i / W % r->entries == 0 ? 1e5 : i / W % r->entries == r->n - 1 ? -50 : 1e300;
    assert_true(k->bounded(lanes, r->entries, bounds, 2, blocks));
    for (size_t s = 0; s < r->states; s++) {
        double *first = lane_at(r, lanes, s, 0), *last = lane_at(r, lanes, s, r->n - 1);
        *first = nextafter(-1e5, -INFINITY);
        assert_false(k->bounded(lanes, r->entries, bounds, 2, blocks));
        *first = -1e5, *last = nextafter(51, INFINITY);
        assert_false(k->bounded(lanes, r->entries, bounds, 2, blocks));
        *last = 51;
        assert_true(k->bounded(lanes, r->entries, bounds, 2, blocks));
    }
    free(lanes);
}

static void test_bounds_hold(void **state)
{
    for_all(check_bounds, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_become_lanes),
        cmocka_unit_test(test_lanes_become_rows),
        cmocka_unit_test(test_non_finite_numbers_are_detected),
        cmocka_unit_test(test_bounds_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
