/* cores.h - determine how many cores this process may use. */
#pragma once
#include <stddef.h>

/* The minimum of the CPUs in the affinity mask and the cgroup's CPU quota (rounded up), at least 1. */
size_t srv_usable_cores(void);

/* Parses the text of cpu.max of cgroup v2 ("150000 100000", "max 100000"). Returns cores; 0: no limit. */
double srv_parse_cpu_max(const char *text);
