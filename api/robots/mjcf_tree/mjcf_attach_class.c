/* mjcf_attach_class.c - name the classes of a model whose parts are attached.
 *
 * MuJoCo applies the classes of a model before it attaches a part, so that equal names in two models are no conflict.
 * Here a class whose name with the prefix is taken gets apostrophes.
 *
 * MuJoCo 3.14 looks up a class that an element inherits by its name, and finds that of the last model that has brought
 * one: after an <attach> without prefix, geoms, joints and sites of the robot without a class have the attached
 * model's defaults. A class that an element states itself is that of its own file; so are the defaults of tendons,
 * equalities and actuators. */
#include "mjcf_attach.h"
#include "api/robots/xml/xml_text.h"
#include <stdio.h>
#include <string.h>

enum {
    MOST_NAMES = 1000000, /* classes compared by all attachments of a file */
    SHADOW_KEY = 440      /* bytes of the index of a model and a name, which mjcf_attach_join bounds */
};

/* Adds the names of the classes in an element to a set; the nesting limit of the parser bounds the recursion. */
static bool collect_classes(attachment *a, const xmlNode *in, json_t *set)
{
    const char *name = "main";
    if (++a->m->n_named > MOST_NAMES)
        return api_xml_fail(&a->m->xml, a->element, API_MODEL_TOO_LARGE,
                            "attachments have more than %d classes to compare", MOST_NAMES);
    if (!api_xml_text(&a->m->xml, in, "class", API_OPTIONAL, &name)) return false;
    if (json_object_set_new(set, name, json_true())) return api_reader_no_memory(&a->m->xml.base);
    for (const xmlNode *e = api_xml_child(in, "default"); e; e = api_xml_next(e, "default"))
        if (!collect_classes(a, e, set)) return false;
    return true;
}

/* True for a section of the attached model, or of a model that is attached to it. */
static bool is_theirs(const attachment *a, const xmlNode *section)
{
    for (size_t k = api_mjcf_model_of(a->files, section);; k = a->files->model[k].outer) {
        if (k == a->from) return true;
        if (k == 0) return false;
    }
}

/* Collects the classes of a model, without or with those that earlier attachments of `from` have copied. */
static bool collect_model(attachment *a, size_t model, bool with_theirs, json_t *set)
{
    const xmlNode *root = a->files->model[model].root;
    if (json_object_set_new(set, "main", json_true())) return api_reader_no_memory(&a->m->xml.base);
    for (const xmlNode *d = api_xml_child(root, "default"); d; d = api_xml_next(d, "default"))
        if ((with_theirs || !is_theirs(a, d)) && !collect_classes(a, d, set)) return false;
    return true;
}

/* True if the name is the prefix of the attachment followed by a name of the set. */
static bool is_prefixed_name_of(const attachment *a, const char *text, const json_t *set)
{
    return json_object_get(set, text + strlen(a->prefix)) != NULL;
}

/* Adds a name to the map: prefixed, and with apostrophes appended until no other class has it. */
static bool name_class(attachment *a, const char *name, const json_t *theirs, json_t *taken)
{
    const char *text = mjcf_attach_prefixed(a, a->element, name);
    while (text && json_object_get(taken, text)) {
        do
            text = mjcf_attach_join(a, a->element, text, "'");
        while (text && is_prefixed_name_of(a, text, theirs));
    }
    if (!text) return false;
    return (!json_object_set_new(a->classes, name, json_string(text)) &&
            !json_object_set_new(taken, text, json_true())) ||
           api_reader_no_memory(&a->m->xml.base);
}

static const char *shadow_key(size_t model, const char *name, char key[SHADOW_KEY])
{
    snprintf(key, SHADOW_KEY, "%zu %s", model, name);
    return key;
}

/* Returns the class that replaces the class `name` for elements of a model that inherit it; NULL: none. */
static const char *shadow_of(const api_mjcf *m, size_t model, const char *name)
{
    char key[SHADOW_KEY];
    return json_string_value(json_object_get(m->shadows, shadow_key(model, name, key)));
}

/* Lets the copied class `name` replace the class of the prefixed name, for elements after this one that inherit it. */
static bool add_shadow(attachment *a, const char *name)
{
    char        key[SHADOW_KEY];
    const char *inner = shadow_of(a->m, a->from, name), *prefixed = mjcf_attach_prefixed(a, a->element, name);
    json_t *class = json_object_get(a->classes, inner ? inner : name);
    if (!prefixed) return false;
    if (class && strcmp(prefixed, json_string_value(class)) == 0 && !shadow_of(a->m, a->to, prefixed)) return true;
    return !json_object_set(a->m->shadows, shadow_key(a->to, prefixed, key), class) ||
           api_reader_no_memory(&a->m->xml.base);
}

static bool name_all(attachment *a, json_t *theirs, json_t *taken)
{
    const char *name;
    json_t     *unused;
    if (!collect_model(a, a->to, false, taken) || !collect_model(a, a->from, true, theirs)) return false;
    json_object_foreach (theirs, name, unused)
        if (!name_class(a, name, theirs, taken)) return false;
    json_object_foreach (theirs, name, unused)
        if (!add_shadow(a, name)) return false;
    return true;
}

bool mjcf_attach_name_classes(attachment *a)
{
    json_t    *theirs = json_object(), *taken = json_object();
    const bool ok = theirs && taken ? name_all(a, theirs, taken) : api_reader_no_memory(&a->m->xml.base);
    json_decref(theirs);
    json_decref(taken);
    return ok;
}

const char *mjcf_attach_class(attachment *a, const xmlNode *element, const char *name)
{
    const json_t *known = json_object_get(a->classes, name);
    return known ? json_string_value(known) : mjcf_attach_prefixed(a, element, name);
}

bool mjcf_attach_inherit(api_mjcf *m, size_t model, xmlNode *element, const char *inherited)
{
    const char *class = api_xml_has(element, "class") ? NULL : shadow_of(m, model, inherited);
    return !class || xmlSetProp(element, (const xmlChar *)"class", (const xmlChar *)class) ||
           api_reader_no_memory(&m->xml.base);
}
