/* step_hessian_product.c - computes the rates, along directions of the state and tau, of the gradients of multipliers .
 * (state after one step of integration) (step_gradient.c), in O(n) for each direction (own derivation).
 *
 * The multipliers lambda_q, lambda_v of q+ and qd+ have given rates lambda'. Each equation of step_gradient.c is
 * differentiated along the direction. With the rates d of step_tangent_pass.h and y = by_u du, the gradients of a
 * displacement have the rates (displacement_rate.h)
 *
 *     (by_q^T lambda)' = by_q^T (lambda' - [y, .]^T lambda),  (by_u^T lambda)' = by_u^T lambda' + by_u'^T lambda,
 *
 * with lambda the multipliers of the displaced position. forward_hessian_product.c computes the rates of the gradients
 * of by_a . a, for an acceleration a whose multipliers by_a have rates too. */
#include "dynamics/algorithms/kernels.h"
#include "dynamics/hessian_product.h"
#include "displacement_rate.h"
#include "step_tangent_pass.h"

/* The rates of the gradients of a step along one direction. */
typedef struct product_step {
    step_tangent t;
    const lane  *rates_q, *rates_qd; /* [nv] each: given rates of the multipliers of q+ and qd+ */
    lane *by_q, *by_qd, *by_tau; /* [nv] each: the results, products with respect to q, qd and tau before the step */
} product_step;

/* --- displacements ---------------------------------------------------------------------------------------------- */

/* A displacement, and the multipliers of the displaced position, with their rates. Each [nv]. */
typedef struct displacement_gradient {
    const lane *u, *du, *multipliers, *rates;
} displacement_gradient;

/* Sets `right` to lambda' - [y, .]^T lambda and `more` to by_u'^T lambda (first comment), for a joint with a
 * quaternion. */
static void free_displacement_rates(const dyn_body *b, const displacement_gradient *x, const displacement_rates *rates,
                                    lane right[6], lane more[6])
{
    const int    n = rates->n;
    const size_t v = (size_t)b->joint.v;
    lane         M[6][6], moved[6];
    displacement_rate_change(b, x->u, x->du, M);
    for (int j = 0; j < n; j++) {
        moved[j] = more[j] = lane_of(0);
        for (int k = 0; k < n; k++) {
            moved[j] = add_mul(moved[j], rates->by_u[j][k], x->du[v + (size_t)k]);
            more[j]  = add_mul(more[j], M[k][j], x->multipliers[v + (size_t)k]);
        }
    }
    const int first  = 6 - n; /* a spherical joint has angular entries only */
    lane      all[6] = {lane_of(0), lane_of(0), lane_of(0)};
    for (int j = 0; j < n; j++)
        all[first + j] = moved[j];
    const twist y = {load3(all), load3(all + 3)}, turned = bracket_transposed(y, twist_of(b, x->multipliers));
    const lane  sum[6] = {turned.v.x, turned.v.y, turned.v.z, turned.w.x, turned.w.y, turned.w.z};
    for (int j = 0; j < n; j++)
        right[j] = x->rates[v + (size_t)j] - sum[first + j];
}

/* Sets by_q and by_u to the rates of the gradients of multipliers . (q * exp(u)); by_q may be the array x->rates. */
static void displacement_products(const product_step *s, const displacement_gradient *x, lane *by_q, lane *by_u)
{
    const gradient_pass *p = s->t.p;
    const dyn_model     *m = p->scene->model;
    displacement_rates   rates;
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        if (b->joint.mimic) continue;
        const size_t v = (size_t)b->joint.v;
        lane         right[6], sum_q[6], sum_u[6];
        displace_joint(b, block_in(p->io->q, 0, 0), x->u, p->unused_q, &rates);
        right[0] = x->rates[v];
        sum_u[0] = lane_of(0);
        if (dyn_joint_has_quaternion(b->joint.kind)) free_displacement_rates(b, x, &rates, right, sum_u);
        for (int j = 0; j < rates.n; j++) {
            sum_q[j] = lane_of(0);
            for (int k = 0; k < rates.n; k++) {
                sum_q[j] = add_mul(sum_q[j], rates.by_q[k][j], right[k]);
                sum_u[j] = add_mul(sum_u[j], rates.by_u[k][j], x->rates[v + (size_t)k]);
            }
        }
        for (size_t j = 0; j < (size_t)rates.n; j++) {
            by_q[v + j] = sum_q[j];
            by_u[v + j] = sum_u[j];
        }
    }
}

