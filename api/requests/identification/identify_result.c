/* identify_result.c - solve the rows of identify, and find the parameters of its answer. */
#include "dynamics/identification/consistent_parameters.h"
#include "identification.h"
#include "payload_parameters.h"
#include "api/base/work/deadline.h"
#include "api/robots/model/parameter_names.h"
#include "api/requests/lanes/evaluation.h"
#include "api/requests/lanes/failed_rows.h"
#include <math.h>
#include <string.h>

/* Reports why a computation ended early: the deadline, memory that was refused, or numbers that overflow. */
static bool fail_large(const api_evaluation *e)
{
    return api_deadline_check(e->query->input->deadline, e->problem) &&
           api_fail(e->problem, API_RESULT_NOT_FINITE, NULL, "figures of the data are too large to compute with");
}

/* --- what the rows determine -------------------------------------------------------------------------------------- */

static bool is_of_body(const dyn_model *m, size_t parameter)
{
    return parameter < DYN_PER_BODY * m->n_rows;
}

/* Returns advice how to determine the parameters marked in `unseen`, which depends on their kinds. */
static const char *advice(const api_identification *id, const bool *unseen)
{
    size_t joints = 0, bodies = 0;
    for (size_t k = 0; k < id->base->n; k++)
        if (unseen[k]) *(is_of_body(id->estimate.robot.tree, id->base->parameter[k]) ? &bodies : &joints) += 1;
    if (bodies > 0)
        return joints == 0
                   ? "give rows in which their joints move further and faster, each by itself and together, or a "
                     "\"prior\""
                   : "give rows in which their joints move further and faster, at several speeds both ways, or a "
                     "\"prior\"";
    if (!id->chosen) return "move these joints at several speeds both ways, or leave \"friction\" or \"rotor\" out";
    return id->curves ? "move these joints both ways, slowly and fast, under several loads, or list less in \"unknown\""
                      : "move these joints at several speeds both ways, or list less in \"unknown\"";
}

static bool fail_few(const api_evaluation *e, const dyn_estimate *t)
{
    return api_fail(e->problem, API_RANK_DEFICIENT, t->weighted ? "/weights" : NULL,
                    "%zu base parameters are looked for, and only %zu rows%s are left%s: give more", t->n, t->used,
                    t->weighted ? " with a weight above zero" : "",
                    e->plan->failed_rows ? " of rows that can be evaluated" : "");
}

static bool fail_deficient(const api_evaluation *e, const api_identification *id)
{
    enum { SHOWN = 8 };
    const dyn_estimate *t = &id->estimate;
    char                name[API_PARAMETER_NAME], list[SHOWN * 70] = "";
    size_t              unseen = 0, length = 0;
    for (size_t k = 0; k < t->n; k++) {
        if (!t->unknowns.unseen[k] || unseen++ >= SHOWN) continue;
        api_parameter_name(e->model, t->base->parameter[k], name);
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%.64s", length > 0 ? ", " : "", name);
    }
    return api_fail(e->problem, API_RANK_DEFICIENT, NULL,
                    "the data do not tell %zu of the %zu base parameters apart: %s%s; %s", unseen, t->n, list,
                    unseen > SHOWN ? " ..." : "", advice(id, t->unknowns.unseen));
}

/* True if only parameters of the payload are undetermined by the rows: the answer then lists them instead of
 * failing. */
static bool is_of_payload(const api_identification *id)
{
    const dyn_estimate *t          = &id->estimate;
    bool                of_payload = id->chosen && id->chosen->payload;
    for (size_t k = 0; k < t->n && of_payload; k++)
        of_payload = !t->unknowns.unseen[k] || is_of_body(t->robot.tree, t->base->parameter[k]);
    return of_payload;
}

/* Classifies how the rows, and how any motion, determine each parameter that is sought. */
static void classify(api_identification *id, const dyn_base *shown)
{
    size_t count = api_identify_parameter_count(id->estimate.robot.tree);
    dyn_base_shows(id->base, id->by_motion);
    for (size_t i = 0; i < count; i++)
        id->by_rows[i] = id->by_motion[i] == DYN_NOT_SOUGHT ? DYN_NOT_SOUGHT : DYN_NOT_SHOWN;
    dyn_base_shows(shown, id->by_rows);
}

/* Keeps only the base parameters that the rows determine, with the prior if there is one. */
static bool reduce(const api_evaluation *e, api_identification *id, const dyn_shown_base *shown)
{
    if (!is_of_payload(id) || shown->base.n == 0) return fail_deficient(e, id);
    return dyn_estimate_reduce(api_pool_memory(e->query->pool), &id->estimate, &shown->base, shown->kept) ||
           fail_large(e);
}

