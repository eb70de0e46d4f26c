/* passes.c - calls every kernel for its default outputs, with the inputs and memory of a batch: as in all chunks of a
 * batch but the first, zeros that do not depend on the state are already written (zeros_are_set). */
#include "passes.h"
#include "dynamics/directional.h"
#include "dynamics/frame_sensitivity.h"
#include "dynamics/gradient.h"
#include "dynamics/hessian.h"
#include "dynamics/torque_series.h"
#include "step_passes.h"
#include <stdlib.h>
#include <string.h>

enum { SERIES_ORDER = 2 /* order of the highest derivative of tau */, SERIES_RATES = SERIES_ORDER + 2 };

static void inverse_dynamics(void *what)
{
    const workload      *f  = what;
    const states        *s  = &f->states;
    dyn_inverse_dynamics io = {.q = s->q, .qd = s->qd, .qdd = s->qdd, .tau = s->out[0]};
    f->kernels->inverse_dynamics(&f->scene, s->workspace, &io, f->blocks);
}

static void joint_wrenches(void *what)
{
    const workload      *f  = what;
    const states        *s  = &f->states;
    dyn_inverse_dynamics io = {.q = s->q, .qd = s->qd, .qdd = s->qdd, .tau = s->out[0], .joint_wrenches = s->out[1]};
    f->kernels->inverse_dynamics(&f->scene, s->workspace, &io, f->blocks);
}

static void torque_derivative(void *what)
{
    const workload       *f  = what;
    const states         *s  = &f->states;
    dyn_torque_derivative io = {
        .q = s->q, .qd = s->qd, .qdd = s->qdd, .qddd = s->qddd, .tau = s->out[0], .tau_dot = s->out[1]};
    f->kernels->torque_derivative(&f->scene, s->workspace, &io, f->blocks);
}

/* Computes tau with two time derivatives, as for elastic joints with a motor on a moving link. */
static void torque_series(void *what)
{
    const workload   *f  = what;
    dyn_torque_series io = {.order = SERIES_ORDER, .motion = f->motion, .tau = f->states.out[0], .work = f->series};
    f->kernels->torque_series(&f->scene, f->states.workspace, &io, f->blocks);
}

/* Makes the calls of the operation `path` for a robot without dampers: three of inverse dynamics, three of the
 * derivative. */
static void path(void *what)
{
    const workload       *f     = what;
    const states         *s     = &f->states;
    const dyn_scene       still = {.model = f->scene.model};
    dyn_inverse_dynamics  a     = {.q = s->q, .qdd = s->qd, .tau = s->out[0]};
    dyn_inverse_dynamics  b     = {.q = s->q, .qd = s->qd, .qdd = s->qdd, .tau = s->out[1]};
    dyn_inverse_dynamics  c     = {.q = s->q, .tau = s->out[2]};
    dyn_torque_derivative rate  = {
         .q = s->q, .qd = s->qd, .qdd = s->qdd, .qddd = s->qddd, .tau = s->out[0], .tau_dot = s->out[1]};
    f->kernels->inverse_dynamics(&still, s->workspace, &a, f->blocks);
    f->kernels->inverse_dynamics(&still, s->workspace, &b, f->blocks);
    f->kernels->inverse_dynamics(&f->scene, s->workspace, &c, f->blocks);
    f->kernels->torque_derivative(&still, s->workspace, &rate, f->blocks);
    f->kernels->torque_derivative(&still, s->workspace, &rate, f->blocks);
    f->kernels->torque_derivative(&f->scene, s->workspace, &rate, f->blocks);
}

static void sensitivity(void *what)
{
    const workload *f  = what;
    const states   *s  = &f->states;
    dyn_sensitivity io = {.q             = s->q,
                          .qd            = s->qd,
                          .qdd           = s->qdd,
                          .zeros_are_set = true,
                          .dtau_dq       = s->out[0],
                          .dtau_dqd      = s->out[1],
                          .dtau_dqdd     = s->out[2]};
    f->kernels->sensitivity(&f->scene, s->workspace, &io, f->blocks);
}

static void sensitivity_rate(void *what)
{
    const workload      *f  = what;
    const states        *s  = &f->states;
    dyn_sensitivity_rate io = {.q             = s->q,
                               .qd            = s->qd,
                               .qdd           = s->qdd,
                               .qddd          = s->qddd,
                               .dtau_dq_dot   = s->out[0],
                               .dtau_dqd_dot  = s->out[1],
                               .dtau_dqdd_dot = s->out[2]};
    f->kernels->sensitivity_rate(&f->scene, s->workspace, &io, f->blocks);
}

