/* friction_map.c - finds the kernel of a target that maps efforts without friction to those with it (friction_map.h).
 */
#include "friction_map.h"
#include <string.h>

typedef struct target_map {
    const char              *target;
    dyn_friction_map_kernel *kernel;
} target_map;

/* The Makefile defines DYN_TARGETS(X): X(target) for each target of this build. */
#define X(name) extern dyn_friction_map_kernel dyn_friction_map_##name;
DYN_TARGETS(X)
#undef X

#define X(name) {#name, dyn_friction_map_##name},
static const target_map targets[] = {DYN_TARGETS(X)};
#undef X

dyn_friction_map_kernel *dyn_friction_map_of(const dyn_kernels *kernels)
{
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        if (!strcmp(targets[i].target, kernels->target)) return targets[i].kernel;
    return NULL;
}
