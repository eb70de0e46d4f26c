/* test_spare_body.c - checks which blocks an event loop keeps for the next request body, and for how long. */
#include "server/net/spare_body.h"
#include "server/work/clock.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const size_t   mebibyte = 1 << 20;
static const uint64_t second   = 1000000000;

static void give(srv_spare_body *spare, size_t capacity, uint64_t now)
{
    char *bytes = malloc(capacity);
    assert_non_null(bytes);
    srv_spare_body_give(spare, bytes, capacity, now);
}

static size_t take(srv_spare_body *spare, size_t bytes)
{
    size_t capacity = 0;
    char  *block    = srv_spare_body_take(spare, bytes, &capacity);
    if (block) block[0] = block[capacity - 1] = 'x'; /* AddressSanitizer notices a capacity that is too large */
    free(block);
    return capacity;
}

static void test_a_large_block_is_kept_for_one_large_body(void **state)
{
    srv_spare_body spare = {0};
    give(&spare, 40 * mebibyte, second);
    assert_int_equal(take(&spare, 32 * mebibyte - 1), 0);
    assert_int_equal(take(&spare, 32 * mebibyte), 40 * mebibyte);
    assert_int_equal(take(&spare, 32 * mebibyte), 0);
}

static void test_a_small_block_is_not_kept(void **state)
{
    srv_spare_body spare = {0};
    give(&spare, 32 * mebibyte - 1, second);
    srv_spare_body_give(&spare, NULL, 0, second);
    assert_int_equal(srv_spare_body_next(&spare), SRV_NEVER);
    assert_int_equal(take(&spare, 50 * mebibyte), 0);
}

static void test_one_block_of_64_mebibytes_at_most_is_kept(void **state)
{
    srv_spare_body spare = {0};
    give(&spare, 200 * mebibyte, second);
    give(&spare, 64 * mebibyte, second);
    assert_int_equal(take(&spare, 200 * mebibyte), 64 * mebibyte);
    assert_int_equal(take(&spare, 200 * mebibyte), 0);
}

static void test_an_unused_block_is_freed(void **state)
{
    srv_spare_body spare = {0};
    give(&spare, 40 * mebibyte, second);
    uint64_t end = srv_spare_body_next(&spare);
    assert_in_range(end, 2 * second, 11 * second);
    srv_spare_body_expire(&spare, end - 1);
    assert_int_equal(srv_spare_body_next(&spare), end);
    srv_spare_body_expire(&spare, end);
    assert_int_equal(srv_spare_body_next(&spare), SRV_NEVER);
    assert_int_equal(take(&spare, 40 * mebibyte), 0);
    srv_spare_body_expire(&spare, SRV_NEVER);
}

/* The pages between the ends of a block come back as zeros; the ends, which share pages with other blocks, stay. */
static void test_returned_pages_are_zero(void **state)
{
    enum { SIZE = 3 << 20, PAGE = 65536 /* at least a page of any machine */ };
    char *block = malloc(SIZE);
    assert_non_null(block);
    memset(block, 7, SIZE);
    srv_body_return_pages(block, SIZE);
    for (size_t i = PAGE; i < SIZE - PAGE; i++)
        if (block[i] != 0) fail_msg("byte %zu is %d", i, block[i]);
    srv_body_return_pages(block + 100, 200); /* no whole page */
    srv_body_return_pages(NULL, 0);
    memset(block, 9, SIZE);
    assert_int_equal(block[SIZE / 2], 9);
    free(block);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_large_block_is_kept_for_one_large_body),
        cmocka_unit_test(test_a_small_block_is_not_kept),
        cmocka_unit_test(test_one_block_of_64_mebibytes_at_most_is_kept),
        cmocka_unit_test(test_an_unused_block_is_freed),
        cmocka_unit_test(test_returned_pages_are_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
