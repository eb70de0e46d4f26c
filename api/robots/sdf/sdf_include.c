/* sdf_include.c - replace each <include> by the model of the file that its <uri> names, with the name, pose, frame and
 * flag that the include states (SDFormat 1.12, "Composition"). A URI is resolved by sdf_model_file.h among the files of
 * the request. Each file keeps the rules of its own version. sdf_merge.c dissolves models of <include merge="true">. */
#include "api/robots/xml/xml_text.h"
#include "sdf_model_file.h"
#include "sdf_reader.h"
#include <string.h>

enum { INCLUDES_DEEP = 32 /* files that include each other in a chain */ };

int api_sdf_minor(const api_sdf *sdf, const xmlNode *element)
{
    return sdf->files->minor[api_xml_file(element)];
}

/* Finds the file of an include; NULL: there is none, which the caller reports or refuses. */
static const api_file_entry *find_included(const api_sdf *sdf, const xmlNode *include, const char *uri)
{
    const api_sdf_files  *files    = sdf->files;
    const api_file_entry *includer = files->entry[api_xml_file(include)];
    char                  folder[API_FILE_PATH];
    if (!includer) return NULL;
    api_files_folder(includer->path, folder);
    return api_sdf_find_model(files->source->files, folder, uri);
}

/* Refuses a file that includes itself, and chains and numbers of files beyond the limits. */
static bool check_include_chain(api_sdf *sdf, const xmlNode *include, const api_file_entry *found, const char *uri)
{
    const api_sdf_files *files = sdf->files;
    size_t               depth = 0;
    for (unsigned step = api_xml_file(include);; step = files->includer[step], depth++) {
        if (files->entry[step] == found)
            return api_xml_fail(&sdf->xml, include, API_BAD_MODEL, "\"%.*s\" includes itself", api_text_shown(uri),
                                uri);
        if (step == 0) break;
    }
    if (depth > INCLUDES_DEEP)
        return api_xml_fail(&sdf->xml, include, API_TOO_DEEP, "files include each other deeper than %d", INCLUDES_DEEP);
    return files->n < API_XML_FILES ||
           api_xml_fail(&sdf->xml, include, API_MODEL_TOO_LARGE, "there are more than %d files", API_XML_FILES);
}

/* Returns the number of elements that contain an element. */
static unsigned depth_of(const xmlNode *element)
{
    unsigned depth = 0;
    for (const xmlNode *e = element->parent; e && e->type == XML_ELEMENT_NODE; e = e->parent)
        depth++;
    return depth;
}

/* Parses a file, whose elements may have only the levels that the include leaves below the limit. The tree shares the
 * names of the main file, so that its nodes may move there. NULL with a problem. */
static xmlNode *parse_included(api_sdf *sdf, const xmlNode *include, const api_file_entry *found, const char *uri)
{
    api_sdf_files *files = sdf->files;
    size_t         bytes = api_xml_estimate_memory(found->bytes, found->length);
    api_problem    problem;
    if (files->source->share && !api_claim(files->source->share, bytes, sdf->xml.base.problem)) return NULL;
    files->claimed += bytes;
    api_problem_clear(&problem);
    api_xml_source source = {.text    = found->bytes,
                             .length  = found->length,
                             .nesting = API_XML_NESTING - depth_of(include),
                             .file    = (unsigned)files->n,
                             .names   = files->file[0]->dict};
    xmlDoc        *file   = api_xml_parse(&source, &problem);
    if (!file) {
        api_xml_fail(&sdf->xml, include, problem.code, "in %.*s: %s", api_text_shown(uri), uri, problem.detail);
        return NULL;
    }
    files->entry[files->n]    = found;
    files->name[files->n]     = uri;
    files->includer[files->n] = api_xml_file(include);
    files->file[files->n++]   = file;
    return xmlDocGetRootElement(file);
}

/* Finds the only model of a file; *model is NULL if it has none. */
static bool find_only_model(api_sdf *sdf, const xmlNode *include, const xmlNode *root, const xmlNode **model)
{
    if (!api_xml_is(root, "sdf"))
        return api_xml_fail(&sdf->xml, include, API_NOT_SUPPORTED,
                            "the included file has <%.40s> as its outermost element; only files of <sdf> are included",
                            (const char *)root->name);
    if (!api_sdf_read_version(sdf, root, &sdf->files->minor[api_xml_file(root)])) return false;
    *model              = api_xml_child(root, "model");
    const xmlNode *more = *model ? api_xml_next(*model, "model") : NULL;
    return !more || api_xml_fail(&sdf->xml, more, API_BAD_MODEL, "an included file has one model, this is the second");
}