static void forward_sensitivity(void *what)
{
    const workload         *f  = what;
    const states           *s  = &f->states;
    double *const          *o  = s->out;
    dyn_forward_sensitivity io = {.q             = s->q,
                                  .qd            = s->qd,
                                  .tau           = s->tau,
                                  .zeros_are_set = true,
                                  .qdd           = o[3],
                                  .dqdd_dq       = o[0],
                                  .dqdd_dqd      = o[1],
                                  .dqdd_dtau     = o[2]};
    f->kernels->forward_sensitivity(&f->scene, s->workspace, &io, f->blocks);
}

/* Computes the contracted second derivatives of tau. */
static void hessian(void *what)
{
    const workload *f  = what;
    const states   *s  = &f->states;
    dyn_hessian     io = {.q           = s->q,
                          .qd          = s->qd,
                          .qdd         = s->qdd,
                          .multipliers = s->tau,
                          .q_q         = s->out[0],
                          .q_qd        = s->out[1],
                          .q_qdd       = s->out[2],
                          .qd_qd       = s->out[3]};
    f->kernels->hessian(&f->scene, s->workspace, &io, f->blocks);
}

/* Computes the contracted second derivatives of qdd. */
static void forward_hessian(void *what)
{
    const workload *f      = what;
    const states   *s      = &f->states;
    const size_t    nv     = (size_t)f->scene.model->nv;
    const size_t    square = nv * nv * f->blocks * (size_t)f->kernels->lanes; /* entries of a matrix of all states */
    dyn_forward_hessian io = {.q           = s->q,
                              .qd          = s->qd,
                              .tau         = s->tau,
                              .multipliers = s->qddd,
                              .q_q         = s->out[0],
                              .q_qd        = s->out[0] + square,
                              .qd_qd       = s->out[1],
                              .q_tau       = s->out[1] + square,
                              .work        = s->out[3],
                              .singular    = s->out[2]};
    f->kernels->forward_hessian(&f->scene, s->workspace, &io, f->blocks);
}

/* Computes tau and its contracted first derivatives. */
static void pass_gradient(const workload *f, double *by_parameters)
{
    const states      *s       = &f->states;
    const size_t       entries = (size_t)f->scene.model->nv * f->blocks * (size_t)f->kernels->lanes;
    const dyn_gradient io      = {.q                   = s->q,
                                  .qd                  = s->qd,
                                  .qdd                 = s->qdd,
                                  .multipliers         = s->tau,
                                  .tau                 = s->out[0],
                                  .gradient_q          = s->out[0] + entries,
                                  .gradient_qd         = s->out[0] + 2 * entries,
                                  .gradient_qdd        = s->out[0] + 3 * entries,
                                  .gradient_parameters = by_parameters};
    f->kernels->gradient(&f->scene, s->workspace, &io, f->blocks);
}
static void gradient(void *what)
{
    pass_gradient(what, NULL);
}
static void parameter_gradient(void *what)
{
    pass_gradient(what, ((const workload *)what)->states.out[1]);
}

/* Computes qdd and its contracted first derivatives. */
static void forward_gradient(void *what)
{
    const workload            *f       = what;
    const states              *s       = &f->states;
    const size_t               entries = (size_t)f->scene.model->nv * f->blocks * (size_t)f->kernels->lanes;
    const dyn_forward_gradient io      = {.q            = s->q,
                                          .qd           = s->qd,
                                          .tau          = s->tau,
                                          .multipliers  = s->qddd,
                                          .qdd          = s->out[0],
                                          .gradient_q   = s->out[0] + entries,
                                          .gradient_qd  = s->out[0] + 2 * entries,
                                          .gradient_tau = s->out[0] + 3 * entries,
                                          .singular     = s->out[1]};
    f->kernels->forward_gradient(&f->scene, s->workspace, &io, f->blocks);
}

