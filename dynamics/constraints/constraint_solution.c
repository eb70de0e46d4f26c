/* constraint_solution.c - solves a factored constraint for a right side (dynamics/constraint.h). */
#include "constraint_system.h"
#include <string.h>

size_t LANE_NAME(constraint_solution_size)(const dyn_model *m)
{
    return constraint_size(m);
}

/* Sets c = scale (drift + J x), the right side. */
static void set_right_side(const constraint_system *s, const dyn_constraint_solution *io, lane *c)
{
    const lane *drift = block_in(io->drift, 0, 0), *x = block_in(io->x, 0, 0), *J = block_in(s->io->J, 0, 0);
    for (size_t a = 0; a < s->k; a++) {
        c[a] = drift ? drift[a] : lane_of(0);
        for (size_t v = 0; x && v < s->nv; v++)
            c[a] = add_mul(c[a], J[a * s->nv + v], x[v]);
        c[a] = io->scale * c[a];
    }
}

/* Sets, for each row, S_a of held_directions.h, the size before elimination. */
static void set_row_sizes(const constraint_system *s, const dyn_constraint_solution *io, lane *sizes)
{
    const lane *least = block_in(io->sizes, 0, 0), *x = block_in(io->x, 0, 0), *J = block_in(s->io->J, 0, 0);
    for (size_t a = 0; a < s->k; a++) {
        sizes[a] = least[a];
        for (size_t v = 0; x && v < s->nv; v++)
            sizes[a] = sizes[a] + lane_abs(J[a * s->nv + v] * x[v]);
    }
}

/* Returns 1 + the first direction that depends on those before it and whose r = U^-T c contradicts them, or 0. */
static lane find_contradictory(const constraint_system *s, const lane *r, lane *sizes)
{
    lane first = lane_of(0);
    for (size_t a = 0; a < s->k; a++) {
        for (size_t b = 0; b < a; b++)
            sizes[a] = add_mul(sizes[a], lane_abs(s->U[b * s->k + a]), sizes[b]);
        const lane_mask out   = ~lane_less(lane_of(0), s->weight[a]);
        const lane_mask wrong = out & lane_less(DYN_CONSISTENT * sizes[a], lane_abs(r[a]));
        first                 = lane_select(wrong & lane_less(first, lane_of(1)), lane_of(1 + (double)a), first);
    }
    return first;
}

/* Sets r = U^-T c. */
static void eliminate_right_side(const constraint_system *s, const lane *c, lane *r)
{
    for (size_t a = 0; a < s->k; a++) {
        r[a] = c[a];
        for (size_t b = 0; b < a; b++)
            r[a] = sub_mul(r[a], s->U[b * s->k + a], r[b]);
    }
}

/* Replaces r by (N^T)^+ c = T^-1 B c (dynamics/constraint.h) in the lanes of `where`, those with dependent
 * directions. */
static void project_right_side(const constraint_system *s, lane_mask where, const lane *c, lane *r)
{
    const size_t k = s->k;
    for (size_t j = 0; j < k; j++) {
        lane sum = lane_of(0);
        for (size_t e = 0; e < k; e++)
            sum = add_mul(sum, s->B[j * k + e], c[e]);
        for (size_t a = 0; a < j; a++)
            sum = sub_mul(sum, s->T[a * k + j], r[a]);
        r[j] = lane_select(where, sum * s->T[j * k + j], r[j]);
    }
}

/* Sets the efforts l = -U^-1 w; in the lanes of `where`, those with dependent directions, l = -N^+ w = -B^T T^-T w. */
static void set_least_efforts(const constraint_system *s, lane_mask where, const lane *w, lane *z, lane *l)
{
    const size_t k = s->k;
    for (size_t a = k; a-- > 0;) {
        l[a] = -w[a];
        for (size_t b = a + 1; b < k; b++)
            l[a] = sub_mul(l[a], s->U[a * k + b], l[b]);
    }
    if (!lane_any(where)) return;
    for (size_t a = k; a-- > 0;) {
        z[a] = w[a];
        for (size_t j = a + 1; j < k; j++)
            z[a] = sub_mul(z[a], s->T[a * k + j], z[j]);
        z[a] = z[a] * s->T[a * k + a];
    }
    for (size_t e = 0; e < k; e++) {
        lane sum = lane_of(0);
        for (size_t j = 0; j < k; j++)
            sum = sub_mul(sum, s->B[j * k + e], z[j]);
        l[e] = lane_select(where, sum, l[e]);
    }
}

/* Sets the change of x, M^-1 J^T l = -L^-1 D^-1/2 Q w. */
static void set_change(const constraint_system *s, const lane *w, lane *change)
{
    for (size_t v = 0; v < s->nv; v++) {
        lane sum = lane_of(0);
        for (size_t a = 0; a < s->k; a++)
            sum = sub_mul(sum, s->Q[v * s->k + a], w[a]);
        change[v] = sum;
    }
    constraint_substitute(s, 1, change);
}

void LANE_NAME(constraint_solution)(const dyn_scene *scene, void *memory, const dyn_constraint_solution *io,
                                    size_t blocks)
{
    (void)blocks; /* `blocks` is always 1 */
    constraint_system s;
    constraint_place(scene, memory, io->factor, &s);
    lane *c = block_out(io->along, 0, 0), *l = block_out(io->efforts, 0, 0), *energy = block_out(io->energy, 0, 0);
    lane  r[6 * DYN_MAX_HELD], sizes[6 * DYN_MAX_HELD];
    const lane_mask depends = constraint_depends(&s);
    set_right_side(&s, io, c);
    eliminate_right_side(&s, c, r);
    if (io->contradictory) {
        set_row_sizes(&s, io, sizes);
        *block_out(io->contradictory, 0, 0) = find_contradictory(&s, r, sizes);
    }
    if (lane_any(depends)) project_right_side(&s, depends, c, r);
    if (energy) *energy = lane_of(0);
    for (size_t a = 0; a < s.k; a++) {
        if (energy) *energy = add_mul(*energy, r[a] * r[a], s.weight[a]);
        r[a] = r[a] * s.weight[a];
    }
    set_least_efforts(&s, depends, r, sizes, l);
    set_change(&s, r, block_out(io->change, 0, 0));
}
