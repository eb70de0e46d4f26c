/* identified_document.c - see identified_document.h: change the model's canonical document and write it. */
#include "identified_document.h"
#include "api/robots/model/parameter_names.h"
#include "chosen_unknowns.h"
#include "api/codec/json.h"
#include <math.h>
#include <string.h>

static const double ANY[DYN_PER_BODY] = {
    1}; /* stands for parameters that are not known yet, to measure the length of the document */

static json_t *numbers(const double *values, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, json_real(values[i]));
    return array;
}

/* --- bodies ------------------------------------------------------------------------------------------------------ */

static json_t *make_inertial(const double p[DYN_PER_BODY])
{
    dyn_inertial in      = dyn_parameters_inertial(p);
    json_t      *inertia = json_object(), *inertial = json_object();
    for (int i = 0; i < DYN_TENSOR; i++)
        json_object_set_new(inertia, api_tensor_names[i], json_real(in.inertia[i]));
    json_object_set_new(inertial, "mass", json_real(in.mass));
    json_object_set_new(inertial, "com", numbers(in.com, 3));
    json_object_set_new(inertial, "inertia", inertia);
    return inertial;
}

/* Returns the parameters of the body that the link belongs to, if they are identified; else NULL. */
static const double *parameters_of(const api_identified *found, size_t link, size_t *row)
{
    const api_model *m    = found->model;
    int              body = m->frames[link].frame.body;
    if (body == DYN_WORLD) return NULL;
    *row = (size_t)m->dyn->body[body].tree.row;
    if (found->row != DYN_ALL_BODIES && found->row != (int)*row) return NULL;
    return found->parameters ? found->parameters + DYN_PER_BODY * *row : ANY;
}

/* True if the link gives a body its name: other links of the body are merged into it. */
static bool is_body(const api_identified *found, size_t link, size_t row)
{
    return strcmp(found->model->link_names[link], found->model->body_names[row]) == 0;
}

/* Sets "inertial" of a link's object, or removes it from a link that is merged into another one. */
static void set_inertial(const api_identified *found, json_t *object, size_t link)
{
    size_t        row;
    const double *p = parameters_of(found, link, &row);
    if (!p) return;
    if (is_body(found, link, row))
        json_object_set_new(object, "inertial", make_inertial(p));
    else
        json_object_del(object, "inertial");
}

/* Returns the spatial inertia [I, m[c]; m[c]^T, m 1] about the link's origin as JSON, rows as in "screws". */
static json_t *make_spatial_inertia(const double p[DYN_PER_BODY])
{
    const double m = p[0], x = p[1], y = p[2], z = p[3];
    const double G[6][6] = {{p[4], p[5], p[7], 0, -z, y}, {p[5], p[6], p[8], z, 0, -x}, {p[7], p[8], p[9], -y, x, 0},
                            {0, z, -y, m, 0, 0},          {-z, 0, x, 0, m, 0},          {y, -x, 0, 0, 0, m}};
    json_t      *rows    = json_array();
    for (int i = 0; i < 6; i++)
        json_array_append_new(rows, numbers(G[i], 6));
    return rows;
}

static void set_spatial_inertias(const api_identified *found, json_t *screws)
{
    static const double none[DYN_PER_BODY] = {0};
    json_t             *G                  = json_object_get(screws, "G");
    for (size_t i = 0, row; i < json_array_size(G); i++) {
        const double *p = parameters_of(found, i + 1, &row);
        if (p) json_array_set_new(G, i, make_spatial_inertia(is_body(found, i + 1, row) ? p : none));
    }
}

/* --- joints and motors ------------------------------------------------------------------------------------------- */

/* Returns the motor in the document that drives the joint, or NULL. */
static json_t *find_motor(json_t *document, const char *joint)
{
    const json_t *motors = json_object_get(document, "motors");
    for (size_t i = 0; i < json_array_size(motors); i++) {
        json_t *motor = json_array_get(motors, i);
        if (strcmp(json_string_value(json_object_get(motor, "joint")), joint) == 0) return motor;
    }
    return NULL;
}

static bool has_motor(const api_model *m, const char *joint)
{
    for (size_t i = 0; i < m->n_motors; i++)
        if (strcmp(m->motors[i].joint, joint) == 0) return true;
    return false;
}

