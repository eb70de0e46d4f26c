/* body_parameters.c - reads parameters of bodies as payloads: see body_parameters.h. */
#include "body_parameters.h"
#include "api/robots/document/inertia.h"
#include "dynamics/identification/parameters.h"
#include "api/requests/fields/fields.h"
#include "row_scenes.h"
#include "api/requests/fields/rows.h"
#include <string.h>

static size_t count_links(const api_query *q)
{
    const api_node *field = q->field[API_PARAMETERS];
    return api_node_is(field, API_OBJECT) ? api_node_size(field) : 0;
}

size_t api_count_parameter_payloads(const api_query *q)
{
    return 2 * count_links(q);
}

bool api_measure_parameters(api_query *q)
{
    const api_node *field = q->field[API_PARAMETERS];
    const api_place where = api_place_key(NULL, "parameters");
    if (field && !api_node_is(field, API_OBJECT))
        return api_fail_at(q->problem, &where, API_WRONG_TYPE,
                           "%s given, an object from names of links to ten parameters expected",
                           api_node_kind_text(field));
    for (size_t i = 0; i < count_links(q); i++) {
        const api_node *value = api_node_value(field, i);
        const api_place entry = api_place_key(&where, api_node_key(field, i));
        if (!api_is_batch(value, 1)) continue;
        if (!api_row_scenes_of(q, "parameters") || !api_batch_rows(q, api_node_size(value), &entry)) return false;
        if (!q->row_scenes->bodies) q->row_scenes->bodies = "parameters";
    }
    return true;
}

/* Returns the index of a link that gives a body its name, among the frames; -1 with a problem. */
static int find_named_body(const api_query *q, const char *name, const api_place *where, size_t *row)
{
    const api_model *m = q->model;
    const int        i = api_model_frame(m, name, strlen(name));
    if (i < 0 || (size_t)i >= m->n_links) {
        const api_names known = api_names_from_array(m->link_names, m->n_links);
        api_fail_no_such(q, where, "link", name, &known);
        return -1;
    }
    const int body = m->frames[i].frame.body;
    if (body == DYN_WORLD) {
        api_fail_at(q->problem, where, API_BAD_VALUE, "\"%.64s\" is fixed to the world: its parameters have no effect",
                    name);
        return -1;
    }
    *row = (size_t)m->dyn->body[body].tree.row;
    if (strcmp(m->body_names[*row], name) == 0) return i;
    api_fail_at(q->problem, where, API_BAD_VALUE,
                "\"%.64s\" is merged into the body of \"%.64s\": give the parameters of that one", name,
                m->body_names[*row]);
    return -1;
}

/* Returns the inertia with these ten parameters; with `sign` -1 mass and moments are negative. */
static dyn_inertia parameter_inertia(const double parameters[DYN_PER_BODY], double sign)
{
    static const int   place[DYN_TENSOR] = {0, 3, 5, 1,
                                            2, 4}; /* places of the entries xx yy zz xy xz yz among xx xy xz yy yz zz */
    const dyn_inertial in                = dyn_parameters_inertial(parameters);
    dyn_inertia        inertia           = {.mass = sign * in.mass};
    memcpy(inertia.com, in.com, sizeof inertia.com);
    for (int k = 0; k < DYN_TENSOR; k++)
        inertia.about_com[place[k]] = sign * in.inertia[k];
    return inertia;
}

bool api_read_parameter_places(const api_query *q, dyn_payload *payload)
{
    const api_node *field = q->field[API_PARAMETERS];
    const api_place where = api_place_key(NULL, "parameters");
    if (count_links(q) == 0) return true;
    double *model_values = api_take(q->pool, dyn_parameter_count(q->model->dyn) * sizeof *model_values);
    if (!model_values) return false;
    dyn_parameters_compute(q->model->dyn, model_values);
    for (size_t i = 0; i < count_links(q); i++, payload += 2) {
        const char     *name  = api_node_key(field, i);
        const api_place entry = api_place_key(&where, name);
        size_t          row   = 0;
        const int       link  = find_named_body(q, name, &entry, &row);
        if (link < 0) return false;
        const dyn_frame        *frame = &q->model->frames[link].frame;
        const dyn_compensation *c     = &q->model->dyn->body[frame->body].compensation;
        if (!api_check_compensation(q, c, &entry)) return false;
        payload[0]         = (dyn_payload){.body = frame->body, .X_bf = frame->X_bf, .gravity_compensation = c->share};
        payload[1]         = payload[0];
        payload[0].inertia = parameter_inertia(model_values + DYN_PER_BODY * row, -1);
    }
    return true;
}

static bool check_parameters(const api_query *q, const api_place *where, const double p[DYN_PER_BODY],
                             const dyn_inertia *inertia)
{
    char reason[160];
    if (p[0] == 0 && (p[1] != 0 || p[2] != 0 || p[3] != 0))
        return api_fail_at(q->problem, where, API_BAD_INERTIA, "a first moment m c that is not 0 needs a mass");
    return !api_inertia_refusal(inertia, reason) || api_fail_at(q->problem, where, API_BAD_INERTIA, "%s", reason);
}

bool api_read_parameter_row(const api_query *q, size_t row, const dyn_payload *payload, dyn_inertia *inertia)
{
    const api_node *field = q->field[API_PARAMETERS];
    const api_place where = api_place_key(NULL, "parameters");
    for (size_t i = 0; i < count_links(q); i++) {
        const api_node *value = api_node_value(field, i);
        const api_place entry = api_place_key(&where, api_node_key(field, i)), in_row = api_place_index(&entry, row);
        const bool      batch                 = api_is_batch(value, 1);
        const api_place place                 = batch ? in_row : entry;
        double          numbers[DYN_PER_BODY] = {0};
        api_node        item                  = *value;
        if (api_is_empty_batch(q, value)) continue;
        if (batch && !api_node_item(value, row, &item)) continue;
        if (!api_read_numbers(q, &item, &place, DYN_PER_BODY, numbers)) return false;
        inertia[2 * i]     = payload[2 * i].inertia;
        inertia[2 * i + 1] = parameter_inertia(numbers, 1);
        if (!check_parameters(q, &place, numbers, &inertia[2 * i + 1])) return false;
    }
    return true;
}
