/* test_closure_kernels.c - checks the kernels that solve closure equations: pseudoinverses by the conditions that
 * define them, the change of a matrix by products in doubles, products of rows and columns in double precision, and
 * equal bits on every target. */
#include "tests/dynamics/support/check.h"
#include "dynamics/closure_kernels.h"
#include "tests/dynamics/support/random_tree.h"
#include "tests/target.h"
#include <math.h>
#include <string.h>

enum { MOST = 9, SYSTEMS = 40, LANES = DYN_MAX_LANES };

/* Householder reflections are backward stable: errors are the condition number, below 1e3 here, times rounding. */
#define TOLERANCE 1e-12

/* A matrix of m x n in each of eight states, stored one state after another; some entries are always zero and not
 * stored. */
typedef struct system_of_states {
    size_t m, n;
    int    entry[MOST * MOST];
    double A[LANES][MOST * MOST];
} system_of_states;

static system_of_states draw_system(uint64_t seed)
{
    random_source    source = {.state = seed};
    system_of_states s      = {.n = 1 + seed % 7};
    s.m                     = s.n + seed % 3;
    for (size_t e = 0; e < s.m * s.n; e++) {
        const bool zero = random_below(&source, 5) == 0 && e % (s.n + 1) != 0;
        s.entry[e]      = zero ? -1 : (int)e;
        for (size_t lane = 0; lane < LANES; lane++)
            s.A[lane][e] = zero ? 0 : random_between(&source, -1, 1) + (e % (s.n + 1) == 0 ? 3 : 0);
    }
    return s;
}

/* The results of the kernels in one lane. */
typedef struct results {
    double inverse[MOST * MOST], scale[MOST], pivot, norm, first, fourth;
} results;

/* Copies W states, from state `first` on, to lanes; every second entry is multiplied by `factor`. */
static void put_states(const system_of_states *s, size_t W, size_t first, double factor, double *J)
{
    for (size_t e = 0; e < s->m * s->n; e++)
        for (size_t lane = 0; lane < W; lane++)
            J[e * W + lane] = s->A[first + lane][e] * (e % 2 == 0 ? factor : 1);
}

/* Factors all states, and finds their change where every second entry is multiplied by `factor`. */
static void run_kernels(const dyn_kernels *k, const system_of_states *s, double factor, results to[LANES])
{
    static _Alignas(DYN_ALIGN) double J[MOST * MOST * LANES], work[4 * MOST * MOST * LANES],
        inverse[MOST * MOST * LANES], scale[MOST * LANES], pivot[LANES], norm[LANES], first[LANES], fourth[LANES];
    const size_t            W     = (size_t)k->lanes;
    const dyn_scene         scene = {.model = NULL};
    const dyn_closure_block block = {s->m, s->n, s->entry};
    for (size_t begin = 0; begin < LANES; begin += W) {
        put_states(s, W, begin, 1, J);
        k->closure_factor(&scene, NULL, &(dyn_closure_factor){&block, J, work, inverse, scale, pivot, norm}, 1);
        put_states(s, W, begin, factor, J);
        k->closure_change(&scene, NULL, &(dyn_closure_change){&block, J, inverse, scale, work, first, fourth}, 1);
        for (size_t lane = 0; lane < W; lane++) {
            results *r = &to[begin + lane];
            for (size_t e = 0; e < s->m * s->n; e++)
                r->inverse[e] = inverse[e * W + lane];
            for (size_t j = 0; j < s->n; j++)
                r->scale[j] = scale[j * W + lane];
            r->pivot = pivot[lane], r->norm = norm[lane], r->first = first[lane], r->fourth = fourth[lane];
        }
    }
}

/* Sets C = A B, with A m x k and B k x n. */
static void multiply_rows(size_t m, size_t k, size_t n, const double *A, const double *B, double *C)
{
    memset(C, 0, m * n * sizeof *C);
    for (size_t i = 0; i < m; i++)
        for (size_t l = 0; l < k; l++)
            for (size_t j = 0; j < n; j++)
                C[i * n + j] += A[i * k + l] * B[l * n + j];
}

/* Checks that K is the pseudoinverse of A, of full column rank: K A = 1 and A K is symmetric (Penrose). */
static void check_pseudoinverse(const system_of_states *s, size_t lane, const results *r, uint64_t seed)
{
    double one[MOST * MOST], identity[MOST * MOST] = {0}, both[MOST * MOST], turned[MOST * MOST], sum = 0;
    multiply_rows(s->n, s->m, s->n, r->inverse, s->A[lane], one);
    multiply_rows(s->m, s->n, s->m, s->A[lane], r->inverse, both);
    for (size_t i = 0; i < s->n; i++)
        identity[i * s->n + i] = 1;
    for (size_t i = 0; i < s->m * s->m; i++)
        turned[i] = both[i % s->m * s->m + i / s->m];
    check_close_scaled("K A", seed, s->n * s->n, one, identity, TOLERANCE, 1);
    check_close_scaled("A K", seed, s->m * s->m, both, turned, TOLERANCE, 1);
    for (size_t j = 0; j < s->n; j++) {
        double length = 0;
        for (size_t i = 0; i < s->m; i++)
            length += s->A[lane][i * s->n + j] * s->A[lane][i * s->n + j];
        length = sqrt(length);
        check_close_scaled("length of a column", seed, 1, &r->scale[j], &length, TOLERANCE, 1);
        for (size_t i = 0; i < s->m; i++)
            sum += length * length * r->inverse[j * s->m + i] * r->inverse[j * s->m + i];
    }
    sum = sqrt(sum);
    check_close_scaled("norm", seed, 1, &r->norm, &sum, TOLERANCE, 1);
}

