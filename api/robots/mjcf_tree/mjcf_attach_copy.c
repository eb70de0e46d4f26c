/* mjcf_attach_copy.c - copy elements for <attach>, with a prefix before their names and references. */
#include "mjcf_attach.h"
#include "api/robots/xml/xml_text.h"
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { KEY = 400 }; /* bytes of a kind and a name */

typedef struct reference {
    const char *attribute, *kind;
} reference;

/* Attributes that refer to an element that may be copied. */
static const reference references[] = {
    {"joint", "joint"},     {"joint1", "joint"},   {"joint2", "joint"},      {"jointinparent", "joint"},
    {"body", "body"},       {"body1", "body"},     {"body2", "body"},        {"target", "body"},
    {"site", "site"},       {"site1", "site"},     {"site2", "site"},        {"refsite", "site"},
    {"slidersite", "site"}, {"cranksite", "site"}, {"sidesite", "site"},     {"geom", "geom"},
    {"geom1", "geom"},      {"geom2", "geom"},     {"tendon", "tendon"},     {"tendon1", "tendon"},
    {"tendon2", "tendon"},  {"camera", "camera"},  {"actuator", "actuator"},
};

/* Attributes that refer to assets. All assets of another model are copied, as are its classes. */
static const char *const belongings[] = {"mesh", "material", "texture", "hfield"};

static const char *kind_of_attached(const xmlNode *element)
{
    if (api_xml_is(element, "freejoint")) return "joint";
    const xmlNode *section = element->parent;
    if (section && api_xml_is(section, "tendon")) return "tendon";
    return section && api_xml_is(section, "actuator") ? "actuator" : (const char *)element->name;
}

/* Returns the kind of element that an attribute refers to; NULL: to none. */
static const char *kind_referred_to(const xmlNode *element, const char *attribute)
{
    if (strcmp(attribute, "objname") == 0 || strcmp(attribute, "refname") == 0) {
        const char    *type   = *attribute == 'o' ? "objtype" : "reftype";
        const xmlAttr *stated = xmlHasProp(element, (const xmlChar *)type);
        const char    *kind   = stated && stated->children ? (const char *)stated->children->content : "body";
        return strcmp(kind, "xbody") == 0 ? "body" : kind;
    }
    for (size_t i = 0; i < sizeof references / sizeof *references; i++)
        if (strcmp(attribute, references[i].attribute) == 0) return references[i].kind;
    return NULL;
}

static const char *attach_key(const char *kind, const char *name, char key[KEY])
{
    snprintf(key, KEY, "%.16s %.300s", kind, name);
    return key;
}

bool mjcf_attach_collect(attachment *a, const xmlNode *element)
{
    const char *name = NULL;
    char        key[KEY];
    if (++a->m->n_copies > API_MJCF_COPIES)
        return api_xml_fail(&a->m->xml, a->element, API_MODEL_TOO_LARGE,
                            "<replicate> and <attach> make more than %d elements", API_MJCF_COPIES);
    if (api_xml_is(element, "attach"))
        return api_xml_fail(&a->m->xml, a->element, API_BAD_MODEL,
                            "what it copies contains an <attach> that is not before it");
    if (!api_xml_text(&a->m->xml, element, "name", API_OPTIONAL, &name)) return false;
    if (name && json_object_set_new(a->names, attach_key(kind_of_attached(element), name, key), json_true()))
        return api_reader_no_memory(&a->m->xml.base);
    for (const xmlNode *e = element->children; e; e = e->next)
        if (e->type == XML_ELEMENT_NODE && !mjcf_attach_collect(a, e)) return false;
    return true;
}

const char *mjcf_attach_join(attachment *a, const xmlNode *element, const char *first, const char *second)
{
    const size_t length = strlen(first) + strlen(second) + 1;
    if (length > KEY) {
        api_xml_fail(&a->m->xml, element, API_BAD_NAME, "with the prefix of its <attach> the name is too long");
        return NULL;
    }
    char *text = api_arena_take(a->m->xml.base.arena, length, 1);
    if (!text) {
        api_reader_no_memory(&a->m->xml.base);
        return NULL;
    }
    snprintf(text, length, "%s%s", first, second);
    return text;
}

const char *mjcf_attach_prefixed(attachment *a, const xmlNode *element, const char *name)
{
    return mjcf_attach_join(a, element, a->prefix, name);
}

bool mjcf_attach_set(attachment *a, xmlNode *copy, const char *attribute, const char *value)
{
    return (value && xmlSetProp(copy, (const xmlChar *)attribute, (const xmlChar *)value)) ||
           api_reader_no_memory(&a->m->xml.base);
}

