/* mjcf_replicate.c - expand <replicate>: copies of its elements, each in a frame that is rotated and moved relative to
 * that of the previous copy, with a number after every name. A tendon, equality or actuator that refers to one of the
 * elements is copied with them. The inner one of nested replicates is expanded first, as in MuJoCo (XML reference,
 * body/replicate). */
#include "api/robots/mjcf/mjcf_reader.h"
#include "api/codec/number.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    SUFFIX_SIZE       = 80,  /* bytes of the separator with the number of a copy */
    LONGEST_NAME      = 400, /* bytes of a name with its suffix */
    LONGEST_SEPARATOR = 64
};

typedef struct replicate {
    api_mjcf   *m;
    xmlNode    *element;
    size_t      count;
    double      offset[3], euler[3];    /* euler in the unit of the file */
    const char *separator, *childclass; /* `childclass` NULL: there is none */
    json_t     *names;                  /* set of "kind name" of the descendants */
    char        suffix[SUFFIX_SIZE];    /* is appended to the names in the current copy */
} replicate;

static void *check_allocated(api_mjcf *m, void *pointer)
{
    if (!pointer) api_reader_no_memory(&m->xml.base);
    return pointer;
}

/* --- names -------------------------------------------------------------------------------------------------------- */

/* Returns the kind of the elements that an attribute names: "joint1" and "jointinparent" name a joint, "cranksite" a
 * site. */
static const char *kind_named_by(const char *attribute)
{
    static const char *const kinds[] = {"joint", "body", "site", "geom", "tendon"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strstr(attribute, kinds[i])) return kinds[i];
    return NULL;
}

static const char *kind_of_element(const xmlNode *element)
{
    return api_xml_is(element, "freejoint") ? "joint" : (const char *)element->name;
}

static const char *key_of(const char *kind, const char *name, char key[LONGEST_NAME])
{
    snprintf(key, LONGEST_NAME, "%.16s %.300s", kind, name);
    return key;
}

/* Collects the names of the elements in `in`, and counts these. */
static bool collect_names(replicate *r, const xmlNode *in, size_t *n)
{
    for (const xmlNode *e = in->children; e; e = e->next) {
        const char *name = NULL;
        char        key[LONGEST_NAME];
        if (e->type != XML_ELEMENT_NODE) continue;
        ++*n;
        if (!api_xml_text(&r->m->xml, e, "name", API_OPTIONAL, &name)) return false;
        if (name && json_object_set_new(r->names, key_of(kind_of_element(e), name, key), json_true()))
            return api_reader_no_memory(&r->m->xml.base);
        if (!collect_names(r, e, n)) return false;
    }
    return true;
}

/* Appends the suffix to the value of an attribute. */
static bool extend_value(replicate *r, xmlNode *element, const xmlAttr *attribute)
{
    const char *name = NULL;
    char        text[LONGEST_NAME];
    if (!api_xml_text(&r->m->xml, element, (const char *)attribute->name, API_OPTIONAL, &name)) return false;
    if (snprintf(text, sizeof text, "%s%s", name, r->suffix) >= (int)sizeof text)
        return api_xml_fail(&r->m->xml, element, API_BAD_NAME,
                            "with the suffix of its <replicate> the name is too long");
    return check_allocated(r->m, xmlSetProp(element, attribute->name, (const xmlChar *)text)) != NULL;
}

/* --- copies of bodies --------------------------------------------------------------------------------------------- */

/* Appends the suffix to the names in a copy, and gives its elements the file and line of the originals. */
static bool finish_copy(replicate *r, xmlNode *copy, const xmlNode *original)
{
    const xmlAttr *name = xmlHasProp(copy, (const xmlChar *)"name");
    copy->_private      = original->_private;
    if (name && !extend_value(r, copy, name)) return false;
    const xmlNode *o = original->children;
    for (xmlNode *c = copy->children; c; c = c->next, o = o->next)
        if (c->type == XML_ELEMENT_NODE && !finish_copy(r, c, o)) return false;
    return true;
}

static bool copy_elements(replicate *r, xmlNode *frame)
{
    for (const xmlNode *e = r->element->children; e; e = e->next) {
        if (e->type != XML_ELEMENT_NODE) continue;
        xmlNode *copy = check_allocated(r->m, xmlDocCopyNode((xmlNode *)(uintptr_t)e, frame->doc, 1));
        if (!copy) return false;
        if (!check_allocated(r->m, xmlAddChild(frame, copy))) return xmlFreeNode(copy), false;
        if (!finish_copy(r, copy, e)) return false;
    }
    return true;
}

static bool set_vector(replicate *r, xmlNode *frame, const char *attribute, const double v[3])
{
    char text[3 * API_NUMBER_ROOM];
    snprintf(text, sizeof text, "%s %s %s", API_NUMBER_TEXT(v[0]), API_NUMBER_TEXT(v[1]), API_NUMBER_TEXT(v[2]));
    return check_allocated(r->m, xmlSetProp(frame, (const xmlChar *)attribute, (const xmlChar *)text)) != NULL;
}

