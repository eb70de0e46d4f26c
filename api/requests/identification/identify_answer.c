/* identify_answer.c - write the results of identify. */
#include "api/robots/model/parameter_names.h"
#include "identification.h"
#include "identified_document.h"
#include "api/requests/lanes/failed_rows.h"

/* Values of dyn_shown in the answer. */
static const char *const shown_names[DYN_SHOWN_KINDS] = {NULL, "none", "combined", "alone"};

static void emit_member(api_emit *to, const char *key, double value)
{
    api_emit_key(to, key);
    api_emit_number(to, value);
}

static void emit_vector(api_emit *to, const char *key, const double *values, size_t n)
{
    api_emit_key(to, key);
    api_emit_numbers(to, values, 1, &n);
}

/* Measures the length of a base parameter in the answer. For a payload, the rows of the request may combine it with
 * every other parameter. */
static void measure_grouping(api_emit *to, const api_model *m, const api_identification *id, size_t k)
{
    const dyn_base *b      = id->base;
    size_t          bodies = DYN_PER_BODY * m->n_bodies;
    for (size_t l = 0; id->chosen && b->parameter[k] < bodies && l < b->n && b->parameter[l] < bodies; l++) {
        api_emit_key(to, "coefficient");
        api_base_emit(to, m, b, l);
    }
    api_emit_key(to, "grouping");
    api_base_emit(to, m, b, k);
}

static void emit_base(api_emit *to, const api_model *m, const api_identification *id)
{
    const dyn_estimate *t    = &id->estimate;
    const dyn_base     *base = id->found ? t->base : id->base;
    api_emit_array(to);
    for (size_t k = 0; k < base->n; k++) {
        api_emit_object(to);
        if (to->buffer) {
            api_emit_key(to, "grouping");
            api_base_emit(to, m, base, k);
        } else {
            measure_grouping(to, m, id, k);
        }
        emit_member(to, "value", id->found ? t->unknowns.x[k] : 0);
        emit_member(to, "deviation", id->found ? t->deviation[k] : 0);
        api_emit_end(to);
    }
    api_emit_end(to);
}

static void emit_mass(api_emit *to, const dyn_inertial *in)
{
    emit_member(to, "mass", in->mass);
    emit_vector(to, "com", in->com, 3);
}

static void emit_inertia(api_emit *to, const dyn_inertial *in)
{
    api_emit_key(to, "inertia");
    api_emit_object(to);
    for (int i = 0; i < DYN_TENSOR; i++)
        emit_member(to, api_tensor_names[i], in->inertia[i]);
    api_emit_end(to);
}

static void emit_joint(api_emit *to, const api_model *m, size_t j, unsigned with, const double *parameters)
{
    static const double zero[DYN_PER_JOINT];
    const double       *p = parameters ? parameters + dyn_joint_parameter(m->dyn, j, 0) : zero;
    api_emit_key(to, "joint");
    api_emit_string(to, m->mover_names[j]);
    if (with & DYN_BASE_ROTORS) emit_member(to, "rotor_inertia", p[DYN_ROTOR_INERTIA]);
    if (!(with & DYN_BASE_FRICTION)) return;
    api_emit_key(to, "friction");
    api_emit_object(to);
    emit_member(to, "viscous", p[DYN_VISCOUS]);
    api_emit_key(to, "coulomb");
    api_emit_object(to);
    emit_member(to, "positive", p[DYN_COULOMB_POSITIVE]);
    emit_member(to, "negative", p[DYN_COULOMB_NEGATIVE]);
    api_emit_end(to);
    api_emit_end(to);
}

static void emit_body(api_emit *to, const api_model *m, size_t i, const double *p)
{
    api_emit_key(to, "link");
    api_emit_string(to, m->body_names[i]);
    const dyn_inertial in = dyn_parameters_inertial(p);
    emit_mass(to, &in);
    emit_inertia(to, &in);
    emit_vector(to, "inertial_parameters", p, DYN_PER_BODY);
}

/* Writes the bodies, each with its joint, then the motors of elastic joints. */
static void emit_parameters(api_emit *to, const api_model *m, const api_identification *id)
{
    static const double any[DYN_PER_BODY] = {1};
    size_t              fixed             = m->n_bodies - m->n_joints;
    api_emit_array(to);
    for (size_t i = 0; i < fixed + m->n_movers; i++) {
        api_emit_object(to);
        if (i < m->n_bodies) emit_body(to, m, i, id->parameters ? id->parameters + DYN_PER_BODY * i : any);
        if (i >= fixed) emit_joint(to, m, i - fixed, id->with, id->parameters);
        api_emit_end(to);
    }
    api_emit_end(to);
}

static void emit_unobservable(api_emit *to, const api_model *m, const dyn_base *base)
{
    char name[API_PARAMETER_NAME];
    api_emit_array(to);
    for (size_t i = 0; i < base->n_no_effect; i++) {
        api_parameter_name(m, base->no_effect[i], name);
        api_emit_string(to, name);
    }
    api_emit_end(to);
}