/* Computes the rates of tau, or of qdd, along one direction. */
static void directional(void *what)
{
    const workload       *f  = what;
    const states         *s  = &f->states;
    const dyn_directional io = {.q             = s->q,
                                .qd            = s->qd,
                                .qdd           = s->qdd,
                                .n             = 1,
                                .direction_q   = s->qddd,
                                .direction_qd  = s->tau,
                                .direction_qdd = s->qdd,
                                .rates         = s->out[0]};
    f->kernels->directional(&f->scene, s->workspace, &io, f->blocks);
}
static void forward_directional(void *what)
{
    const workload               *f       = what;
    const states                 *s       = &f->states;
    const size_t                  entries = (size_t)f->scene.model->nv * f->blocks * (size_t)f->kernels->lanes;
    const dyn_forward_directional io      = {.q             = s->q,
                                             .qd            = s->qd,
                                             .tau           = s->tau,
                                             .n             = 1,
                                             .direction_q   = s->qddd,
                                             .direction_qd  = s->qdd,
                                             .direction_tau = s->tau,
                                             .rates         = s->out[0],
                                             .qdd           = s->out[0] + entries,
                                             .singular      = s->out[1]};
    f->kernels->forward_directional(&f->scene, s->workspace, &io, f->blocks);
}

/* Computes the contracted derivatives of a step of RK4. */
static void step_gradient(void *what)
{
    const workload         *f       = what;
    const states           *s       = &f->states;
    const size_t            entries = (size_t)f->scene.model->nv * f->blocks * (size_t)f->kernels->lanes;
    const dyn_step_gradient io      = {.q              = s->q,
                                       .qd             = s->qd,
                                       .tau            = s->tau,
                                       .multipliers_q  = s->qdd,
                                       .multipliers_qd = s->qddd,
                                       .method         = DYN_RK4,
                                       .h              = 1e-3,
                                       .gradient_q     = s->out[0],
                                       .gradient_qd    = s->out[0] + entries,
                                       .gradient_tau   = s->out[0] + 2 * entries,
                                       .work           = f->work,
                                       .singular       = s->out[1],
                                       .unsolved       = s->out[2]};
    f->kernels->step_gradient(&f->scene, s->workspace, &io, f->blocks);
}

static void coriolis_matrix(void *what)
{
    const workload *f  = what;
    dyn_coriolis    io = {
           .q = f->states.q, .qd = f->states.qd, .zeros_are_set = true, .coriolis_matrix = f->states.out[0]};
    f->kernels->coriolis(&f->scene, f->states.workspace, &io, f->blocks);
}

static void reference_dynamics(void *what)
{
    const workload        *f  = what;
    const states          *s  = &f->states;
    dyn_reference_dynamics io = {
        .q = s->q, .qd = s->qd, .qd_reference = s->qdd, .qdd_reference = s->qdd, .tau = s->out[0]};
    f->kernels->reference_dynamics(&f->scene, s->workspace, &io, f->blocks);
}

static void regressor(void *what)
{
    const workload *f  = what;
    const states   *s  = &f->states;
    dyn_regressor   io = {.q = s->q, .qd = s->qd, .qdd = s->qdd, .zeros_are_set = true, .regressor = s->out[0]};
    f->kernels->regressor(&f->scene, s->workspace, &io, f->blocks);
}

static void forward_dynamics(void *what)
{
    const workload      *f  = what;
    const states        *s  = &f->states;
    dyn_forward_dynamics io = {.q = s->q, .qd = s->qd, .tau = s->tau, .qdd = s->out[0], .singular = s->out[1]};
    f->kernels->forward_dynamics(&f->scene, s->workspace, &io, f->blocks);
}

/* Computes forward dynamics with every other coordinate driven, as the field `free` requests it. */
static void driven_dynamics(void *what)
{
    const workload      *f                   = what;
    const states        *s                   = &f->states;
    bool                 driven[DYN_MAX_DOF] = {false};
    dyn_forward_dynamics io                  = {.q          = s->q,
                                                .qd         = s->qd,
                                                .tau        = s->tau,
                                                .driven     = driven,
                                                .driven_qdd = s->qdd,
                                                .qdd        = s->out[0],
                                                .singular   = s->out[1]};
    for (int i = 1; i < f->scene.model->nv; i += 2)
        driven[i] = true;
    f->kernels->forward_dynamics(&f->scene, s->workspace, &io, f->blocks);
}

static void mass_matrix(void *what)
{
    const workload *f  = what;
    dyn_mass_matrix io = {.q = f->states.q, .zeros_are_set = true, .mass_matrix = f->states.out[0]};
    f->kernels->mass_matrix(&f->scene, f->states.workspace, &io, f->blocks);
}