/* Returns the index of the motor coordinate "<joint>.motor" among the movers. */
static size_t motor_coordinate(const api_model *m, const char *joint)
{
    size_t j = m->n_joints, n = strlen(joint);
    while (j < m->n_movers &&
           !(strncmp(m->mover_names[j], joint, n) == 0 && strcmp(m->mover_names[j] + n, ".motor") == 0))
        j++;
    return j;
}

static double not_negative(const double *p, size_t c)
{
    return p && p[c] > 0 ? p[c] : 0;
}

/* Writes Stribeck's curve of mover j. No document may have breakaway friction below Coulomb friction: the latter is
 * then written for both. A velocity below 1e-9 is written as 1e-9. */
static void set_curve(const api_identified *found, json_t *friction, size_t j, const double *p)
{
    const double *curve = found->parameters ? found->parameters + dyn_curve_parameter(found->model->dyn, j, 0) : NULL;
    if (found->load && api_takes_load(found->model, j))
        json_object_set_new(friction, "load", json_real(not_negative(curve, DYN_LOAD)));
    if (!found->stribeck) return;
    json_t *breakaway = json_object();
    json_object_set_new(
        breakaway, "positive",
        json_real(fmax(not_negative(curve, DYN_BREAKAWAY_POSITIVE), not_negative(p, DYN_COULOMB_POSITIVE))));
    json_object_set_new(
        breakaway, "negative",
        json_real(fmax(not_negative(curve, DYN_BREAKAWAY_NEGATIVE), not_negative(p, DYN_COULOMB_NEGATIVE))));
    json_object_set_new(friction, "breakaway", breakaway);
    json_object_set_new(friction, "stribeck_velocity",
                        json_real(fmax(not_negative(curve, DYN_STRIBECK_VELOCITY), 1e-9)));
}

/* Replaces the friction of a joint or motor by that of mover j, with which the torques were fitted. Only the velocity
 * that smooths Coulomb friction stays. */
static void set_friction(const api_identified *found, json_t *object, size_t j, const double *p)
{
    json_t *friction = json_object(), *coulomb = json_object(),
           *smooth = json_object_get(json_object_get(object, "friction"), "coulomb_velocity");
    json_object_set_new(coulomb, "positive", json_real(not_negative(p, DYN_COULOMB_POSITIVE)));
    json_object_set_new(coulomb, "negative", json_real(not_negative(p, DYN_COULOMB_NEGATIVE)));
    json_object_set_new(friction, "viscous", json_real(not_negative(p, DYN_VISCOUS)));
    json_object_set_new(friction, "coulomb", coulomb);
    if (smooth) json_object_set(friction, "coulomb_velocity", smooth);
    set_curve(found, friction, j, p);
    json_object_set_new(object, "friction", friction);
}

static void set_joint(const api_identified *found, json_t *document, json_t *object, size_t j)
{
    const api_model      *m     = found->model;
    const api_joint_name *joint = &m->joints[j];
    if (!dyn_mover_is_estimated(m->dyn, j)) return;
    json_t       *motor  = find_motor(document, joint->name);
    size_t        drive  = joint->elastic ? motor_coordinate(m, joint->name) : j;
    const double *own    = found->parameters ? found->parameters + dyn_joint_parameter(m->dyn, j, 0) : NULL,
                 *driven = found->parameters ? found->parameters + dyn_joint_parameter(m->dyn, drive, 0) : NULL;
    if (found->with & DYN_BASE_ROTORS)
        json_object_set_new(motor ? motor : object, motor ? "spin_inertia" : "rotor_inertia",
                            json_real(not_negative(driven, DYN_ROTOR_INERTIA)));
    if (!(found->with & DYN_BASE_FRICTION)) return;
    if (motor && !joint->elastic) {
        if (!json_object_get(object, "friction"))
            json_object_set(object, "friction", json_object_get(motor, "friction"));
        json_object_del(motor, "friction");
    } else if (motor) {
        set_friction(found, motor, drive, driven);
    }
    set_friction(found, object, j, own);
}

/* Writes the rotor inertia of mover j to a joint with a quaternion, which has no friction. */
static void set_free_rotor(const api_identified *found, json_t *object, size_t j)
{
    const double *figures = found->parameters ? found->parameters + dyn_joint_parameter(found->model->dyn, j, 0) : NULL;
    if (found->with & DYN_BASE_ROTORS)
        json_object_set_new(object, "rotor_inertia", json_real(not_negative(figures, DYN_ROTOR_INERTIA)));
}