/* Writes the payload as the field "payload" of requests has it, with the standard deviation of its mass. */
static void emit_payload(api_emit *to, const api_model *m, const api_identification *id)
{
    const double       any[DYN_PER_BODY] = {1};
    const dyn_inertial in                = dyn_parameters_inertial(id->found ? id->payload : any);
    api_emit_object(to);
    api_emit_key(to, "link");
    api_emit_string(to, m->body_names[id->chosen->row]);
    emit_mass(to, &in);
    if (id->chosen->inertia) emit_inertia(to, &in);
    api_emit_key(to, "mass_deviation");
    if (id->found && id->mass_deviation < 0)
        api_emit_null(to);
    else
        api_emit_number(to, id->found ? id->mass_deviation : 0);
    api_emit_end(to);
}

/* Writes how well the physically consistent parameters fit. */
static void emit_fit(api_emit *to, const api_model *m, const api_identification *id)
{
    api_emit_object(to);
    emit_member(to, "residual", id->fit);
    emit_vector(to, "coordinates", id->fit_coordinates, m->nv);
    api_emit_end(to);
}

static void emit_shown_parameter(api_emit *to, const api_model *m, const api_identification *id, size_t parameter)
{
    char name[API_PARAMETER_NAME];
    api_parameter_name(m, parameter, name);
    api_emit_object(to);
    api_emit_string_member(to, "parameter", name);
    api_emit_string_member(to, "these_rows", shown_names[to->buffer ? id->by_rows[parameter] : DYN_SHOWN_COMBINED]);
    api_emit_string_member(to, "any_motion", shown_names[to->buffer ? id->by_motion[parameter] : DYN_SHOWN_COMBINED]);
    api_emit_end(to);
}

/* Measures at least one entry for each parameter of a base. */
static void measure_shown(api_emit *to, const api_model *m, const api_identification *id)
{
    const dyn_base *b = id->base;
    for (size_t k = 0; k < b->n; k++)
        emit_shown_parameter(to, m, id, b->parameter[k]);
    for (size_t i = 0; i < b->first[b->n]; i++)
        emit_shown_parameter(to, m, id, b->term[i].parameter);
    for (size_t i = 0; i < b->n_no_effect; i++)
        emit_shown_parameter(to, m, id, b->no_effect[i]);
}

/* Writes, for each parameter that is sought, whether the rows, and whether any motion, determine it: alone, in
 * combinations only, or not at all. */
static void emit_shown(api_emit *to, const api_model *m, const api_identification *id)
{
    size_t count = to->buffer ? api_identify_parameter_count(m->dyn) : 0;
    api_emit_array(to);
    if (!to->buffer) measure_shown(to, m, id);
    for (size_t i = 0; i < count; i++)
        if (id->by_motion[i] != DYN_NOT_SOUGHT) emit_shown_parameter(to, m, id, i);
    api_emit_end(to);
}

static void emit_model(api_emit *to, const api_model *m, const api_identification *id)
{
    int row = !id->chosen ? DYN_ALL_BODIES : id->chosen->payload ? id->chosen->row : DYN_NO_BODY;
    api_identified_document_emit(&(api_identified){.model      = m,
                                                   .parameters = id->found ? id->parameters : NULL,
                                                   .row        = row,
                                                   .with       = id->with,
                                                   .load       = id->chosen && id->chosen->load,
                                                   .stribeck   = id->chosen && id->chosen->stribeck},
                                 to);
}

void api_identify_emit(const api_plan *plan, const api_selection *selected, size_t output, api_emit *to)
{
    const api_identification *id = selected->options;
    const dyn_estimate       *t  = &id->estimate;
    if (output != API_IDENTIFY_UNOBSERVABLE && to->buffer && api_failed_rows_all(plan->failed_rows)) {
        api_emit_null(to);
        return;
    }
    switch (output) {
    case API_IDENTIFY_BASE: emit_base(to, plan->query->model, id); break;
    case API_IDENTIFY_PARAMETERS: emit_parameters(to, plan->query->model, id); break;
    case API_IDENTIFY_RESIDUAL: api_emit_number(to, t->residual); break;
    case API_IDENTIFY_NOISE: api_emit_numbers(to, t->noise, 1, &plan->query->model->nv); break;
    case API_IDENTIFY_CONDITION: api_emit_number(to, t->unknowns.condition); break;
    case API_IDENTIFY_UNOBSERVABLE: emit_unobservable(to, plan->query->model, id->base); break;
    case API_IDENTIFY_PAYLOAD: emit_payload(to, plan->query->model, id); break;
    case API_IDENTIFY_MODEL: emit_model(to, plan->query->model, id); break;
    case API_IDENTIFY_FIT: emit_fit(to, plan->query->model, id); break;
    case API_IDENTIFY_SHOWN: emit_shown(to, plan->query->model, id); break;
    default: break;
    }
}
