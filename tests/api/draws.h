/* draws.h - random numbers, the same for ever, and room for numbers. */
#pragma once
#include <stddef.h>
#include <stdint.h>

double  draw(uint64_t *seed); /* from [-1, 1) */
double *numbers(size_t n);    /* zeros, aligned as kernels want them; free() frees */
