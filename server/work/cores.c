/* cores.c - see cores.h. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "cores.h"
#include "cgroup.h"
#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static bool read_line(const char *path, char *line, int size)
{
    FILE *file = fopen(path, "re");
    if (!file) return false;
    bool ok = fgets(line, size, file) != NULL;
    fclose(file);
    return ok;
}

double srv_parse_cpu_max(const char *text)
{
    double quota, period;
    if (sscanf(text, "%lf %lf", &quota, &period) != 2) return 0; /* no quota: the file says "max 100000" */
    return quota > 0 && period > 0 ? quota / period : 0;
}

/* Lowers the quota, in cores, to that of a line; 0: no limit. */
static void lower(void *arg, const char *line)
{
    double *tightest = arg, cores = srv_parse_cpu_max(line);
    if (cores > 0 && (*tightest == 0 || cores < *tightest)) *tightest = cores;
}

/* Returns the lowest CPU quota, in cores, of the process's cgroup (version 2) and its parents; 0: no limit. */
static double quota_v2(void)
{
    double tightest = 0;
    srv_cgroup_visit(SRV_CGROUP_LIST, SRV_CGROUPS, "cpu.max", lower, &tightest);
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
