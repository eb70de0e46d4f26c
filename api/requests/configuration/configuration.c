/* configuration.c - computes with configurations: adds displacements, subtracts, interpolates, normalises, draws. */
#include "api/codec/number.h"
#include "api/requests/fields/fields.h"
#include "api/requests/fields/rows.h"
#include "api/requests/lanes/evaluation.h"
#include "api/requests/lanes/failed_rows.h"
#include "dynamics/model/coordinates.h"
#include "random_configuration.h"
#include <math.h>
#include <string.h>

enum { INTEGRATED, DIFFERENCE, INTERPOLATED, NORMALISED, NEUTRAL, RANDOM };

#define MOST_SEED 9007199254740991.0 /* 2^53 - 1, exact in a double */

/* --- options ------------------------------------------------------------------------------------------------------ */

typedef struct configuration_options {
    size_t                   n_joints;
    dyn_chart               *joints;    /* [n_joints] joints and motors with coordinates of their own */
    size_t                   fractions; /* number of fractions; 0: not given */
    const double            *fraction;  /* [fractions]: 1, or one for each row */
    bool                     per_row;
    api_random_configuration random;
    const double            *neutral; /* [nq] the neutral configuration */
} configuration_options;

/* Returns the joint with a quaternion whose coordinates begin at entry `first` of q; NULL: none. */
static const dyn_body *free_joint_at(const api_model *m, size_t first)
{
    for (size_t i = 0; i < m->dyn->n_bodies; i++) {
        const dyn_body *b = &m->dyn->body[i];
        if (dyn_quaternion_offset(b) >= 0 && api_first_position(m, b) == (int)first) return b;
    }
    return NULL;
}

/* Lists the joints, in the order of coordinates, which q and qd share. */
static bool list_charts(api_query *q, configuration_options *o)
{
    const api_model *m = q->model;
    o->joints          = api_take(q->pool, m->nv * sizeof *o->joints);
    if (!o->joints) return false;
    for (size_t position = 0, velocity = 0; position < m->nq; o->n_joints++) {
        const dyn_body *b      = m->dyn->n_quaternions > 0 ? free_joint_at(m, position) : NULL;
        dyn_joint_kind  kind   = b ? b->joint.kind : DYN_REVOLUTE;
        o->joints[o->n_joints] = (dyn_chart){kind, position, velocity};
        position += (size_t)dyn_joint_nq(kind);
        velocity += (size_t)dyn_joint_nv(kind);
    }
    return true;
}

/* Reads a whole number from `least` to `most`; an absent value leaves *number unchanged. */
static bool read_natural(const api_query *q, const api_node *node, const api_place *up, const char *name, double most,
                         double *number)
{
    const api_node *value = api_node_get(node, name);
    api_place       where = api_place_key(up, name);
    if (!value) return true;
    if (!api_read_number(q, value, &where, number)) return false;
    return (*number >= 0 && *number <= most && *number == floor(*number)) ||
           api_fail_at(q->problem, &where, API_BAD_VALUE, "%s given, a whole number from 0 to %.0f expected",
                       API_NUMBER_TEXT(*number), most);
}

/* Reads "fraction": a number, or one for each row. */
static bool read_fraction(api_query *q, const api_node *node, const api_place *up, configuration_options *o)
{
    const api_node *value = api_node_get(node, "fraction");
    api_place       where = api_place_key(up, "fraction");
    double         *one;
    if (!value) return true;
    if (api_node_is(value, API_ARRAY)) {
        o->per_row   = true;
        o->fractions = api_node_size(value);
        if (!api_batch_rows(q, o->fractions, &where)) return false;
        o->fraction = api_take_numbers(q, value, &where, o->fractions);
        return o->fraction != NULL;
    }
    if (!(one = api_take(q->pool, sizeof *one)) || !api_read_number(q, value, &where, one)) return false;
    o->fraction  = one;
    o->fractions = 1;
    return true;
}

