/* held_frames.h - finds the accelerations of a robot whose frames are held along some directions. Part of step.c.
 *
 * With J (k x nv) the rows of the frames' Jacobians in these directions and l the efforts along them,
 *
 *     M qdd + bias = tau + J^T l,  J qdd + J' qd = 0.
 *
 * With M = L^T D L (mass_factor.h), Z = L^-T J^T and z = L^-T (tau - bias), the system is
 *
 *     G l = -(Z^T D^-1 z + J' qd),  G = Z^T D^-1 Z,  L qdd = D^-1 (z + Z l).
 *
 * A column of Z is zero outside the coordinates that move its frame, as the row of J is. G = L D L^T may be singular,
 * since directions may depend on each other: a pivot that is zero up to rounding is left out with its direction
 * (dynamics/held_directions.h), and qdd is the same whichever of dependent directions remain. With damping delta,
 *
 *     J qdd + J' qd = -delta l,
 *
 * and delta is added to the diagonal of G. held_derivatives.h differentiates qdd.
 *
 * With friction that depends on the load, tau is replaced by T(tau, qd) and the bias has no friction (load_friction.h).
 *
 * Outputs have the wrenches of dynamics/constraint.h instead. The wrenches of this file would depend on the order of
 * the frames if directions depend on each other. */
#pragma once
#include "kernels.h"
#include "dynamics/math/clear_large.h"
#include "dynamics/joint/load_friction.h"
#include "held_rows.h"
#include "held_workspace.h"
#include "row_products.h"
#include <string.h>

typedef struct held_system {
    bool                  loaded; /* true: friction depends on the load; then `scene` and `free` are without friction */
    dyn_scene             scene;  /* has the caller's external wrenches, then those of held frames */
    dyn_scene             free;   /* the caller's scene, without the wrenches of held frames */
    const dyn_step       *io;
    const held_workspace *ws;
    size_t                nv, k;
    double                unsettled; /* factor, usually 1, of the velocity term V of held_directions.h */
    lane                 *M;         /* [nv x nv] mass matrix */
    lane *by_q, *by_qd; /* [(nv + k) x nv] each: derivatives of tau with respect to q, to qd; below them those of J qdd
                           + J' qd */
    lane *J, *P;        /* [k x nv] each: rows J of the held directions; P = G^-1 J M^-1 */
    lane *Z, *Y;        /* [nv x k] each: Z = L^-T J^T, with M = L^T D L; -D^-1 Z (scratch in held_derivatives.h) */
    lane *KP;           /* [nv x (nv + k)] K = dqdd/dtau and P^T side by side (held_derivatives.h) */
    lane *G, *reciprocal; /* [k x k] factor L of G = L D L^T, as L^T above the diagonal; [k] 1/D */
    lane *c, *l;          /* [k]: J' qd, later scratch; the efforts along the directions with opposite sign, -l */
    lane *S; /* [k]: S of held_directions.h, sizes of accelerations along the directions; held_solve replaces it by s */
    lane *frame_J;           /* [6 x nv] of one held frame: scratch */
    lane *levers;            /* [n_held x 3] m: contact points from the frames' origins; NULL: not requested */
    lane *qdd;               /* [nv] accelerations with held frames */
    lane *wrenches;          /* [9 (n_wrenches + n_held)] wrenches of the caller, then those that hold the frames */
    load_friction *friction; /* [nv] friction of each coordinate at qd; `friction` and T only if `loaded` */
    lane          *T;        /* [nv] efforts without friction that give the same motion as tau */
} held_system;

static inline held_system held_place(const dyn_scene *scene, const dyn_step *io, const held_workspace *ws, lane *work)
{
    const size_t nv     = (size_t)scene->model->nv;
    const bool   loaded = scene_has_load(scene);
    held_system  h      = {.loaded = loaded, .io = io, .ws = ws, .nv = nv, .unsettled = 1};
    h.scene = h.free = loaded ? scene_without_friction(scene) : *scene;
    for (size_t i = 0; i < held_chains(io); i++)
        h.k += held_rows_of(io, i);
    if (io->n_held > 0) h.scene.wrench = io->sites; /* without held frames the sites are those of the scene */
    h.scene.n_wrenches += io->n_held;
    lane **const arrays[] = {&h.M, &h.by_q,       &h.by_qd, &h.J, &h.P, &h.Z,   &h.Y,       &h.KP,
                             &h.G, &h.reciprocal, &h.c,     &h.l, &h.S, &h.qdd, &h.frame_J, &h.wrenches};
    const size_t n = nv + h.k, part = h.k * nv;
    const size_t sizes[] = {nv * nv,   n * nv, n * nv, part, part, part, part,   n * nv,
                            h.k * h.k, h.k,    h.k,    h.k,  h.k,  nv,   6 * nv, 0};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; work += sizes[i++])
        *arrays[i] = work;
    h.friction = (load_friction *)(h.wrenches + 9 * h.scene.n_wrenches);
    h.T        = (lane *)(h.friction + nv);
    return h;
}

