/* target.h - chooses the kernels of a test program: those that the variable TORQUED_TARGET names (`make test
 * TARGET=...` sets it for all programs and servers), else the fastest of the machine. */
#pragma once
#include "dynamics/dynamics.h"
#include <stdio.h>
#include <stdlib.h>

/* Returns the name of a target, or NULL for the fastest. */
static inline const char *test_target(void)
{
    return getenv("TORQUED_TARGET");
}

static inline const dyn_kernels *test_kernels(void)
{
    const dyn_kernels *kernels = dyn_kernels_find(test_target());
    if (kernels) return kernels;
    printf("Bail out! TORQUED_TARGET=%s is no target of this machine\n", test_target());
    exit(1);
}
