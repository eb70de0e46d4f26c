/* constraint_inertia.c - finds the inertia of a robot along the directions of a factored constraint
 * (dynamics/constraint.h). */
#include "constraint_system.h"

size_t LANE_NAME(constraint_inertia_size)(const dyn_model *m)
{
    return constraint_size(m);
}

/* Sets V = U^-1 (unit upper triangular). */
static void invert_upper(const constraint_system *s, lane *V)
{
    const size_t k = s->k;
    for (size_t b = 0; b < k && goes_on(s->mass.deadline, k); b++)
        for (size_t a = b + 1; a-- > 0;) {
            lane sum = lane_of(a == b ? 1 : 0);
            for (size_t c = a + 1; c <= b; c++)
                sum = sub_mul(sum, s->U[a * k + c], V[c * k + b]);
            V[a * k + b] = sum;
        }
}

/* Sets Lambda = V P^-1 V^T, and a bound on the condition number of G: the product of the traces of G and Lambda. */
static void set_inertia(const constraint_system *s, const lane *V, lane *inertia, lane *bound)
{
    const size_t k     = s->k;
    lane         trace = lane_of(0);
    for (size_t a = 0; a < k && goes_on(s->mass.deadline, k); a++) {
        for (size_t b = 0; b <= a; b++) {
            lane sum = lane_of(0);
            for (size_t c = a; c < k; c++)
                sum = add_mul(sum, V[a * k + c] * s->weight[c], V[b * k + c]);
            inertia[a * k + b] = inertia[b * k + a] = sum;
        }
        trace = trace + inertia[a * k + a];
    }
    *bound = lane_select(constraint_depends(s), lane_of(INFINITY), trace * *block_in(s->io->trace, 0, 0));
}

/* Sets Jbar = L^-1 D^-1/2 Q P^-1 V^T. */
static void set_inverse(const constraint_system *s, const lane *V, lane *inverse)
{
    const size_t k = s->k;
    for (size_t v = 0; v < s->nv && goes_on(s->mass.deadline, k); v++)
        for (size_t a = 0; a < k; a++) {
            lane sum = lane_of(0);
            for (size_t c = a; c < k; c++)
                sum = add_mul(sum, V[a * k + c] * s->weight[c], s->Q[v * k + c]);
            inverse[v * k + a] = sum;
        }
    constraint_substitute(s, k, inverse);
}

void LANE_NAME(constraint_inertia)(const dyn_scene *scene, void *memory, const dyn_constraint_inertia *io,
                                   size_t blocks)
{
    (void)blocks; /* `blocks` is always 1 */
    constraint_system s;
    constraint_place(scene, memory, io->factor, &s);
    lane *V = s.B; /* B matters only in lanes with dependent directions, which have no Lambda */
    invert_upper(&s, V);
    set_inertia(&s, V, block_out(io->inertia, 0, 0), block_out(io->bound, 0, 0));
    if (io->inverse) set_inverse(&s, V, block_out(io->inverse, 0, 0));
}
