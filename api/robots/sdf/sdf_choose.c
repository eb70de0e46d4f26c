/* sdf_choose.c - choose the model of a file that holds several: the only one that is not static, or that of the query
 * parameter `model`. */
#include "sdf_reader.h"
#include <stdio.h>
#include <string.h>

enum { LIST_BYTES = 220, MORE_BYTES = 26 /* bytes of a list, and of its end " and 1000000 more" */ };

static bool is_static(api_sdf *sdf, const xmlNode *model, bool *is)
{
    *is = false;
    return api_sdf_flag(sdf, model, "static", is);
}

/* Appends a name in quotes to the list of candidates. The caller counts a name that does not fit. */
static bool append_candidate(char list[LIST_BYTES], const char *name)
{
    size_t used = strlen(list), need = strlen(name) + sizeof ", \"\"";
    if (used + need > LIST_BYTES - MORE_BYTES) return false;
    snprintf(list + used, LIST_BYTES - used, "%s\"%s\"", used > 0 ? ", " : "", name);
    return true;
}

/* Lists the models that are not static. *n counts them. */
static bool write_candidates(api_sdf *sdf, const xmlNode *in, char list[LIST_BYTES], size_t *n)
{
    size_t more = 0;
    *n          = 0;
    *list       = '\0';
    for (const xmlNode *e = api_xml_child(in, "model"); e; e = api_xml_next(e, "model")) {
        const char *name;
        bool        is_still;
        if (!is_static(sdf, e, &is_still)) return false;
        if (is_still) continue;
        if (!api_xml_name(&sdf->xml, e, "name", &name)) return false;
        more += !append_candidate(list, name);
        ++*n;
    }
    size_t used = strlen(list);
    if (more > 0) snprintf(list + used, LIST_BYTES - used, "%s%zu more", used > 0 ? " and " : "", more);
    return true;
}

static bool fail_nothing_moves(api_sdf *sdf, const xmlNode *in)
{
    return api_xml_fail(&sdf->xml, in, API_BAD_MODEL, "<%.40s> has no <model> that is not static: nothing moves",
                        (const char *)in->name);
}

static bool fail_several(api_sdf *sdf, const xmlNode *in, const char *list, size_t n)
{
    return api_xml_fail(&sdf->xml, in, API_BAD_MODEL,
                        "%zu models are not static, and one is read: choose it by its name, ?model=NAME in the URL or "
                        "--model NAME on the command line; there are: %s",
                        n, list);
}

static bool fail_wanted(api_sdf *sdf, const xmlNode *in, const char *list)
{
    return api_xml_fail(&sdf->xml, in, API_UNKNOWN_NAME,
                        "model=%.*s was requested, and no model that is not static has this name; there %s",
                        api_text_shown(sdf->wanted), sdf->wanted, list);
}

/* Takes the model of the requested name, or, without a request, the one that is not static. */
static bool take_model(api_sdf *sdf, const xmlNode *model)
{
    bool        is_still;
    const char *name = "";
    if (!is_static(sdf, model, &is_still)) return false;
    if (is_still)
        return api_xml_report(&sdf->xml, model, "info", "dropped",
                              "the model is static: it has no part in the dynamics");
    if (!api_xml_name(&sdf->xml, model, "name", &name)) return false;
    if (*sdf->wanted && strcmp(name, sdf->wanted) != 0)
        return api_xml_report(&sdf->xml, model, "info", "dropped", "model=%.*s was requested: this model is not read",
                              api_text_shown(sdf->wanted), sdf->wanted);
    if (sdf->model)
        return api_xml_fail(&sdf->xml, model, API_DUPLICATE_NAME, "the model of line %lu has this name, too",
                            api_xml_line(sdf->model));
    sdf->model = model;
    return true;
}

bool api_sdf_choose_model(api_sdf *sdf, const xmlNode *in)
{
    char   list[LIST_BYTES], known[LIST_BYTES + 8];
    size_t n;
    if (!write_candidates(sdf, in, list, &n)) return false;
    if (n > 1 && !*sdf->wanted) return fail_several(sdf, in, list, n);
    for (const xmlNode *e = api_xml_child(in, "model"); e; e = api_xml_next(e, "model"))
        if (!take_model(sdf, e)) return false;
    if (sdf->model) return true;
    snprintf(known, sizeof known, n > 0 ? "are: %s" : "is none", list);
    return *sdf->wanted ? fail_wanted(sdf, in, known) : fail_nothing_moves(sdf, in);
}
