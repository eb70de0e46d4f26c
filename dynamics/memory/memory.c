/* memory.c - takes cleared arrays of numbers from the memory of a computation (memory.h). */
#include "memory.h"
#include <string.h>

double *dyn_take_zeroed(dyn_memory memory, size_t count, bool *succeeded)
{
    double *numbers = dyn_take(memory, count * sizeof *numbers);
    *succeeded      = *succeeded && numbers;
    if (numbers) memset(numbers, 0, count * sizeof *numbers);
    return numbers;
}
