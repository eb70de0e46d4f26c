/* urdf_unused.c - report what a file contains but the reader does not use, once per kind: geometry, unknown elements
 * and attributes, repeated elements; and each transmission by name. */
#include "urdf_reader.h"
#include <stdio.h>
#include <string.h>

/* How the reader treats an element that URDF defines. */
typedef enum use {
    READ,   /* the element's attributes and children are read */
    ONCE,   /* the first element of this name in its parent is read, others are reported */
    IGNORED /* known to have no effect on the dynamics, with all its content */
} use;

typedef struct known_element {
    const char *in, *name;
    use         use;
    const char *attributes; /* known attributes, with a space before and after each */
} known_element;

static const known_element known_elements[] = {
    {"", "robot", READ, " name version "},
    {"robot", "link", READ, " name "},
    {"robot", "joint", READ, " name type "},
    {"robot", "transmission", IGNORED, ""},
    {"robot", "material", IGNORED, ""},
    {"robot", "gazebo", IGNORED, ""},
    {"link", "inertial", ONCE, " "},
    {"link", "visual", IGNORED, ""},
    {"link", "collision", IGNORED, ""},
    {"inertial", "origin", ONCE, " xyz rpy "},
    {"inertial", "mass", ONCE, " value "},
    {"inertial", "inertia", ONCE, " ixx ixy ixz iyy iyz izz "},
    {"joint", "origin", ONCE, " xyz rpy "},
    {"joint", "parent", ONCE, " link "},
    {"joint", "child", ONCE, " link "},
    {"joint", "axis", ONCE, " xyz "},
    {"joint", "limit", ONCE, " lower upper velocity effort "},
    {"joint", "dynamics", ONCE, " damping friction "},
    {"joint", "mimic", ONCE, " joint multiplier offset "},
    {"joint", "calibration", IGNORED, ""},
    {"joint", "safety_controller", IGNORED, ""},
};

/* The report lists at most so many findings, in file order; further ones are only counted. */
enum { MAX_FINDINGS = 64 };

typedef struct finding_kind {
    const char    *code; /* code of the report: "unknown", "dropped", "repeated" */
    const xmlNode *in;   /* the first element that contains the finding */
    const char    *name; /* name of the element or attribute; owned by libxml2 */
    bool           attribute;
    size_t         times;
} finding_kind;

typedef struct findings {
    size_t       n, not_listed; /* n: entries in `finding`; not_listed: occurrences of further kinds */
    finding_kind finding[MAX_FINDINGS];
} findings;

static void count(findings *t, const char *code, const xmlNode *in, const xmlChar *name, bool attribute)
{
    for (size_t i = 0; i < t->n; i++) {
        finding_kind *k = &t->finding[i];
        if (k->code != code || k->attribute != attribute || strcmp(k->name, (const char *)name) != 0 ||
            strcmp((const char *)k->in->name, (const char *)in->name) != 0)
            continue;
        k->times++;
        return;
    }
    if (t->n < MAX_FINDINGS)
        t->finding[t->n++] = (finding_kind){code, in, (const char *)name, attribute, 1};
    else
        t->not_listed++;
}

static const known_element *find_known(const xmlNode *element, const char *in)
{
    for (size_t i = 0; i < sizeof known_elements / sizeof *known_elements; i++)
        if (strcmp(known_elements[i].in, in) == 0 && api_urdf_is(element, known_elements[i].name))
            return &known_elements[i];
    return NULL;
}

static void check_attributes(findings *t, const xmlNode *element, const known_element *f)
{
    char name[40];
    for (const xmlAttr *a = element->properties; a; a = a->next) {
        int  length = snprintf(name, sizeof name, " %s ", (const char *)a->name);
        bool known  = !a->ns && length < (int)sizeof name && strstr(f->attributes, name);
        if (!known) count(t, "unknown", element, a->name, true);
    }
}

/* The known elements form three levels, which bounds the recursion. */
static void check_element(findings *t, const xmlNode *element, const known_element *f)
{
    bool seen[sizeof known_elements / sizeof *known_elements] = {false};
    check_attributes(t, element, f);
    for (const xmlNode *child = element->children; child; child = child->next) {
        if (child->type != XML_ELEMENT_NODE) continue;
        const known_element *known = find_known(child, f->name);
        if (!known)
            count(t, "unknown", element, child->name, false);
        else if (known->use == ONCE && seen[known - known_elements])
            count(t, "repeated", element, child->name, false);
        else if (known->use != IGNORED)
            check_element(t, child, known);
        else if (strcmp(known->name, "transmission") != 0)
            count(t, "dropped", element, child->name, false);
        if (known) seen[known - known_elements] = true;
    }
}

