/* draws.h - draws random numbers, the same sequence for a seed on every machine, and allocates arrays of numbers. */
#pragma once
#include <stddef.h>
#include <stdint.h>

double  draw(uint64_t *seed); /* uniform in [-1, 1) */
double *numbers(size_t n);    /* n zeros, aligned for the kernels; free() frees them */
