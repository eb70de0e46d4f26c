/* cores.c - see cores.h. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "cores.h"
#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 1400, LINE_BYTES = 1024 };

static bool read_line(const char *path, char *line, int size)
{
    FILE *file = fopen(path, "re");
    if (!file) return false;
    bool ok = fgets(line, size, file) != NULL;
    fclose(file);
    return ok;
}

/* Finds the group of version 2, such as "/system.slice/torqued.service". False: there is none. */
static bool find_group(const char *list, char group[LINE_BYTES])
{
    static const char prefix[] = "0::";
    bool              found    = false;
    FILE             *file     = fopen(list, "re");
    if (!file) return false;
    while (!found && fgets(group, LINE_BYTES, file))
        found = strncmp(group, prefix, sizeof prefix - 1) == 0;
    fclose(file);
    if (!found) return false;
    size_t length = strcspn(group, "\n") - (sizeof prefix - 1);
    memmove(group, group + sizeof prefix - 1, length);
    group[length] = '\0';
    return true;
}

/* Calls `visit` with the first line of the file `name` of the process's cgroup (cgroup v2), and then of each parent,
 * whose limits apply too. Cgroups without the file are left out. */
static void visit_groups(const char *list, const char *folder, const char *name,
                         void (*visit)(void *arg, const char *line), void *arg)
{
    char group[LINE_BYTES], path[PATH_BYTES], line[64];
    if (!find_group(list, group)) return;
    for (char *slash = group; slash; *slash = '\0') {
        snprintf(path, sizeof path, "%s%s/%s", folder, group, name);
        if (read_line(path, line, sizeof line)) visit(arg, line);
        slash = strrchr(group, '/');
        if (!slash) return;
    }
}

double srv_parse_cpu_max(const char *text)
{
    double quota, period;
    if (sscanf(text, "%lf %lf", &quota, &period) != 2) return 0; /* no quota: the file says "max 100000" */
    return quota > 0 && period > 0 ? quota / period : 0;
}

/* Lowers the quota, in cores, to that of a line; 0: no limit. */
static void lower_quota(void *arg, const char *line)
{
    double *tightest = arg, cores = srv_parse_cpu_max(line);
    if (cores > 0 && (*tightest == 0 || cores < *tightest)) *tightest = cores;
}

/* Returns the lowest CPU quota, in cores, of the process's cgroup (version 2) and its parents; 0: no limit. */
static double quota_v2(void)
{
    double tightest = 0;
    visit_groups(SRV_CGROUP_LIST, SRV_CGROUPS, "cpu.max", lower_quota, &tightest);
    return tightest;
}

static double quota_v1(void)
{
    char quota[64], period[64], both[130];
    if (!read_line(SRV_CGROUPS "/cpu/cpu.cfs_quota_us", quota, sizeof quota)) return 0;
    if (!read_line(SRV_CGROUPS "/cpu/cpu.cfs_period_us", period, sizeof period)) return 0;
    snprintf(both, sizeof both, "%s %s", quota, period);
    return srv_parse_cpu_max(both); /* -1 means no limit */
}

static size_t affinity(void)
{
    /* the kernel's mask may be larger than cpu_set_t: try increasing sizes */
    for (size_t n = 1024; n <= 1u << 20; n *= 2) {
        cpu_set_t *set = CPU_ALLOC(n);
        if (!set) return 1;
        size_t size  = CPU_ALLOC_SIZE(n);
        int    cores = sched_getaffinity(0, size, set) == 0 ? CPU_COUNT_S(size, set) : 0;
        CPU_FREE(set);
        if (cores > 0) return (size_t)cores;
    }
    return 1;
}

size_t srv_usable_cores(void)
{
    size_t cores = affinity();
    double quota = quota_v2();
    if (quota == 0) quota = quota_v1();
    if (quota > 0 && ceil(quota) < (double)cores) cores = (size_t)ceil(quota);
    return cores;
}

/* Lowers the limit, bytes, to that of a line. Both versions of cgroups write a number; no limit is "max", or the
 * largest multiple of a page below 2^63. */
static void lower_limit(void *arg, const char *line)
{
    unsigned long long *least = arg, value = strtoull(line, NULL, 10);
    if (value > 0 && value < 1ull << 62 && (*least == 0 || value < *least)) *least = value;
}

unsigned long long srv_memory_limit(const char *list, const char *folder)
{
    unsigned long long least = 0;
    char               path[PATH_BYTES], line[64];
    visit_groups(list, folder, "memory.max", lower_limit, &least);
    if (least > 0) return least;
    snprintf(path, sizeof path, "%s/memory/memory.limit_in_bytes", folder);
    if (read_line(path, line, sizeof line)) lower_limit(&least, line);
    return least;
}
