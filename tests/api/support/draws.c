/* draws.c - draws random numbers and allocates arrays of numbers (draws.h). */
#include "draws.h"
#include "models.h"
#include <stdlib.h>
#include <string.h>

double draw(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) * 0x1p-52 - 1;
}

double *numbers(size_t n)
{
    size_t  bytes = (n * sizeof(double) / DYN_ALIGN + 1) * DYN_ALIGN;
    double *array = aligned_alloc(DYN_ALIGN, bytes);
    assert_non_null(array);
    memset(array, 0, bytes);
    return array;
}
