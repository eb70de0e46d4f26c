/* forward_hessian_product.c - computes the rates of the derivatives of multipliers . qdd along directions of q, qd and
 * tau, in O(n) for each direction.
 *
 * The gradient with respect to tau is mu with dID/dqdd^T mu = multipliers; the gradients with respect to q and qd are
 * those of -mu . ID (forward_gradient.c). Along a direction, qdd has the rate of forward_directional.c.
 * hessian_product.c gives P, the rates of the gradients of mu . ID along this direction of (q, qd, qdd), at constant
 * mu. The rate mu' is the solution of
 *
 *     dID/dqdd^T mu' = multipliers' - P_qdd,
 *
 * with P_qdd the part of P with respect to qdd. The results are mu' with respect to tau, and -(P + gradient of mu' .
 * ID) with respect to q and qd. dID/dqdd^T is M; with friction that depends on the load, it is M with each column
 * multiplied by the load factor a of its coordinate (load_friction.h). */
#include "dynamics/algorithms/kernels.h"
#include "dynamics/directional.h"
#include "dynamics/gradient.h"
#include "dynamics/hessian_product.h"
#include "dynamics/joint/load_friction.h"
#include "dynamics/recursion/workspace.h"

typedef struct workspace {
    lane          *mu;                    /* [nv] mu of the first comment */
    lane          *effort;                /* [nv] right side of the equation for mu' */
    lane          *by_q, *by_qd, *by_qdd; /* [nv] gradients with the multipliers mu' */
    load_friction *friction;              /* [nv] friction of each coordinate; only if it depends on the load */
    void          *factors;               /* workspace of forward_dynamics, whose pivots each direction uses */
    void          *memory;                /* workspace of the other kernels that this one calls */
} workspace;

static size_t inner_size(const dyn_model *m)
{
    const size_t size[] = {LANE_NAME(gradient_size)(m), LANE_NAME(hessian_product_size)(m),
                           LANE_NAME(forward_directional_size)(m)};
    size_t       most   = 0;
    for (size_t i = 0; i < sizeof size / sizeof *size; i++)
        most = size[i] > most ? size[i] : most;
    return most;
}

static workspace place(arena *a, const dyn_model *m)
{
    const size_t nv = (size_t)m->nv;
    return (workspace){.mu       = arena_take(a, nv, sizeof(lane)),
                       .effort   = arena_take(a, nv, sizeof(lane)),
                       .by_q     = arena_take(a, nv, sizeof(lane)),
                       .by_qd    = arena_take(a, nv, sizeof(lane)),
                       .by_qdd   = arena_take(a, nv, sizeof(lane)),
                       .friction = arena_take(a, m->has_load ? nv : 0, sizeof(load_friction)),
                       .factors  = arena_take(a, LANE_NAME(forward_dynamics_size)(m), 1),
                       .memory   = arena_take(a, inner_size(m), 1)};
}

size_t LANE_NAME(forward_hessian_product_size)(const dyn_model *m)
{
    arena a = {0};
    place(&a, m);
    return a.used;
}

/* Returns a copy of `io` whose arrays begin at block `block`. */
static dyn_forward_hessian_product forward_product_block(const dyn_scene *scene, const dyn_forward_hessian_product *io,
                                                         size_t block)
{
    const size_t nq = (size_t)scene->model->nq, nv = (size_t)scene->model->nv, nw = scene->n_wrenches, n = io->n * nv;
    return (dyn_forward_hessian_product){.q        = (const double *)block_in(io->q, block, nq),
                                         .qd       = (const double *)block_in(io->qd, block, nv),
                                         .tau      = (const double *)block_in(io->tau, block, nv),
                                         .wrenches = nw ? (const double *)block_in(io->wrenches, block, 9 * nw) : NULL,
                                         .multipliers      = (const double *)block_in(io->multipliers, block, nv),
                                         .n                = io->n,
                                         .direction_q      = (const double *)block_in(io->direction_q, block, n),
                                         .direction_qd     = (const double *)block_in(io->direction_qd, block, n),
                                         .direction_tau    = (const double *)block_in(io->direction_tau, block, n),
                                         .multiplier_rates = (const double *)block_in(io->multiplier_rates, block, n),
                                         .product_q        = (double *)block_out(io->product_q, block, n),
                                         .product_qd       = (double *)block_out(io->product_qd, block, n),
                                         .product_tau      = (double *)block_out(io->product_tau, block, n),
                                         .rates            = (double *)block_out(io->rates, block, n),
                                         .qdd              = (double *)block_out(io->qdd, block, nv),
                                         .singular         = (double *)block_out(io->singular, block, 1)};
}

