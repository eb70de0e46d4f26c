/* mjcf_class.c - read the classes of defaults, and find attributes in an element and its classes.
 *
 * A nested class begins as a copy of the class around it, so an attribute is that of the nearest class that states it.
 * Several outermost <default> sections continue one class, "main". Sections of attached models are classes of their
 * own.
 */
#include "mjcf_reader.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { MAX_SECTIONS = 100 }; /* most <default> sections: a look-up of an attribute may visit each of them */

static const char *const kind_names[API_MJCF_KINDS] = {
    [API_MJCF_GEOM]     = " geom ",
    [API_MJCF_JOINT]    = " joint ",
    [API_MJCF_SITE]     = " site ",
    [API_MJCF_EQUALITY] = " equality ",
    [API_MJCF_MESH]     = " mesh ",
    [API_MJCF_TENDON]   = " tendon ",
    [API_MJCF_ACTUATOR] = (" general motor position velocity intvelocity damper cylinder muscle adhesion dcmotor pid "
                           "orientation "),
};

static int kind_of(const xmlNode *element)
{
    char spaced[40];
    for (int kind = 0; kind < API_MJCF_KINDS; kind++) {
        snprintf(spaced, sizeof spaced, " %.30s ", (const char *)element->name);
        if (element->type == XML_ELEMENT_NODE && strstr(kind_names[kind], spaced)) return kind;
    }
    return API_MJCF_KINDS;
}

/* Copies the attributes of `from` to `to`, the element that holds the defaults of its kind in the class. */
static bool merge(api_mjcf *m, const xmlNode *from, const xmlNode *to)
{
    for (const xmlAttr *a = from->properties; a; a = a->next) {
        xmlChar *value = xmlGetNoNsProp(from, a->name);
        bool     ok    = value && xmlSetProp((xmlNode *)(uintptr_t)to, a->name, value);
        xmlFree(value);
        if (!ok) return api_reader_no_memory(&m->xml.base);
    }
    return true;
}

/* Returns the entry of the class for an element: that of an earlier element with the same name, or a new one. */
static const xmlNode **place_of(api_mjcf_class *class, const xmlNode *element, int kind)
{
    if (kind != API_MJCF_ACTUATOR) return &class->element[kind];
    for (size_t i = 0; i < class->n_actuators; i++)
        if (api_xml_is(element, (const char *)class->actuator[i]->name)) return &class->actuator[i];
    return &class->actuator[class->n_actuators++];
}

static bool report_repeated(api_mjcf *m, const xmlNode *element)
{
    return api_xml_report(&m->xml, element, "warning", "repeated",
                          "<%.40s> is given again in one <default>: where both state an attribute the last one counts, "
                          "and MuJoCo refuses the file",
                          (const char *)element->name);
}

static bool read_kinds(api_mjcf *m, const xmlNode *element, api_mjcf_class *class)
{
    for (const xmlNode *child = element->children; child; child = child->next) {
        int kind = kind_of(child);
        if (kind == API_MJCF_KINDS) continue;
        const xmlNode **place = place_of(class, child, kind);
        if (*place && !(report_repeated(m, child) && merge(m, child, *place))) return false;
        if (!*place) *place = child;
    }
    return true;
}

static bool enter_class(api_mjcf *m, const xmlNode *element, int index, bool outermost)
{
    const char *name = outermost ? "main" : NULL;
    if (!api_xml_text(&m->xml, element, "class", outermost ? API_OPTIONAL : API_REQUIRED, &name)) return false;
    if (!outermost && json_object_get(m->class_index, name))
        return api_xml_fail(&m->xml, element, API_DUPLICATE_NAME, "another <default> has the class \"%.*s\"",
                            api_text_shown(name), name);
    return api_xml_set_field(&m->xml, m->class_index, name, json_integer(index));
}

/* Reads a class and the classes in it; the nesting limit of the parser bounds the recursion. */
static bool read_class(api_mjcf *m, const xmlNode *element, int parent, bool outermost)
{
    int index         = (int)m->n_classes++;
    m->classes[index] = (api_mjcf_class){.parent = parent};
    if (!enter_class(m, element, index, outermost) || !read_kinds(m, element, &m->classes[index])) return false;
    if (outermost) m->main_class = index;
    for (const xmlNode *inner = api_xml_child(element, "default"); inner; inner = api_xml_next(inner, "default"))
        if (!read_class(m, inner, index, false)) return false;
    return true;
}

static size_t count_classes(const xmlNode *in)
{
    size_t n = 0;
    for (const xmlNode *e = api_xml_child(in, "default"); e; e = api_xml_next(e, "default"))
        n += 1 + count_classes(e);
    return n;
}

bool api_mjcf_read_classes(api_mjcf *m)
{
    m->main_class = API_MJCF_NO_CLASS;
    m->classes    = api_arena_take(m->xml.base.arena, count_classes(m->xml.root), sizeof *m->classes);
    if (!m->classes) return api_reader_no_memory(&m->xml.base);
    size_t sections = 0;
    for (const xmlNode *e = api_xml_child(m->xml.root, "default"); e; e = api_xml_next(e, "default")) {
        const bool attached = api_mjcf_model_of(m->files, e) != 0;
        if (!attached && ++sections > MAX_SECTIONS)
            return api_xml_fail(&m->xml, e, API_MODEL_TOO_LARGE, "there are more than %d outermost <default> sections",
                                MAX_SECTIONS);
        if (!read_class(m, e, attached ? API_MJCF_NO_CLASS : m->main_class, !attached)) return false;
    }
    return true;
}