static bool is_belonging(const char *attribute)
{
    for (size_t i = 0; i < sizeof belongings / sizeof *belongings; i++)
        if (strcmp(attribute, belongings[i]) == 0) return true;
    return false;
}

static bool is_class(const char *attribute)
{
    return strcmp(attribute, "class") == 0 || strcmp(attribute, "childclass") == 0;
}

/* True if the value of an attribute of an original gets the prefix in the copy. */
static bool gets_prefix(const attachment *a, const xmlNode *element, const char *attribute, const char *value)
{
    char        key[KEY];
    const char *kind = kind_referred_to(element, attribute);
    if (strcmp(attribute, "name") == 0) return true;
    if (a->from != a->to && is_belonging(attribute)) return true;
    return kind && json_object_get(a->names, attach_key(kind, value, key));
}

static bool prefix_attributes(attachment *a, xmlNode *copy, const xmlNode *original)
{
    for (const xmlAttr *attribute = original->properties; attribute; attribute = attribute->next) {
        const char *name = (const char *)attribute->name, *value = NULL;
        if (!api_xml_text(&a->m->xml, original, name, API_OPTIONAL, &value)) return false;
        if (!value || !*value) continue;
        const bool class = a->from != a->to && is_class(name);
        if (!class && !gets_prefix(a, original, name, value)) continue;
        const char *text = class ? mjcf_attach_class(a, original, value) : mjcf_attach_prefixed(a, original, value);
        if (!text || !mjcf_attach_set(a, copy, name, text)) return false;
    }
    return true;
}

/* Gives copies the file and line of their originals, and the prefixes. */
static bool finish_attached(attachment *a, xmlNode *copy, const xmlNode *original)
{
    copy->_private = original->_private;
    if (!prefix_attributes(a, copy, original)) return false;
    const xmlNode *o = original->children;
    for (xmlNode *c = copy->children; c; c = c->next, o = o->next)
        if (c->type == XML_ELEMENT_NODE && !finish_attached(a, c, o)) return false;
    return true;
}

xmlNode *mjcf_attach_copy(attachment *a, const xmlNode *element)
{
    xmlNode *copy = xmlDocCopyNode((xmlNode *)(uintptr_t)element, a->files->file[0], 1);
    if (!copy) {
        api_reader_no_memory(&a->m->xml.base);
        return NULL;
    }
    if (finish_attached(a, copy, element)) return copy;
    xmlFreeNode(copy);
    return NULL;
}

/* --- elements of other sections ----------------------------------------------------------------------------------- */

/* Counts references of an element and its descendants: `inside` to copied elements, `outside` to others. References to
 * the world do not count. */
static bool count_references(attachment *a, const xmlNode *element, size_t *inside, size_t *outside)
{
    for (const xmlAttr *attribute = element->properties; attribute; attribute = attribute->next) {
        const char *value = NULL, *kind = kind_referred_to(element, (const char *)attribute->name);
        char        key[KEY];
        if (!kind) continue;
        if (!api_xml_text(&a->m->xml, element, (const char *)attribute->name, API_OPTIONAL, &value)) return false;
        if (!value || !*value || strcmp(value, "world") == 0) continue;
        ++*(json_object_get(a->names, attach_key(kind, value, key)) ? inside : outside);
    }
    for (const xmlNode *e = element->children; e; e = e->next)
        if (e->type == XML_ELEMENT_NODE && !count_references(a, e, inside, outside)) return false;
    return true;
}

/* Appends copies of those elements of a section that refer to copied elements only, and collects their names. */
static bool attach_referrers(attachment *a, const xmlNode *section, xmlNode *to, bool has_classes)
{
    for (const xmlNode *e = section->children; e; e = e->next) {
        size_t inside = 0, outside = 0;
        if (e->type != XML_ELEMENT_NODE) continue;
        if (!count_references(a, e, &inside, &outside)) return false;
        if (inside == 0 || outside > 0) continue;
        if (!mjcf_attach_collect(a, e)) return false;
        xmlNode *copy = mjcf_attach_copy(a, e);
        if (!copy) return false;
        xmlAddChild(to, copy);
        if (has_classes && a->main_class && !api_xml_has(e, "class") &&
            !mjcf_attach_set(a, copy, "class", a->main_class))
            return false;
    }
    return true;
}