/* Compares the change M = D (K A' - 1) D^-1 with its definition; A' = A with every second entry multiplied by `factor`.
 */
static void check_change(const system_of_states *s, size_t lane, double factor, const results *r, uint64_t seed)
{
    const size_t n = s->n;
    double       A[MOST * MOST], M[MOST * MOST], M2[MOST * MOST], M4[MOST * MOST], first = 0, fourth = 0;
    for (size_t e = 0; e < s->m * n; e++)
        A[e] = s->A[lane][e] * (e % 2 == 0 ? factor : 1);
    multiply_rows(n, s->m, n, r->inverse, A, M);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            M[i * n + j] = r->scale[i] * (M[i * n + j] - (i == j)) / r->scale[j];
    multiply_rows(n, n, n, M, M, M2);
    multiply_rows(n, n, n, M2, M2, M4);
    for (size_t e = 0; e < n * n; e++)
        first += M[e] * M[e], fourth += M4[e] * M4[e];
    check_close_scaled("|M|^2", seed, 1, &r->first, &first, TOLERANCE, 1);
    check_close_scaled("|M^4|^2", seed, 1, &r->fourth, &fourth, TOLERANCE, 1);
}

static void test_results_match_their_definitions(void **state)
{
    static results r[LANES];
    for (uint64_t seed = 1; seed <= SYSTEMS; seed++) {
        const system_of_states s = draw_system(seed);
        run_kernels(test_kernels(), &s, 1.25, r);
        for (size_t lane = 0; lane < LANES; lane++) {
            check_pseudoinverse(&s, lane, &r[lane], seed);
            check_change(&s, lane, 1.25, &r[lane], seed);
        }
    }
}

/* All targets of an arithmetic class give each state the same bits, whatever the other states of the block are. */
static void test_targets_of_a_class_agree(void **state)
{
    static results r[LANES], expected[2][LANES];
    for (uint64_t seed = 1; seed <= SYSTEMS; seed++) {
        const system_of_states s       = draw_system(seed);
        bool                   seen[2] = {false, false};
        for (size_t t = 0; dyn_kernels_at(t); t++) {
            const dyn_kernels *k = dyn_kernels_at(t);
            memset(r, 0, sizeof r);
            run_kernels(k, &s, 1.25, r);
            if (seen[k->fused]) assert_memory_equal(r, expected[k->fused], sizeof r);
            memcpy(expected[k->fused], r, sizeof r);
            seen[k->fused] = true;
        }
    }
}

/* A column that contains only rounding errors must count as zero and get no pivot. Another lane of the block keeps its
   pseudoinverse. */
static void test_negligible_columns_have_no_pivot(void **state)
{
    static results   r[LANES];
    system_of_states s = draw_system(6);
    for (size_t i = 0; i < s.m; i++)
        s.A[0][i * s.n + 1] = 0.1 * DYN_CLOSURE_NEGLIGIBLE;
    run_kernels(test_kernels(), &s, 1, r);
    assert_true(r[0].pivot == 0 && r[0].scale[1] == 1);
    assert_true(r[1].pivot > 0);
    check_pseudoinverse(&s, 1, &r[1], 6);
}

/* Two nearly parallel columns leave a small pivot and a norm that exceeds the inverse of their angle. */
static void test_norm_bounds_the_least_singular_value(void **state)
{
    static results   r[LANES];
    const double     angle = 1e-7;
    system_of_states s     = {.m = 2, .n = 2, .entry = {0, 1, 2, 3}};
    for (size_t lane = 0; lane < LANES; lane++)
        memcpy(s.A[lane], (double[]){1, cos(angle), 0, sin(angle)}, 4 * sizeof(double));
    run_kernels(test_kernels(), &s, 1, r);
    assert_true(fabs(r[0].pivot / angle - 1) < 1e-8);
    assert_true(r[0].norm > 1 / angle && r[0].norm < 2 / angle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_results_match_their_definitions),
        cmocka_unit_test(test_targets_of_a_class_agree),
        cmocka_unit_test(test_negligible_columns_have_no_pivot),
        cmocka_unit_test(test_norm_bounds_the_least_singular_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