/* Reads "count", "seed" and "range". */
static bool read_random(api_query *q, api_selection *selected, const api_node *node, const api_place *up,
                        configuration_options *o)
{
    double    count = 1, seed = 0, range = 1;
    api_place count_at = api_place_key(up, "count"), range_at = api_place_key(up, "range");
    if (!read_natural(q, node, up, "count", (double)q->call->api->limits.rows, &count) ||
        !read_natural(q, node, up, "seed", MOST_SEED, &seed))
        return false;
    if (api_node_get(node, "count") && !api_batch_rows(q, (size_t)count, &count_at)) return false;
    if (api_node_get(node, "range") && !api_read_number(q, api_node_get(node, "range"), &range_at, &range))
        return false;
    if (!(range >= 0))
        return api_fail_at(q->problem, &range_at, API_BAD_VALUE, "%s given, a length in m not less than 0 expected",
                           API_NUMBER_TEXT(range));
    if (!(selected->outputs & API_BIT(RANDOM))) return true;
    if (q->model->loops)
        return api_fail(q->problem, API_NOT_FOR_LOOPS, NULL,
                        "random is for models without loops: positions that are drawn alone do not close them");
    o->random.seed = (uint64_t)seed;
    return api_random_configuration_prepare(q, range, &o->random);
}

/* Selects the outputs that the fields of the request determine. */
static void select_outputs(const api_query *q, const api_node *node, api_selection *selected)
{
    if (api_node_get(node, "outputs")) return;
    const bool moved = q->field[API_DISPLACEMENT], compared = q->field[API_Q_TARGET],
               part   = api_node_get(node, "fraction");
    const bool drawn  = api_node_get(node, "count") || api_node_get(node, "seed") || api_node_get(node, "range");
    selected->outputs = 0;
    if (moved) selected->outputs |= API_BIT(INTEGRATED);
    if (compared) selected->outputs |= API_BIT(part ? INTERPOLATED : DIFFERENCE);
    if (drawn) selected->outputs |= API_BIT(RANDOM);
    if (!selected->outputs) selected->outputs = q->field[API_Q] ? API_BIT(NORMALISED) : API_BIT(NEUTRAL);
}

/* A field and the outputs that need it. */
typedef struct need {
    const char *name;
    bool        present;
    api_set     outputs;
} need;

/* Checks that every output has its fields, and that every field has an output. */
static bool check_output_fields(const api_query *q, const api_selection *selected, const api_node *node,
                                const api_place *up)
{
    const api_set between = API_BIT(DIFFERENCE) | API_BIT(INTERPOLATED);
    const need    needs[] = {
           {"q", q->field[API_Q] || q->field[API_PLATFORM], API_BIT(INTEGRATED) | between | API_BIT(NORMALISED)},
           {"displacement", q->field[API_DISPLACEMENT], API_BIT(INTEGRATED)},
           {"q_target", q->field[API_Q_TARGET], between},
           {"fraction", api_node_get(node, "fraction"), API_BIT(INTERPOLATED)},
           {"seed", api_node_get(node, "seed"), 0},
           {"range", api_node_get(node, "range"), 0}};
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
        const api_set outputs = needs[i].outputs ? needs[i].outputs : API_BIT(RANDOM);
        const bool    wanted  = selected->outputs & outputs;
        api_place     where   = api_place_key(i < 3 ? NULL : up, needs[i].name);
        if (wanted && needs[i].outputs && !needs[i].present)
            return api_fail_at(q->problem, &where, API_MISSING_FIELD, "the output %s needs %s",
                               selected->operation->outputs[api_first_member(selected->outputs & outputs)].name,
                               needs[i].name);
        if (i > 0 && needs[i].present && !wanted)
            return api_fail_at(q->problem, &where, API_BAD_VALUE, "%s is given, and no output uses it: ask for %s",
                               needs[i].name, selected->operation->outputs[api_first_member(outputs)].name);
    }
    return true;
}

static bool options(api_query *q, api_selection *selected, const api_node *node, const api_place *up)
{
    configuration_options *o = selected->options = api_take(q->pool, sizeof *o);
    if (!o) return false;
    *o = (configuration_options){.n_joints = 0};
    select_outputs(q, node, selected);
    if (!check_output_fields(q, selected, node, up)) return false;
    if (q->model->loops && !q->field[API_Q] && !q->field[API_PLATFORM]) {
        api_place where = api_place_key(NULL, "q");
        return api_fail_at(q->problem, &where, API_MISSING_FIELD, "configuration of a model with loops needs q");
    }
    return list_charts(q, o) && read_fraction(q, node, up, o) && read_random(q, selected, node, up, o);
}

