/* test_disposal.c - checks that large blocks are freed by another thread, and small ones at once. */
#include "server/work/disposal.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

enum { SIZE = 48 << 20, PATIENCE = 20000 /* ms */ };

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

static void test_large_blocks_go_back_to_the_system(void **state)
{
    srv_disposal_start();
    char  *one = touched(SIZE), *other = touched(SIZE);
    size_t held = resident();
    srv_dispose(one);
    srv_dispose(other);
    for (int i = 0; i < PATIENCE && resident() > held - SIZE; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    assert_in_range(resident(), 0, held - SIZE);
    srv_disposal_stop();
}

/* The leak checker finds a block that the end of the thread forgets. */
static void test_the_end_frees_what_waits(void **state)
{
    srv_disposal_start();
    for (int i = 0; i < 8; i++)
        srv_dispose(malloc(SIZE));
    srv_disposal_stop();
}

static void test_blocks_are_freed_without_the_thread(void **state)
{
    srv_dispose(NULL);
    srv_dispose(malloc(SIZE));
    srv_disposal_start();
    srv_dispose(NULL);
    srv_dispose(malloc(64));
    srv_disposal_stop();
    srv_disposal_stop();
    srv_dispose(malloc(SIZE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_large_blocks_go_back_to_the_system),
        cmocka_unit_test(test_the_end_frees_what_waits),
        cmocka_unit_test(test_blocks_are_freed_without_the_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
