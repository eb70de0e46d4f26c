/* mass_matrix.c - computes M(q), with rotor inertia, and its inverse. */
#include "api/requests/lanes/evaluation.h"

enum { MASS_MATRIX, INVERSE };

/* Counts the scratch lanes: the singular mask, and M if only the inverse is requested, because the kernel needs M. */
static size_t spare(const api_model *model, const api_selection *selected)
{
    return 1 + (selected->result[MASS_MATRIX] ? 0 : model->nv * model->nv);
}

static bool evaluate(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks)
{
    double         *M = api_result_block(e, selected, MASS_MATRIX, block), *singular = e->spare;
    dyn_mass_matrix io = {
        .q             = api_state_block(e, API_Q, block),
        .zeros_are_set = M && e->zeros_written,
        .mass_matrix   = M ? M : api_behind(e, e->spare, 1, blocks),
        .inverse       = api_result_block(e, selected, INVERSE, block),
        .singular      = singular,
    };
    e->kernels->mass_matrix(&e->query->scene, e->workspace, &io, blocks);
    return !io.inverse || api_check_singular(e, singular, block, blocks);
}

const api_operation api_mass_matrix = {
    .name       = "mass-matrix",
    .row_scenes = true,
    .needs      = API_BIT(API_Q),
    .takes =
        API_BIT(API_PAYLOAD) | API_BIT(API_JOINTS) | API_BIT(API_GUESS) | API_BIT(API_PLATFORM) | API_BIT(API_OUTPUTS),
    .outputs =
        {[MASS_MATRIX] = {"mass_matrix", true, {API_NV, API_NV}}, [INVERSE] = {"inverse", false, {API_NV, API_NV}}},
    .weight        = 1,
    .square_weight = 0.1,
    .spare         = spare,
    .evaluate      = evaluate,
};