/* --- the system ------------------------------------------------------------------------------------------------- */

/* Returns the acceleration A of held_directions.h in m/s^2: |gravity|, but at least standard gravity, so that
 * velocities of the size of rounding errors count as zero. */
static inline double held_gravity(const dyn_scene *scene)
{
    const double *g = scene->gravity, size = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
    return size > DYN_STANDARD_GRAVITY ? size : DYN_STANDARD_GRAVITY;
}

/* Sets the rows of held frame i in J, in c = J' qd and in S (held_directions.h), from row `first` on. */
static inline void held_set_frame(const held_system *h, size_t i, size_t first, const lane *qd)
{
    const dyn_model      *m    = h->free.model;
    const world_motion    rest = world_at_rest(), *world = h->ws->world.world;
    const dyn_held_frame *held  = &h->io->held[i];
    const dyn_held_frame  all   = {.frame      = held->frame,
                                   .frame_axes = held->frame_axes,
                                   .n          = 6,
                                   .axis       = {0, 1, 2, 3, 4, 5},
                                   .rolling    = held->rolling};
    world_motion          f     = frame_of(motion_of(world, &rest, held->frame.body), &held->frame, ACCELERATIONS);
    const int            *chain = held_chain(h->ws, m, i);
    const size_t          n     = h->ws->moving[i];
    vec3                  lever;
    held_move_to_contact(held->rolling, &f, &lever);
    if (h->levers) store3(h->levers + 3 * i, lever);
    clear(h->frame_J, 6 * h->nv);
    held_add_columns(m, world, &all, &f, &(held_columns){.J = h->frame_J, .nv = h->nv});
    const held_entries entries = held_entries_of(h->frame_J, qd, h->nv, chain, n);
    for (size_t a = 0; a < held->n; a++) {
        held_copy_row(h->frame_J + (size_t)held->axis[a] * h->nv, chain, n,
                      held_row_scale(&entries, held->axis[a], h->ws->reach[i]), h->J + (first + a) * h->nv);
        h->S[first + a] = held_scale(&entries, held->axis[a], h->ws->reach[i], held_gravity(&h->free), h->unsettled);
    }
    held_accelerations(held, &f, h->c + first);
}

/* Sets all rows of J; c = J' qd, the accelerations along the held directions at qdd = 0; and the part A + V of S
 * (held_directions.h). */
static inline void held_set_rows(const held_system *h, const lane *q, const lane *qd)
{
    needed_motions(h->free.model, &h->ws->world, q, (coordinate_rates){.qd = qd}, ACCELERATIONS);
    clear_large(h->free.deadline, h->J, h->k * h->nv);
    for (size_t i = 0, row = 0; i < h->io->n_held; row += h->io->held[i++].n)
        held_set_frame(h, i, row, qd);
    for (size_t i = 0, row = h->k - h->io->n_stopping; i < h->io->n_stopping; i++, row++) {
        const size_t v        = h->io->stopping[i];
        h->J[row * h->nv + v] = lane_of(1);
        h->c[row]             = qd ? qd[v] / h->io->h : lane_of(0);
        h->S[row]             = lane_abs(h->c[row]);
    }
}

/* Sets Z = L^-T J^T and -D^-1 Z in the columns of chain i (held_workspace.h): column `first` and those after it. L, D:
 * factors of M. */
static inline void held_eliminate(const held_system *h, size_t i, size_t first)
{
    const factor *f     = &h->ws->factor;
    const int    *chain = held_chain(h->ws, h->free.model, i);
    const size_t  k = h->k, nv = h->nv, n = h->ws->moving[i], columns = held_rows_of(h->io, i);
    for (size_t e = 0; e < n; e++)
        for (size_t a = first; a < first + columns; a++)
            h->Z[(size_t)chain[e] * k + a] = h->J[a * nv + (size_t)chain[e]];
    for (size_t e = 0; e < n; e++) {
        const lane *L = f->L + (size_t)chain[e] * nv;
        lane        from[6];
        memcpy(from, h->Z + (size_t)chain[e] * k + first, columns * sizeof *from);
        for (size_t a = 0; a < columns; a++)
            h->Y[(size_t)chain[e] * k + first + a] = -(f->reciprocal[chain[e]] * from[a]);
        for (size_t up = e + 1; up < n; up++) {
            lane      *to = h->Z + (size_t)chain[up] * k + first;
            const lane l  = L[chain[up]];
            for (size_t a = 0; a < columns; a++)
                to[a] = sub_mul(to[a], l, from[a]);
        }
    }
}

