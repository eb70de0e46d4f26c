/* step_gradient.c - computes the derivatives of multipliers . (state after one step of integration, step.c) with
 * respect to the state before the step, tau, inertial parameters, external wrenches and gravity: the adjoint of the
 * step.
 *
 * The methods are differentiated backwards from their last equation to the first. With lambda_q and lambda_v for the
 * multipliers of q+ and qd+, and by_q and by_u for the derivatives of the displaced position q * exp(u) with respect to
 * q and u (step_displacement.h), "x gets y" means that y is added to the multipliers of x:
 *
 *     explicit Euler:       a gets h lambda_v,  qd gets lambda_v + h by_u^T lambda_q,  q gets by_q^T lambda_q,
 *     semi-implicit Euler:  qd+ gets lambda = lambda_v + h by_u^T lambda_q,  a gets h lambda,  qd gets lambda,
 *     implicit Euler:       W^T eta = lambda,  a at (q+, qd+) gets h eta,  qd gets eta, with W of step_implicit.h,
 *     RK4:                  the stages of step_rk4.h from the last to the first.
 *
 * forward_gradient.c converts the multipliers of an acceleration to those of its q, qd and inputs. */
#include "dynamics/algorithms/kernels.h"
#include "dynamics/gradient.h"
#include "step_gradient_pass.h"

/* --- Euler's methods -------------------------------------------------------------------------------------------- */

/* Adds the derivatives of explicit or semi-implicit Euler to the results. */
static void euler_back(const gradient_pass *p)
{
    const dyn_step_gradient *io    = p->io;
    const gradient_stage    *s     = &p->stage[0];
    const bool               after = io->method == DYN_SEMI_IMPLICIT_EULER;
    const lane              *by_qd = block_in(io->multipliers_qd, 0, 0);
    euler_stage(p);
    displace_back(p, p->u, block_in(io->multipliers_q, 0, 0), p->by_q, p->by_u);
    for (size_t i = 0; i < p->nv; i++) {
        const lane lambda = add_mul(by_qd[i], io->h, p->by_u[i]);
        p->by_qd[i]       = lambda;
        s->by_a[i]        = io->h * (after ? lambda : by_qd[i]);
    }
    differentiate_acceleration(p, s);
    for (size_t i = 0; i < p->nv; i++) {
        p->by_q[i] += s->by_q[i];
        p->by_qd[i] += p->stage_qd[i];
    }
}

/* Sets W to the transpose of the Jacobian W of implicit Euler (step_implicit.h) at (q+, qd+), from the derivatives of
 * the acceleration. */
static void set_transposed_jacobian(const gradient_pass *p, lane *W)
{
    const dyn_model   *m  = p->scene->model;
    const size_t       nv = p->nv;
    const double       h  = p->io->h;
    displacement_rates rates;
    for (size_t i = 0; i < nv && goes_on(p->scene->deadline, nv); i++)
        for (size_t j = 0; j < nv; j++)
            W[j * nv + i] = (i == j ? 1.0 : 0.0) - h * p->a_qd[i * nv + j];
    for (size_t b = 0; b < m->n_bodies && goes_on(p->scene->deadline, nv); b++) {
        if (m->body[b].joint.mimic) continue;
        displace_joint(&m->body[b], block_in(p->io->q, 0, 0), p->u, p->unused_q, &rates);
        const size_t v = (size_t)m->body[b].joint.v;
        for (size_t i = 0; i < nv; i++)
            for (size_t j = 0; j < (size_t)rates.n; j++)
                for (size_t k = 0; k < (size_t)rates.n; k++)
                    W[(v + j) * nv + i] =
                        sub_mul(W[(v + j) * nv + i], h * h * p->a_q[i * nv + v + k], rates.by_u[k][j]);
    }
}

/* Sets q and v of the stage to the state after the step. Returns false if may_continue ended the step. */
static bool solve_implicit(const gradient_pass *p, const gradient_stage *s)
{
    const dyn_step_gradient *io = p->io;
    LANE_NAME(step)
    (p->scene, p->memory,
     &(dyn_step){.q            = io->q,
                 .qd           = io->qd,
                 .tau          = io->tau,
                 .wrenches     = io->wrenches,
                 .method       = io->method,
                 .h            = io->h,
                 .q_after      = (double *)s->q,
                 .qd_after     = (double *)s->v,
                 .work         = (double *)p->step_work,
                 .singular     = (double *)p->singular,
                 .unsolved     = (double *)p->unsolved,
                 .may_continue = io->may_continue,
                 .clock        = io->clock},
     1);
    return !lane_any(lane_less(lane_abs(*p->unsolved - (double)DYN_STEP_STOPPED), lane_of(0.5)));
}

static void implicit_euler_back(const gradient_pass *p)
{
    const dyn_step_gradient *io = p->io;
    const gradient_stage    *s  = &p->stage[0];
    if (!solve_implicit(p, s)) return;
    for (size_t i = 0; i < p->nv; i++)
        p->u[i] = io->h * s->v[i];
    LANE_NAME(forward_sensitivity)
    (p->scene, p->memory,
     &(dyn_forward_sensitivity){.q        = (const double *)s->q,
                                .qd       = (const double *)s->v,
                                .tau      = io->tau,
                                .wrenches = io->wrenches,
                                .qdd      = (double *)s->a,
                                .dqdd_dq  = (double *)p->a_q,
                                .dqdd_dqd = (double *)p->a_qd},
     1);
    stage_accelerate(p, s);
    set_transposed_jacobian(p, p->W);
    displace_back(p, p->u, block_in(io->multipliers_q, 0, 0), p->by_q, p->by_u);
    for (size_t i = 0; i < p->nv; i++)
        p->by_qd[i] = add_mul(block_in(io->multipliers_qd, 0, 0)[i], io->h, p->by_u[i]);
    const lane_mask regular = solve_equations(&(linear_equations){p->scene->deadline, p->nv, 1, p->W, p->by_qd});
    *p->unsolved            = lane_select(regular, *p->unsolved, lane_of(DYN_STEP_SINGULAR));
    for (size_t i = 0; i < p->nv; i++)
        s->by_a[i] = io->h * p->by_qd[i];
    differentiate_acceleration(p, s);
    displace_back(p, p->u, s->by_q, p->stage_q, p->by_u);
    for (size_t i = 0; i < p->nv; i++)
        p->by_q[i] += p->stage_q[i];
}

