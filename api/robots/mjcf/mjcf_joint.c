/* mjcf_joint.c - write the fields of a joint: axis, limits, friction, spring, armature, coupling, home. */
#include "api/codec/number.h"
#include "mjcf_reader.h"
#include <math.h>
#include <string.h>

bool api_mjcf_has_several(const api_mjcf_joint *joint)
{
    return joint->type == API_MJCF_BALL || joint->type == API_MJCF_FREE;
}

static bool is_angle(const api_mjcf *m, const api_mjcf_joint *joint)
{
    return joint->type == API_MJCF_HINGE && !api_mjcf_compiler_of(m, joint->element)->radians;
}

static json_t *open_object(api_mjcf *m, json_t *owner, const char *key)
{
    json_t *object = json_object();
    return api_xml_set_field(&m->xml, owner, key, object) ? object : NULL;
}

/* --- joints with one coordinate ----------------------------------------------------------------------------------- */

/* Reads the range of position of a joint with one coordinate, and writes it to the document. */
static bool write_limits(api_mjcf *m, const api_mjcf_joint *joint, json_t *fields, bool *limited)
{
    static const char *const values[] = {"false", "true", "auto", NULL};
    const xmlNode           *element  = api_mjcf_with(m, &joint->item, "range");
    double                   range[2] = {0, 0};
    int                      state    = 2;
    if (!api_mjcf_choice(m, &joint->item, "limited", values, &state) ||
        !api_mjcf_numbers(m, &joint->item, "range", range, 2))
        return false;
    bool given;
    if (!api_mjcf_range_limits(m, joint->element, "range", range, &given)) return false;
    *limited = !m->option.no_limits &&
               (state == 1 || (state == 2 && api_mjcf_compiler_of(m, joint->element)->auto_limits && given));
    if (!*limited && !joint->has_effort) return true;
    json_t *limits = open_object(m, fields, "limits");
    if (!limits) return false;
    if (joint->has_effort && !api_xml_set_number(&m->xml, limits, "effort", joint->most)) return false;
    if (!*limited) return true;
    if (!(range[0] < range[1]))
        return api_xml_fail(&m->xml, element, API_BAD_VALUE, "range of <joint>: %s is not below %s",
                            API_NUMBER_TEXT(range[0]), API_NUMBER_TEXT(range[1]));
    for (int i = 0; i < 2; i++)
        if (is_angle(m, joint)) range[i] *= M_PI / 180;
    return api_xml_set_vector(&m->xml, limits, "position", range, 2);
}

bool api_mjcf_polynomial(api_mjcf *m, const api_mjcf_item *item, const char *attribute, double c[3])
{
    api_xml_span span = {.v = c, .min = 1, .max = 3};
    c[0] = c[1] = c[2] = 0;
    return api_mjcf_span(m, item, attribute, &span);
}

bool api_mjcf_coefficients(api_mjcf *m, const api_mjcf_item *item, const char *attribute, double *linear)
{
    double c[3];
    if (!api_mjcf_polynomial(m, item, attribute, c)) return false;
    *linear = c[0];
    if (c[1] == 0 && c[2] == 0) return true;
    return api_xml_report(&m->xml, item->element, "warning", "not-held",
                          "%s of <%.40s> is a polynomial, %.9g %.9g %.9g: the model holds its linear term alone",
                          attribute, (const char *)item->element->name, c[0], c[1], c[2]);
}

/* Stiffness and damping at the joint, without those that a flag disables; damping includes that of the actuators. The
 * coefficients of higher powers exist only at joints with one coordinate. */
typedef struct passive_forces {
    double stiffness, damping, loss;
    double stiffness_polynomial[2], damping_polynomial[2];
} passive_forces;

/* Reads the higher powers, which `springdamper` leaves unchanged. Together with the spring of a tendon with another
 * rest position they are left out and reported: the sum is no polynomial of one displacement. */