/* Makes the frame of copy i at `position`, and advances the position to that of the next copy. */
static bool make_copy(replicate *r, size_t i, double position[3])
{
    const double n        = (double)i;
    const double euler[3] = {n * r->euler[0], n * r->euler[1], n * r->euler[2]};
    dyn_pose     X;
    xmlNode     *frame = check_allocated(r->m, xmlNewDocNode(r->element->doc, NULL, (const xmlChar *)"frame", NULL));
    if (!frame) return false;
    frame->_private = r->element->_private;
    if (!check_allocated(r->m, xmlAddPrevSibling(r->element, frame))) return xmlFreeNode(frame), false;
    if (!set_vector(r, frame, "euler", euler) || !set_vector(r, frame, "pos", position) ||
        !api_mjcf_read_plain_pose(r->m, frame, &X))
        return false;
    if (r->childclass &&
        !check_allocated(r->m, xmlSetProp(frame, (const xmlChar *)"childclass", (const xmlChar *)r->childclass)))
        return false;
    for (int k = 0; k < 3; k++)
        position[k] += X.R[k][0] * r->offset[0] + X.R[k][1] * r->offset[1] + X.R[k][2] * r->offset[2];
    return copy_elements(r, frame);
}

/* --- copies of what refers to them -------------------------------------------------------------------------------- */

static bool names_copied(const replicate *r, const xmlNode *element, const xmlAttr *attribute)
{
    const char *name = NULL, *kind = kind_named_by((const char *)attribute->name);
    char        key[LONGEST_NAME];
    return kind && api_xml_text(&r->m->xml, element, (const char *)attribute->name, API_OPTIONAL, &name) && name &&
           json_object_get(r->names, key_of(kind, name, key));
}

/* True if an element or one of its descendants, such as the joint of a tendon, refers to a replicated element. */
static bool refers(const replicate *r, const xmlNode *element)
{
    bool found = false;
    for (const xmlAttr *a = element->type == XML_ELEMENT_NODE ? element->properties : NULL; a && !found; a = a->next)
        found = names_copied(r, element, a);
    for (const xmlNode *e = element->children; e && !found; e = e->next)
        found = refers(r, e);
    return found;
}

/* Appends the suffix to the references of a copy and of its descendants. */
static bool extend_references(replicate *r, xmlNode *copy)
{
    for (const xmlAttr *a = copy->type == XML_ELEMENT_NODE ? copy->properties : NULL; a; a = a->next)
        if (names_copied(r, copy, a) && !extend_value(r, copy, a)) return false;
    for (xmlNode *e = copy->children; e; e = e->next)
        if (!extend_references(r, e)) return false;
    return true;
}

/* Gives a copy and its descendants the file and line of the originals. */
static void keep_places(xmlNode *copy, const xmlNode *original)
{
    const xmlNode *o = original->children;
    copy->_private   = original->_private;
    for (xmlNode *c = copy->children; c; c = c->next, o = o->next)
        if (c->type == XML_ELEMENT_NODE) keep_places(c, o);
}

/* Sets the suffix of copy i: the separator, and a number with as many digits as the count. */
static void set_suffix(replicate *r, size_t i)
{
    char number[24];
    snprintf(number, sizeof number, "%020zu", i);
    size_t digits = 1;
    for (size_t n = r->count; n >= 10; n /= 10)
        digits++;
    snprintf(r->suffix, sizeof r->suffix, "%s%s", r->separator, number + strlen(number) - digits);
}

/* Inserts `count` copies of an element before it; their references get the suffixes. */
static bool copy_referrer(replicate *r, xmlNode *element)
{
    for (size_t i = 0; i < r->count; i++) {
        xmlNode *copy = check_allocated(r->m, xmlDocCopyNode(element, element->doc, 1));
        if (!copy) return false;
        if (!check_allocated(r->m, xmlAddPrevSibling(element, copy))) return xmlFreeNode(copy), false;
        keep_places(copy, element);
        set_suffix(r, i);
        const xmlAttr *name = xmlHasProp(copy, (const xmlChar *)"name");
        if ((name && !extend_value(r, copy, name)) || !extend_references(r, copy)) return false;
    }
    return true;
}

/* Adds the name of a tendon that is copied to those that equalities and actuators may refer to. */
static bool add_tendon_name(replicate *r, const xmlNode *tendon)
{
    const char *name = NULL;
    char        key[LONGEST_NAME];
    if (!api_xml_text(&r->m->xml, tendon, "name", API_OPTIONAL, &name)) return false;
    return !name || json_object_set_new(r->names, key_of("tendon", name, key), json_true()) == 0 ||
           api_reader_no_memory(&r->m->xml.base);
}