static void inverse(void *what)
{
    const workload *f  = what;
    const states   *s  = &f->states;
    dyn_mass_matrix io = {
        .q = s->q, .zeros_are_set = true, .mass_matrix = s->out[0], .inverse = s->out[1], .singular = s->out[2]};
    f->kernels->mass_matrix(&f->scene, s->workspace, &io, f->blocks);
}

static void bias(void *what)
{
    const workload *f  = what;
    dyn_bias        io = {.q = f->states.q, .qd = f->states.qd, .bias = f->states.out[0]};
    f->kernels->bias(&f->scene, f->states.workspace, &io, f->blocks);
}

static void kinematics(void *what)
{
    const workload *f  = what;
    const states   *s  = &f->states;
    dyn_kinematics  io = {.q             = s->q,
                          .qd            = s->qd,
                          .qdd           = s->qdd,
                          .frame         = &f->tip,
                          .zeros_are_set = true,
                          .jacobian      = s->out[0],
                          .jacobian_dot  = s->out[1],
                          .velocity      = s->out[2],
                          .acceleration  = s->out[3]};
    f->kernels->kinematics(&f->scene, s->workspace, &io, f->blocks);
}

static void frame_derivatives(void *what)
{
    const workload       *f  = what;
    const states         *s  = &f->states;
    dyn_frame_sensitivity io = {.q                 = s->q,
                                .qd                = s->qd,
                                .qdd               = s->qdd,
                                .n_frames          = 1,
                                .frames            = &f->tip,
                                .dvelocity_dq      = s->out[0],
                                .dacceleration_dq  = s->out[1],
                                .dacceleration_dqd = s->out[2]};
    f->kernels->frame_sensitivity(&f->scene, s->workspace, &io, f->blocks);
}

static void jacobian_derivative(void *what)
{
    const workload       *f  = what;
    dyn_frame_sensitivity io = {.q = f->states.q, .n_frames = 1, .frames = &f->tip, .djacobian_dq = f->states.out[0]};
    f->kernels->frame_sensitivity(&f->scene, f->states.workspace, &io, f->blocks);
}

/* Computes the tip's pose relative to the base and its Jacobian, as loops and inverse kinematics do. */
static void closure(void *what)
{
    const workload      *f    = what;
    const states        *s    = &f->states;
    const size_t         n    = f->blocks * (size_t)f->kernels->lanes; /* number of states, padding states included */
    const dyn_frame_pair pair = {{.body = DYN_WORLD, .X_bf = {.R = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}}, f->tip};
    dyn_closure          io   = {.q             = s->q,
                                 .qd            = s->qd,
                                 .qdd           = s->qdd,
                                 .n_pairs       = 1,
                                 .pairs         = &pair,
                                 .positions     = s->out[3],
                                 .rotations     = s->out[3] + 3 * n,
                                 .jacobian      = s->out[0],
                                 .jacobian_dot  = s->out[1],
                                 .jacobian_ddot = s->out[2]};
    f->kernels->closure(&f->scene, s->workspace, &io, f->blocks);
}

static void jacobian(void *what)
{
    const workload *f  = what;
    dyn_kinematics  io = {.q = f->states.q, .frame = &f->tip, .zeros_are_set = true, .jacobian = f->states.out[0]};
    f->kernels->kinematics(&f->scene, f->states.workspace, &io, f->blocks);
}

static void energy(void *what)
{
    const workload *f  = what;
    const states   *s  = &f->states;
    dyn_energy      io = {.q = s->q, .qd = s->qd, .kinetic = s->out[0], .potential = s->out[1], .com = s->out[2]};
    f->kernels->energy(&f->scene, s->workspace, &io, f->blocks);
}

