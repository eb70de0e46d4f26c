/* target.h - choose the kernels with which a test program computes: those of the variable TORQUED_TARGET, which `make
 * test TARGET=...` sets for all programs and servers, else the fastest of the machine. */
#pragma once
#include "dynamics/dynamics.h"
#include <stdio.h>
#include <stdlib.h>

/* The name of a target, or NULL for the fastest. */
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