/* Finds what the rows show. With a prior, they need not show everything. */
static bool examine_deficient(const api_evaluation *e, api_identification *id)
{
    const dyn_memory memory = api_pool_memory(e->query->pool);
    dyn_estimate    *t      = &id->estimate;
    dyn_shown_base  *shown  = api_take(e->query->pool, 2 * sizeof *shown);
    if (!shown || !dyn_shown_base_find(memory, t, &shown[0])) return fail_large(e);
    classify(id, &shown[0].base);
    if (!t->prior) return reduce(e, id, &shown[0]);
    switch (dyn_estimate_examine(t)) {
    case DYN_SOLVED: return true;
    case DYN_UNSOLVED: return fail_large(e);
    case DYN_DEFICIENT: break;
    }
    return dyn_shown_base_find(memory, t, &shown[1]) ? reduce(e, id, &shown[1]) : fail_large(e);
}

static bool examine(const api_evaluation *e, api_identification *id)
{
    dyn_estimate *t = &id->estimate;
    if (!(id->chosen && id->chosen->payload) && t->used <= t->n) return fail_few(e, t);
    classify(id, id->base);
    switch (dyn_estimate_examine_rows(t)) {
    case DYN_SOLVED: break;
    case DYN_UNSOLVED: return fail_large(e);
    case DYN_DEFICIENT:
        if (!examine_deficient(e, id)) return false;
    }
    return t->used > t->n || fail_few(e, t);
}

/* --- consistent parameters ------------------------------------------------------------------------------------------
 */

static bool go_on(void *arg)
{
    const api_evaluation *e = arg;
    return api_deadline_check(e->query->input->deadline, e->problem);
}

/* Finds consistent parameters near id->parameters; beta: the base parameters of the bodies found, and of all joints. */
static bool find_consistent(const api_evaluation *e, const api_identification *id, const double *beta)
{
    const dyn_consistent c = {.tree       = e->model->dyn,
                              .base       = id->estimate.base,
                              .with       = id->with,
                              .row        = !id->chosen           ? DYN_ALL_BODIES
                                            : id->chosen->payload ? id->chosen->row
                                                                  : DYN_NO_BODY,
                              .R          = id->estimate.R,
                              .s          = dyn_estimate_row_deviation(&id->estimate),
                              .beta       = beta,
                              .parameters = id->parameters,
                              .go_on      = go_on,
                              .arg        = (void *)(uintptr_t)e};
    return dyn_consistent_find(&c, id->scratch) || api_fail(e->problem, API_RESULT_NOT_FINITE, NULL,
                                                            "figures are too large to find consistent parameters with");
}

/* Returns base parameter k of the estimate minus the part of the model's own bodies. The remainder is what a payload
 * adds to them; parameters of the joints are returned whole. */
static double value_beyond_bodies(const api_identification *id, size_t k)
{
    const dyn_estimate *t = &id->estimate;
    const dyn_base     *b = t->base;
    double value = t->unknowns.x[k] + (is_of_body(t->robot.tree, b->parameter[k]) ? 0 : id->own[b->parameter[k]]);
    for (size_t i = b->first[k]; i < b->first[k + 1]; i++)
        if (!is_of_body(t->robot.tree, b->term[i].parameter))
            value += b->term[i].coefficient * id->own[b->term[i].parameter];
    return value;
}

/* True if each chosen parameter is a base parameter of its own. */
static bool is_each_alone(const api_identification *id)
{
    const dyn_base *b = id->estimate.base;
    return b->n == id->chosen->n && b->first[b->n] == 0;
}

/* Finds the chosen parameters: as estimated if the rows show each of them alone and the payload could be built, or else
 * consistent ones. The payload is what the estimate adds to the model's body. */
static bool find_chosen(const api_evaluation *e, api_identification *id, double *beta)
{
    const dyn_estimate *t       = &id->estimate;
    double             *payload = id->chosen->payload ? id->parameters + DYN_PER_BODY * (size_t)id->chosen->row : NULL;
    for (size_t k = 0; k < t->n; k++)
        beta[k] = value_beyond_bodies(id, k);
    if (is_each_alone(id) && (!payload || api_payload_is_consistent(beta))) {
        for (size_t k = 0; k < t->n; k++)
            id->parameters[t->base->parameter[k]] = beta[k];
        return true;
    }
    if (payload) api_payload_suppose(t, id->chosen, payload);
    return find_consistent(e, id, beta);
}

/* Finds all parameters of the robot: physically consistent ones, or the model's with the identified ones replaced. */
static bool find_parameters(const api_evaluation *e, api_identification *id, double *beta)
{
    const api_model *m = e->model;
    memset(id->parameters, 0, api_identify_parameter_count(m->dyn) * sizeof *id->parameters);
    dyn_parameters_compute(m->dyn, id->parameters);
    if (!id->chosen) {
        for (size_t k = 0; k < id->estimate.n; k++)
            beta[k] = id->estimate.unknowns.x[k] + dyn_base_value(id->base, k, id->own);
        return find_consistent(e, id, beta);
    }
    if (!find_chosen(e, id, beta)) return false;
    if (!id->chosen->payload) return true;
    double *body = id->parameters + DYN_PER_BODY * (size_t)id->chosen->row;
    memcpy(id->payload, body, sizeof id->payload);
    for (size_t c = 0; c < DYN_PER_BODY; c++)
        body[c] += id->own[DYN_PER_BODY * (size_t)id->chosen->row + c];
    return true;
}