/* Sets x [nv] so that dID/dqdd^T x = right. */
static void solve_transposed(const dyn_scene *scene, const workspace *ws, const dyn_forward_hessian_product *io,
                             const lane *right, lane *x)
{
    const lane *tau = block_in(io->tau, 0, 0);
    LANE_NAME(accelerate_at_rest)(scene, ws->factors, right, x);
    for (int v = 0; scene_has_load(scene) && v < scene->model->nv; v++) {
        const load_friction *f = &ws->friction[v];
        x[v]                   = x[v] / load_factor(f, load_transmitted(f, tau ? tau[v] : lane_of(0)));
    }
}

/* Replaces the products P of direction k (first comment), which belong to inverse dynamics, by those of forward
 * dynamics. */
static void solve_products(const dyn_scene *scene, const workspace *ws, const dyn_forward_hessian_product *io, size_t k)
{
    const size_t nv   = (size_t)scene->model->nv;
    lane        *by_q = block_out(io->product_q, k, nv), *by_qd = block_out(io->product_qd, k, nv),
         *rate_of_mu = block_out(io->product_tau, k, nv);
    const lane *rate = block_in(io->multiplier_rates, k, nv);
    for (size_t v = 0; v < nv; v++)
        ws->effort[v] = rate ? rate[v] - rate_of_mu[v] : -rate_of_mu[v];
    solve_transposed(scene, ws, io, ws->effort, rate_of_mu);
    LANE_NAME(gradient)
    (scene, ws->memory,
     &(dyn_gradient){.q            = io->q,
                     .qd           = io->qd,
                     .qdd          = io->qdd,
                     .wrenches     = io->wrenches,
                     .multipliers  = (const double *)rate_of_mu,
                     .gradient_q   = (double *)ws->by_q,
                     .gradient_qd  = (double *)ws->by_qd,
                     .gradient_qdd = (double *)ws->by_qdd},
     1);
    for (size_t v = 0; v < nv; v++) {
        by_q[v]  = -(by_q[v] + ws->by_q[v]);
        by_qd[v] = -(by_qd[v] + ws->by_qd[v]);
    }
}

/* Computes the Hessian-vector products of one block. io->qdd must hold the accelerations already. */
static void put_products(const dyn_scene *scene, const workspace *ws, const dyn_forward_hessian_product *io)
{
    LANE_NAME(forward_directional_from)
    (scene, ws->memory, ws->factors,
     &(dyn_forward_directional){.q             = io->q,
                                .qd            = io->qd,
                                .tau           = io->tau,
                                .wrenches      = io->wrenches,
                                .n             = io->n,
                                .direction_q   = io->direction_q,
                                .direction_qd  = io->direction_qd,
                                .direction_tau = io->direction_tau,
                                .rates         = io->rates,
                                .qdd           = io->qdd});
    if (scene_has_load(scene)) load_friction_set(scene->model, block_in(io->qd, 0, 0), ws->friction);
    solve_transposed(scene, ws, io, block_in(io->multipliers, 0, 0), ws->mu);
    LANE_NAME(hessian_product)
    (scene, ws->memory,
     &(dyn_hessian_product){.q             = io->q,
                            .qd            = io->qd,
                            .qdd           = io->qdd,
                            .wrenches      = io->wrenches,
                            .multipliers   = (const double *)ws->mu,
                            .n             = io->n,
                            .direction_q   = io->direction_q,
                            .direction_qd  = io->direction_qd,
                            .direction_qdd = io->rates,
                            .product_q     = io->product_q,
                            .product_qd    = io->product_qd,
                            .product_qdd   = io->product_tau},
     1);
    for (size_t k = 0; k < io->n && goes_on(scene->deadline, (size_t)scene->model->nv); k++)
        solve_products(scene, ws, io, k);
}

void LANE_NAME(forward_hessian_product_from)(const dyn_scene *scene, void *memory, void *factors,
                                             const dyn_forward_hessian_product *io)
{
    arena     a  = {.base = memory};
    workspace ws = place(&a, scene->model);
    ws.factors   = factors;
    put_products(scene, &ws, io);
}

void LANE_NAME(forward_hessian_product)(const dyn_scene *scene, void *memory, const dyn_forward_hessian_product *io,
                                        size_t blocks)
{
    arena           a  = {.base = memory};
    const workspace ws = place(&a, scene->model);
    for (size_t block = 0; block < blocks; block++) {
        const dyn_forward_hessian_product one = forward_product_block(scene, io, block);
        LANE_NAME(forward_dynamics)
        (scene, ws.factors,
         &(dyn_forward_dynamics){.q        = one.q,
                                 .qd       = one.qd,
                                 .tau      = one.tau,
                                 .wrenches = one.wrenches,
                                 .qdd      = one.qdd,
                                 .singular = one.singular},
         1);
        put_products(scene, &ws, &one);
    }
}
