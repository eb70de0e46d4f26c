/* identification.c - estimates the base parameters of an arm from its motion and torques. The torques are computed for
 * an arm that differs from the model in masses, centres of mass and friction, so that the right answer is known. */
#include "samples.h"
#include "dynamics/identification/estimate.h"
#include <stdio.h>
#include <string.h>

enum { STATES = 64 /* a multiple of the lanes of every target */, WITH = DYN_BASE_FRICTION };

/* One block of states, in lanes, and the results of the kernels for it. */
typedef struct measured_block {
    double *q, *qd, *qdd, *tau, *model_tau, *regressor, *joint_regressor;
} measured_block;

static bool take_block(dyn_memory memory, const dyn_model *m, size_t W, measured_block *b)
{
    const size_t nv        = (size_t)m->nv;
    bool         succeeded = true;
    *b                     = (measured_block){.q               = dyn_take_zeroed(memory, (size_t)m->nq * W, &succeeded),
                                              .qd              = dyn_take_zeroed(memory, nv * W, &succeeded),
                                              .qdd             = dyn_take_zeroed(memory, nv * W, &succeeded),
                                              .tau             = dyn_take_zeroed(memory, nv * W, &succeeded),
                                              .model_tau       = dyn_take_zeroed(memory, nv * W, &succeeded),
                                              .regressor       = dyn_take_zeroed(memory, nv * 10 * m->n_rows * W, &succeeded),
                                              .joint_regressor = dyn_take_zeroed(memory, nv * 3 * m->n_movers * W, &succeeded)};
    return succeeded;
}

/* Returns the next number, from -1 to 1, of a fixed pseudorandom sequence. */
static double draw(unsigned *seed)
{
    *seed = *seed * 1664525U + 1013904223U;
    return (double)(*seed >> 8) / (double)(1U << 23) - 1;
}

/* Draws the states of a block, and computes the torques that are "measured" on the arm `real`. */
static void measure(const dyn_kernels *kernels, const dyn_model *real, void *workspace, const measured_block *b,
                    unsigned *seed)
{
    const size_t W     = (size_t)kernels->lanes;
    dyn_scene    scene = {.model = real, .terms = DYN_FRICTION};
    memcpy(scene.gravity, real->gravity, sizeof scene.gravity);
    for (size_t lane = 0; lane < W; lane++) /* state by state: the states are the same with every W */
        for (size_t i = 0; i < (size_t)real->nv; i++) {
            b->q[i * W + lane]   = 2 * draw(seed);
            b->qd[i * W + lane]  = 3 * draw(seed);
            b->qdd[i * W + lane] = 10 * draw(seed);
        }
    const dyn_inverse_dynamics io = {.q = b->q, .qd = b->qd, .qdd = b->qdd, .tau = b->tau};
    kernels->inverse_dynamics(&scene, workspace, &io, 1);
}

/* Adds the states of a block to the estimate. The scene has no friction: with DYN_BASE_FRICTION the estimate then finds
 * all of the friction, not the difference from the model's. */
static bool add_measured_block(const dyn_kernels *kernels, const dyn_model *model, void *workspace,
                               const measured_block *b, dyn_estimate *estimate)
{
    dyn_scene scene = {.model = model};
    memcpy(scene.gravity, model->gravity, sizeof scene.gravity);
    const dyn_regressor columns = {
        .q = b->q, .qd = b->qd, .qdd = b->qdd, .regressor = b->regressor, .joint_regressor = b->joint_regressor};
    const dyn_inverse_dynamics known = {.q = b->q, .qd = b->qd, .qdd = b->qdd, .tau = b->model_tau};
    kernels->regressor(&scene, workspace, &columns, 1);
    kernels->inverse_dynamics(&scene, workspace, &known, 1);
    dyn_measured state = {.regressed = {.regressor       = b->regressor,
                                        .joint_regressor = b->joint_regressor,
                                        .rates           = b->qd,
                                        .lanes           = (size_t)kernels->lanes},
                          .tau       = b->tau,
                          .model_tau = b->model_tau};
    for (; state.regressed.lane < state.regressed.lanes; state.regressed.lane++)
        if (!dyn_estimate_takes(estimate, &state) || !dyn_estimate_add(estimate, &state)) return false;
    return true;
}

