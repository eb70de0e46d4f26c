/* mjcf_tendon.c - read <tendon>: the figures of tendons, and the joints of fixed ones.
 *
 * The length of a fixed tendon is L = sum of c q over its joints, with constant coefficients c. mjcf_tendon_forces.c
 * has the forces at the joints. The length of a spatial tendon follows from places of bodies. */
#include "mjcf_tendon.h"
#include <math.h>

enum { MOST_TENDONS = 4096 };

static bool read_tendon_figures(api_mjcf *m, api_mjcf_tendon *t)
{
    return api_mjcf_coefficients(m, &t->item, "stiffness", &t->stiffness) &&
           api_mjcf_coefficients(m, &t->item, "damping", &t->damping) &&
           api_mjcf_numbers(m, &t->item, "armature", &t->armature, 1) &&
           api_mjcf_numbers(m, &t->item, "frictionloss", &t->friction, 1);
}

static bool check_tendon_figures(api_mjcf *m, const api_mjcf_tendon *t)
{
    if (t->armature < 0)
        return api_xml_fail(&m->xml, t->element, API_BAD_INERTIA, "armature %.9g is negative", t->armature);
    return t->friction >= 0 ||
           api_xml_fail(&m->xml, t->element, API_BAD_VALUE, "frictionloss %.9g is negative", t->friction);
}

static bool read_tendon_limits(api_mjcf *m, api_mjcf_tendon *t)
{
    static const char *const values[] = {"false", "true", "auto", NULL};
    double                   range[2] = {0, 0};
    int                      limited  = 2;
    if (!api_mjcf_choice(m, &t->item, "limited", values, &limited) || !api_mjcf_numbers(m, &t->item, "range", range, 2))
        return false;
    bool has_range = range[0] < range[1];
    t->limited     = limited == 1 || (limited == 2 && api_mjcf_compiler_of(m, t->element)->auto_limits && has_range);
    return true;
}

static bool read_tendon_joint(api_mjcf *m, const xmlNode *element, api_mjcf_tendon *t)
{
    const char *name        = NULL;
    double      coefficient = 0;
    if (!api_xml_text(&m->xml, element, "joint", API_REQUIRED, &name) ||
        !api_xml_numbers(&m->xml, element, "coef", API_REQUIRED, &coefficient, 1))
        return false;
    const json_t *found = json_object_get(m->joint_index, name);
    if (!found && m->generates) {
        t->fixed = false; /* the length depends on joints that the model lacks */
        return true;
    }
    if (!found)
        return api_xml_fail(&m->xml, element, API_UNKNOWN_NAME, "its joint \"%.*s\" is not a joint of this file",
                            api_text_shown(name), name);
    int index = (int)json_integer_value(found);
    if (api_mjcf_has_several(&m->joints[index])) { /* MuJoCo takes the first entries of the joint in qpos and qvel */
        t->fixed = false;
        return api_xml_report(&m->xml, element, "warning", "not-held",
                              "joint \"%.*s\" of this tendon is neither a hinge nor a slide: the tendon moves no joint "
                              "in the model",
                              api_text_shown(name), name);
    }
    t->joint[t->n]         = index;
    t->coefficient[t->n++] = coefficient;
    return true;
}

static size_t count_joints(const xmlNode *element)
{
    size_t n = 0;
    for (const xmlNode *e = api_xml_child(element, "joint"); e; e = api_xml_next(e, "joint"))
        n++;
    return n;
}

static bool read_tendon_joints(api_mjcf *m, api_mjcf_tendon *t)
{
    size_t most    = count_joints(t->element);
    t->joint       = api_arena_take(m->xml.base.arena, most, sizeof *t->joint);
    t->coefficient = api_arena_take(m->xml.base.arena, most, sizeof *t->coefficient);
    if (!t->joint || !t->coefficient) return api_reader_no_memory(&m->xml.base);
    for (const xmlNode *e = api_xml_child(t->element, "joint"); e; e = api_xml_next(e, "joint"))
        if (!read_tendon_joint(m, e, t)) return false;
    return true;
}

/* Reads the length at which the spring has no force; -1 is that at the joints' springref. One number is both ends of a
 * range, whatever the class has. */
static bool read_rest(api_mjcf *m, api_mjcf_tendon *t)
{
    double       length[2] = {-1, -1};
    api_xml_span span      = {.v = length, .min = 1, .max = 2};
    if (!api_xml_span_read(&m->xml, api_mjcf_with(m, &t->item, "springlength"), "springlength", API_OPTIONAL, &span))
        return false;
    if (span.count == 1) length[1] = length[0];
    t->rest = length[0] == length[1] ? length[0] : NAN;
    if (length[0] != -1) return true;
    t->rest = 0;
    for (size_t i = 0; i < t->n; i++) {
        double springref;
        if (!api_mjcf_read_springref(m, &m->joints[t->joint[i]], &springref)) return false;
        t->rest += t->coefficient[i] * springref;
    }
    return true;
}

static bool read_one_tendon(api_mjcf *m, const xmlNode *element, api_mjcf_tendon *t)
{
    *t = (api_mjcf_tendon){.element = element, .fixed = api_xml_is(element, "fixed")};
    if (!api_mjcf_open_item(m, element, API_MJCF_TENDON, m->main_class, &t->item) ||
        !api_xml_text(&m->xml, element, "name", API_OPTIONAL, &t->name))
        return false;
    if (t->name && *t->name == '\0') t->name = NULL;
    if (t->name && !api_xml_set_field(&m->xml, m->tendon_index, t->name, json_integer((json_int_t)(t - m->tendons))))
        return false;
    return read_tendon_figures(m, t) && check_tendon_figures(m, t) && read_tendon_limits(m, t) &&
           (!t->fixed || (read_tendon_joints(m, t) && read_rest(m, t)));
}

static bool is_tendon(const xmlNode *element)
{
    return api_xml_is(element, "fixed") || api_xml_is(element, "spatial");
}

bool api_mjcf_read_tendons(api_mjcf *m)
{
    size_t n = 0;
    for (const xmlNode *s = api_xml_child(m->xml.root, "tendon"); s; s = api_xml_next(s, "tendon"))
        for (const xmlNode *e = s->children; e; e = e->next)
            n += is_tendon(e);
    if (n > MOST_TENDONS)
        return api_xml_fail(&m->xml, m->xml.root, API_MODEL_TOO_LARGE, "there are %zu tendons, the limit is %d", n,
                            MOST_TENDONS);
    m->tendons = api_arena_take(m->xml.base.arena, n, sizeof *m->tendons);
    if (!m->tendons) return api_reader_no_memory(&m->xml.base);
    for (const xmlNode *s = api_xml_child(m->xml.root, "tendon"); s; s = api_xml_next(s, "tendon"))
        for (const xmlNode *e = s->children; e; e = e->next)
            if (is_tendon(e) && !read_one_tendon(m, e, &m->tendons[m->n_tendons++])) return false;
    return true;
}

bool api_mjcf_find_tendon(api_mjcf *m, const xmlNode *element, const char *attribute, int need, api_mjcf_tendon **t)
{
    const char *name = NULL;
    *t               = NULL;
    if (!api_xml_text(&m->xml, element, attribute, need, &name)) return false;
    if (!name) return true;
    const json_t *found = json_object_get(m->tendon_index, name);
    if (found) *t = &m->tendons[json_integer_value(found)];
    return found || m->generates ||
           api_xml_fail(&m->xml, element, API_UNKNOWN_NAME, "its %s \"%.*s\" is not a tendon of this file", attribute,
                        api_text_shown(name), name);
}
