/* mjcf_attach.c - replace <attach> by the body, frame or world of another model of <asset>, or of the same file. The
 * inner ones of nested attachments come first, in the order of the file. */
#include "mjcf_attach.h"
#include "api/robots/xml/xml_text.h"
#include <stdint.h>
#include <string.h>

static bool expand_model(api_mjcf *m, api_mjcf_files *files, size_t model);

/* --- models of <asset> -------------------------------------------------------------------------------------------- */

static bool check_circle(api_mjcf *m, const api_mjcf_files *files, const xmlNode *element, const api_file_entry *found,
                         size_t outer)
{
    for (size_t k = outer;; k = files->model[k].outer) {
        if (files->model[k].entry == found)
            return api_xml_fail(&m->xml, element, API_BAD_MODEL, "the file of this <model> brings itself in again");
        if (k == 0) return true;
    }
}

static bool load_attached(api_mjcf *m, api_mjcf_files *files, const xmlNode *element, size_t outer)
{
    const char  *name  = NULL;
    const size_t model = files->n_models;
    if (!api_xml_name(&m->xml, element, "file", &name)) return false;
    const api_file_entry *found = api_mjcf_find_file(&m->xml, files, element, name);
    if (!found || !check_circle(m, files, element, found, outer)) return false;
    if (model == API_MJCF_MODELS)
        return api_xml_fail(&m->xml, element, API_MODEL_TOO_LARGE, "there are more than %d models", API_MJCF_MODELS);
    files->model[model] = (api_mjcf_submodel){.declared = element, .outer = outer, .entry = found};
    files->n_models++;
    const xmlNode *root = files->model[model].root = api_mjcf_parse_file(&m->xml, files, element, found, name, model);
    if (!root) return false;
    if (!api_xml_is(root, "mujoco"))
        return api_xml_fail(&m->xml, element, API_BAD_MODEL,
                            "the file of this <model> is no MJCF: it begins with <%.40s>", (const char *)root->name);
    return api_mjcf_include(&m->xml, files, model) && expand_model(m, files, model);
}

static bool load_all_attached(api_mjcf *m, api_mjcf_files *files, size_t outer)
{
    const xmlNode *root = files->model[outer].root;
    for (const xmlNode *s = api_xml_child(root, "asset"); s; s = api_xml_next(s, "asset"))
        for (const xmlNode *e = api_xml_child(s, "model"); e; e = api_xml_next(e, "model"))
            if (!load_attached(m, files, e, outer)) return false;
    return true;
}

/* Finds a model by its name in <asset>, or by that in its file. */
static bool find_model(attachment *a, const char *name)
{
    for (size_t k = 1; k < a->files->n_models; k++) {
        const api_mjcf_submodel *model    = &a->files->model[k];
        const char              *own_name = NULL;
        if (model->outer != a->to) continue;
        if (!api_xml_text(&a->m->xml, model->declared, "name", API_OPTIONAL, &own_name)) return false;
        if (!own_name && !api_xml_text(&a->m->xml, model->root, "model", API_OPTIONAL, &own_name)) return false;
        if (!own_name || strcmp(own_name, name) != 0) continue;
        a->from = k;
        return true;
    }
    return api_xml_fail(&a->m->xml, a->element, API_UNKNOWN_NAME,
                        "model of <attach>: no <model> of <asset> is \"%.*s\"", api_text_shown(name), name);
}

/* --- what is copied ----------------------------------------------------------------------------------------------- */

/* Finds the body or frame of this name in an element; *class receives the class that it inherits. */
static const xmlNode *find_attached(attachment *a, const xmlNode *in, const char *kind, const char *name,
                                    const char **class)
{
    for (const xmlNode *e = in->children; e; e = e->next) {
        const char *own_name = NULL, *around = *class;
        if (e->type != XML_ELEMENT_NODE) continue;
        if (!api_xml_text(&a->m->xml, e, "name", API_OPTIONAL, &own_name)) return NULL;
        if (own_name && api_xml_is(e, kind) && strcmp(own_name, name) == 0) return e;
        if (!api_xml_text(&a->m->xml, e, "childclass", API_OPTIONAL, class)) return NULL;
        const xmlNode *found = find_attached(a, e, kind, name, class);
        if (found) return found;
        *class = around;
    }
    return NULL;
}