bool api_mjcf_find_class(api_mjcf *m, const xmlNode *element, const char *attribute, int *class_index)
{
    const char *name = NULL;
    if (!api_xml_text(&m->xml, element, attribute, API_OPTIONAL, &name)) return false;
    if (!name) return true;
    const json_t *found = json_object_get(m->class_index, name);
    if (found) *class_index = (int)json_integer_value(found);
    if (!found && strcmp(name, "main") == 0) { /* every file has this class */
        *class_index = m->main_class;
        return true;
    }
    return found ||
           api_xml_fail(&m->xml, element, API_UNKNOWN_NAME, "%s of <%.40s>: no <default> has the class \"%.*s\"",
                        attribute, (const char *)element->name, api_text_shown(name), name);
}

bool api_mjcf_open_item(api_mjcf *m, const xmlNode *element, api_mjcf_kind kind, int inherited, api_mjcf_item *item)
{
    *item = (api_mjcf_item){.element = element, .kind = kind, .class_index = inherited};
    return api_mjcf_find_class(m, element, "class", &item->class_index);
}

/* --- attributes --------------------------------------------------------------------------------------------------- */

/* Element number k of a class for a kind; NULL: there are no more. */
static const xmlNode *element_of(const api_mjcf_class *class, api_mjcf_kind kind, int k)
{
    if (kind != API_MJCF_ACTUATOR) return k == 0 ? class->element[kind] : NULL;
    return k < (int)class->n_actuators ? class->actuator[class->n_actuators - 1 - (size_t)k] : NULL;
}

static int cursor_at(int class_index)
{
    return class_index == API_MJCF_NO_CLASS ? API_MJCF_NO_CLASS : class_index * API_MJCF_ACTUATORS;
}

const xmlNode *api_mjcf_next_level(const api_mjcf *m, const api_mjcf_item *item, int *cursor)
{
    if (*cursor == API_MJCF_OWN) {
        *cursor = cursor_at(item->class_index);
        return item->element;
    }
    while (*cursor != API_MJCF_NO_CLASS) {
        const api_mjcf_class *class = &m->classes[*cursor / API_MJCF_ACTUATORS];
        const xmlNode *element      = element_of(class, item->kind, *cursor % API_MJCF_ACTUATORS);
        *cursor                     = element ? *cursor + 1 : cursor_at(class->parent);
        if (element) return element;
    }
    return NULL;
}

const xmlNode *api_mjcf_with(const api_mjcf *m, const api_mjcf_item *item, const char *attribute)
{
    int cursor = API_MJCF_OWN;
    for (const xmlNode *e = api_mjcf_next_level(m, item, &cursor); e; e = api_mjcf_next_level(m, item, &cursor))
        if (api_xml_has(e, attribute)) return e;
    return item->element;
}

bool api_mjcf_has(const api_mjcf *m, const api_mjcf_item *item, const char *attribute)
{
    return api_xml_has(api_mjcf_with(m, item, attribute), attribute);
}

bool api_mjcf_numbers(api_mjcf *m, const api_mjcf_item *item, const char *attribute, double *v, size_t n)
{
    return api_xml_numbers(&m->xml, api_mjcf_with(m, item, attribute), attribute, API_OPTIONAL, v, n);
}

bool api_mjcf_span(api_mjcf *m, const api_mjcf_item *item, const char *attribute, api_xml_span *span)
{
    double v[API_MJCF_SPAN];
    int    cursor = API_MJCF_OWN;
    span->count   = 0;
    for (const xmlNode *e = api_mjcf_next_level(m, item, &cursor); e; e = api_mjcf_next_level(m, item, &cursor)) {
        api_xml_span level = {.v = v, .min = span->min, .max = span->max};
        if (!api_xml_span_read(&m->xml, e, attribute, API_OPTIONAL, &level)) return false;
        for (; span->count < level.count; span->count++)
            span->v[span->count] = v[span->count];
    }
    return true;
}

bool api_mjcf_choice(api_mjcf *m, const api_mjcf_item *item, const char *attribute, const char *const *values,
                     int *index)
{
    return api_xml_choice(&m->xml, api_mjcf_with(m, item, attribute), attribute, values, index);
}

bool api_mjcf_range_limits(api_mjcf *m, const xmlNode *element, const char *attribute, const double range[2],
                           bool *limits)
{
    *limits = range[0] < range[1];
    if (*limits || (range[0] == 0 && range[1] == 0)) return true;
    return api_xml_report(&m->xml, element, "warning", "suspicious",
                          "%s of <%.40s>, %.9g to %.9g, is empty: unless the file says that it limits, it does not, as "
                          "in MuJoCo",
                          attribute, (const char *)element->name, range[0], range[1]);
}

bool api_mjcf_check_finite(api_mjcf *m, const xmlNode *element, const char *what, double value)
{
    return isfinite(value) || api_xml_fail(&m->xml, element, API_NON_FINITE, "%s is beyond the range of numbers", what);
}