/* Sets Z, -D^-1 Z and the entries of G = Z^T D^-1 Z = J M^-1 J^T on and to the right of the diagonal. */
static inline void held_set_G(const held_system *h)
{
    const size_t k = h->k;
    clear_large(h->free.deadline, h->Z, h->nv * k), clear_large(h->free.deadline, h->Y, h->nv * k);
    for (size_t i = 0, row = 0; i < held_chains(h->io) && goes_on(h->free.deadline, h->nv);
         row += held_rows_of(h->io, i++))
        held_eliminate(h, i, row);
    for (size_t i = 0, row = 0; i < held_chains(h->io); row += held_rows_of(h->io, i++)) {
        const row_product G = {.deadline = h->free.deadline,
                               .A        = h->Z + row,
                               .A_row    = 1,
                               .A_term   = k,
                               .X        = h->Y,
                               .stride   = k,
                               .n        = h->ws->moving[i],
                               .terms    = held_chain(h->ws, h->free.model, i),
                               .Y        = h->G + row * k,
                               .Y_row    = k};
        multiply_rows(&G, held_rows_of(h->io, i), row, k);
    }
}

/* Returns the lanes in which row a of J constrains the motion: all lanes for a held direction; for a stopping
 * coordinate those in which `stops` is not 0. */
LANE_INLINE lane_mask held_applies(const held_system *h, size_t a)
{
    const size_t held = h->k - h->io->n_stopping;
    return lane_less(lane_of(0), a < held ? lane_of(1) : lane_abs(block_in(h->io->stops, 0, 0)[a - held]));
}

/* Adds the damping to the diagonal of G, and factors G in place, G = L D L^T, with the pivots from the first direction
 * to the last. A direction that depends on those before it gets the reciprocal pivot 0. */
static inline void held_factor(const held_system *h)
{
    const size_t k        = h->k;
    lane        *diagonal = h->l;
    for (size_t a = 0; h->io->damping > 0 && a < k - h->io->n_stopping; a++)
        h->G[a * k + a] = h->G[a * k + a] + h->io->damping;
    for (size_t a = 0; a < k; a++)
        diagonal[a] = h->G[a * k + a];
    for (size_t a = 0; a < k && goes_on(h->free.deadline, h->nv); a++) {
        lane     *row    = h->G + a * k;
        lane_mask counts = lane_less(DYN_DEPENDENT * diagonal[a], row[a]) & held_applies(h, a);
        h->reciprocal[a] = lane_select(counts, 1.0 / row[a], lane_of(0));
        for (size_t b = a + 1; b < k; b++) {
            const lane scaled = row[b] * h->reciprocal[a];
            lane      *to     = h->G + b * k;
            for (size_t c = b; c < k; c++)
                to[c] = sub_mul(to[c], scaled, row[c]);
            row[b] = scaled;
        }
    }
}

/* Replaces x (k) by G^-1 x, and S by s of held_directions.h. Returns 1 + the first direction that contradicts those
 * before it, or 0. */
static inline lane held_solve(const held_system *h, lane *x)
{
    const size_t k     = h->k;
    lane         first = lane_of(0);
    for (size_t a = 0; a < k; a++) {
        for (size_t b = a + 1; b < k; b++) {
            x[b]    = sub_mul(x[b], h->G[a * k + b], x[a]);
            h->S[b] = add_mul(h->S[b], lane_abs(h->G[a * k + b]), h->S[a]);
        }
        const lane_mask out   = ~lane_less(lane_of(0), lane_abs(h->reciprocal[a])) & held_applies(h, a);
        const lane_mask wrong = out & lane_less(DYN_CONSISTENT * h->S[a], lane_abs(x[a]));
        first                 = lane_select(wrong & lane_less(first, lane_of(1)), lane_of(1 + (double)a), first);
    }
    for (size_t a = 0; a < k; a++)
        x[a] = x[a] * h->reciprocal[a];
    for (size_t a = k; a-- > 0;)
        for (size_t b = 0; b < a; b++)
            x[b] = sub_mul(x[b], h->G[b * k + a], x[a]);
    return first;
}

/* Sets M and its factors, the rows J and c = J' qd, Z, and the factors of G at (q, qd). */
static inline void held_prepare(const held_system *h, const lane *q, const lane *qd, lane *singular, void *memory)
{
    LANE_NAME(mass_matrix)
    (&h->free, memory, &(dyn_mass_matrix){.q = (const double *)q, .mass_matrix = (double *)h->M}, 1);
    *singular = factor_make(h->free.model, &h->ws->factor, h->M);
    held_set_rows(h, q, qd);
    held_set_G(h);
    held_factor(h);
}

