/* cores.h - how many cores this process may keep busy. */
#pragma once
#include <stddef.h>

/* The smaller of the affinity mask and the cgroup's CPU quota (rounded up), at least 1. */
size_t srv_usable_cores(void);

/* Of the text of a cgroup v2 cpu.max ("150000 100000", "max 100000"): cores, or 0 for no limit. */
double srv_parse_cpu_max(const char *text);
