/* target.h - choose the kernels with which a test program computes: those of the variable TORQUED_TARGET, which `make
 * test TARGET=...` sets for all programs and servers, else the fastest of the machine. */
#pragma once
#include "dynamics/dynamics.h"
#include <stdlib.h>

/* The name of a target, or NULL for the fastest. */
static inline const char *test_target(void)
{
    return getenv("TORQUED_TARGET");
}

static inline const dyn_kernels *test_kernels(void)
{
    return dyn_kernels_find(test_target());
}
