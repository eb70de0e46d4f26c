/* test_large_blocks.c - checks which blocks an event loop keeps for the next request body, and for how long; and that
 * large blocks are freed by another thread. */
#include "server/memory/disposal.h"
#include "server/memory/spare_body.h"
#include "server/work/clock.h"
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
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
    give(&spare, 64 * mebibyte + 1, second);
    assert_int_equal(take(&spare, 200 * mebibyte), 0);
    give(&spare, 64 * mebibyte, second);
    give(&spare, 40 * mebibyte, second);
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

enum { DISPOSED = 48 << 20 /* bytes */, PATIENCE = 20000 /* ms */ };

#ifndef __SANITIZE_ADDRESS__ /* the sanitizer keeps freed blocks for a while */
/* Bytes of the process that are in memory. */
static size_t resident(void)
{
    char  text[64] = "", *pages = text;
    FILE *statm = fopen("/proc/self/statm", "r");
    assert_non_null(statm);
    assert_non_null(fgets(text, sizeof text, statm));
    fclose(statm);
    strtoul(text, &pages, 10);
    return strtoul(pages, NULL, 10) * (size_t)sysconf(_SC_PAGESIZE);
}

static char *touched(size_t size)
{
    char *block = malloc(size);
    assert_non_null(block);
    memset(block, 7, size);
    return block;
}

/* Waits until the process has at most so many bytes in memory. */
static void await_resident(size_t most)
{
    for (int i = 0; i < PATIENCE && resident() > most; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    assert_in_range(resident(), 0, most);
}

static void test_large_blocks_go_back_to_the_system(void **state)
{
    srv_disposal_start(64 * mebibyte);
    char  *one = touched(DISPOSED), *other = touched(DISPOSED);
    size_t before = resident();
    srv_dispose(one);
    srv_dispose(other);
    await_resident(before - DISPOSED);
    srv_disposal_stop();
}

/* The pages of a block that is freed directly, and of a large one that the thread frees, must return to the operating
   system; by itself malloc would keep them. */
static void test_pages_go_back_to_the_system(void **state)
{
    const size_t sizes[] = {4 * mebibyte, 20 * mebibyte};
    mallopt(M_MMAP_THRESHOLD, SRV_MAPPED_BYTES);
    mallopt(M_TRIM_THRESHOLD, SRV_KEPT_BYTES);
    srv_disposal_start(64 * mebibyte);
    for (int i = 0; i < 2; i++) {
        free(touched(sizes[i]));
        char  *block  = touched(sizes[i]);
        size_t before = resident(), most = sizes[i] / 8;
        free(block);
        assert_in_range(resident(), before - most, before + most);
        srv_dispose_pages(touched(sizes[i]));
        await_resident(before - sizes[i] + most);
    }
    srv_dispose_pages(NULL);
    srv_disposal_stop();
    srv_dispose_pages(touched(20 * mebibyte));
}
#endif

/* Blocks that still wait when the thread ends must be freed; otherwise the leak checker reports them. */
static void test_the_end_frees_what_waits(void **state)
{
    srv_disposal_start(64 * mebibyte);
    for (int i = 0; i < 8; i++)
        srv_dispose(malloc(DISPOSED));
    srv_disposal_stop();
}

static void test_blocks_are_freed_without_the_thread(void **state)
{
    srv_dispose(NULL);
    srv_dispose(malloc(DISPOSED));
    srv_disposal_start(64 * mebibyte);
    srv_dispose(NULL);
    srv_dispose(malloc(64));
    srv_disposal_stop();
    srv_disposal_stop();
    srv_dispose(malloc(DISPOSED));
}

enum { SHOWN = 40 << 20 /* an offset within a kept block */ };

/* Disposes of a block with a mark, waits until the thread has it, and returns the next block of `bytes` bytes. */
static char *reuse(size_t disposed, size_t mark, size_t bytes)
{
    char *block = malloc(disposed);
    assert_non_null(block);
    block[mark] = 'x';
    srv_dispose(block);
    return srv_disposal_take(bytes);
}

/* A byte that was written into the disposed block shows that the next block has the same pages: new pages are zero. */
static void test_a_large_block_is_kept_for_a_large_answer(void **state)
{
    srv_disposal_start(64 * mebibyte);
    assert_null(srv_disposal_take(48 * mebibyte));
    char *same = reuse(DISPOSED, SHOWN, 33 * mebibyte);
    assert_non_null(same);
    assert_int_equal(same[SHOWN], 'x');
    assert_null(srv_disposal_take(48 * mebibyte));
    srv_dispose(same);
    char *larger = srv_disposal_take(200 * mebibyte);
    assert_non_null(larger);
    assert_int_equal(larger[SHOWN], 'x');
    larger[200 * mebibyte - 1] = 'y'; /* AddressSanitizer notices a block that is too small */
    free(larger);
    srv_disposal_stop();
}

/* Small blocks are left to malloc, and a small answer must not use a kept large block. */
static void test_only_mapped_blocks_are_taken(void **state)
{
    srv_disposal_start(64 * mebibyte);
    assert_null(reuse(20 * mebibyte, 0, 32 * mebibyte));
    assert_null(reuse(DISPOSED, 0, 32 * mebibyte - 1));
    srv_disposal_stop();
    assert_null(srv_disposal_take(48 * mebibyte));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_large_block_is_kept_for_one_large_body),
        cmocka_unit_test(test_a_small_block_is_not_kept),
        cmocka_unit_test(test_one_block_of_64_mebibytes_at_most_is_kept),
        cmocka_unit_test(test_an_unused_block_is_freed),
#ifndef __SANITIZE_ADDRESS__
        cmocka_unit_test(test_large_blocks_go_back_to_the_system),
        cmocka_unit_test(test_pages_go_back_to_the_system),
#endif
        cmocka_unit_test(test_the_end_frees_what_waits),
        cmocka_unit_test(test_blocks_are_freed_without_the_thread),
        cmocka_unit_test(test_a_large_block_is_kept_for_a_large_answer),
        cmocka_unit_test(test_only_mapped_blocks_are_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
