/* impact.c - computes velocities after frames hit something and stick or bounce. With the Jacobian J of the frames,
 * the impulses p on them and the restitution e, M (qd+ - qd) = J^T p and J qd+ = -e J qd
 * (api/requests/held/held_fields.h). The impact takes no time, so that finite forces have no effect.
 *
 * Let Lambda = (J M^-1 J^T)^-1 and Jbar = M^-1 J^T Lambda. With P = Jbar J, a projection that is orthogonal in the
 * metric of M, qd+ = qd - (1 + e) P qd. The kinetic energy lost is
 *
 *     1/2 (1 - e^2) (J qd)^T Lambda (J qd).
 *
 * It is never negative, because one restitution e applies to all directions. */
#include "api/requests/held/held_fields.h"
#include "api/requests/lanes/evaluation.h"
#include "api/codec/number.h"
#include <string.h>

enum { QD_AFTER, CONTACT_IMPULSES, ENERGY_LOSS };

/* --- options ---------------------------------------------------------------------------------------------------- */

/* The operation's options. */
typedef struct impact_options {
    const dyn_held_set *contact; /* the frames that hit an obstacle */
    double              restitution;
} impact_options;

static bool options(api_query *q, api_selection *selected, const api_node *given, const api_place *up)
{
    const api_node *restitution = api_node_get(given, "restitution");
    api_place       at = api_place_key(up, "restitution"), held_at = api_place_key(up, "held");
    impact_options *o = selected->options = api_take(q->pool, sizeof *o);
    if (!o) return false;
    *o = (impact_options){.restitution = 0};
    if (!api_contact_read(q, given, up, &o->contact)) return false;
    if (!o->contact)
        return api_fail_at(q->problem, &held_at, API_MISSING_FIELD,
                           "impact needs the frames that hit: name them in held");
    api_set_extent(selected, API_HELD_FRAMES, o->contact->n);
    if (!restitution) return true;
    if (!api_read_number(q, restitution, &at, &o->restitution)) return false;
    return (o->restitution >= 0 && o->restitution <= 1) ||
           api_fail_at(q->problem, &at, API_BAD_VALUE, "%s given, a number from 0 (it sticks) to 1 expected",
                       API_NUMBER_TEXT(o->restitution));
}

/* --- lanes ------------------------------------------------------------------------------------------------------ */

/* Counts the scratch lanes: outputs that are needed but not requested; work arrays of contacts. */
static size_t spare(const api_model *model, const api_selection *selected)
{
    const impact_options *o = selected->options;
    return api_missing_entries(model, selected, QD_AFTER, ENERGY_LOSS) + dyn_contact_entries(model->nv, o->contact);
}

/* Writes the kinetic energy lost, 1/2 (1 - e^2) u^T Lambda u with the restitution e and u = J qd: the right side was
 * (1 + e) u. */
static void put_energy_lost(const dyn_contact_block *b, double restitution, size_t lane, double *lost)
{
    lost[lane] = 0.5 * (1 - restitution) / (1 + restitution) * b->energy[lane];
}

static bool evaluate(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks)
{
    (void)blocks; /* always 1: the operation is one_by_one */
    const impact_options *o  = selected->options;
    size_t                nv = e->model->nv, W = e->lanes;
    const double         *qd       = api_state_block(e, API_QD, block);
    double               *next     = e->spare;
    double               *after    = api_result_or_spare(e, selected, QD_AFTER, block, &next);
    double               *impulses = api_result_or_spare(e, selected, CONTACT_IMPULSES, block, &next);
    double               *lost     = api_result_or_spare(e, selected, ENERGY_LOSS, block, &next);
    dyn_contact_block     b        = dyn_contact_lay_out(o->contact, nv, W, next);
    dyn_contact_states    states   = {.kernels   = e->kernels,
                                      .scene     = &e->query->scene,
                                      .workspace = e->workspace,
                                      .q         = api_state_block(e, API_Q, block),
                                      .qd        = qd};
    dyn_contact_evaluate(&b, &states);
    if (!dyn_contact_factor(&b, &states)) return api_deadline_check(e->query->input->deadline, e->problem);
    if (!api_check_singular(e, b.factor.singular, block, 1)) return false;
    dyn_contact_find(&b, &states, NULL, qd, 1 + o->restitution, false);
    memcpy(after, qd, nv * W * sizeof *after);
    for (size_t lane = 0; lane < W && block * W + lane < e->query->rows; lane++) {
        if (!dyn_contact_is_factored(&b, lane)) {
            if (!api_fail_state(e, API_RESULT_NOT_FINITE, -1, block * W + lane, "%s",
                                api_contact_not_finite(o->contact)))
                return false;
            continue;
        }
        put_energy_lost(&b, o->restitution, lane, lost);
        dyn_contact_put_wrenches(&b, lane, impulses);
        dyn_contact_add_change(&b, lane, after);
    }
    return true;
}

const api_operation api_impact = {
    .name       = "impact",
    .row_scenes = true,
    .needs      = API_BIT(API_Q) | API_BIT(API_QD),
    .takes      = API_BIT(API_PAYLOAD) | API_BIT(API_JOINTS) | API_BIT(API_GUESS) | API_BIT(API_PLATFORM) |
             API_BIT(API_OUTPUTS) | API_BIT(API_HELD_FIELD) | API_BIT(API_RESTITUTION),
    .needs_options = API_BIT(API_HELD_FIELD),
    .outputs       = {[QD_AFTER]         = {"qd_after", true, {API_NV}},
                      [CONTACT_IMPULSES] = {"contact_impulses", true, {API_HELD_FRAMES, 6}},
                      [ENERGY_LOSS]      = {"energy_loss", false, {0}}},
    .one_by_one    = true,
    .weight        = 50,
    .square_weight = 30,
    .options       = options,
    .spare         = spare,
    .evaluate      = evaluate,
};
