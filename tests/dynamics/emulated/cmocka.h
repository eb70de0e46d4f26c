/* cmocka.h - provides the functions of cmocka that these tests use, for tests built for another processor, for which
 * Debian has no package of cmocka. */
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define fail_msg(...)                                                                                                  \
    do {                                                                                                               \
        printf("# %s:%d: ", __FILE__, __LINE__);                                                                       \
        printf(__VA_ARGS__);                                                                                           \
        printf("\n");                                                                                                  \
        exit(1);                                                                                                       \
    } while (0)
#define print_message(...) printf(__VA_ARGS__)

#define assert_true(x)                                                                                                 \
    do {                                                                                                               \
        if (!(x)) fail_msg("not true: %s", #x);                                                                        \
    } while (0)
#define assert_null(p)                   assert_true(!(p))
#define assert_non_null(p)               assert_true((p) != NULL)
#define assert_int_equal(a, b)           assert_true((a) == (b))
#define assert_int_not_equal(a, b)       assert_true((a) != (b))
#define assert_ptr_equal(a, b)           assert_true((a) == (b))
#define assert_string_equal(a, b)        assert_true(!strcmp(a, b))
#define assert_in_range(x, least, most)  assert_true((x) >= (least) && (x) <= (most))
#define assert_memory_equal(a, b, n)     assert_true(!memcmp(a, b, n))
#define assert_memory_not_equal(a, b, n) assert_true(memcmp(a, b, n))

struct CMUnitTest {
    const char *name;
    void (*run)(void **state);
};
#define cmocka_unit_test(f)                                                                                            \
    {                                                                                                                  \
#f, f                                                                                                          \
    }
#define cmocka_run_group_tests(tests, setup, teardown) run_group(tests, sizeof(tests) / sizeof(tests)[0])

static inline int run_group(const struct CMUnitTest *tests, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        void *state = NULL;
        tests[i].run(&state);
        printf("# %s\n", tests[i].name);
    }
    return 0;
}