/* --- evaluation --------------------------------------------------------------------------------------------------- */

static size_t spare(const api_model *model, const api_selection *selected)
{
    (void)selected;
    return model->nv;
}

static void put_neutral_block(const api_evaluation *e, double *q)
{
    const api_model *m = e->model;
    if (!q) return;
    for (size_t i = 0; i < m->nq * e->lanes; i++)
        q[i] = 0;
    for (size_t i = 0; i < m->dyn->n_bodies; i++) {
        const dyn_body *b     = &m->dyn->body[i];
        const int       first = api_first_position(m, b), offset = dyn_quaternion_offset(b);
        for (size_t lane = 0; first >= 0 && offset >= 0 && lane < e->lanes; lane++)
            q[(size_t)(first + offset + 3) * e->lanes + lane] = 1;
    }
}

static void evaluate_state(const api_evaluation *e, const api_selection *selected, size_t block, size_t lane)
{
    const configuration_options *o = selected->options;
    const size_t                 W = e->lanes, row = api_row_of(e->query, block * W + lane);
    const double *q = api_state_block(e, API_Q, block), *target = api_state_block(e, API_Q_TARGET, block);
    const double *moved      = api_state_block(e, API_DISPLACEMENT, block);
    double       *integrated = api_result_block(e, selected, INTEGRATED, block);
    double       *difference = api_result_block(e, selected, DIFFERENCE, block);
    double       *between    = api_result_block(e, selected, INTERPOLATED, block);
    double       *normalised = api_result_block(e, selected, NORMALISED, block);
    double       *drawn      = api_result_block(e, selected, RANDOM, block);
    double       *u          = difference ? difference : e->spare;
    for (size_t i = 0; i < o->n_joints; i++) {
        const dyn_chart *joint = &o->joints[i];
        if (integrated) dyn_configuration_integrate(joint, q + lane, moved + lane, 1, W, integrated + lane);
        if (difference || between) dyn_configuration_difference(joint, q + lane, target + lane, W, u + lane);
        if (between)
            dyn_configuration_integrate(joint, q + lane, u + lane, o->fraction[o->per_row ? row : 0], W,
                                        between + lane);
        if (normalised) dyn_configuration_normalise(joint, q + lane, W, normalised + lane);
    }
    if (drawn) api_random_configuration_draw(&o->random, e->model, row, W, drawn + lane);
}

static bool evaluate(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks)
{
    (void)blocks; /* always 1: the operation is one_by_one */
    put_neutral_block(e, api_result_block(e, selected, NEUTRAL, block));
    for (size_t lane = 0; lane < e->lanes; lane++)
        evaluate_state(e, selected, block, lane);
    return true;
}

const api_operation api_configuration = {
    .name  = "configuration",
    .takes = API_BIT(API_Q) | API_BIT(API_DISPLACEMENT) | API_BIT(API_Q_TARGET) | API_BIT(API_JOINTS) |
             API_BIT(API_GUESS) | API_BIT(API_FRACTION) | API_BIT(API_COUNT) | API_BIT(API_SEED) | API_BIT(API_RANGE) |
             API_BIT(API_OUTPUTS),
    .outputs    = {[INTEGRATED]   = {"integrated", false, {API_NQ}},
                   [DIFFERENCE]   = {"difference", false, {API_NV}},
                   [INTERPOLATED] = {"interpolated", false, {API_NQ}},
                   [NORMALISED]   = {"normalised", true, {API_NQ}},
                   [NEUTRAL]      = {"neutral", false, {API_NQ}},
                   [RANDOM]       = {"random", false, {API_NQ}}},
    .alone      = true,
    .one_by_one = true,
    .weight     = 1,
    .options    = options,
    .spare      = spare,
    .evaluate   = evaluate,
};
