/* sdf_model_file.c - see sdf_model_file.h. */
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

/* Copies the file name of the greatest version in a model.config. */
static bool read_config(const api_file_entry *config, char name[API_FILE_PATH])
{
    api_problem    problem;
    api_xml_source source = {.text = config->bytes, .length = config->length, .nesting = 20};
    int            best   = -1;
    api_problem_clear(&problem);
    xmlDoc *file = api_xml_parse(&source, &problem);
    for (const xmlNode *e = file ? api_xml_child(xmlDocGetRootElement(file), "sdf") : NULL; e;
         e                = api_xml_next(e, "sdf")) {
        int      minor = minor_of(e);
        xmlChar *text  = minor > best ? xmlNodeGetContent(e) : NULL;
        if (!text) continue;
        const char *start  = (const char *)text + strspn((const char *)text, " \t\r\n");
        size_t      length = strcspn(start, "\r\n");
        while (length > 0 && strchr(" \t", start[length - 1]))
            length--;
        if (length > 0 && length < API_FILE_PATH) {
            memcpy(name, start, length);
            name[length] = '\0';
            best         = minor;
        }
        xmlFree(text);
    }
    xmlFreeDoc(file);
    return best >= 0;
}

const api_file_entry *api_sdf_find_model(const api_files *files, const char *folder, const char *uri)
{
    char                  config_name[API_FILE_PATH], name[API_FILE_PATH], inner[API_FILE_PATH];
    const api_file_entry *found = api_files_find(files, folder, uri);
    if (found) return found;
    if ((size_t)snprintf(config_name, sizeof config_name, "%s/model.config", uri) >= sizeof config_name) return NULL;
    const api_file_entry *config = api_files_find(files, folder, config_name);
    if (!config || !read_config(config, name)) return NULL;
    api_files_folder(config->path, inner);
    return api_files_find(files, inner, name);
}