/* --- accelerations ---------------------------------------------------------------------------------------------- */

/* Sets stage_q and stage_qd to the rates of the gradients of by_a . a of stage n with respect to position and velocity.
 * Adds the rates of the gradient with respect to tau to by_tau. */
static void acceleration_products(const product_step *s, int n)
{
    const gradient_pass  *p     = s->t.p;
    const gradient_stage *stage = &p->stage[n];
    const tangent_stage  *x     = &s->t.stage[n];
    LANE_NAME(forward_hessian_product_from)
    (p->scene, p->memory, stage->factors,
     &(dyn_forward_hessian_product){.q                = (const double *)stage->q,
                                    .qd               = (const double *)stage->v,
                                    .tau              = p->io->tau,
                                    .wrenches         = p->io->wrenches,
                                    .multipliers      = (const double *)stage->by_a,
                                    .n                = 1,
                                    .direction_q      = (const double *)x->e,
                                    .direction_qd     = (const double *)x->dv,
                                    .direction_tau    = (const double *)s->t.tau,
                                    .multiplier_rates = (const double *)x->by_a,
                                    .product_q        = (double *)s->t.stage_q,
                                    .product_qd       = (double *)s->t.stage_qd,
                                    .product_tau      = (double *)s->t.stage_tau,
                                    .rates            = (double *)s->t.unused_rates,
                                    .qdd              = (double *)stage->a});
    add_lanes(s->by_tau, s->t.stage_tau, p->nv);
}

/* --- methods ---------------------------------------------------------------------------------------------------- */

static displacement_gradient displacement_of_step(const product_step *s)
{
    return (displacement_gradient){s->t.p->u, s->t.du, block_in(s->t.p->io->multipliers_q, 0, 0), s->rates_q};
}

/* Adds the products of explicit or semi-implicit Euler to the results. */
static void euler_products(const product_step *s)
{
    const double                h     = s->t.p->io->h;
    const bool                  after = s->t.p->io->method == DYN_SEMI_IMPLICIT_EULER;
    const displacement_gradient x     = displacement_of_step(s);
    displacement_products(s, &x, s->by_q, s->t.by_u);
    for (size_t i = 0; i < s->t.p->nv; i++) {
        s->by_qd[i]           = add_mul(s->rates_qd[i], h, s->t.by_u[i]);
        s->t.stage[0].by_a[i] = h * (after ? s->by_qd[i] : s->rates_qd[i]);
    }
    acceleration_products(s, 0);
    add_lanes(s->by_q, s->t.stage_q, s->t.p->nv);
    add_lanes(s->by_qd, s->t.stage_qd, s->t.p->nv);
}

LANE_INLINE twist scaled_twist(double k, twist a)
{
    return (twist){scale(a.v, lane_of(k)), scale(a.w, lane_of(k))};
}

/* Adds the rates of free_rate_back (step_gradient.c) of stage n. */
static void free_rate_products(const product_step *s, const dyn_body *b, int n)
{
    const gradient_stage *stage = &s->t.p->stage[n];
    const tangent_stage  *x     = &s->t.stage[n];
    const twist u = twist_of(b, stage->u), v = twist_of(b, stage->v), du = twist_of(b, x->du), dv = twist_of(b, x->dv),
                y = bracket(u, v), dy = bracket_rate(u, du, v, dv), of_k = twist_of(b, stage->by_k),
                d_of_k = twist_of(b, x->by_k);
    const twist of_z = scaled_twist(1.0 / 12, of_k), d_of_z = scaled_twist(1.0 / 12, d_of_k);
    const twist of_y = twist_sum(scaled_twist(0.5, of_k), bracket_transposed(u, of_z));
    const twist d_of_y =
        twist_sum(scaled_twist(0.5, d_of_k), twist_sum(bracket_transposed(du, of_z), bracket_transposed(u, d_of_z)));
    const twist by_u = twist_sum(twist_sum(bracket_transposed(dy, of_z), bracket_transposed(y, d_of_z)),
                                 twist_sum(bracket_transposed(dv, of_y), bracket_transposed(v, d_of_y)));
    const twist by_v = twist_sum(bracket_transposed(du, of_y), bracket_transposed(u, d_of_y));
    set_twist_column(b, s->t.by_u, 1, 0, twist_minus(twist_of(b, s->t.by_u), by_u));
    set_twist_column(b, s->t.stage_qd, 1, 0, twist_sum(twist_of(b, s->t.stage_qd), by_v));
}