/* Returns values of all parameters of a model for dyn_base_value, or NULL if there is no memory. */
static double *parameters_of(dyn_memory memory, const dyn_model *model)
{
    double *values = dyn_take(memory, dyn_parameter_count(model) * sizeof *values);
    if (values) dyn_parameters_compute(model, values);
    return values;
}

/* Prints the estimated base parameters and, for comparison, those of the arm that was measured. */
static bool show_parameters(dyn_memory memory, const dyn_estimate *t, const dyn_model *model, const dyn_model *real)
{
    double *supposed = parameters_of(memory, model), *true_values = parameters_of(memory, real);
    if (!supposed || !true_values) return false;
    /* The torques of the model were computed without friction. */
    for (size_t j = 0; j < model->n_movers; j++)
        for (size_t c = DYN_VISCOUS; c <= DYN_COULOMB_NEGATIVE; c++)
            supposed[dyn_joint_parameter(model, j, c)] = 0;
    printf("# base parameters: index of the parameter, estimated and true value, standard deviation, SI units\n");
    for (size_t k = 0; k < t->n; k++) {
        const double row[] = {(double)t->base->parameter[k], dyn_base_value(t->base, k, supposed) + t->unknowns.x[k],
                              dyn_base_value(t->base, k, true_values), t->deviation[k]};
        print_row("parameter", row, sizeof row / sizeof *row, 1);
    }
    return true;
}

static bool identify(dyn_memory memory, const dyn_model *model, const dyn_model *real, const dyn_base *base)
{
    const dyn_kernels *kernels   = dyn_kernels_find(NULL);
    const size_t       W         = (size_t)kernels->lanes;
    dyn_estimate       estimate  = {.robot = dyn_mechanism_of(model, NULL), .base = base};
    void              *workspace = dyn_take(memory, kernels->workspace_size(model));
    unsigned           seed      = 1;
    measured_block     block;
    if (!workspace || !take_block(memory, model, W, &block) || !dyn_estimate_open(memory, STATES, &estimate))
        return false;
    for (size_t state = 0; state < STATES; state += W) {
        measure(kernels, real, workspace, &block, &seed);
        if (!add_measured_block(kernels, model, workspace, &block, &estimate)) return false;
    }
    return dyn_estimate_examine(&estimate) == DYN_SOLVED && dyn_estimate_solve(&estimate) &&
           show_parameters(memory, &estimate, model, real);
}

/* Builds the arm of the model, and the arm that is measured, with other masses, centres of mass and friction. */
static bool build_arms(dyn_model **model, dyn_model **real)
{
    dyn_link        links[ARM_LINKS];
    dyn_description arm   = describe_arm(links);
    bool            built = dyn_model_build(&arm, model, NULL) == DYN_OK;
    for (size_t i = 0; i < ARM_LINKS; i++) {
        links[i].inertia.mass *= 1.25;
        links[i].inertia.com[0] += 0.02;
        links[i].friction.viscous *= 2;
    }
    return built && dyn_model_build(&arm, real, NULL) == DYN_OK;
}

bool show_identification(void)
{
    dyn_arena  arena = {0};
    dyn_model *model = NULL, *real = NULL;
    dyn_base  *base      = NULL;
    bool       too_large = false, shown = false;
    if (build_arms(&model, &real)) {
        const dyn_mechanism mechanism = dyn_mechanism_of(model, NULL);
        base  = dyn_base_find(&mechanism, dyn_kernels_for_models(), NULL, WITH, (dyn_deadline){0}, &too_large);
        shown = base && identify(dyn_arena_memory(&arena), model, real, base);
    }
    dyn_base_free(base);
    dyn_arena_free(&arena);
    dyn_model_free(real);
    dyn_model_free(model);
    return shown;
}
