/* mjcf_actuator.c - read <actuator>: which joints are driven, and the limits of effort that follow from ranges of force
 * and control. What an actuator does with its control is not part of the model: torques are those at the joints. */
#include "mjcf_reader.h"
#include <math.h>
#include <string.h>

static bool is_motor(const api_mjcf_item *item)
{
    return api_xml_is(item->element, "motor");
}

/* Reads a range and whether it limits: `limited` is true, false or auto, which is true if there is a range. */
static bool read_range(api_mjcf *m, const api_mjcf_item *item, const char *range_name, const char *limited_name,
                       double range[2], bool *limits)
{
    static const char *const values[] = {"false", "true", "auto", NULL};
    int                      limited  = 2;
    range[0] = range[1] = 0;
    if (!api_mjcf_choice(m, item, limited_name, values, &limited) || !api_mjcf_numbers(m, item, range_name, range, 2))
        return false;
    bool given = range[0] != 0 || range[1] != 0;
    *limits    = limited == 1 || (limited == 2 && m->settings.auto_limits && given);
    return true;
}

/* Adds an actuator's greatest force to the joint's limit of effort, which holds only if the range is symmetric. */
static bool add_effort(api_mjcf *m, const api_mjcf_item *item, api_mjcf_joint *joint)
{
    double       gear[6] = {1, 0, 0, 0, 0, 0}, force[2], control[2], most = INFINITY;
    bool         force_limits, control_limits;
    api_xml_span span = {.v = gear, .min = 1, .max = 6};
    if (!api_mjcf_span(m, item, "gear", &span) ||
        !read_range(m, item, "forcerange", "forcelimited", force, &force_limits) ||
        !read_range(m, item, "ctrlrange", "ctrllimited", control, &control_limits))
        return false;
    if (force_limits && force[0] == -force[1]) most = fmin(most, force[1]);
    if (is_motor(item) && control_limits && control[0] == -control[1]) most = fmin(most, control[1]);
    if (!(most >= 0) || isinf(most)) {
        joint->unlimited = true;
        return true;
    }
    joint->has_effort = true;
    joint->effort += fabs(gear[0]) * most;
    return true;
}

/* True for a joint with one coordinate, whose effort has one limit. */
static bool is_scalar(const api_mjcf_joint *joint)
{
    return strcmp(joint->type, "revolute") == 0 || strcmp(joint->type, "prismatic") == 0;
}

static bool read_actuator(api_mjcf *m, const xmlNode *element)
{
    api_mjcf_item item;
    const char   *name      = NULL;
    const char   *attribute = api_xml_has(element, "jointinparent") ? "jointinparent" : "joint";
    if (!api_mjcf_open_item(m, element, API_MJCF_ACTUATOR, m->main_class, &item) ||
        !api_xml_text(&m->xml, element, attribute, API_OPTIONAL, &name))
        return false;
    if (!name) /* it acts on a tendon, a site, a body */
        return !is_motor(&item) || api_xml_report(&m->xml, element, "warning", "not-held",
                                                  "<motor> acts on no joint: its forces are not part of the model");
    const json_t *found = json_object_get(m->joint_index, name);
    if (!found)
        return api_xml_fail(&m->xml, element, API_UNKNOWN_NAME, "its %s \"%.*s\" is not a joint of this file",
                            attribute, api_text_shown(name), name);
    api_mjcf_joint *joint = &m->joints[json_integer_value(found)];
    joint->driven         = true;
    return !is_scalar(joint) || add_effort(m, &item, joint);
}

/* A joint's own limit of the sum of its actuators' forces. */
static bool read_joint_range(api_mjcf *m, api_mjcf_joint *joint)
{
    double range[2];
    bool   limits;
    if (!read_range(m, &joint->item, "actuatorfrcrange", "actuatorfrclimited", range, &limits)) return false;
    if (!limits || range[0] != -range[1] || range[1] < 0) return true;
    joint->effort     = joint->has_effort && !joint->unlimited ? fmin(joint->effort, range[1]) : range[1];
    joint->has_effort = true;
    joint->unlimited  = false;
    return true;
}

/* A driven joint is not passive. If no actuator drives a joint of the loops, the first of these is the driven one. */
static bool choose_driven(api_mjcf *m)
{
    api_mjcf_joint *first = NULL;
    for (size_t i = 0; i < m->n_joints; i++) {
        api_mjcf_joint *joint = &m->joints[i];
        bool            moves = joint->passive && joint->leader < 0 && !joint->locked;
        if (moves && joint->driven) return true;
        if (moves && !first) first = joint;
    }
    if (!first) return true;
    first->driven = true;
    return api_xml_report(&m->xml, first->element, "info", "assumed",
                          "no actuator drives a joint of the loops: joint \"%.*s\" is taken as the driven one",
                          api_text_shown(first->name), first->name);
}

bool api_mjcf_read_actuators(api_mjcf *m)
{
    for (const xmlNode *s = api_xml_child(m->xml.root, "actuator"); s; s = api_xml_next(s, "actuator"))
        for (const xmlNode *e = s->children; e; e = e->next)
            if (e->type == XML_ELEMENT_NODE && !read_actuator(m, e)) return false;
    for (size_t i = 0; i < m->n_joints; i++)
        if (is_scalar(&m->joints[i]) && !read_joint_range(m, &m->joints[i])) return false;
    return choose_driven(m);
}
