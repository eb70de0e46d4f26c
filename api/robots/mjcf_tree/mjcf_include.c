/* mjcf_include.c - replace each <include file="..."/> by the elements of that file. Several includes may name the same
 * file; MuJoCo 3.14 refuses that only if the first file of the model included it before. As in MuJoCo, the file is in
 * the folder of the first file or else in the folder of the file that includes it. */
#include "api/robots/mjcf/mjcf_reader.h"
#include "api/robots/xml/xml_text.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

const api_file_entry *api_mjcf_find_file(api_xml_reader *reader, const api_mjcf_files *files, const xmlNode *element,
                                         const char *name)
{
    char                  folder[API_FILE_PATH];
    const api_file_entry *outer = files->entry[api_xml_file(element)];
    const api_file_entry *first = files->model[api_mjcf_model_of(files, element)].entry;
    if (!files->source->files) {
        api_xml_fail(reader, element, API_NOT_SUPPORTED,
                     "<%.20s file=\"%.*s\">: a request with one file has no other; send the folder as an archive "
                     "(application/zip), or use torqued put",
                     (const char *)element->name, api_text_shown(name), name);
        return NULL;
    }
    api_files_folder(first ? first->path : files->source->path, folder);
    const api_file_entry *found = api_files_find(files->source->files, folder, name);
    if (!found && outer) {
        api_files_folder(outer->path, folder);
        found = api_files_find(files->source->files, folder, name);
    }
    if (!found)
        api_xml_fail(reader, element, API_NOT_SUPPORTED,
                     "<%.20s file=\"%.*s\">: there is no such file in the folder of the first file or of this one; add "
                     "it to the archive or folder",
                     (const char *)element->name, api_text_shown(name), name);
    return found;
}

/* Refuses to include a file in itself. */
static bool check_include(api_xml_reader *reader, const api_mjcf_files *files, const xmlNode *include,
                          const api_file_entry *found, const char *name)
{
    const unsigned first = api_xml_file(files->model[api_mjcf_model_of(files, include)].root);
    for (unsigned i = api_xml_file(include);; i = files->included_by[i]) {
        if (files->entry[i] == found)
            return api_xml_fail(reader, include, API_BAD_MODEL, "\"%.*s\" includes itself", api_text_shown(name), name);
        if (i == first) return true;
    }
}

const xmlNode *api_mjcf_parse_file(api_xml_reader *reader, api_mjcf_files *files, const xmlNode *element,
                                   const api_file_entry *found, const char *name, size_t model)
{
    size_t      bytes = api_xml_estimate_memory(found->bytes, found->length);
    api_problem problem;
    if (files->n == API_XML_FILES) {
        api_xml_fail(reader, element, API_MODEL_TOO_LARGE, "there are more than %d files", API_XML_FILES);
        return NULL;
    }
    if (files->source->share && !api_claim(files->source->share, bytes, reader->base.problem)) return NULL;
    files->claimed += bytes;
    api_problem_clear(&problem);
    api_xml_source source = {.text    = found->bytes,
                             .length  = found->length,
                             .nesting = API_XML_NESTING,
                             .file    = (unsigned)files->n,
                             .names   = files->file[0]->dict};
    xmlDoc        *file   = api_xml_parse(&source, &problem);
    if (!file) {
        api_xml_fail(reader, element, problem.code, "in %.*s: %s", api_text_shown(name), name, problem.detail);
        return NULL;
    }
    files->entry[files->n]       = found;
    files->name[files->n]        = name;
    files->model_of[files->n]    = (unsigned char)model;
    files->included_by[files->n] = (unsigned short)api_xml_file(element);
    files->file[files->n++]      = file;
    return xmlDocGetRootElement(file);
}

/* Moves the children of `from` before `include`, and removes that. */
static void splice(const xmlNode *from, xmlNode *include)
{
    for (xmlNode *child = from->children, *next; child; child = next) {
        next = child->next;
        if (child->type != XML_ELEMENT_NODE) continue;
        xmlUnlinkNode(child);
        xmlAddPrevSibling(include, child);
    }
    xmlUnlinkNode(include);
    xmlFreeNode(include);
}

/* Replaces an include; returns the first element that came for it, or what follows it. */
static bool replace(api_xml_reader *reader, api_mjcf_files *files, xmlNode *include, xmlNode **next)
{
    const char *name = NULL;
    if (!api_xml_name(reader, include, "file", &name)) return false;
    const api_file_entry *found = api_mjcf_find_file(reader, files, include, name);
    if (!found || !check_include(reader, files, include, found, name)) return false;
    const xmlNode *root = api_mjcf_parse_file(reader, files, include, found, name, api_mjcf_model_of(files, include));
    if (!root) return false;
    xmlNode *before = include->prev, *parent = include->parent;
    splice(root, include);
    *next = before ? before->next : parent->children;
    return true;
}

static bool expand(api_xml_reader *reader, api_mjcf_files *files, xmlNode *in, unsigned depth)
{
    if (depth > API_XML_NESTING)
        return api_xml_fail(reader, in, API_TOO_DEEP, "with its includes, elements are nested deeper than %d",
                            API_XML_NESTING);
    for (xmlNode *child = in->children, *next; child; child = next) {
        next = child->next;
        if (api_xml_is(child, "include")) {
            if (!replace(reader, files, child, &next)) return false;
        } else if (child->type == XML_ELEMENT_NODE && !expand(reader, files, child, depth + 1)) {
            return false;
        }
    }
    return true;
}

bool api_mjcf_include(api_xml_reader *reader, api_mjcf_files *files, size_t model)
{
    return expand(reader, files, (xmlNode *)(uintptr_t)files->model[model].root, 1);
}
