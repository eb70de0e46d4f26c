/* test_dispatch.c - checks which targets (kernel tables for one instruction set) this machine lists, and that they are
 * found by name. */
#include "tests/dynamics/support/check.h"
#include "dynamics/dynamics.h"
#include <string.h>

/* Asserts that no kernel is missing: all members of a table from workspace_size on are pointers to functions. */
static void assert_all_kernels(const dyn_kernels *k)
{
    void (*const none)(void) = NULL;
    size_t offset            = offsetof(dyn_kernels, workspace_size);
    assert_int_equal((sizeof *k - offset) % sizeof none, 0);
    for (; offset < sizeof *k; offset += sizeof none)
        assert_memory_not_equal((const char *)k + offset, &none, sizeof none);
}

/* Checks that the list has every target once, the baseline first. Among targets with the same instructions and
 * arithmetic class, those with more lanes come later. Every table has all kernels. */
static void test_table_is_in_order_and_complete(void **state)
{
    size_t             n = 0;
    const dyn_kernels *k, *before = NULL;
    for (; (k = dyn_kernels_at(n)); n++, before = k) {
        bool wider  = before && k->lanes > before->lanes;
        bool starts = !strcmp(k->target, "fma") || !strcmp(k->target, "scalar_unfused");
        assert_true(before ? wider || starts : k->lanes == 1);
        assert_int_equal(k->fused, strstr(k->target, "_unfused") == NULL);
        assert_string_equal(dyn_kernels_arithmetic(k), k->fused ? "fused" : "unfused");
        assert_true(k->lanes <= DYN_MAX_LANES);
        assert_all_kernels(k);
        assert_ptr_equal(dyn_kernels_find(k->target), k);
    }
    assert_string_equal(dyn_kernels_at(0)->target, "scalar");
    assert_null(dyn_kernels_at(n + 1000));
    assert_ptr_equal(dyn_kernels_find(NULL), before);
    assert_ptr_equal(dyn_kernels_find(""), before);
}

/* Checks that the table for one state has one lane and the same arithmetic class, and uses no instructions that the
 * table for batches does not use. */
static void test_one_state_has_a_table(void **state)
{
    const dyn_kernels *k, *before = NULL;
    for (size_t n = 0; (k = dyn_kernels_at(n)); n++) {
        const dyn_kernels *alone = dyn_kernels_for_one_state(k);
        assert_int_equal(alone->lanes, 1);
        assert_int_equal(alone->fused, k->fused);
        assert_ptr_equal(alone, k->lanes == 1 ? k : before);
        before = alone;
    }
    if (dyn_kernels_find("fma") && dyn_kernels_find("avx2"))
        assert_ptr_equal(dyn_kernels_for_one_state(dyn_kernels_find("avx2")), dyn_kernels_find("fma"));
}

#ifdef __x86_64__
static bool has_fma(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
}
#endif

/* Checks that a processor without fused multiply-add uses the unfused class unless another target is named. The models
   are computed as for the fused class, so that they are the same on all machines. */
static void test_the_default_is_not_emulated(void **state)
{
#ifdef __x86_64__
    if (dyn_kernels_find("fma") || !has_fma()) assert_int_equal(dyn_kernels_find(NULL)->fused, has_fma());
#else
    assert_true(dyn_kernels_find(NULL)->fused);
#endif
    assert_true(dyn_kernels_for_models()->fused);
    assert_int_equal(dyn_kernels_for_models()->lanes, 1);
}

static void test_unknown_targets_are_not_found(void **state)
{
    const char *const names[] = {"avx", "avx2 ", "AVX2", "complex", "scala", "scalarr"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_null(dyn_kernels_find(names[i]));
}

/* Checks that every target that the machine can run is in the build. Otherwise the tests of equal bits would compare
 * nothing. */
static void test_supported_targets_are_in_the_build(void **state)
{
#if defined __x86_64__
    assert_non_null(dyn_kernels_find("sse2"));
    assert_non_null(dyn_kernels_find("scalar_unfused"));
    assert_non_null(dyn_kernels_find("sse2_unfused"));
    assert_int_equal(dyn_kernels_find("avx2") != NULL, has_fma());
    assert_int_equal(dyn_kernels_find("avx512") != NULL,
                     __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                         __builtin_cpu_supports("avx512vl"));
#elif defined __aarch64__
    assert_non_null(dyn_kernels_find("neon"));
#else
    skip();
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table_is_in_order_and_complete),     cmocka_unit_test(test_one_state_has_a_table),
        cmocka_unit_test(test_the_default_is_not_emulated),        cmocka_unit_test(test_unknown_targets_are_not_found),
        cmocka_unit_test(test_supported_targets_are_in_the_build),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
