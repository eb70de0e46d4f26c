/* sdf_model_file.c - finds the file of an included model; see sdf_model_file.h. */
#include "sdf_model_file.h"
#include "api/robots/xml/xml_reader.h"
#include "sdf_reader.h"
#include <stdio.h>
#include <string.h>

/* Minor version of an <sdf> of a model.config: 9 for "1.9", 0 without a version, -1 for one that is not read. */
static int minor_of(const xmlNode *element)
{
    int      minor = 0, used = 0;
    xmlChar *text = xmlGetNoNsProp(element, (const xmlChar *)"version");
    bool     good = !text || (sscanf((const char *)text, "1.%d%n", &minor, &used) == 1 && text[used] == '\0');
    xmlFree(text);
    return good && minor <= API_SDF_LATEST ? minor : -1;
}

/* Copies the content of an element without white space around it. False: it is empty or too long. */
static bool copy_name(const xmlNode *element, char name[API_FILE_PATH])
{
    xmlChar    *text   = xmlNodeGetContent(element);
    const char *start  = text ? (const char *)text + strspn((const char *)text, " \t\r\n") : "";
    size_t      length = strcspn(start, "\r\n");
    while (length > 0 && strchr(" \t", start[length - 1]))
        length--;
    bool good = length > 0 && length < API_FILE_PATH;
    if (good) memcpy(name, start, length);
    name[good ? length : 0] = '\0';
    xmlFree(text);
    return good;
}

static xmlDoc *parse_config(const api_file_entry *config)
{
    api_problem    problem;
    api_xml_source source = {.text = config->bytes, .length = config->length, .nesting = 20};
    api_problem_clear(&problem);
    return api_xml_parse(&source, &problem);
}

static const xmlNode *first_file(xmlDoc *config)
{
    return config ? api_xml_child(xmlDocGetRootElement(config), "sdf") : NULL;
}

/* Copies the file name of the greatest version in a model.config; "" if there is none. */
static void read_config(const api_file_entry *config, char name[API_FILE_PATH])
{
    int     best = -1;
    xmlDoc *file = parse_config(config);
    char    other[API_FILE_PATH];
    *name = '\0';
    for (const xmlNode *e = first_file(file); e; e = api_xml_next(e, "sdf"))
        if (minor_of(e) > best && copy_name(e, other)) {
            strcpy(name, other);
            best = minor_of(e);
        }
    xmlFreeDoc(file);
}

/* Finds the file that a URI names, or that of the model's folder. */
static const api_file_entry *find_named(const api_files *files, const char *folder, const char *uri)
{
    char                  config_name[API_FILE_PATH], name[API_FILE_PATH], inner[API_FILE_PATH];
    const api_file_entry *found = api_files_find(files, folder, uri);
    if (found) return found;
    if ((size_t)snprintf(config_name, sizeof config_name, "%s/model.config", uri) >= sizeof config_name) return NULL;
    const api_file_entry *config = api_files_find(files, folder, config_name);
    if (!config) return NULL;
    read_config(config, name);
    api_files_folder(config->path, inner);
    return api_files_find(files, inner, name);
}

const api_file_entry *api_sdf_find_model(const api_files *files, const char *folder, const char *uri)
{
    char                  as_model[API_FILE_PATH];
    const api_file_entry *found = find_named(files, folder, uri);
    const char           *plain = found ? NULL : api_files_plain_name(uri);
    if (!plain || (size_t)snprintf(as_model, sizeof as_model, "model://%s", plain) >= sizeof as_model) return found;
    return find_named(files, folder, as_model);
}

void api_sdf_visit_older(const api_files *files, const api_file_entry                *config,
                         void (*visit)(void *arg, const api_file_entry *older), void *arg)
{
    char    best[API_FILE_PATH], name[API_FILE_PATH], folder[API_FILE_PATH];
    xmlDoc *file = parse_config(config);
    read_config(config, best);
    api_files_folder(config->path, folder);
    for (const xmlNode *e = first_file(file); e; e = api_xml_next(e, "sdf")) {
        const api_file_entry *found = copy_name(e, name) ? api_files_find(files, folder, name) : NULL;
        if (found && found != api_files_find(files, folder, best)) visit(arg, found);
    }
    xmlFreeDoc(file);
}