static bool copy_referrers(replicate *r, const char *section)
{
    for (const xmlNode *s = api_xml_child(r->m->xml.root, section); s; s = api_xml_next(s, section))
        for (xmlNode *e = s->children, *next; e; e = next) {
            next = e->next;
            if (e->type != XML_ELEMENT_NODE || !refers(r, e)) continue;
            if (strcmp(section, "tendon") == 0 && !add_tendon_name(r, e)) return false;
            if ((r->m->n_copies += r->count) > API_MJCF_COPIES)
                return api_xml_fail(&r->m->xml, e, API_MODEL_TOO_LARGE,
                                    "<replicate> and <attach> make more than %d elements", API_MJCF_COPIES);
            if (!copy_referrer(r, e)) return false;
            xmlUnlinkNode(e);
            xmlFreeNode(e);
        }
    return true;
}

/* --- replicates --------------------------------------------------------------------------------------------------- */

static bool report_unknown(replicate *r)
{
    static const char known[] = " count offset euler sep childclass ";
    for (const xmlAttr *a = r->element->properties; a; a = a->next) {
        char name[64];
        snprintf(name, sizeof name, " %.40s ", (const char *)a->name);
        if (!strstr(known, name) &&
            !api_xml_report(&r->m->xml, r->element, "warning", "unknown",
                            "%.40s of <replicate> is an unknown attribute, not used", (const char *)a->name))
            return false;
    }
    return true;
}

static bool open_replicate(replicate *r)
{
    api_mjcf *m     = r->m;
    double    count = 0;
    size_t    n     = 0;
    r->separator    = "";
    if (!report_unknown(r) || !api_xml_numbers(&m->xml, r->element, "count", API_REQUIRED, &count, 1) ||
        !api_xml_numbers(&m->xml, r->element, "offset", API_OPTIONAL, r->offset, 3) ||
        !api_xml_numbers(&m->xml, r->element, "euler", API_OPTIONAL, r->euler, 3) ||
        !api_xml_text(&m->xml, r->element, "sep", API_OPTIONAL, &r->separator) ||
        !api_xml_text(&m->xml, r->element, "childclass", API_OPTIONAL, &r->childclass) ||
        !collect_names(r, r->element, &n))
        return false;
    if (!(count <= API_MJCF_COPIES && count == floor(count)))
        return api_xml_fail(&m->xml, r->element, API_BAD_VALUE, "count of <replicate> is a whole number of at most %d",
                            API_MJCF_COPIES);
    if (strlen(r->separator) > LONGEST_SEPARATOR)
        return api_xml_fail(&m->xml, r->element, API_BAD_VALUE, "sep of <replicate> has more than %d bytes",
                            LONGEST_SEPARATOR);
    r->count = count > 0 ? (size_t)count : 0;
    m->n_copies += r->count * (n + 1);
    return m->n_copies <= API_MJCF_COPIES ||
           api_xml_fail(&m->xml, r->element, API_MODEL_TOO_LARGE, "<replicate> and <attach> make more than %d elements",
                        API_MJCF_COPIES);
}

/* Reports a count of 0 or less, with which MuJoCo makes no copy and leaves out the elements that refer to one. */
static bool report_none(const replicate *r)
{
    return r->count > 0 || api_xml_report(&r->m->xml, r->element, "info", "dropped",
                                          "<replicate> makes no copy: its elements, and those that refer to them, are "
                                          "not part of the model");
}

static bool expand_replicate(replicate *r)
{
    double position[3] = {0};
    if (!open_replicate(r) || !report_none(r)) return false;
    for (size_t i = 0; i < r->count; i++) {
        set_suffix(r, i);
        if (!make_copy(r, i, position)) return false;
    }
    if (!copy_referrers(r, "tendon") || !copy_referrers(r, "equality") || !copy_referrers(r, "actuator")) return false;
    xmlUnlinkNode(r->element);
    xmlFreeNode(r->element);
    return true;
}

/* Expands the replicates in an element; the nesting limit of the parser bounds the recursion. */
static bool expand_in(api_mjcf *m, xmlNode *in)
{
    for (xmlNode *e = in->children, *next; e; e = next) {
        next = e->next;
        if (e->type != XML_ELEMENT_NODE) continue;
        if (!expand_in(m, e)) return false;
        if (!api_xml_is(e, "replicate")) continue;
        replicate r  = {.m = m, .element = e, .names = json_object()};
        bool      ok = check_allocated(m, r.names) && expand_replicate(&r);
        json_decref(r.names);
        if (!ok) return false;
    }
    return true;
}

bool api_mjcf_expand_replicates(api_mjcf *m)
{
    for (const xmlNode *e = api_xml_child(m->xml.root, "worldbody"); e; e = api_xml_next(e, "worldbody"))
        if (!expand_in(m, (xmlNode *)(uintptr_t)e)) return false;
    return true;
}
