/* cgroup.c - see cgroup.h. */
#include "cgroup.h"
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

void srv_cgroup_visit(const char *list, const char *folder, const char *name,
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

/* Lowers the limit, bytes, to that of a line. Both versions write a number; no limit is "max", or the largest multiple
 * of a page below 2^63. */
static void lower(void *arg, const char *line)
{
    unsigned long long *least = arg, value = strtoull(line, NULL, 10);
    if (value > 0 && value < 1ull << 62 && (*least == 0 || value < *least)) *least = value;
}

unsigned long long srv_cgroup_memory(const char *list, const char *folder)
{
    unsigned long long least = 0;
    char               path[PATH_BYTES], line[64];
    srv_cgroup_visit(list, folder, "memory.max", lower, &least);
    if (least > 0) return least;
    snprintf(path, sizeof path, "%s/memory/memory.limit_in_bytes", folder);
    if (read_line(path, line, sizeof line)) lower(&least, line);
    return least;
}