static bool read_mjcf_polynomials(api_mjcf *m, const api_mjcf_joint *joint, passive_forces *f)
{
    double     k[3], d[3];
    const bool tendons = joint->tendon_stiffness != 0;
    if (!api_mjcf_polynomial(m, &joint->item, "stiffness", k) || !api_mjcf_polynomial(m, &joint->item, "damping", d))
        return false;
    if (!m->option.no_dampers) memcpy(f->damping_polynomial, d + 1, 2 * sizeof *d);
    if (m->option.no_springs || (k[1] == 0 && k[2] == 0)) return true;
    if (!tendons) memcpy(f->stiffness_polynomial, k + 1, 2 * sizeof *k);
    return !tendons ||
           api_xml_report(&m->xml, joint->element, "warning", "not-held",
                          "stiffness of joint \"%.*s\" is a polynomial, %.9g %.9g %.9g: beside the spring of a "
                          "tendon the model holds its linear term alone",
                          api_text_shown(joint->name), joint->name, k[0], k[1], k[2]);
}

static bool read_forces(api_mjcf *m, const api_mjcf_joint *joint, passive_forces *f)
{
    const bool several = api_mjcf_has_several(joint);
    double     k[3], d[3];
    *f = (passive_forces){0};
    if (several ? !api_mjcf_coefficients(m, &joint->item, "stiffness", k) ||
                      !api_mjcf_coefficients(m, &joint->item, "damping", d)
                : !api_mjcf_polynomial(m, &joint->item, "stiffness", k) ||
                      !api_mjcf_polynomial(m, &joint->item, "damping", d) || !read_mjcf_polynomials(m, joint, f))
        return false;
    f->stiffness = k[0];
    f->damping   = d[0];
    if (!api_mjcf_numbers(m, &joint->item, "frictionloss", &f->loss, 1)) return false;
    if (f->loss < 0)
        return api_xml_fail(&m->xml, joint->element, API_BAD_VALUE, "frictionloss %.9g is negative", f->loss);
    if (joint->has_springdamper) {
        f->stiffness = joint->springdamper[0];
        f->damping   = joint->springdamper[1];
    }
    f->damping += joint->motor_damping;
    f->loss += joint->tendon_friction;
    if (!api_mjcf_check_finite(m, joint->element, "damping with that of the actuators", f->damping)) return false;
    if (m->option.no_springs) f->stiffness = 0;
    if (m->option.no_dampers) f->damping = 0;
    if (m->option.no_friction) f->loss = 0;
    return true;
}

static bool write_friction(api_mjcf *m, const passive_forces *f, json_t *fields)
{
    if (f->damping == 0 && f->loss == 0) return true;
    json_t *friction = open_object(m, fields, "friction");
    return friction && api_xml_set_number(&m->xml, friction, "viscous", f->damping) &&
           api_xml_set_number(&m->xml, friction, "coulomb", f->loss);
}

bool api_mjcf_read_springref(api_mjcf *m, const api_mjcf_joint *joint, double *springref)
{
    *springref = 0;
    if (!api_mjcf_numbers(m, &joint->item, "springref", springref, 1)) return false;
    if (is_angle(m, joint)) *springref = *springref * M_PI / 180;
    return true;
}

static bool write_polynomial(api_mjcf *m, json_t *spring, const char *key, const double c[2])
{
    return (c[0] == 0 && c[1] == 0) || api_xml_set_vector(&m->xml, spring, key, c, 2);
}

/* Writes the sum of the springs of the joint and of its tendons, whose forces are k (q - rest) and k_t q - effort. */
static bool write_spring(api_mjcf *m, const api_mjcf_joint *joint, const passive_forces *f, json_t *fields)
{
    const bool    tendons = joint->tendon_stiffness != 0 && !m->option.no_springs;
    const double *k = f->stiffness_polynomial, *d = f->damping_polynomial;
    double        middle, sum                     = f->stiffness + (tendons ? joint->tendon_stiffness : 0);
    if (!api_mjcf_read_springref(m, joint, &middle)) return false;
    if (tendons && sum != 0) middle = (f->stiffness * middle + joint->tendon_effort) / sum;
    const bool pulls = sum != 0 || k[0] != 0 || k[1] != 0;
    if (!pulls && d[0] == 0 && d[1] == 0) return true;
    json_t *spring = open_object(m, fields, "spring");
    return spring &&
           (!pulls || (api_xml_set_number(&m->xml, spring, "stiffness", sum) &&
                       api_xml_set_number(&m->xml, spring, "rest", middle))) &&
           write_polynomial(m, spring, "stiffness_polynomial", k) &&
           write_polynomial(m, spring, "damping_polynomial", d);
}

