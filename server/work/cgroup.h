/* cgroup.h - read limits that the control groups of the process set. */
#pragma once

#define SRV_CGROUP_LIST "/proc/self/cgroup" /* lists the groups of the process (cgroups(7)) */
#define SRV_CGROUPS     "/sys/fs/cgroup"    /* folder of all groups */

/* Calls `visit` with the first line of the file `name` of the process's group (version 2), and then of each of its
 * parents, whose limits apply too. Groups without the file are left out. `list` and `folder`: as above. */
void srv_cgroup_visit(const char *list, const char *folder, const char *name,
                      void (*visit)(void *arg, const char *line), void *arg);

/* Returns the least memory.max of the group and its parents, else the limit of version 1, bytes; 0: no limit. */
unsigned long long srv_cgroup_memory(const char *list, const char *folder);