/* Finds the body or frame in the <worldbody> sections of the model; *class NULL: it inherits the outermost
 * <default>. */
static const xmlNode *find_part(attachment *a, const char *kind, const char *name, const char **class)
{
    const xmlNode *root = a->files->model[a->from].root, *found = NULL;
    for (const xmlNode *w = api_xml_child(root, "worldbody"); w && !found; w = api_xml_next(w, "worldbody")) {
        *class = NULL;
        found  = find_attached(a, w, kind, name, class);
    }
    if (!found)
        api_xml_fail(&a->m->xml, a->element, API_UNKNOWN_NAME, "%s of <attach>: the model has no <%s> \"%.*s\"%s", kind,
                     kind, api_text_shown(name), name, a->from == a->to ? " before this element" : "");
    return found;
}

/* Sets the class of elements of `from` that name none. */
static bool set_main_class(attachment *a)
{
    const char *name = "main";
    for (const xmlNode *d = api_xml_child(a->files->model[a->from].root, "default"); d;
         d                = api_xml_next(d, "default")) {
        if (api_mjcf_model_of(a->files, d) != a->from) continue;
        if (!api_xml_text(&a->m->xml, d, "class", API_OPTIONAL, &name)) return false;
        if (a->from == a->to) a->main_class = name;
        break;
    }
    if (a->from != a->to) a->main_class = mjcf_attach_class(a, a->element, name);
    return a->from == a->to || a->main_class;
}

/* Copies the body or frame, and writes its class into the copy, since the place of the copy may have another class. */
static bool copy_part(attachment *a, const xmlNode *part, const char *class)
{
    if (!mjcf_attach_collect(a, part)) return false;
    a->copy = mjcf_attach_copy(a, part);
    if (!a->copy) return false;
    if (api_xml_has(part, "childclass")) return true;
    const char *stated = a->main_class;
    if (class) stated = a->from == a->to ? class : mjcf_attach_class(a, part, class);
    return (!stated && a->from == a->to) || mjcf_attach_set(a, a->copy, "childclass", stated);
}

/* Copies the world into a frame. */
static bool copy_world(attachment *a)
{
    const xmlNode *root = a->files->model[a->from].root;
    a->copy             = xmlNewDocNode(a->files->file[0], NULL, (const xmlChar *)"frame", NULL);
    if (!a->copy) return api_reader_no_memory(&a->m->xml.base);
    a->copy->_private = root->_private;
    for (const xmlNode *w = api_xml_child(root, "worldbody"); w; w = api_xml_next(w, "worldbody"))
        for (const xmlNode *e = w->children; e; e = e->next)
            if (e->type == XML_ELEMENT_NODE && !mjcf_attach_collect(a, e)) return false;
    for (const xmlNode *w = api_xml_child(root, "worldbody"); w; w = api_xml_next(w, "worldbody"))
        for (const xmlNode *e = w->children; e; e = e->next) {
            xmlNode *copy = e->type == XML_ELEMENT_NODE ? mjcf_attach_copy(a, e) : NULL;
            if (copy) xmlAddChild(a->copy, copy);
            if (!copy && e->type == XML_ELEMENT_NODE) return false;
        }
    return mjcf_attach_set(a, a->copy, "childclass", a->main_class);
}

/* Returns the levels of an element and its descendants. The recursion is bounded, since the levels of the original were
 * checked. */
static unsigned levels_of(const xmlNode *element)
{
    unsigned most = 0;
    for (const xmlNode *e = element->children; e; e = e->next) {
        const unsigned levels = e->type == XML_ELEMENT_NODE ? levels_of(e) : 0;
        if (levels > most) most = levels;
    }
    return most + 1;
}

