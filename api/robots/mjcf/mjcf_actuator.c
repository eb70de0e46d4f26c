/* mjcf_actuator.c - read <actuator>: which joints are driven, the armature and damping that actuators add to them, and
 * the limits of effort that follow from ranges of force and control. What an actuator does with its control is not part
 * of the model: torques are those at the joints. */
#include "mjcf_reader.h"
#include "mjcf_tendon.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Properties that an actuator adds to the joint or tendon on which it acts. */
typedef struct actuator {
    api_mjcf_item item;
    double        gear, armature, damping; /* values at the motor's side of the gear */
    double        force[2];                /* least and greatest force, which may be infinite */
    bool          limited;
} actuator;

static bool warn(api_mjcf *m, const xmlNode *element, const char *what)
{
    return api_xml_report(&m->xml, element, "warning", "not-held", "<%.40s> %s", (const char *)element->name, what);
}

/* --- the range of force ------------------------------------------------------------------------------------------- */

/* Reads a range and whether it limits: `limited` is true, false or auto, which is true if the range is not empty. */
static bool read_range(api_mjcf *m, const api_mjcf_item *item, const char *range_name, const char *limited_name,
                       double range[2], bool *limits)
{
    static const char *const values[] = {"false", "true", "auto", NULL};
    int                      limited  = 2;
    range[0] = range[1] = 0;
    if (!api_mjcf_choice(m, item, limited_name, values, &limited) || !api_mjcf_numbers(m, item, range_name, range, 2))
        return false;
    bool given;
    if (!api_mjcf_range_limits(m, item->element, range_name, range, &given)) return false;
    *limits = limited == 1 || (limited == 2 && api_mjcf_compiler_of(m, item->element)->auto_limits && given);
    if (!*limits || range[0] < range[1]) return true;
    return api_xml_fail(&m->xml, item->element, API_BAD_VALUE, "%s of <%.40s>: %.9g is not below %.9g", range_name,
                        (const char *)item->element->name, range[0], range[1]);
}

static double clip(double value, const double range[2])
{
    return fmin(fmax(value, range[0]), range[1]);
}

/* Sets *gain to the force per unit of control of an actuator whose force is its control times a gain; 0 for other
 * actuators, and for those of a class with the settings of a servo. */
static bool read_gain(api_mjcf *m, const api_mjcf_item *item, double *gain)
{
    static const char *const laws[] = {"gaintype", "biastype", "dyntype"}, *const plain[] = {"fixed", "none", "none"};
    int          cursor    = API_MJCF_OWN;
    double       gains[10] = {1};
    api_xml_span span      = {.v = gains, .min = 1, .max = 10};
    *gain                  = api_xml_is(item->element, "motor");
    if (!api_xml_is(item->element, "general")) return true;
    for (const xmlNode *e = api_mjcf_next_level(m, item, &cursor); e; e = api_mjcf_next_level(m, item, &cursor))
        if (!api_xml_is(e, "general") && !api_xml_is(e, "motor")) return true;
    for (int i = 0; i < 3; i++) {
        const char *law = NULL;
        if (!api_xml_text(&m->xml, api_mjcf_with(m, item, laws[i]), laws[i], API_OPTIONAL, &law)) return false;
        if (law && strcmp(law, plain[i]) != 0) return true;
    }
    if (!api_mjcf_span(m, item, "gainprm", &span)) return false;
    *gain = gains[0];
    return true;
}

/* Reads the range of controls. A servo may take it from the range of its joint, which limits no force. */
static bool read_control(api_mjcf *m, const api_mjcf_item *item, double control[2], bool *limits)
{
    double inherits = 0;
    *limits         = false;
    if (!api_mjcf_numbers(m, item, "inheritrange", &inherits, 1)) return false;
    return inherits > 0 || read_range(m, item, "ctrlrange", "ctrllimited", control, limits);
}

static bool read_force(api_mjcf *m, actuator *a)
{
    double force[2], control[2], gain;
    bool   force_limits, control_limits;
    a->force[0] = -INFINITY;
    a->force[1] = INFINITY;
    if (!read_range(m, &a->item, "forcerange", "forcelimited", force, &force_limits) ||
        !read_control(m, &a->item, control, &control_limits) || !read_gain(m, &a->item, &gain))
        return false;
    if (control_limits && gain != 0 && !m->option.no_control_limits) {
        a->force[0] = fmin(gain * control[0], gain * control[1]);
        a->force[1] = fmax(gain * control[0], gain * control[1]);
        a->limited  = true;
    }
    for (int i = 0; force_limits && i < 2; i++)
        a->force[i] = clip(a->force[i], force);
    a->limited |= force_limits;
    return true;
}

/* --- one actuator ------------------------------------------------------------------------------------------------- */

static bool read_figures(api_mjcf *m, const xmlNode *element, actuator *a)
{
    double       gear[6] = {1, 0, 0, 0, 0, 0};
    api_xml_span span    = {.v = gear, .min = 1, .max = 6};
    *a                   = (actuator){.gear = 1};
    if (!api_mjcf_open_item(m, element, API_MJCF_ACTUATOR, m->main_class, &a->item) ||
        !api_mjcf_span(m, &a->item, "gear", &span) || !api_mjcf_numbers(m, &a->item, "armature", &a->armature, 1) ||
        !api_mjcf_coefficients(m, &a->item, "damping", &a->damping))
        return false;
    a->gear = gear[0];
    return true;
}

