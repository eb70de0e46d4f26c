/* cores.c - see cores.h. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "cores.h"
#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CGROUPS "/sys/fs/cgroup"

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

/* Returns the lowest CPU quota, in cores, of the process's cgroup (version 2) and its parents, since a parent's quota
 * applies too. 0: no limit. */
static double quota_v2(void)
{
    char  line[1024], path[1200];
    FILE *file = fopen("/proc/self/cgroup", "re");
    if (!file) return 0;
    char *group = NULL;
    while (!group && fgets(line, sizeof line, file))
        if (strncmp(line, "0::", 3) == 0) group = line + 3;
    fclose(file);
    if (!group) return 0;
    group[strcspn(group, "\n")] = '\0';

    double tightest = 0;
    for (;;) {
        char   text[64];
        double cores = 0;
        snprintf(path, sizeof path, CGROUPS "%s/cpu.max", group);
        if (read_line(path, text, sizeof text)) cores = srv_parse_cpu_max(text);
        if (cores > 0 && (tightest == 0 || cores < tightest)) tightest = cores;
        char *slash = strrchr(group, '/');
        if (!slash) return tightest;
        *slash = '\0';
    }
}

static double quota_v1(void)
{
    char quota[64], period[64], both[130];
    if (!read_line(CGROUPS "/cpu/cpu.cfs_quota_us", quota, sizeof quota)) return 0;
    if (!read_line(CGROUPS "/cpu/cpu.cfs_period_us", period, sizeof period)) return 0;
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