/* --- RK4 -------------------------------------------------------------------------------------------------------- */

/* Adds to by_u and by_v the derivatives of by_k . k with respect to u and v, for a joint with a quaternion, where k =
 * dexpinv(u, v) = v + 1/2 [u, v] + 1/12 [u, [u, v]]. The derivative of the first term, by_k, is in by_v already. */
static void free_rate_back(const dyn_body *b, const gradient_stage *s, lane *by_u, lane *by_v)
{
    const twist u = twist_of(b, s->u), v = twist_of(b, s->v), y = bracket(u, v), of_k = twist_of(b, s->by_k);
    const twist of_z = {scale(of_k.v, lane_of(1.0 / 12)), scale(of_k.w, lane_of(1.0 / 12))};
    const twist of_y =
        twist_sum((twist){scale(of_k.v, lane_of(0.5)), scale(of_k.w, lane_of(0.5))}, bracket_transposed(u, of_z));
    const twist more_u = twist_minus((twist){vec3_zero(), vec3_zero()},
                                     twist_sum(bracket_transposed(y, of_z), bracket_transposed(v, of_y)));
    set_twist_column(b, by_u, 1, 0, twist_sum(twist_of(b, by_u), more_u));
    set_twist_column(b, by_v, 1, 0, twist_sum(twist_of(b, by_v), bracket_transposed(u, of_y)));
}

/* Differentiates stage n of RK4, whose by_k and by_a are complete, and adds to by_k and by_a of the stage before. */
static void rk4_stage_back(const gradient_pass *p, int n)
{
    const dyn_model      *m = p->scene->model;
    const gradient_stage *s = &p->stage[n];
    differentiate_acceleration(p, s);
    displace_back(p, s->u, s->by_q, p->stage_q, p->by_u);
    for (size_t i = 0; i < p->nv; i++) {
        p->by_q[i] += p->stage_q[i];
        p->stage_qd[i] += s->by_k[i];
    }
    for (size_t i = 0; i < m->n_bodies; i++)
        if (!m->body[i].joint.mimic && dyn_joint_has_quaternion(m->body[i].joint.kind))
            free_rate_back(&m->body[i], s, p->by_u, p->stage_qd);
    for (size_t i = 0; i < p->nv; i++) {
        p->by_qd[i] += p->stage_qd[i];
        if (n == 0) continue;
        const double part = rk4_parts[n] * p->io->h;
        s[-1].by_k[i]     = add_mul(s[-1].by_k[i], part, p->by_u[i]);
        s[-1].by_a[i]     = add_mul(s[-1].by_a[i], part, p->stage_qd[i]);
    }
}

static void rk4_back(const gradient_pass *p)
{
    const double part  = p->io->h / 6;
    const lane  *by_qd = block_in(p->io->multipliers_qd, 0, 0);
    rk4_stages(p);
    displace_back(p, p->u, block_in(p->io->multipliers_q, 0, 0), p->by_q, p->by_u);
    for (size_t i = 0; i < p->nv; i++) {
        p->by_qd[i] = by_qd[i];
        for (int n = 0; n < STAGES; n++) {
            p->stage[n].by_k[i] = part * rk4_weights[n] * p->by_u[i];
            p->stage[n].by_a[i] = part * rk4_weights[n] * by_qd[i];
        }
    }
    for (int n = STAGES; n-- > 0;)
        rk4_stage_back(p, n);
}

/* --- the kernel ------------------------------------------------------------------------------------------------- */

static void differentiate_step(const gradient_pass *p)
{
    *p->singular = lane_of(-1);
    *p->unsolved = lane_of(DYN_STEP_SOLVED);
    clear_gradients(p);
    switch (p->io->method) {
    case DYN_RK4: rk4_back(p); break;
    case DYN_IMPLICIT_EULER: implicit_euler_back(p); break;
    case DYN_EXPLICIT_EULER:
    case DYN_SEMI_IMPLICIT_EULER: euler_back(p); break;
    }
}

size_t LANE_NAME(step_gradient_size)(const dyn_model *m)
{
    const size_t called[] = {LANE_NAME(step_size)(m), LANE_NAME(forward_gradient_size)(m),
                             LANE_NAME(forward_sensitivity_size)(m)};
    size_t       most     = 0;
    for (size_t i = 0; i < sizeof called / sizeof *called; i++)
        if (called[i] > most) most = called[i];
    return gradient_pass_size(m, most);
}

void LANE_NAME(step_gradient)(const dyn_scene *scene, void *memory, const dyn_step_gradient *io, size_t blocks)
{
    for (size_t block = 0; block < blocks; block++) {
        const dyn_step_gradient one = gradient_block_io(scene, io, block);
        const gradient_pass     p   = gradient_pass_of(scene, memory, &one);
        differentiate_step(&p);
    }
}