static bool report_finding(api_urdf *urdf, const finding_kind *k)
{
    const char *description = strcmp(k->code, "dropped") == 0    ? "has no part in the dynamics"
                              : strcmp(k->code, "repeated") == 0 ? "is given again: the first one counts"
                              : k->attribute                     ? "is an unknown attribute, not used"
                                                                 : "is an unknown element, not used";
    xmlChar    *in          = xmlGetNoNsProp(k->in, (const xmlChar *)"name");
    const char *name        = in ? (const char *)in : "";
    char        more[60]    = "";
    if (k->times > 1) snprintf(more, sizeof more, "; %zu of this kind", k->times);
    bool ok = api_urdf_report(urdf, k->in, strcmp(k->code, "dropped") == 0 ? "info" : "warning", k->code,
                              "%s%.*s%s in <%.40s>%s%.*s%s %s%s", k->attribute ? "" : "<", api_text_shown(k->name),
                              k->name, k->attribute ? "" : ">", (const char *)k->in->name, in ? " \"" : "",
                              api_text_shown(name), name, in ? "\"" : "", description, more);
    xmlFree(in);
    return ok;
}

/* --- transmissions ------------------------------------------------------------------------------------------------ */

/* Appends to a text of `size` bytes as far as there is room. */
static void append(char *text, size_t size, const char *before, const xmlChar *value, const char *behind)
{
    size_t length = strlen(text);
    if (value)
        snprintf(text + length, size - length, "%s%.*s%s", before, api_text_shown((const char *)value),
                 (const char *)value, behind);
}

static void append_name(char *text, size_t size, const char *before, const xmlNode *element)
{
    xmlChar *name = xmlGetNoNsProp(element, (const xmlChar *)"name");
    append(text, size, before, name, "\"");
    xmlFree(name);
}

static void append_reduction(char *text, size_t size, const xmlNode *in)
{
    for (const xmlNode *r = api_urdf_child(in, "mechanicalReduction"); r; r = api_urdf_next(r, "mechanicalReduction")) {
        xmlChar *value = xmlNodeGetContent(r);
        append(text, size, ", reduction ", value, "");
        xmlFree(value);
    }
}

/* `mechanicalReduction` is part of an actuator or a joint, in older files of the transmission itself. */
static bool report_transmission(api_urdf *urdf, const xmlNode *transmission)
{
    char text[400] = "transmission";
    append_name(text, sizeof text, " \"", transmission);
    for (const xmlNode *part = transmission->children; part; part = part->next) {
        if (part->type != XML_ELEMENT_NODE) continue;
        if (api_urdf_is(part, "joint")) append_name(text, sizeof text, " of joint \"", part);
        append_reduction(text, sizeof text, part);
    }
    append_reduction(text, sizeof text, transmission);
    return api_urdf_report(urdf, transmission, "info", "unused", "%s: not used, torques are those at the joints", text);
}

static bool report_transmissions(api_urdf *urdf)
{
    size_t n = 0;
    for (const xmlNode *t = api_urdf_child(urdf->robot, "transmission"); t; t = api_urdf_next(t, "transmission")) {
        if (n++ == urdf->max_links)
            return api_urdf_fail(urdf, t, API_MODEL_TOO_LARGE, "there are more than %zu transmissions, the limit",
                                 urdf->max_links);
        if (!report_transmission(urdf, t)) return false;
    }
    return true;
}

bool api_urdf_report_unused(api_urdf *urdf)
{
    findings t = {0};
    check_element(&t, urdf->robot, &known_elements[0]);
    for (size_t i = 0; i < t.n; i++)
        if (!report_finding(urdf, &t.finding[i])) return false;
    if (t.not_listed > 0 && !api_urdf_report(urdf, urdf->robot, "warning", "unknown",
                                             "%zu elements and attributes of further kinds are not used", t.not_listed))
        return false;
    return report_transmissions(urdf);
}
