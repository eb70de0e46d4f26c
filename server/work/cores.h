/* cores.h - determine how many cores and how much memory this process may use. */
#pragma once
#include <stddef.h>

#define SRV_CGROUP_LIST "/proc/self/cgroup" /* lists the control groups of the process (cgroups(7)) */
#define SRV_CGROUPS     "/sys/fs/cgroup"    /* folder of all groups */

/* The minimum of the CPUs in the affinity mask and the cgroup's CPU quota (rounded up), at least 1. */
size_t srv_usable_cores(void);

/* Parses the text of cpu.max of cgroup v2 ("150000 100000", "max 100000"). Returns cores; 0: no limit. */
double srv_parse_cpu_max(const char *text);

/* Returns the least memory.max of the process's group and its parents, else the limit of version 1, bytes; 0: no limit.
 * `list` and `folder` are the files above. */
unsigned long long srv_memory_limit(const char *list, const char *folder);
