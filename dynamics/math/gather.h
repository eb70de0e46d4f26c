/* gather.h - copy the numbers of one state out of lanes, and into them. */
#pragma once
#include <stddef.h>

/* Copies the n numbers of state `lane` of a block of W states to `to`. */
static inline void dyn_gather(const double *lanes, size_t n, size_t W, size_t lane, double *to)
{
    for (size_t i = 0; i < n; i++)
        to[i] = lanes[i * W + lane];
}

/* Copies n numbers from `from` to state `lane` of a block of W states. */
static inline void dyn_scatter(const double *from, size_t n, size_t W, size_t lane, double *lanes)
{
    for (size_t i = 0; i < n; i++)
        lanes[i * W + lane] = from[i];
}
