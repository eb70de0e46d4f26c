/* hua_controller.c - runs the controller hua in lanes: evaluates kernels for all lanes, then hua_torques.h for one
 * state after the other. */
#include "controller.h"
#include "hua_torques.h"
#include "dynamics/math/gather.h"

/* Returns the doubles of the controller's work memory: M, C, A, bias, Coriolis vector and zeta in lanes, then the
 * arrays of one state (hua_torques.h). */
static size_t entries(const dyn_model *m)
{
    size_t nv = (size_t)m->nv;
    return 3 * nv * nv + 3 * nv + dyn_hua_entries(nv, m->n_couplings);
}

static size_t states(const dyn_model *m)
{
    return 2 * m->n_couplings;
}

typedef struct lane_values {
    double *M, *C, *A, *bias, *coriolis, *zeta;
} lane_values;

/* Evaluates the kernels for all lanes. Sets *behind to the memory after the lanes, which is for the arrays of one
 * state. */
static lane_values fill(const dyn_controller_input *c, double **behind)
{
    size_t      nv = c->nv, W = c->W;
    lane_values f     = {.M = c->work};
    f.C               = f.M + nv * nv * W;
    f.A               = f.C + nv * nv * W;
    f.bias            = f.A + nv * nv * W;
    f.coriolis        = f.bias + nv * W;
    f.zeta            = f.coriolis + nv * W;
    *behind           = f.zeta + nv * W;
    dyn_mass_matrix M = {.q = c->q, .mass_matrix = f.M}, A = {.q = c->q, .mass_matrix = f.A};
    dyn_coriolis    C    = {.q = c->q, .qd = c->qd, .coriolis_matrix = f.C};
    dyn_bias        bias = {.q = c->q, .qd = c->qd, .bias = f.bias, .coriolis = f.coriolis};
    dyn_bias        zeta = {.q = c->q, .qd = c->qd, .wrenches = c->wrenches, .bias = f.zeta};
    c->kernels->mass_matrix(c->scene, c->workspace, &M, 1);
    c->kernels->mass_matrix(c->actual_scene, c->workspace, &A, 1);
    c->kernels->coriolis(c->scene, c->workspace, &C, 1);
    c->kernels->bias(c->scene, c->workspace, &bias, 1);
    c->kernels->bias(c->actual_scene, c->workspace, &zeta, 1);
    return f;
}

/* Sets known_bias = bias - C q', without the torques of the springs and dampers of elastic joints. */
static void gather_known(const dyn_controller_input *c, const lane_values *f, size_t lane, dyn_hua_state *h)
{
    for (size_t i = 0; i < h->nv; i++)
        h->known_bias[i] = f->bias[i * c->W + lane] - f->coriolis[i * c->W + lane];
    for (size_t k = 0; k < h->n; k++) {
        const dyn_coupling *e = &h->coupling[k];
        double              R = e->spring.stiffness * (h->q[e->v] - h->q[e->v_theta] - e->spring.rest) +
                   e->spring.damping * (h->qd[e->v] - h->qd[e->v_theta]);
        h->known_bias[e->v] -= R;
        h->known_bias[e->v_theta] += R;
    }
}

static void gather_state(const dyn_controller_input *c, const lane_values *f, size_t lane, dyn_hua_state *h)
{
    size_t nv = h->nv, W = c->W;
    dyn_gather(f->M, nv * nv, W, lane, h->M);
    dyn_gather(f->C, nv * nv, W, lane, h->C);
    dyn_gather(f->A, nv * nv, W, lane, h->A);
    dyn_gather(f->zeta, nv, W, lane, h->zeta);
    dyn_gather(c->q, nv, W, lane, h->q);
    dyn_gather(c->qd, nv, W, lane, h->qd);
    dyn_gather(c->reference[0], nv, W, lane, h->r);
    dyn_gather(c->reference[1], nv, W, lane, h->rd);
    dyn_gather(c->reference[2], nv, W, lane, h->rdd);
    dyn_gather(c->state, h->n, W, lane, h->x1);
    dyn_gather(c->state + h->n * W, h->n, W, lane, h->x2);
    gather_known(c, f, lane, h);
}

static void put_errors(const dyn_controller_input *c, size_t lane, const dyn_hua_state *h)
{
    for (size_t k = 0; k < h->n; k++) {
        size_t t = (size_t)h->coupling[k].v_theta, entry = t * c->W + lane;
        c->reference[0][entry] = h->r[t];
        c->reference[1][entry] = h->rd[t];
        c->error[0][entry]     = h->r[t] - h->q[t];
        c->error[1][entry]     = h->rd[t] - h->qd[t];
    }
}

static void torques(const dyn_controller_input *c, double *tau)
{
    const dyn_model *m = c->scene->model;
    double          *behind;
    lane_values      f = fill(c, &behind);
    dyn_hua_state    h = {.nv       = c->nv,
                          .n        = m->n_couplings,
                          .coupling = m->coupling,
                          .filter   = ((const dyn_hua_options *)c->options)->filter,
                          .kp       = c->gains[0],
                          .kd       = c->gains[1]};
    dyn_hua_lay_out(&h, behind);
    for (size_t lane = 0; lane < c->W; lane++) {
        if (lane < c->states) {
            gather_state(c, &f, lane, &h);
            dyn_hua_find_torques(&h);
        }
        dyn_scatter(h.tau, c->nv, c->W, lane, tau);
        dyn_scatter(h.x1, h.n, c->W, lane, c->state_rate);
        dyn_scatter(h.x2, h.n, c->W, lane, c->state_rate + h.n * c->W);
        put_errors(c, lane, &h);
    }
}

/* Starts the filter at rest, at the motor angles theta_d that the controller commands at time 0. */
static void start(const dyn_controller_input *c, double *tau, double *state)
{
    const dyn_model     *m     = c->scene->model;
    dyn_hua_options      none  = {.filter = 0};
    dyn_controller_input still = *c;
    still.options              = &none;
    torques(&still, tau);
    for (size_t k = 0; k < m->n_couplings; k++)
        for (size_t lane = 0; lane < c->W; lane++)
            state[k * c->W + lane] = c->reference[0][(size_t)m->coupling[k].v_theta * c->W + lane];
}

const dyn_controller dyn_controller_hua = {
    .name           = "hua",
    .divides_by_kd  = true,
    .fully_actuated = true,
    .has_no_load    = true,
    .entries        = entries,
    .states         = states,
    .torques        = torques,
    .start          = start,
};
