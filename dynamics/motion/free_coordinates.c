/* free_coordinates.c - eliminates accelerations of free coordinates from derivatives (free_coordinates.h). */
#include "free_coordinates.h"
#include <math.h>

size_t dyn_free_room(size_t nv)
{
    return nv * nv + 3 * nv;
}

dyn_free_block dyn_free_lay_out(size_t nv, size_t W, const bool *driven, const double *M, double *room)
{
    size_t        *list = (void *)(room + nv * nv + 2 * nv); /* an index fits into the memory of a double */
    dyn_free_block b    = {.nv = nv, .W = W, .free = list, .M = M, .factor = room};
    b.x                 = room + nv * nv;
    b.scale             = b.x + nv;
    _Static_assert(sizeof *list <= sizeof *room, "indices fit into the room of doubles");
    for (size_t v = 0; v < nv; v++)
        if (!driven[v]) list[b.n++] = v;
    return b;
}

void dyn_free_factor(const dyn_free_block *b, size_t lane)
{
    for (size_t i = 0; i < b->n; i++)
        b->scale[i] = b->load ? b->load[b->free[i] * b->W + lane] : 1;
    for (size_t i = 0; i < b->n; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = b->M[(b->free[i] * b->nv + b->free[j]) * b->W + lane] / b->scale[i];
            for (size_t k = 0; k < j; k++)
                sum -= b->factor[i * b->n + k] * b->factor[j * b->n + k];
            b->factor[i * b->n + j] = i == j ? sqrt(sum) : sum / b->factor[j * b->n + j];
        }
}

void dyn_free_solve(const dyn_free_block *b)
{
    for (size_t i = 0; i < b->n; i++) {
        b->x[i] /= b->scale[i];
        for (size_t j = 0; j < i; j++)
            b->x[i] -= b->factor[i * b->n + j] * b->x[j];
        b->x[i] /= b->factor[i * b->n + i];
    }
    for (size_t i = b->n; i-- > 0;) {
        for (size_t j = i + 1; j < b->n; j++)
            b->x[i] -= b->factor[j * b->n + i] * b->x[j];
        b->x[i] /= b->factor[i * b->n + i];
    }
}

void dyn_free_differentiate(const dyn_free_block *b, size_t lane, size_t columns, double *dtau, double *dqdd)
{
    for (size_t c = 0; c < columns; c++) {
        double *to = dtau + c * b->W + lane, *change = dqdd ? dqdd + c * b->W + lane : NULL;
        for (size_t i = 0; i < b->n; i++)
            b->x[i] = -to[b->free[i] * columns * b->W];
        dyn_free_solve(b);
        for (size_t v = 0; v < b->nv; v++) {
            for (size_t i = 0; i < b->n; i++)
                to[v * columns * b->W] += b->M[(v * b->nv + b->free[i]) * b->W + lane] * b->x[i];
            if (change) change[v * columns * b->W] = 0;
        }
        for (size_t i = 0; i < b->n; i++) {
            to[b->free[i] * columns * b->W] = 0;
            if (change) change[b->free[i] * columns * b->W] = b->x[i];
        }
    }
}

void dyn_free_add(const dyn_free_block *b, size_t lane, size_t rows, const double *dy_dqdd, const double *dqdd,
                  double *dy)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < b->n; i++) {
            const double by = dy_dqdd[(r * b->nv + b->free[i]) * b->W + lane];
            for (size_t c = 0; c < b->nv; c++)
                dy[(r * b->nv + c) * b->W + lane] += by * dqdd[(b->free[i] * b->nv + c) * b->W + lane];
        }
}

void dyn_free_clear_columns(const dyn_free_block *b, size_t lane, size_t rows, double *matrix)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < b->n; i++)
            matrix[(r * b->nv + b->free[i]) * b->W + lane] = 0;
}