/* Appends copies of all assets but models. */
static bool attach_assets(attachment *a, const xmlNode *section, xmlNode *to)
{
    for (const xmlNode *e = section->children; e; e = e->next) {
        if (e->type != XML_ELEMENT_NODE || api_xml_is(e, "model")) continue;
        xmlNode *copy = mjcf_attach_copy(a, e);
        if (!copy) return false;
        xmlAddChild(to, copy);
        if (api_xml_is(e, "mesh") && !api_xml_has(e, "class") && !mjcf_attach_set(a, copy, "class", a->main_class))
            return false;
    }
    return true;
}

/* Appends copies of what the outermost <default> sections of the model contain. Sections of models that it has attached
 * itself stay sections of their own. */
static bool attach_classes(attachment *a, xmlNode *root, xmlNode *to)
{
    const xmlNode *theirs = a->files->model[a->from].root;
    for (const xmlNode *d = api_xml_child(theirs, "default"); d; d = api_xml_next(d, "default")) {
        const bool whole = api_mjcf_model_of(a->files, d) != a->from;
        for (const xmlNode *e = whole ? d : d->children; e; e = whole ? NULL : e->next) {
            if (e->type != XML_ELEMENT_NODE) continue;
            xmlNode *copy = mjcf_attach_copy(a, e);
            if (!copy) return false;
            xmlAddChild(whole ? root : to, copy);
        }
    }
    return true;
}

/* Appends a section to the target model; in messages it has the file and line of the source model. */
static xmlNode *open_attached_section(attachment *a, const char *name)
{
    xmlNode *root    = (xmlNode *)(uintptr_t)a->files->model[a->to].root;
    xmlNode *section = xmlNewDocNode(a->files->file[0], NULL, (const xmlChar *)name, NULL);
    if (!section) {
        api_reader_no_memory(&a->m->xml.base);
        return NULL;
    }
    section->_private = a->files->model[a->from].root->_private;
    return xmlAddChild(root, section);
}

/* True if an earlier attachment has copied classes and assets of the model with this prefix. */
static bool is_known(const attachment *a)
{
    const xmlNode *root = a->files->model[a->to].root;
    for (const xmlNode *d = api_xml_child(root, "default"); d; d = api_xml_next(d, "default")) {
        const xmlAttr *class = xmlHasProp(d, (const xmlChar *)"class");
        if (api_mjcf_model_of(a->files, d) == a->from && class && class->children &&
            strcmp((const char *)class->children->content, a->main_class) == 0)
            return true;
    }
    return false;
}

/* Reports a prefix that another part of the model has: MuJoCo 3.14 then copies the actuators and tendons of the first
 * part again, and adds their armature and damping twice. */
static bool report_repetition(attachment *a, const xmlNode *theirs)
{
    return (!api_xml_child(theirs, "actuator") && !api_xml_child(theirs, "tendon")) ||
           api_xml_report(&a->m->xml, a->element, "warning", "assumed",
                          "the prefix \"%.*s\" is that of another part of this model: actuators of each part are "
                          "attached once here, and MuJoCo 3.14 repeats those of the first part",
                          api_text_shown(a->prefix), a->prefix);
}

static bool copy_belongings(attachment *a)
{
    const xmlNode *theirs = a->files->model[a->from].root;
    if (a->from == a->to) return true;
    if (is_known(a)) return report_repetition(a, theirs);
    xmlNode *classes = open_attached_section(a, "default"), *assets = open_attached_section(a, "asset");
    if (!classes || !assets || !mjcf_attach_set(a, classes, "class", a->main_class)) return false;
    if (!attach_classes(a, classes->parent, classes)) return false;
    for (const xmlNode *s = api_xml_child(theirs, "asset"); s; s = api_xml_next(s, "asset"))
        if (!attach_assets(a, s, assets)) return false;
    return true;
}

bool mjcf_attach_sections(attachment *a)
{
    static const struct {
        const char *name;
        bool        has_classes;
    } sections[] = {{"contact", false}, {"tendon", true}, {"equality", true}, {"actuator", true}, {"sensor", false}};
    const xmlNode *theirs = a->files->model[a->from].root;
    if (!copy_belongings(a)) return false;
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        const xmlNode *s    = api_xml_child(theirs, sections[i].name), *next;
        xmlNode       *copy = s ? open_attached_section(a, sections[i].name) : NULL;
        for (; s && s != copy; s = next) {
            next = api_xml_next(s, sections[i].name);
            if (!copy || !attach_referrers(a, s, copy, sections[i].has_classes)) return false;
        }
    }
    return true;
}
