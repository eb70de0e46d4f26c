/* dispatch.c - selects the table of kernels: lists the targets of this build and tests what the processor supports. */
#include "dynamics.h"
#include <string.h>

/* The Makefile defines DYN_TARGETS(X), a list of X(target) for each target of this build. */
#define X(name) extern const dyn_kernels dyn_kernels_##name;
DYN_TARGETS(X)
#undef X

/* All tables of this build in order of speed, the fastest last. */
#define X(name) &dyn_kernels_##name,
static const dyn_kernels *const tables[] = {DYN_TARGETS(X)};
#undef X

/* True if this processor can run a target. fma and avx2 are compiled for x86-64-v3, avx512 for x86-64-v4. Only some
 * features of these levels are tested, because compilers cannot name all of them; processors with the tested features
 * have the other ones, too. If a hypervisor hides one of those, the user must choose the target by hand. */
static bool runs_here(const char *target)
{
#ifdef __x86_64__
    if (!strcmp(target, "fma") || !strcmp(target, "avx2"))
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    if (!strcmp(target, "avx512"))
        return runs_here("avx2") && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl");
#else
    (void)target;
#endif
    return true;
}

const dyn_kernels *dyn_kernels_at(size_t index)
{
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (runs_here(tables[i]->target) && index-- == 0) return tables[i];
    return NULL;
}

const dyn_kernels *dyn_kernels_find(const char *target)
{
    const dyn_kernels *k, *found = NULL;
    for (size_t i = 0; (k = dyn_kernels_at(i)); i++)
        if (!target || !*target || !strcmp(target, k->target)) found = k;
    return found;
}

const dyn_kernels *dyn_kernels_for_one_state(const dyn_kernels *wide)
{
    const dyn_kernels *k, *found = NULL;
    for (size_t i = 0; (k = dyn_kernels_at(i)); i++) {
        if (k->lanes == 1 && k->fused == wide->fused) found = k;
        if (k == wide) break;
    }
    return found;
}

const dyn_kernels *dyn_kernels_for_models(void)
{
    const dyn_kernels *k, *found = dyn_kernels_at(0);
    for (size_t i = 0; (k = dyn_kernels_at(i)); i++)
        if (k->fused && k->lanes == 1) found = k;
    return found;
}

const char *dyn_kernels_arithmetic(const dyn_kernels *kernels)
{
    return kernels->fused ? "fused" : "unfused";
}