bool api_mjcf_read_armature(api_mjcf *m, const api_mjcf_joint *joint, double *armature)
{
    *armature = 0;
    if (!api_mjcf_numbers(m, &joint->item, "armature", armature, 1)) return false;
    *armature += joint->motor_armature;
    if (!api_mjcf_check_finite(m, joint->element, "armature with that of the actuators", *armature)) return false;
    return *armature >= 0 || api_xml_fail(&m->xml, joint->element, API_BAD_INERTIA,
                                          "armature %.9g is negative, that of the actuators included", *armature);
}

static bool write_armature(api_mjcf *m, const api_mjcf_joint *joint, json_t *fields)
{
    double armature;
    return api_mjcf_read_armature(m, joint, &armature) &&
           (armature == 0 || api_xml_set_number(&m->xml, fields, "rotor_inertia", armature));
}

static bool write_mimic(api_mjcf *m, const api_mjcf_joint *joint, json_t *fields)
{
    if (joint->leader < 0) return true;
    json_t *mimic = open_object(m, fields, "mimic");
    return mimic && api_xml_set_field(&m->xml, mimic, "joint", json_string(m->joints[joint->leader].name)) &&
           api_xml_set_number(&m->xml, mimic, "multiplier", joint->multiplier) &&
           api_xml_set_number(&m->xml, mimic, "offset", joint->offset);
}

static bool write_one_coordinate(api_mjcf *m, const api_mjcf_joint *joint, json_t *fields, bool *limited)
{
    passive_forces f;
    return api_xml_set_vector(&m->xml, fields, "axis", joint->axis, 3) && read_forces(m, joint, &f) &&
           write_limits(m, joint, fields, limited) && write_friction(m, &f, fields) &&
           write_spring(m, joint, &f, fields) && write_armature(m, joint, fields) && write_mimic(m, joint, fields);
}

/* --- joints with several coordinates ------------------------------------------------------------------------------ */

/* Writes damping and stiffness. A ball is at rest in the reference, where its rotation is zero. */
static bool write_free_spring(api_mjcf *m, double damping, double stiffness, json_t *fields)
{
    if (damping == 0 && stiffness == 0) return true;
    json_t *spring = open_object(m, fields, "spring");
    return spring && (damping == 0 || api_xml_set_number(&m->xml, spring, "damping", damping)) &&
           (stiffness == 0 || api_xml_set_number(&m->xml, spring, "stiffness", stiffness));
}

static bool report_value(api_mjcf *m, const api_mjcf_joint *joint, const char *what, double value)
{
    return value == 0 || api_xml_report(&m->xml, joint->element, "warning", "not-held",
                                        "%s %.9g of joint \"%.*s\" is not part of the model: the joint has several "
                                        "coordinates",
                                        what, value, api_text_shown(joint->name), joint->name);
}

static bool report_range(api_mjcf *m, const api_mjcf_joint *joint)
{
    if (joint->type == API_MJCF_FREE || joint->pinned || !api_mjcf_has(m, &joint->item, "range") || m->option.no_limits)
        return true;
    return api_xml_report(&m->xml, joint->element, "warning", "not-held",
                          "range of joint \"%.*s\" is not part of the model: limits are for joints with one coordinate",
                          api_text_shown(joint->name), joint->name);
}

