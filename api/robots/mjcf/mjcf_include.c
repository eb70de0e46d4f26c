/* mjcf_include.c - replace each <include file="..."/> by the elements of that file. A file may be included once, as in
 * MuJoCo 3.14, which also ends circles. As there, a name is that of a file in the folder of the first file or, if that
 * has none, in the folder of the file that includes it. */
#include "mjcf_reader.h"
#include "api/robots/xml/xml_text.h"
#include <stdlib.h>
#include <string.h>

/* Finds the file that an <include> names. NULL with a problem. */
static const api_file_entry *find_file(api_xml_reader *reader, const api_mjcf_files *files, const xmlNode *include,
                                       const char *name)
{
    char                  folder[API_FILE_PATH];
    const api_file_entry *includer = files->entry[api_xml_file(include)];
    if (!files->source->files) {
        api_xml_fail(reader, include, API_NOT_SUPPORTED,
                     "<include file=\"%.*s\">: a request with one file has no other; send the folder as an archive "
                     "(application/zip), or use torqued put",
                     api_text_shown(name), name);
        return NULL;
    }
    api_files_folder(files->source->path, folder);
    const api_file_entry *found = api_files_find(files->source->files, folder, name);
    if (!found && includer) {
        api_files_folder(includer->path, folder);
        found = api_files_find(files->source->files, folder, name);
    }
    if (!found)
        api_xml_fail(
            reader, include, API_NOT_SUPPORTED,
            "<include file=\"%.*s\">: there is no such file in the folder of the first file or of this one; add "
            "it to the archive or folder",
            api_text_shown(name), name);
    return found;
}

static bool check_include(api_xml_reader *reader, const api_mjcf_files *files, const xmlNode *include,
                          const api_file_entry *found, const char *name)
{
    for (size_t i = 0; i < files->n; i++)
        if (files->entry[i] == found)
            return api_xml_fail(reader, include, API_BAD_MODEL, "\"%.*s\" is included a second time",
                                api_text_shown(name), name);
    return files->n < API_XML_FILES ||
           api_xml_fail(reader, include, API_MODEL_TOO_LARGE, "there are more than %d files", API_XML_FILES);
}

/* Parses a file. The tree shares the names of the main file, so that its nodes may move there. */
static const xmlNode *parse_file(api_xml_reader *reader, api_mjcf_files *files, const xmlNode *include,
                                 const api_file_entry *found, const char *name)
{
    size_t      bytes = api_xml_estimate_memory(found->bytes, found->length);
    api_problem problem;
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
        api_xml_fail(reader, include, problem.code, "in %.*s: %s", api_text_shown(name), name, problem.detail);
        return NULL;
    }
    files->entry[files->n]  = found;
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
    if (!api_xml_name(reader, include, "file", &name)) return false;
    const api_file_entry *found = find_file(reader, files, include, name);
    if (!found || !check_include(reader, files, include, found, name)) return false;
    const xmlNode *root = parse_file(reader, files, include, found, name);
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

bool api_mjcf_include(api_xml_reader *reader, api_mjcf_files *files)
{
    reader->files = files->name;
    return expand(reader, files, xmlDocGetRootElement(files->file[0]), 1);
}