const kernel_pass kernel_passes[N_KERNELS] = {
    {.name = "inverse dynamics", .pass = inverse_dynamics, .per_joint = true},
    {.name = "inverse dynamics and joint wrenches", .pass = joint_wrenches},
    {.name = "torque derivative", .pass = torque_derivative, .per_joint = true},
    {.name = "torque with its first and second rate", .pass = torque_series},
    {.name = "coefficients along a path", .pass = path},
    {.name = "sensitivity: dtau by q, qd, qdd", .pass = sensitivity},
    {.name = "time derivative of the sensitivity", .pass = sensitivity_rate, .fixed_base = true},
    {.name = "forward dynamics", .pass = forward_dynamics, .per_joint = true},
    {.name = "forward dynamics, every other coordinate given", .pass = driven_dynamics},
    {.name = "forward sensitivity: qdd, dqdd by q, qd, tau", .pass = forward_sensitivity},
    {.name = "forward sensitivity, the tip held along x, y, z", .pass = pass_held_sensitivity},
    {.name = "gradient: tau, and its derivatives contracted", .pass = gradient, .per_joint = true},
    {.name = "the same with those by parameters", .pass = parameter_gradient, .per_joint = true},
    {.name = "forward gradient: qdd, and its derivatives contracted", .pass = forward_gradient, .per_joint = true},
    {.name = "rates of tau along one direction", .pass = directional, .per_joint = true},
    {.name = "rates of qdd along one direction", .pass = forward_directional, .per_joint = true},
    {.name = "gradient of a step of RK4", .pass = step_gradient, .per_joint = true},
    {.name = "second derivatives of tau, contracted", .pass = hessian},
    {.name = "second derivatives of qdd, contracted", .pass = forward_hessian},
    {.name = "step: x+ and its derivatives by x and tau", .pass = pass_step},
    {.name = "the same with the tip held along x, y, z", .pass = pass_held_step},
    {.name = "the same after an impact of the tip", .pass = pass_impact_step},
    {.name = "step and its derivatives by x, tau and parameters", .pass = pass_step_columns},
    {.name = "step of RK4 and its derivatives", .pass = pass_runge_kutta_step},
    {.name = "step of implicit Euler and its derivatives", .pass = pass_implicit_step},
    {.name = "mass matrix", .pass = mass_matrix},
    {.name = "mass matrix and inverse", .pass = inverse},
    {.name = "bias", .pass = bias},
    {.name = "Coriolis matrix", .pass = coriolis_matrix},
    {.name = "torque of a reference velocity", .pass = reference_dynamics},
    {.name = "regressor of the bodies' parameters", .pass = regressor},
    {.name = "Jacobian of a frame", .pass = jacobian},
    {.name = "Jacobian, rate, velocity, acceleration", .pass = kinematics},
    {.name = "derivatives of velocity and acceleration", .pass = frame_derivatives},
    {.name = "derivative of a frame's Jacobian by q", .pass = jacobian_derivative},
    {.name = "relative pose of two frames, Jacobian and its rates", .pass = closure},
    {.name = "energies, centre of mass", .pass = energy},
};

/* Sets the motion of the series block by block: q, qd, qdd, qddd, and tau as the fourth derivative. */
static void prepare_series(workload *w)
{
    const dyn_model *m = w->scene.model;
    const size_t     W = (size_t)w->kernels->lanes, nq = (size_t)m->nq * W, nv = (size_t)m->nv * W;
    const double    *rate[SERIES_RATES] = {w->states.qd, w->states.qdd, w->states.qddd, w->states.tau};
    w->motion                           = aligned(w->blocks * (nq + SERIES_RATES * nv) * sizeof(double));
    w->series = aligned(w->blocks * W * dyn_torque_series_work(m, SERIES_ORDER) * sizeof(double));
    for (size_t block = 0; block < w->blocks; block++) {
        double *to = w->motion + block * (nq + SERIES_RATES * nv);
        memcpy(to, w->states.q + block * nq, nq * sizeof *to);
        for (size_t k = 0; k < SERIES_RATES; k++)
            memcpy(to + nq + k * nv, rate[k] + block * nv, nv * sizeof *to);
    }
}

void workload_prepare(workload *w, const robot *r, const dyn_kernels *kernels, size_t n_states, size_t entries)
{
    *w = (workload){.kernels = kernels,
                    .scene   = {.model = r->model, .gravity = {0, 0, -9.81}, .terms = DYN_ALL_TERMS},
                    .tip     = r->tip,
                    .blocks  = n_states / (size_t)kernels->lanes};
    states_prepare(&w->states, r->model, kernels, n_states, entries);
    w->work = allocate_step_work(&w->scene, kernels);
    prepare_series(w);
}

void workload_release(workload *w)
{
    states_release(&w->states);
    free(w->work);
    free(w->motion);
    free(w->series);
}
