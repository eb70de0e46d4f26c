/* load_hessian_product.c - computes Hessian-vector products of models whose friction depends on the load
 * (load_friction.h).
 *
 * T, f, g, a and m are those of load_gradient.c: the gradient of m . tau is the gradient of T with the multipliers a m,
 * plus (f' + g' |T|) m with respect to qd. The rate of this gradient along a direction qd' of the velocity is the sum
 * of three terms: the rate of T's gradient with constant multipliers a m; the gradient of T with the multipliers a' m,
 * a' = g' qd' sign(T); and the rate of f' + g' |T|, which needs the rate T' of T along the direction, times m. */
#include "dynamics/algorithms/kernels.h"
#include "dynamics/directional.h"
#include "dynamics/gradient.h"
#include "dynamics/hessian_product.h"
#include "dynamics/joint/load_friction.h"
#include "dynamics/recursion/workspace.h"

typedef struct workspace {
    load_friction *friction;              /* [nv] friction as a function of the load |T| */
    lane          *T, *T_dot;             /* [nv] efforts without friction, and their rates along the direction */
    lane          *multipliers;           /* [nv] a m, then a' m */
    lane          *by_q, *by_qd, *by_qdd; /* [nv] gradients with the multipliers a' m */
    void          *memory;                /* workspace of the kernels without friction */
} workspace;

static workspace place(arena *a, const dyn_model *m)
{
    const size_t nv = (size_t)m->nv;
    return (workspace){.friction    = arena_take(a, nv, sizeof(load_friction)),
                       .T           = arena_take(a, nv, sizeof(lane)),
                       .T_dot       = arena_take(a, nv, sizeof(lane)),
                       .multipliers = arena_take(a, nv, sizeof(lane)),
                       .by_q        = arena_take(a, nv, sizeof(lane)),
                       .by_qd       = arena_take(a, nv, sizeof(lane)),
                       .by_qdd      = arena_take(a, nv, sizeof(lane)),
                       .memory      = arena_take(a, 0, 1)};
}

size_t LANE_NAME(load_hessian_product_size)(const dyn_model *m, size_t inner)
{
    arena        a        = {0};
    const size_t gradient = LANE_NAME(gradient_size)(m), directional = LANE_NAME(directional_size)(m);
    if (!m->has_load) return inner;
    place(&a, m);
    inner = inner > gradient ? inner : gradient;
    return a.used + (inner > directional ? inner : directional);
}

/* Returns a copy of `io` for direction k of block `block`. */
static dyn_hessian_product product_of_direction(const dyn_scene *scene, const dyn_hessian_product *io, size_t block,
                                                size_t k)
{
    const size_t nq = (size_t)scene->model->nq, nv = (size_t)scene->model->nv, nw = scene->n_wrenches,
                 row = block * io->n + k;
    return (dyn_hessian_product){.q             = (const double *)block_in(io->q, block, nq),
                                 .qd            = (const double *)block_in(io->qd, block, nv),
                                 .qdd           = (const double *)block_in(io->qdd, block, nv),
                                 .wrenches      = nw ? (const double *)block_in(io->wrenches, block, 9 * nw) : NULL,
                                 .multipliers   = (const double *)block_in(io->multipliers, block, nv),
                                 .n             = 1,
                                 .direction_q   = (const double *)block_in(io->direction_q, row, nv),
                                 .direction_qd  = (const double *)block_in(io->direction_qd, row, nv),
                                 .direction_qdd = (const double *)block_in(io->direction_qdd, row, nv),
                                 .product_q     = (double *)block_out(io->product_q, row, nv),
                                 .product_qd    = (double *)block_out(io->product_qd, row, nv),
                                 .product_qdd   = (double *)block_out(io->product_qdd, row, nv)};
}

/* Sets T, its rate along the direction, and the friction of all coordinates. */
static void set_load(const dyn_scene *rigid, const workspace *ws, const dyn_hessian_product *io)
{
    LANE_NAME(directional)
    (rigid, ws->memory,
     &(dyn_directional){.q             = io->q,
                        .qd            = io->qd,
                        .qdd           = io->qdd,
                        .wrenches      = io->wrenches,
                        .n             = 1,
                        .direction_q   = io->direction_q,
                        .direction_qd  = io->direction_qd,
                        .direction_qdd = io->direction_qdd,
                        .rates         = (double *)ws->T_dot,
                        .tau           = (double *)ws->T},
     1);
    load_friction_set(rigid->model, block_in(io->qd, 0, 0), ws->friction);
}

/* Adds the gradient of T with the multipliers a' m. */
static void add_gradient(const dyn_scene *rigid, const workspace *ws, const dyn_hessian_product *io)
{
    lane *const sum[] = {block_out(io->product_q, 0, 0), block_out(io->product_qd, 0, 0),
                         block_out(io->product_qdd, 0, 0)};
    LANE_NAME(gradient)
    (rigid, ws->memory,
     &(dyn_gradient){.q            = io->q,
                     .qd           = io->qd,
                     .qdd          = io->qdd,
                     .wrenches     = io->wrenches,
                     .multipliers  = (const double *)ws->multipliers,
                     .gradient_q   = (double *)ws->by_q,
                     .gradient_qd  = (double *)ws->by_qd,
                     .gradient_qdd = (double *)ws->by_qdd},
     1);
    for (int v = 0; v < rigid->model->nv; v++) {
        sum[0][v] += ws->by_q[v];
        sum[1][v] += ws->by_qd[v];
        sum[2][v] += ws->by_qdd[v];
    }
}

/* Computes the Hessian-vector products along one direction. */
static void put_loaded_products(const dyn_scene *rigid, const workspace *ws, const dyn_hessian_product *io)
{
    const dyn_model *m           = rigid->model;
    const lane      *multipliers = block_in(io->multipliers, 0, 0), *qd = block_in(io->qd, 0, 0),
               *along         = block_in(io->direction_qd, 0, 0);
    lane               *by_qd = block_out(io->product_qd, 0, 0);
    dyn_hessian_product inner = *io;
    set_load(rigid, ws, io);
    for (int v = 0; v < m->nv; v++)
        ws->multipliers[v] = load_factor(&ws->friction[v], ws->T[v]) * multipliers[v];
    inner.multipliers = (const double *)ws->multipliers;
    LANE_NAME(hessian_product)(rigid, ws->memory, &inner, 1);
    for (int v = 0; along && v < m->nv; v++)
        ws->multipliers[v] = load_factor_rate(&ws->friction[v], ws->T[v], along[v]) * multipliers[v];
    if (along) add_gradient(rigid, ws, io);
    for (int v = 0; v < m->nv; v++) {
        const lane g = along ? along[v] : lane_of(0);
        by_qd[v]     = add_mul(by_qd[v], load_slope_rate(&ws->friction[v], ws->T[v], ws->T_dot[v], g), multipliers[v]);
    }
    drives_add_slope_rates(m, qd, along, multipliers, by_qd);
}

void LANE_NAME(loaded_hessian_product)(const dyn_scene *scene, void *memory, const dyn_hessian_product *io,
                                       size_t blocks)
{
    arena           a     = {.base = memory};
    const dyn_scene rigid = scene_without_friction(scene);
    const workspace ws    = place(&a, scene->model);
    for (size_t block = 0; block < blocks; block++)
        for (size_t k = 0; k < io->n && goes_on(scene->deadline, (size_t)scene->model->nv); k++) {
            const dyn_hessian_product one = product_of_direction(scene, io, block, k);
            put_loaded_products(&rigid, &ws, &one);
        }
}