/* Checks the levels of the tree with the copy: the readers recurse over them. */
static bool check_levels(attachment *a)
{
    unsigned levels = levels_of(a->copy);
    for (const xmlNode *e = a->element->parent; e && e->type == XML_ELEMENT_NODE; e = e->parent)
        levels++;
    return levels <= API_XML_NESTING ||
           api_xml_fail(&a->m->xml, a->element, API_TOO_DEEP,
                        "with what is attached, elements are nested deeper than %u", API_XML_NESTING);
}

/* --- attachments -------------------------------------------------------------------------------------------------- */

static bool copy_named(attachment *a)
{
    const char *body = NULL, *frame = NULL, *class = NULL;
    if (!api_xml_text(&a->m->xml, a->element, "body", API_OPTIONAL, &body) ||
        !api_xml_text(&a->m->xml, a->element, "frame", API_OPTIONAL, &frame))
        return false;
    if (body && frame)
        return api_xml_fail(&a->m->xml, a->element, API_BAD_VALUE, "<attach> has both body and frame: it takes one");
    if (!body && !frame && a->from == a->to)
        return api_xml_fail(&a->m->xml, a->element, API_MISSING_FIELD,
                            "<attach> without model copies from this file, and has neither body nor frame");
    if (!body && !frame) return copy_world(a);
    const xmlNode *part = find_part(a, body ? "body" : "frame", body ? body : frame, &class);
    return part && copy_part(a, part, class);
}

static bool attach_part(attachment *a)
{
    const char *model = NULL;
    if (!api_xml_text(&a->m->xml, a->element, "prefix", API_REQUIRED, &a->prefix) ||
        !api_xml_text(&a->m->xml, a->element, "model", API_OPTIONAL, &model))
        return false;
    if (model && !(find_model(a, model) && mjcf_attach_name_classes(a))) return false;
    if (!set_main_class(a) || !copy_named(a) || !check_levels(a)) return false;
    xmlAddPrevSibling(a->element, a->copy);
    a->copy = NULL;
    return mjcf_attach_sections(a);
}

static bool replace_attach(api_mjcf *m, api_mjcf_files *files, xmlNode *element, size_t model)
{
    attachment a  = {.m       = m,
                     .files   = files,
                     .element = element,
                     .to      = model,
                     .from    = model,
                     .names   = json_object(),
                     .classes = json_object()};
    bool       ok = a.names && a.classes ? attach_part(&a) : api_reader_no_memory(&m->xml.base);
    json_decref(a.names);
    json_decref(a.classes);
    if (a.copy) xmlFreeNode(a.copy);
    if (!ok) return false;
    xmlUnlinkNode(element);
    xmlFreeNode(element);
    return true;
}

static bool has_class(const xmlNode *element)
{
    return api_xml_is(element, "geom") || api_xml_is(element, "joint") || api_xml_is(element, "site");
}

/* Replaces each <attach> below an element by a copy of what it names; the nesting limit of the parser bounds the
 * recursion. `class` is that which the elements inherit. */
static bool attach_in(api_mjcf *m, api_mjcf_files *files, xmlNode *in, size_t model, const char *class)
{
    if (!api_xml_text(&m->xml, in, "childclass", API_OPTIONAL, &class)) return false;
    for (xmlNode *e = in->children, *next; e; e = next) {
        next = e->next;
        if (e->type != XML_ELEMENT_NODE) continue;
        if (has_class(e) && !mjcf_attach_inherit(m, model, e, class)) return false;
        if (!(api_xml_is(e, "attach") ? replace_attach(m, files, e, model) : attach_in(m, files, e, model, class)))
            return false;
    }
    return true;
}

static bool expand_model(api_mjcf *m, api_mjcf_files *files, size_t model)
{
    const xmlNode *root = files->model[model].root;
    if (!load_all_attached(m, files, model)) return false;
    for (const xmlNode *w = api_xml_child(root, "worldbody"); w; w = api_xml_next(w, "worldbody"))
        if (!attach_in(m, files, (xmlNode *)(uintptr_t)w, model, "main")) return false;
    return true;
}

bool api_mjcf_attach(api_mjcf *m, api_mjcf_files *files)
{
    return expand_model(m, files, 0);
}