const char *api_identified_document_refusal(const api_model *m, unsigned with)
{
    if (with == 0) return NULL;
    if (strstr(m->document, "\"screws\":"))
        return "a document with screws holds neither friction nor rotor inertias, which are estimated here";
    for (size_t j = 0; j < m->n_joints; j++)
        if (m->joints[j].motor_lost)
            return "a document holds the spring to a locked motor, but no friction and rotor inertias estimated beside "
                   "it";
    for (size_t j = 0; j < m->n_joints; j++)
        if (with & DYN_BASE_FRICTION && m->joints[j].elastic && !has_motor(m, m->joints[j].name))
            return "a document holds no friction of the drive of an elastic joint without an entry in motors";
    return NULL;
}

/* --- the document ------------------------------------------------------------------------------------------------ */

static void set_link(const api_identified *found, json_t *document, json_t *object, size_t link)
{
    const api_model *m    = found->model;
    json_t          *body = json_object_get(object, "joint");
    set_inertial(found, object, link);
    for (size_t j = 0; found->with && j < m->n_joints; j++) {
        if (strcmp(m->joints[j].link, m->link_names[link]) != 0) continue;
        if (dyn_joint_nv(m->joints[j].kind) == 1) set_joint(found, document, body, j);
        if (dyn_joint_has_quaternion(m->joints[j].kind)) set_free_rotor(found, body, j);
    }
}

/* True if the motor is mover number `mover`. A motor of a transmission whose joints are locked is none. */
static bool moves(const api_model *m, const json_t *motor, size_t mover)
{
    return mover < m->n_movers && strcmp(m->mover_names[mover], json_string_value(json_object_get(motor, "name"))) == 0;
}

/* Sets the motors of coupled transmissions. They are the last movers, in the order of the document. */
static void set_coupled_motors(const api_identified *found, const json_t *transmissions)
{
    const api_model *m     = found->model;
    size_t           mover = dyn_drive_mover(m->dyn, 0);
    for (size_t i = 0; i < json_array_size(transmissions); i++) {
        const json_t *motors = json_object_get(json_array_get(transmissions, i), "motors");
        for (size_t k = 0; k < json_array_size(motors); k++) {
            json_t *motor = json_array_get(motors, k);
            if (!moves(m, motor, mover)) continue;
            const double *own = found->parameters ? found->parameters + dyn_joint_parameter(m->dyn, mover, 0) : NULL;
            if (found->with & DYN_BASE_ROTORS)
                json_object_set_new(motor, "rotor_inertia", json_real(not_negative(own, DYN_ROTOR_INERTIA)));
            if (found->with & DYN_BASE_FRICTION) set_friction(found, motor, mover, own);
            mover++;
        }
    }
}

/* Removes the inertias of motors, which are part of the identified bodies that carry them. */
static void clear_motor(const api_identified *found, json_t *motor)
{
    const char *link = json_string_value(json_object_get(motor, "link"));
    int         at   = link ? api_model_frame(found->model, link, strlen(link)) : -1;
    size_t      row;
    if (at >= 0 && parameters_of(found, (size_t)at, &row)) json_object_del(motor, "inertial");
}

static void change(const api_identified *found, json_t *document)
{
    const json_t *links = json_object_get(document, "links"), *motors = json_object_get(document, "motors");
    set_inertial(found, json_object_get(document, "base"), 0);
    set_spatial_inertias(found, json_object_get(document, "screws"));
    for (size_t i = 0; i < json_array_size(links); i++)
        set_link(found, document, json_array_get(links, i), i + 1);
    if (found->with) set_coupled_motors(found, json_object_get(document, "transmissions"));
    for (size_t i = 0; i < json_array_size(motors); i++)
        clear_motor(found, json_array_get(motors, i));
}

size_t api_identified_document_memory(const api_model *m)
{
    enum { OF_A_LINK = 4096 }; /* bytes of a link's new inertial, spatial inertia and friction */
    return api_json_estimate_memory(m->document, m->document_length) + (m->n_links + m->dyn->n_drives) * OF_A_LINK;
}

void api_identified_document_emit(const api_identified *found, api_emit *to)
{
    const api_model *m = found->model;
    api_problem      problem;
    api_problem_clear(&problem);
    json_t *document = api_json_parse(m->document, m->document_length, API_EMIT_DEPTH, &problem);
    if (document) {
        change(found, document);
        api_json_emit(to, document);
    } else { /* memory is short */
        api_emit_null(to);
    }
    json_decref(document);
}
