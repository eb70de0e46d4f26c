/* print.c - prints rows of numbers with all their digits (samples.h). */
#include "samples.h"
#include <stdio.h>

void print_row(const char *name, const double *numbers, size_t n, size_t stride)
{
    printf("%-12s", name);
    for (size_t i = 0; i < n; i++)
        printf(" %24.17g", numbers[i * stride]);
    printf("\n");
}
