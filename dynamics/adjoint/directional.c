/* directional.c - computes the rates of tau along directions of q, qd and qdd in O(n) for each direction: the tangent
 * of the Newton-Euler recursion (own derivation; Guarino Lo Bianco 2009 has the case of time derivatives).
 *
 * The recursion is in newton_euler.h: its forward pass computes the motions of the bodies and the rates of these
 * motions, its backward pass the wrenches and their rates. The same passes also give tau. */
#include "dynamics/algorithms/kernels.h"
#include "dynamics/directional.h"
#include "dynamics/joint/load_friction.h"
#include "dynamics/recursion/newton_euler.h"

typedef struct workspace {
    newton_euler_workspace euler;
    load_friction         *friction; /* [nv] friction coefficients; only if friction depends on the load */
    lane                  *T;        /* [nv] efforts without friction; only if friction depends on the load */
} workspace;

static workspace place(arena *a, const dyn_model *m)
{
    const size_t loaded = m->has_load ? (size_t)m->nv : 0;
    return (workspace){.euler    = newton_euler_place(a, m, true),
                       .friction = arena_take(a, loaded, sizeof(load_friction)),
                       .T        = arena_take(a, loaded, sizeof(lane))};
}

size_t LANE_NAME(directional_size)(const dyn_model *m)
{
    arena a = {0};
    place(&a, m);
    return a.used;
}

/* Converts the rates T' of the efforts T without friction to the rates of tau = T + f + g |T|: a T' + (f' + g' |T|)
 * qd'. Here f' and g' are derivatives with respect to the velocity, qd' is the direction of the velocity, and a is the
 * load factor (load_friction.h). Then adds the rates of the friction of coupled transmissions. */
static void load_rates(const dyn_scene *scene, const workspace *ws, const newton_euler_io *io)
{
    lane *rates = io->tau_dot;
    for (int v = 0; v < scene->model->nv; v++) {
        const load_friction *f = &ws->friction[v];
        rates[v]               = add_mul(load_factor(f, ws->T[v]) * rates[v], load_slope(f, ws->T[v]), io->along.qd[v]);
    }
    drives_add_friction_rates(scene, io->qd, io->along.qd, rates);
}

/* Returns a copy of `io` whose arrays begin at block `block`. */
static dyn_directional directional_block(const dyn_scene *scene, const dyn_directional *io, size_t block)
{
    const size_t nq = (size_t)scene->model->nq, nv = (size_t)scene->model->nv, nw = scene->n_wrenches;
    return (dyn_directional){.q             = (const double *)block_in(io->q, block, nq),
                             .qd            = (const double *)block_in(io->qd, block, nv),
                             .qdd           = (const double *)block_in(io->qdd, block, nv),
                             .wrenches      = nw ? (const double *)block_in(io->wrenches, block, 9 * nw) : NULL,
                             .n             = io->n,
                             .direction_q   = (const double *)block_in(io->direction_q, block, io->n * nv),
                             .direction_qd  = (const double *)block_in(io->direction_qd, block, io->n * nv),
                             .direction_qdd = (const double *)block_in(io->direction_qdd, block, io->n * nv),
                             .rates         = (double *)block_out(io->rates, block, io->n * nv),
                             .tau           = (double *)block_out(io->tau, block, nv)};
}

/* Computes one block. `rigid` is the scene without friction if friction depends on the load, else `scene` itself. Each
 * direction needs one forward and one backward pass; the passes of the first direction also write the efforts. */
static void put_directional_block(const dyn_scene *scene, const dyn_scene *rigid, const workspace *ws,
                                  const dyn_directional *io)
{
    const newton_euler_variant    v      = {.rates = true, .along = true};
    const newton_euler_workspace *e      = &ws->euler;
    const size_t                  nv     = (size_t)scene->model->nv;
    const bool                    loaded = rigid != scene;
    lane                         *tau    = block_out(io->tau, 0, 0);
    newton_euler_io               state  = {.q        = block_in(io->q, 0, 0),
                                            .qd       = values_or_zeros(e, block_in(io->qd, 0, 0)),
                                            .qdd      = values_or_zeros(e, block_in(io->qdd, 0, 0)),
                                            .wrenches = block_in(io->wrenches, 0, 0),
                                            .tau      = loaded ? ws->T : tau};
    const newton_euler_pass       p      = {rigid, e, &state};
    newton_euler_prepare(&p);
    if (loaded) load_friction_set(scene->model, state.qd, ws->friction);
    for (size_t k = 0; k < io->n && goes_on(scene->deadline, nv); k++) {
        state.along   = (direction){values_or_zeros(e, block_in(io->direction_q, k, nv)),
                                    values_or_zeros(e, block_in(io->direction_qd, k, nv)),
                                    values_or_zeros(e, block_in(io->direction_qdd, k, nv))};
        state.tau_dot = block_out(io->rates, k, nv);
        newton_euler_passes(&p, v);
        if (loaded) load_rates(scene, ws, &state);
        state.tau = NULL;
    }
    for (size_t i = 0; loaded && tau && i < nv; i++)
        tau[i] = load_effort(&ws->friction[i], ws->T[i]);
}

void LANE_NAME(directional)(const dyn_scene *scene, void *memory, const dyn_directional *io, size_t blocks)
{
    arena           a      = {.base = memory};
    const workspace ws     = place(&a, scene->model);
    const dyn_scene rigid  = scene_without_friction(scene);
    const bool      loaded = scene_has_load(scene);
    for (size_t block = 0; block < blocks; block++) {
        const dyn_directional one = directional_block(scene, io, block);
        put_directional_block(scene, loaded ? &rigid : scene, &ws, &one);
    }
}
