/* step_passes.c - calls the kernels that integrate one step, and the one that differentiates forward dynamics with a
 * held frame (step_passes.h). */
#include "step_passes.h"
#include "dynamics/step.h"
#include "passes.h"
#include <stdlib.h>

static dyn_held_frame held_tip(const workload *f)
{
    return (dyn_held_frame){.frame = f->tip, .n = 3, .axis = {0, 1, 2}};
}

/* Computes forward sensitivity with the tip held: it does not accelerate along x, y and z. */
void pass_held_sensitivity(void *what)
{
    const workload       *f          = what;
    const states         *s          = &f->states;
    const dyn_held_frame  held_frame = held_tip(f);
    const dyn_wrench_site site       = dyn_held_site(&held_frame, 0);
    const size_t          n  = f->blocks * (size_t)f->kernels->lanes; /* number of states, padding states included */
    const size_t          nv = (size_t)f->scene.model->nv;
    dyn_held_sensitivity  io = {.q             = s->q,
                                .qd            = s->qd,
                                .tau           = s->tau,
                                .n_held        = 1,
                                .held          = &held_frame,
                                .sites         = &site,
                                .qdd           = s->out[3],
                                .dqdd_dq       = s->out[0],
                                .dqdd_dqd      = s->out[1],
                                .dqdd_dtau     = s->out[2],
                                .work          = f->work,
                                .singular      = s->out[3] + n * nv,
                                .contradictory = s->out[3] + n * (nv + 1)};
    f->kernels->held_sensitivity(&f->scene, s->workspace, &io, f->blocks);
}

/* Options of a step, in addition to the matrices A and B. */
enum {
    HELD    = 1, /* the tip does not move along x, y and z */
    IMPACT  = 2, /* an impact stops the tip before the step */
    COLUMNS = 4  /* derivatives by the inertial parameters */
};

/* Computes one step with A and B. */
static void integrate(const workload *f, dyn_step_method method, unsigned what)
{
    const states         *s          = &f->states;
    const dyn_held_frame  held_frame = held_tip(f);
    const dyn_wrench_site site       = dyn_held_site(&held_frame, 0);
    const size_t          n_states   = f->blocks * (size_t)f->kernels->lanes;
    dyn_step              io         = {.q            = s->q,
                                        .qd           = s->qd,
                                        .tau          = s->tau,
                                        .method       = method,
                                        .h            = 1e-3,
                                        .n_held       = what & HELD ? 1 : 0,
                                        .impact       = what & IMPACT,
                                        .held         = &held_frame,
                                        .sites        = &site,
                                        .q_after      = s->out[2],
                                        .qd_after     = s->out[2] + n_states * (size_t)f->scene.model->nq,
                                        .state_matrix = s->out[0],
                                        .input_matrix = s->out[1],
                                        .work         = f->work};
    if (what & COLUMNS) io.parameter_matrix = s->out[2] + n_states * (size_t)(f->scene.model->nq + f->scene.model->nv);
    f->kernels->step(&f->scene, s->workspace, &io, f->blocks);
}

void pass_step(void *what)
{
    integrate(what, DYN_SEMI_IMPLICIT_EULER, 0);
}

void pass_held_step(void *what)
{
    integrate(what, DYN_SEMI_IMPLICIT_EULER, HELD);
}

void pass_impact_step(void *what)
{
    integrate(what, DYN_SEMI_IMPLICIT_EULER, HELD | IMPACT);
}

void pass_step_columns(void *what)
{
    integrate(what, DYN_SEMI_IMPLICIT_EULER, COLUMNS);
}

void pass_runge_kutta_step(void *what)
{
    integrate(what, DYN_RK4, 0);
}

void pass_implicit_step(void *what)
{
    integrate(what, DYN_IMPLICIT_EULER, 0);
}

/* Allocates for the sum of what RK4 (which needs the most of the methods), a held frame, an impact and columns of
 * parameters need. */
double *allocate_step_work(const dyn_scene *scene, const dyn_kernels *kernels)
{
    const dyn_model *m = scene->model;
    size_t entries = dyn_step_work(m, DYN_RK4, dyn_step_inputs(scene, false, true)) + dyn_step_held_work(m, 0, 1, 3) +
                     dyn_step_impact_work(m);
    size_t  bytes = (entries * (size_t)kernels->lanes * sizeof(double) + DYN_ALIGN - 1) / DYN_ALIGN * DYN_ALIGN;
    double *work  = aligned_alloc(DYN_ALIGN, bytes);
    if (!work) abort();
    return work;
}