/* Moves the element `name` of an <include> into the included model, where it replaces the model's own element. */
static void override_element(const xmlNode *include, const char *name, xmlNode *model)
{
    xmlNode *from = (xmlNode *)(uintptr_t)api_xml_child(include, name), *old;
    if (!from) return;
    while ((old = (xmlNode *)(uintptr_t)api_xml_child(model, name))) {
        xmlUnlinkNode(old);
        xmlFreeNode(old);
    }
    xmlUnlinkNode(from);
    xmlAddChild(model, from);
}

/* Sets an attribute of the model to the content of an element of the include. */
static bool override_attribute(api_sdf *sdf, const xmlNode *include, const char *name, xmlNode *model)
{
    const char *text = NULL;
    if (!api_xml_child(include, name)) return true;
    if (!api_sdf_text(sdf, include, name, &text)) return false;
    return xmlSetProp(model, (const xmlChar *)name, (const xmlChar *)text) || api_reader_no_memory(&sdf->xml.base);
}

/* Replaces the <include> by the included model. */
static bool put_model(api_sdf *sdf, xmlNode *include, xmlNode *model)
{
    if (!override_attribute(sdf, include, "name", model) || !override_attribute(sdf, include, "placement_frame", model))
        return false;
    override_element(include, "pose", model);
    override_element(include, "static", model);
    xmlUnlinkNode(model);
    xmlReplaceNode(include, model);
    xmlFreeNode(include);
    return true;
}

/* Replaces an include by its model, *placed. *placed is NULL if there is no model: an include whose file is missing is
 * reported and stays in a world, and is refused in a model. */
static bool replace_include(api_sdf *sdf, xmlNode *include, xmlNode **placed)
{
    const char    *uri   = NULL;
    const xmlNode *model = NULL;
    *placed              = NULL;
    if (!sdf->files->source->files) return true;
    if (!api_sdf_text(sdf, include, "uri", &uri)) return false;
    const api_file_entry *found = find_included(sdf, include, uri);
    if (!found) return true;
    if (!check_include_chain(sdf, include, found, uri)) return false;
    const xmlNode *root = parse_included(sdf, include, found, uri);
    if (!root || !find_only_model(sdf, include, root, &model)) return false;
    if (!model) {
        if (!api_xml_report(&sdf->xml, include, "info", "dropped",
                            "%.*s has no model: a light or an actor has no part in the dynamics", api_text_shown(uri),
                            uri))
            return false;
        xmlUnlinkNode(include);
        xmlFreeNode(include);
        return true;
    }
    *placed = (xmlNode *)(uintptr_t)model;
    return put_model(sdf, include, *placed);
}

static bool is_merged(api_sdf *sdf, const xmlNode *include, bool *merged)
{
    static const char *const flags[] = {"false", "true", "0", "1", NULL};
    int                      merge   = 0;
    bool                     ok      = api_xml_choice(&sdf->xml, include, "merge", flags, &merge);
    *merged                          = merge % 2 == 1;
    return ok;
}

/* Replaces each <include> in an element, and in the models that it contains, by the included model. */
static bool expand_includes(api_sdf *sdf, xmlNode *in)
{
    for (xmlNode *child = in->children, *next; child; child = next) {
        xmlNode *within = api_xml_is(child, "model") || api_xml_is(child, "world") ? child : NULL;
        bool     merged = false;
        next            = child->next;
        if (api_xml_is(child, "include") && (!is_merged(sdf, child, &merged) || !replace_include(sdf, child, &within)))
            return false;
        if (within && !expand_includes(sdf, within)) return false;
        if (within && merged && !api_sdf_merge(sdf, within)) return false;
    }
    return true;
}

bool api_sdf_include(api_sdf *sdf)
{
    sdf->xml.files       = sdf->files->name;
    sdf->files->minor[0] = sdf->minor;
    return expand_includes(sdf, xmlDocGetRootElement(sdf->files->file[0]));
}
