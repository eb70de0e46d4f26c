/* mjcf_include.c - replace each <include file="..."/> by the elements of that file. A file may be included once, as in
 * MuJoCo, which also ends circles. Which files may be read is up to the caller of the api; a request may read none. */
#include "mjcf_reader.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static bool check_include(api_xml_reader *reader, const api_mjcf_files *files, const xmlNode *include, const char *name)
{
    if (!files->source->read_beside)
        return api_xml_fail(reader, include, API_NOT_SUPPORTED,
                            "<include file=\"%.*s\">: a request holds one file; put the elements of that file in its "
                            "place, or use torqued convert, which reads files beside the first",
                            api_text_shown(name), name);
    for (size_t i = 1; i < files->n; i++)
        if (strcmp(files->name[i], name) == 0)
            return api_xml_fail(reader, include, API_BAD_MODEL, "\"%.*s\" is included a second time",
                                api_text_shown(name), name);
    return files->n < API_XML_FILES ||
           api_xml_fail(reader, include, API_MODEL_TOO_LARGE, "there are more than %d files", API_XML_FILES);
}

/* Reads and parses a file. The tree shares the names of the main file, so that its nodes may move there. */
static const xmlNode *parse_file(api_xml_reader *reader, api_mjcf_files *files, const xmlNode *include,
                                 const char *name)
{
    api_problem found;
    size_t      length = 0;
    char       *text   = files->source->read_beside(files->source->arg, name, &length);
    if (!text) {
        api_xml_fail(
            reader, include, API_NOT_SUPPORTED,
            "<include file=\"%.*s\">: there is no such file in the folder of the first file, or it is too large",
            api_text_shown(name), name);
        return NULL;
    }
    api_problem_clear(&found);
    api_xml_source source = {.text    = text,
                             .length  = length,
                             .nesting = files->source->nesting,
                             .file    = (unsigned)files->n,
                             .names   = files->file[0]->dict};
    xmlDoc        *file   = api_xml_parse(&source, &found);
    free(text);
    if (!file) {
        api_xml_fail(reader, include, found.code, "in %.*s: %s", api_text_shown(name), name, found.detail);
        return NULL;
    }
    files->name[files->n]   = name;
    files->file[files->n++] = file;
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
    if (!api_xml_name(reader, include, "file", &name) || !check_include(reader, files, include, name)) return false;
    const xmlNode *root = parse_file(reader, files, include, name);
    if (!root) return false;
    xmlNode *before = include->prev, *parent = include->parent;
    splice(root, include);
    *next = before ? before->next : parent->children;
    return true;
}

static bool expand(api_xml_reader *reader, api_mjcf_files *files, xmlNode *in, unsigned depth)
{
    if (depth > files->source->nesting)
        return api_xml_fail(reader, in, API_TOO_DEEP, "with its includes, elements are nested deeper than %u",
                            files->source->nesting);
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

bool api_mjcf_include(api_xml_reader *reader, api_mjcf_files *files)
{
    reader->files = files->name;
    return expand(reader, files, xmlDocGetRootElement(files->file[0]), 1);
}