/* Adds the actuator to a joint with one coordinate: force times gear, armature and damping times its square. */
static bool add_to_joint(api_mjcf *m, actuator *a, api_mjcf_joint *joint)
{
    double ends[2];
    if (!read_force(m, a)) return false;
    for (int i = 0; i < 2; i++)
        ends[i] = a->gear == 0 ? 0 : a->gear * a->force[i];
    joint->effort[0] += fmin(ends[0], ends[1]);
    joint->effort[1] += fmax(ends[0], ends[1]);
    if (a->limited) joint->effort_from = a->item.element;
    joint->motor_armature += a->armature == 0 ? 0 : a->gear * a->gear * a->armature;
    joint->motor_damping += a->damping == 0 ? 0 : a->gear * a->gear * a->damping; /* gear^2 may be infinite */
    return true;
}

static bool has_figures(const actuator *a)
{
    return a->armature != 0 || a->damping != 0;
}

/* Adds the armature and damping of an actuator that acts on no joint to its tendon, if it has one. */
static bool add_elsewhere(api_mjcf *m, const actuator *a)
{
    const xmlNode   *element = a->item.element;
    api_mjcf_tendon *t       = NULL;
    if (!api_mjcf_find_tendon(m, element, "tendon", API_OPTIONAL, &t)) return false;
    if (has_figures(a) && !t)
        return warn(m, element, "acts on no joint: its armature and damping are not part of the model");
    if (has_figures(a)) {
        t->armature += a->armature == 0 ? 0 : a->gear * a->gear * a->armature;
        t->damping += a->damping == 0 ? 0 : a->gear * a->gear * a->damping;
        if (!api_mjcf_check_finite(m, element, "armature of the tendon", t->armature) ||
            !api_mjcf_check_finite(m, element, "damping of the tendon", t->damping))
            return false;
    }
    return !api_xml_is(element, "motor") || warn(m, element, "acts on no joint: its forces are not part of the model");
}

static bool read_actuator(api_mjcf *m, const xmlNode *element)
{
    actuator    a;
    const char *name      = NULL;
    const char *attribute = api_xml_has(element, "jointinparent") ? "jointinparent" : "joint";
    if (!read_figures(m, element, &a) || !api_xml_text(&m->xml, element, attribute, API_OPTIONAL, &name)) return false;
    if (!name) return add_elsewhere(m, &a);
    const json_t *found = json_object_get(m->joint_index, name);
    if (!found && m->generates)
        return warn(m, element, "acts on what <composite> or <flexcomp> makes: its forces are not part of the model");
    if (!found)
        return api_xml_fail(&m->xml, element, API_UNKNOWN_NAME, "its %s \"%.*s\" is not a joint of this file",
                            attribute, api_text_shown(name), name);
    api_mjcf_joint *joint = &m->joints[json_integer_value(found)];
    if (!joint->driven) joint->effort[0] = joint->effort[1] = 0;
    joint->driven = true;
    if (!api_mjcf_has_several(joint)) return add_to_joint(m, &a, joint);
    return !has_figures(&a) || warn(m, element,
                                    "acts on a joint with several coordinates: its armature and damping are not part "
                                    "of the model");
}

/* --- joints ------------------------------------------------------------------------------------------------------- */

/* Reads a joint's own limit of the sum of its actuators' forces. */
static bool read_joint_range(api_mjcf *m, api_mjcf_joint *joint)
{
    static const char *const values[] = {"false", "true", NULL};
    double                   range[2];
    bool                     limits;
    int                      compensates = 0;
    if (!read_range(m, &joint->item, "actuatorfrcrange", "actuatorfrclimited", range, &limits) ||
        !api_mjcf_choice(m, &joint->item, "actuatorgravcomp", values, &compensates))
        return false;
    joint->gravcomp_by_actuators = compensates == 1;
    if (!limits) return true;
    for (int i = 0; i < 2; i++)
        joint->effort[i] = clip(joint->effort[i], range);
    joint->effort_from = joint->element;
    return true;
}

/* Reduces the range of effort to one limit for both directions, as a document has it: the smaller end, so that no motor
 * is asked for more than it has. A range that limits one direction only gives no limit. */
static bool make_symmetric(api_mjcf *m, api_mjcf_joint *joint)
{
    const double *e = joint->effort, least = fmin(-e[0], e[1]);
    char          held[60] = "no limit of effort";
    joint->has_effort      = !isinf(e[0]) && !isinf(e[1]) && (least > 0 || (e[0] == 0 && e[1] == 0));
    joint->most            = fabs(least);
    if (-e[0] == e[1]) return true;
    if (joint->has_effort) snprintf(held, sizeof held, "the limit of effort %.9g", least);
    return api_xml_report(
        &m->xml, joint->effort_from, "warning", "not-held",
        "the actuators of joint \"%.*s\" exert %.9g to %.9g: the model holds %s, which is the same in both "
        "directions",
        api_text_shown(joint->name), joint->name, e[0], e[1], held);
}

bool api_mjcf_read_actuators(api_mjcf *m)
{
    for (size_t i = 0; i < m->n_joints; i++) {
        m->joints[i].effort[0] = -INFINITY;
        m->joints[i].effort[1] = INFINITY;
    }
    for (const xmlNode *s = api_xml_child(m->xml.root, "actuator"); s; s = api_xml_next(s, "actuator"))
        for (const xmlNode *e = s->children; e; e = e->next)
            if (e->type == XML_ELEMENT_NODE && !read_actuator(m, e)) return false;
    for (size_t i = 0; i < m->n_joints; i++)
        if (!api_mjcf_has_several(&m->joints[i]) &&
            (!read_joint_range(m, &m->joints[i]) || !make_symmetric(m, &m->joints[i])))
            return false;
    return true;
}
