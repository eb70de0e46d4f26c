/* constraint.c - lays out the factors of a constraint (constraint.h). */
#include "constraint.h"

size_t dyn_constraint_lay_out(dyn_constraint_factor *f, size_t W, double *lanes)
{
    const size_t   nv = f->nv, k = f->k, square = k * k;
    double **const array[]   = {&f->L,      &f->Q,     &f->U,    &f->B,     &f->T,      &f->reciprocal, &f->root,
                                &f->weight, &f->sizes, &f->rank, &f->trace, &f->solved, &f->singular};
    const size_t   entries[] = {nv * nv, (nv + k) * k, square, square, square, nv, nv, k, k, 1, 1, 1, 1};
    size_t         total     = 0;
    for (size_t i = 0; i < sizeof entries / sizeof *entries; total += entries[i++])
        if (lanes) *array[i] = lanes + total * W;
    return total;
}