/* --- efforts ---------------------------------------------------------------------------------------------------- */

/* Adds Z l to z (nv), with the efforts l = -G^-1 c along the held directions. Returns 1 + the first direction that
 * contradicts those before it, or 0. */
static inline lane held_add_efforts(const held_system *h, lane *z)
{
    memcpy(h->l, h->c, h->k * sizeof *h->l);
    const lane first = held_solve(h, h->l);
    for (size_t v = 0; v < h->nv; v++) {
        lane sum = z[v];
        for (size_t a = 0; a < h->k; a++)
            sum = sub_mul(sum, h->l[a], h->Z[v * h->k + a]);
        z[v] = sum;
    }
    return first;
}

/* Sets h->wrenches: the caller's wrenches, followed by the wrenches that hold the frames, in the axes of their
 * sites. */
static inline void held_set_wrenches(const held_system *h)
{
    const size_t       given = 9 * h->free.n_wrenches;
    const world_motion rest = world_at_rest(), *world = h->ws->world.world;
    if (given > 0) memcpy(h->wrenches, block_in(h->io->wrenches, 0, 0), given * sizeof(lane));
    clear(h->wrenches + given, 9 * h->io->n_held);
    for (size_t i = 0, a = 0; i < h->io->n_held; i++) {
        const dyn_held_frame *held = &h->io->held[i];
        lane                 *x    = h->wrenches + given + 9 * i;
        for (size_t j = 0; j < held->n; j++)
            x[held->axis[j]] = -h->l[a++];
        if (held->frame_axes || h->io->sites[h->free.n_wrenches + i].world_axes) continue;
        const mat3 R = frame_rotation(motion_of(world, &rest, held->frame.body), &held->frame);
        store3(x, mat3_mul_transposed(&R, load3(x)));
        store3(x + 3, mat3_mul_transposed(&R, load3(x + 3)));
    }
}

/* Returns the efforts on the right side of the equation of motion: T where friction depends on the load, else tau. */
static inline const lane *held_set_transmitted(const held_system *h, const lane *qd)
{
    const lane *tau = block_in(h->io->tau, 0, 0);
    if (!h->loaded) return tau;
    load_friction_set(h->free.model, qd, h->friction);
    for (size_t v = 0; v < h->nv; v++)
        h->T[v] = load_transmitted(&h->friction[v], tau[v]);
    return h->T;
}

/* Adds the sum over coordinates v of |J_av qdd_0v| to S_a of each held direction a, with qdd_0 = L^-1 D^-1 z: the
 * accelerations that efforts and wrenches give the free robot (last term of S_a in held_directions.h). */
static inline void held_add_sizes(const held_system *h, const lane *z)
{
    lane *qdd = h->P; /* scratch here */
    memcpy(qdd, z, h->nv * sizeof *qdd);
    factor_substitute(h->free.model, &h->ws->factor, qdd);
    for (size_t a = 0; a < h->k; a++)
        for (size_t v = 0; v < h->nv; v++)
            h->S[a] = h->S[a] + lane_abs(h->J[a * h->nv + v] * qdd[v]);
}

/* Sets h->qdd at (q, qd) and the efforts along the held directions; held_prepare has been called. */
static inline void held_accelerate(const held_system *h, const lane *q, const lane *qd, lane *contradictory,
                                   void *memory)
{
    const dyn_model *m = h->free.model;
    lane            *x = h->qdd;
    const lane      *T = held_set_transmitted(h, qd);
    LANE_NAME(inverse_dynamics)
    (&h->free, memory,
     &(dyn_inverse_dynamics){
         .q = (const double *)q, .qd = (const double *)qd, .wrenches = h->io->wrenches, .tau = (double *)x},
     1);
    for (size_t v = 0; v < h->nv; v++)
        x[v] = T[v] - x[v];
    factor_eliminate(m, &h->ws->factor, x);
    /* c = J' qd + Z^T D^-1 z: accelerations of the robot without held frames along the held directions */
    multiply_rows(&(row_product){.deadline = h->free.deadline,
                                 .A        = x,
                                 .A_term   = 1,
                                 .X        = h->Y,
                                 .stride   = h->k,
                                 .n        = h->nv,
                                 .S        = h->c,
                                 .Y        = h->c},
                  1, 0, h->k);
    held_add_sizes(h, x);
    const lane first = held_add_efforts(h, x);
    factor_substitute(m, &h->ws->factor, x);
    *contradictory = lane_select(lane_less(*contradictory, lane_of(1)), first, *contradictory);
}