bool api_mjcf_write_several(api_mjcf *m, const api_mjcf_joint *joint, json_t *fields)
{
    const bool     ball = joint->type == API_MJCF_BALL;
    passive_forces f;
    if (!read_forces(m, joint, &f) || !write_armature(m, joint, fields) ||
        !write_free_spring(m, f.damping, ball ? f.stiffness : 0, fields) ||
        !report_value(m, joint, "frictionloss", f.loss) || (!ball && !report_value(m, joint, "stiffness", f.stiffness)))
        return false;
    return report_range(m, joint);
}

/* Reports the forces of a ball joint that is replaced by three hinges, which do not have them. */
static bool report_ball(api_mjcf *m, const api_mjcf_joint *ball)
{
    passive_forces f;
    double         armature;
    return read_forces(m, ball, &f) && api_mjcf_read_armature(m, ball, &armature) &&
           report_value(m, ball, "armature", armature) && report_value(m, ball, "damping", f.damping) &&
           report_value(m, ball, "frictionloss", f.loss) && report_value(m, ball, "stiffness", f.stiffness) &&
           report_range(m, ball);
}

/* --- all joints --------------------------------------------------------------------------------------------------- */

static bool write_home(api_mjcf *m, const api_mjcf_joint *joint, json_t *fields)
{
    if (joint->type == API_MJCF_FREE) {
        const dyn_pose *X = &m->bodies[joint->body].X_wb;
        double          pose[7];
        memcpy(pose, X->p, sizeof X->p);
        dyn_quaternion_of((const double(*)[3])X->R, pose + 3);
        for (int i = 0; i < 7; i++)
            pose[i] += 0.0; /* -0 becomes 0 */
        return api_xml_set_vector(&m->xml, fields, "home", pose, 7);
    }
    return joint->ref == 0 || joint->leader >= 0 || api_xml_set_number(&m->xml, fields, "home", joint->ref);
}

/* Writes one of the three hinges that replace a ball joint. The forces that the hinges do not have are reported once,
 * at the first. */
static bool write_part(api_mjcf *m, const api_mjcf_joint *joint, json_t *fields)
{
    api_mjcf_joint ball = *joint;
    ball.type           = API_MJCF_BALL;
    ball.name           = joint->ball;
    return (joint->part > 1 || report_ball(m, &ball)) && api_xml_set_vector(&m->xml, fields, "axis", joint->axis, 3);
}

/* A locked joint is fixed: it has no fields. */
static bool write_fields(api_mjcf *m, const api_mjcf_joint *joint, json_t *fields, bool *limited)
{
    if (joint->locked) return true;
    bool ok = joint->part > 0               ? write_part(m, joint, fields)
              : api_mjcf_has_several(joint) ? api_mjcf_write_several(m, joint, fields)
                                            : write_one_coordinate(m, joint, fields, limited);
    return ok && write_home(m, joint, fields) &&
           (!joint->passive || joint->driven || joint->leader >= 0 ||
            api_xml_set_field(&m->xml, fields, "actuated", json_false()));
}

/* Returns the name of a joint's type in a document. `limited`: it has limits of position. */
static const char *document_type(const api_mjcf_joint *joint, bool limited)
{
    static const dyn_joint_kind kinds[API_MJCF_JOINT_TYPES] = {[API_MJCF_FREE]  = DYN_FLOATING,
                                                               [API_MJCF_BALL]  = DYN_SPHERICAL,
                                                               [API_MJCF_SLIDE] = DYN_PRISMATIC,
                                                               [API_MJCF_HINGE] = DYN_REVOLUTE};
    const dyn_joint_type       *type = &dyn_joint_types[joint->locked ? DYN_FIXED : kinds[joint->type]];
    return type->unlimited && !limited ? type->unlimited : type->name;
}

json_t *api_mjcf_joint_fields(api_mjcf *m, const api_mjcf_joint *joint, const char **type)
{
    json_t *fields  = json_object();
    bool    limited = false;
    if (!fields) api_reader_no_memory(&m->xml.base);
    if (fields && !write_fields(m, joint, fields, &limited)) {
        json_decref(fields);
        fields = NULL;
    }
    *type = document_type(joint, limited);
    return fields;
}