/* Returns the standard deviation of the payload's mass, kg; < 0 if the rows do not show it alone, or if no real body
 * has the mass that they show and the payload has another one. */
static double find_mass_deviation(const api_identification *id)
{
    enum { MOST = 2 /* largest deviation of a real body's mass from the estimate, in standard deviations */ };
    const dyn_estimate *t    = &id->estimate;
    size_t              mass = DYN_PER_BODY * (size_t)id->chosen->row;
    if (id->by_rows[mass] != DYN_SHOWN_ALONE) return -1;
    for (size_t k = 0; k < t->n; k++)
        if (t->base->parameter[k] == mass) {
            const double estimate = value_beyond_bodies(id, k), off = fabs(id->payload[0] - estimate);
            return off <= MOST * t->deviation[k] + 1e-6 * fabs(estimate) ? t->deviation[k] : -1;
        }
    return -1;
}

/* Computes how well the parameters of the document fit: negative friction and rotor inertias, which a document cannot
 * hold, count as zero. */
static double measure_fit(const api_identification *id, double *x)
{
    const dyn_estimate *t = &id->estimate;
    const size_t bodies = DYN_PER_BODY * t->robot.tree->n_rows, count = api_identify_parameter_count(t->robot.tree);
    for (size_t i = bodies; i < count; i++)
        x[t->n + i] = fmax(id->parameters[i], 0);
    memcpy(x + t->n, id->parameters, bodies * sizeof *x);
    for (size_t k = 0; k < t->n; k++)
        x[k] = dyn_base_value(t->base, k, x + t->n) - dyn_base_value(t->base, k, id->own);
    return dyn_estimate_residual_at(t, x, id->fit_coordinates);
}

/* --- the whole ------------------------------------------------------------------------------------------------------
 */

/* Adds the rows of friction curves, and the velocities about which they are linearised to the model's parameters. */
static bool add_curves(const api_evaluation *e, api_identification *id)
{
    if (!api_friction_curves_add(id->curves, &id->estimate)) return fail_large(e);
    for (size_t j = 0; j < e->model->n_movers; j++)
        id->own[dyn_curve_parameter(e->model->dyn, j, DYN_STRIBECK_VELOCITY)] =
            api_friction_curves_velocity(id->curves, j);
    return true;
}

/* Puts numbers of each coordinate into the request's order of joints. */
static void put_in_order(const api_evaluation *e, double *numbers, double *scratch)
{
    const size_t nv = e->model->nv;
    memcpy(scratch, numbers, nv * sizeof *numbers);
    for (size_t v = 0; v < nv && e->query->order; v++)
        numbers[v] = scratch[e->query->order[v]];
}

/* True if all numbers of the answer are finite. */
static bool is_finite(const api_evaluation *e, const api_identification *id)
{
    const dyn_estimate *t   = &id->estimate;
    double              sum = t->residual + t->unknowns.condition + id->fit;
    for (size_t k = 0; k < t->n; k++)
        sum += fabs(t->unknowns.x[k]) + t->deviation[k];
    for (size_t v = 0; v < e->model->nv; v++)
        sum += t->noise[v];
    return isfinite(sum);
}

/* Finds the parameters and how well they fit, if an output needs them. */
static bool find_outputs(const api_evaluation *e, api_identification *id)
{
    const dyn_estimate *t     = &id->estimate;
    bool                room  = true;
    size_t              count = t->n + api_identify_parameter_count(e->model->dyn) + 1;
    double             *x     = api_take_zeroed(e->query->pool, count, &room);
    if (!room) return false;
    id->mass_deviation = -1;
    if (!id->parameters) return true;
    if (!find_parameters(e, id, x)) return false;
    if (id->chosen && id->chosen->payload) id->mass_deviation = find_mass_deviation(id);
    id->fit = measure_fit(id, x);
    put_in_order(e, id->fit_coordinates, x);
    return true;
}

bool api_identify_finish(const api_evaluation *e, const api_selection *selected)
{
    api_identification *id = selected->options;
    dyn_estimate       *t  = &id->estimate;
    if (api_failed_rows_all(e->plan->failed_rows)) return true; /* all states have failed: the outputs are null */
    if (id->curves && !add_curves(e, id)) return false;
    if (!examine(e, id)) return false;
    if (!dyn_estimate_solve(t)) return fail_large(e);
    if (!find_outputs(e, id)) return false;
    for (size_t k = 0; k < t->n; k++)
        t->unknowns.x[k] += dyn_base_value(t->base, k, id->own);
    put_in_order(e, t->noise, t->scratch);
    id->found = true;
    return is_finite(e, id) ? api_deadline_check(e->query->input->deadline, e->problem) : fail_large(e);
}
