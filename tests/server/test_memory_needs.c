/* test_memory_needs.c - checks the memory that a process needs with its settings, and the limits of control groups. */
#include "server/operating/memory_needs.h"
#include "server/work/cores.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>

#define MIB 1048576ull

/* The sum is that of memory_needs.h, computed by hand: 2048 + 512 + 1024 + 64 + 64 + 4 + 128 MiB. */
static void the_defaults_need_3844_mib(void **state)
{
    srv_config config = {
        .memory = 2048 * MIB, .model_memory = 1024 * MIB, .connections = 1024, .loops = 1, .workers = 1};
    assert_true(srv_memory_needs(&config) == 3844 * MIB);
    config.tls_certificate = "certificate.pem";
    assert_true(srv_memory_needs(&config) == 3908 * MIB);
    config.loops   = 3;
    config.workers = 6;
    config.memory  = 400 * MIB;
    assert_true(srv_memory_needs(&config) == (3908 - 2560 + 500 + 128 + 20) * MIB);
}

static char folder[] = "/tmp/test_memory_needs.XXXXXX";

static void write_text(const char *name, const char *text)
{
    char  path[300];
    FILE *file = (snprintf(path, sizeof path, "%s/%s", folder, name), fopen(path, "w"));
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void make_group(const char *name)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(mkdir(path, 0700), 0);
}

static unsigned long long limit(void)
{
    char list[300];
    snprintf(list, sizeof list, "%s/list", folder);
    return srv_memory_limit(list, folder);
}

/* The least limit of a control group and its parents applies. The limits of cgroup version 1 count where version 2 has
   none. */
static void the_lowest_limit_of_all_parents_holds(void **state)
{
    assert_true(limit() == 0); /* there are no control groups */
    make_group("system.slice");
    make_group("system.slice/torqued.service");
    make_group("memory");
    write_text("list", "4:memory:/elsewhere\n0::/system.slice/torqued.service\n");
    assert_true(limit() == 0);
    write_text("memory/memory.limit_in_bytes", "9223372036854771712\n");
    assert_true(limit() == 0); /* the number by which version 1 says that there is no limit */
    write_text("memory/memory.limit_in_bytes", "3221225472\n");
    assert_true(limit() == 3221225472);
    write_text("system.slice/torqued.service/memory.max", "max\n");
    assert_true(limit() == 3221225472);
    write_text("system.slice/torqued.service/memory.max", "4294967296\n");
    assert_true(limit() == 4294967296);
    write_text("system.slice/memory.max", "1073741824\n");
    assert_true(limit() == 1073741824);
    write_text("memory.max", "5368709120\n");
    assert_true(limit() == 1073741824);
    write_text("list", "0::/\n"); /* a container sees its own group as the root */
    assert_true(limit() == 5368709120);
}

static int make_place(void **state)
{
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_place(void **state)
{
    char command[100];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_defaults_need_3844_mib),
        cmocka_unit_test(the_lowest_limit_of_all_parents_holds),
    };
    return cmocka_run_group_tests(tests, make_place, remove_place);
}
