/* fault.c - records faults of simulations (fault.h). */
#include "fault.h"
#include <math.h>

void dyn_fault_record(dyn_fault *lane, dyn_fault_kind kind, double t, size_t index)
{
    if (lane->kind == DYN_FAULT_NONE) *lane = (dyn_fault){.kind = kind, .time = t, .index = index};
}

void dyn_fault_check(dyn_fault *lanes, double t, const double *values, dyn_fault_bound bound)
{
    for (size_t i = 0; i < bound.n; i++)
        for (size_t l = 0; l < bound.W; l++) {
            double x = fabs(values[i * bound.W + l]);
            if (!(x > bound.most) || lanes[l].kind != DYN_FAULT_NONE) continue;
            dyn_fault_record(&lanes[l], bound.kind, t, i);
            lanes[l].value = x;
        }
}
