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

double *dyn_take_zeroed_until(dyn_memory memory, size_t count, dyn_deadline deadline, bool *succeeded)
{
    enum { PART = 1 << 17 }; /* numbers cleared between two checks of the deadline: a millisecond */
    double *numbers = *succeeded ? dyn_take(memory, count * sizeof *numbers) : NULL;
    *succeeded      = numbers;
    for (size_t i = 0; *succeeded && i < count; i += PART) {
        const size_t left = count - i;
        *succeeded        = dyn_may_continue(deadline);
        if (*succeeded) memset(numbers + i, 0, (left < PART ? left : PART) * sizeof *numbers);
    }
    return *succeeded ? numbers : NULL;
}