/* Differentiates stage n, whose rates by_k and by_a are complete, and adds to by_k and by_a of stage n - 1. */
static void rk4_stage_products(const product_step *s, int n)
{
    const dyn_model            *m     = s->t.p->scene->model;
    const tangent_stage        *x     = &s->t.stage[n];
    const gradient_stage       *stage = &s->t.p->stage[n];
    const double                part  = rk4_parts[n] * s->t.p->io->h;
    const displacement_gradient to    = {stage->u, x->du, stage->by_q, s->t.stage_q};
    acceleration_products(s, n);
    displacement_products(s, &to, s->t.stage_q, s->t.by_u);
    add_lanes(s->by_q, s->t.stage_q, s->t.p->nv);
    add_lanes(s->t.stage_qd, x->by_k, s->t.p->nv);
    for (size_t i = 0; i < m->n_bodies; i++)
        if (!m->body[i].joint.mimic && dyn_joint_has_quaternion(m->body[i].joint.kind))
            free_rate_products(s, &m->body[i], n);
    add_lanes(s->by_qd, s->t.stage_qd, s->t.p->nv);
    for (size_t i = 0; n > 0 && i < s->t.p->nv; i++) {
        x[-1].by_k[i] = add_mul(x[-1].by_k[i], part, s->t.by_u[i]);
        x[-1].by_a[i] = add_mul(x[-1].by_a[i], part, s->t.stage_qd[i]);
    }
}

static void rk4_products(const product_step *s)
{
    const double                part = s->t.p->io->h / 6;
    const displacement_gradient x    = displacement_of_step(s);
    displacement_products(s, &x, s->by_q, s->t.by_u);
    for (size_t i = 0; i < s->t.p->nv; i++) {
        s->by_qd[i] = s->rates_qd[i];
        for (int n = 0; n < STAGES; n++) {
            s->t.stage[n].by_k[i] = part * rk4_weights[n] * s->t.by_u[i];
            s->t.stage[n].by_a[i] = part * rk4_weights[n] * s->rates_qd[i];
        }
    }
    for (int n = STAGES; n-- > 0;)
        rk4_stage_products(s, n);
}

/* --- the kernel ------------------------------------------------------------------------------------------------- */

size_t LANE_NAME(step_hessian_product_size)(const dyn_model *m)
{
    const size_t product  = gradient_pass_size(m, LANE_NAME(forward_hessian_product_size)(m)),
                 gradient = LANE_NAME(step_gradient_size)(m);
    /* the workspace of forward_hessian_product contains that of forward_directional */
    return product > gradient ? product : gradient;
}

/* Computes the products of direction k of all blocks. */
static void put_step_products(const gradient_pass *p, const dyn_step_hessian_product *io, size_t k)
{
    const size_t         nv    = p->nv;
    const step_direction along = {block_in(io->direction_q, k, nv), block_in(io->direction_qd, k, nv),
                                  block_in(io->direction_tau, k, nv)};
    const product_step   s     = {.t        = step_tangent_of(p, along, block_out(io->work, 0, 0)),
                                  .rates_q  = block_in(io->multiplier_rates_q, k, nv),
                                  .rates_qd = block_in(io->multiplier_rates_qd, k, nv),
                                  .by_q     = block_out(io->product_q, k, nv),
                                  .by_qd    = block_out(io->product_qd, k, nv),
                                  .by_tau   = block_out(io->product_tau, k, nv)};
    clear(s.by_tau, nv);
    tangent_of_stages(&s.t, s.by_qd); /* writes dqd+ to by_qd, which is overwritten below */
    if (p->io->method == DYN_RK4)
        rk4_products(&s);
    else
        euler_products(&s);
}

void LANE_NAME(step_hessian_product)(const dyn_scene *scene, void *memory, const dyn_step_hessian_product *io,
                                     size_t blocks)
{
    for (size_t block = 0; block < blocks; block++) {
        const dyn_step_gradient one = gradient_block_io(scene, &io->gradient, block);
        LANE_NAME(step_gradient)(scene, memory, &one, 1);
        const gradient_pass p = gradient_pass_of(scene, memory, &one);
        for (size_t k = block * io->n; k < (block + 1) * io->n && goes_on(scene->deadline, p.nv); k++)
            put_step_products(&p, io, k);
    }
}
