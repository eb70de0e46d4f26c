/* mjcf_unused.c - compare a file with the table of MJCF, and report once per kind all that is not part of the model. */
#include "api/robots/xml/xml_findings.h"
#include "mjcf_reader.h"
#include "api/robots/mjcf_schema/mjcf_schema.h"
#include <stdio.h>
#include <string.h>

enum { UNKNOWN = API_MJCF_USES };

static const api_xml_words words[] = {
    [API_MJCF_IRRELEVANT] = {"info", "dropped", "has no part in the dynamics"},
    [API_MJCF_CONTACT]    = {"info", "dropped", "is about contacts, which are not part of a model"},
    [API_MJCF_SOFTNESS]   = {"info", "dropped", "is about the softness of constraints, which are exact in a model"},
    [API_MJCF_CONTROL]    = {"info", "dropped", "is about controls: torques are those at the joints"},
    [API_MJCF_NOT_HELD]   = {"warning", "not-held", "is not part of the model"},
    [UNKNOWN]             = {"warning", "unknown", "is unknown and not used"},
};

typedef struct findings {
    api_xml_findings      all;
    const api_mjcf_known *known;
    size_t                n_known;
} findings;

/* True for a use with a text for the report. */
static bool is_told(unsigned use)
{
    return words[use].text != NULL;
}

/* True if a list of words, with a space before and after each, contains the word. */
static bool lists(const char *list, const xmlChar *word)
{
    char spaced[60];
    int  length = snprintf(spaced, sizeof spaced, " %s ", (const char *)word);
    return list && length < (int)sizeof spaced && strstr(list, spaced);
}

/* True if one of the row's parents is the parent element: by its name, or by "outer/parent". */
static bool stands_in(const api_mjcf_known *known, const xmlNode *parent)
{
    char path[60] = "";
    if (parent->parent && parent->parent->type == XML_ELEMENT_NODE)
        snprintf(path, sizeof path, "%.28s/%.28s", (const char *)parent->parent->name, (const char *)parent->name);
    return lists(known->in, parent->name) || lists(known->in, (const xmlChar *)path);
}

/* Row of the table for an element; NULL: the element is unknown. */
static const api_mjcf_known *find_known(const findings *t, const xmlNode *element)
{
    bool prefixed = element->ns && element->ns->prefix;
    for (size_t i = 0; i < t->n_known && !prefixed; i++)
        if (lists(t->known[i].names, element->name) && stands_in(&t->known[i], element->parent)) return &t->known[i];
    return NULL;
}

static unsigned use_of(const api_mjcf_known *known, const xmlAttr *attribute)
{
    for (unsigned use = 0; use < API_MJCF_USES && !attribute->ns; use++)
        if (lists(known->attributes[use], attribute->name)) return use;
    return UNKNOWN;
}

/* Checks the attributes of an element. `quiet`: an element around it is reported already, so only unknown attributes
 * are reported. */
static void check_attributes(findings *t, const xmlNode *element, const api_mjcf_known *known, bool quiet)
{
    for (const xmlAttr *a = element->properties; a; a = a->next) {
        unsigned use = use_of(known, a);
        if (use != UNKNOWN && (quiet || !is_told(use))) continue;
        api_xml_finding found = {.words = &words[use], .attribute = true, .in = element, .name = (const char *)a->name};
        api_xml_count_finding(&t->all, &found);
    }
}

/* Sections from which <attach> copies what it needs. The others of an attached model are checked in its own tree. */
static bool is_copied(const xmlNode *section)
{
    static const char copied[] = " worldbody default asset contact tendon equality actuator sensor ";
    return lists(copied, section->name);
}

/* Checks the children of an element; the nesting limit of the parser bounds the recursion. */
static void check_children(findings *t, const xmlNode *element, bool quiet, bool attached)
{
    for (const xmlNode *child = element->children; child; child = child->next) {
        if (child->type != XML_ELEMENT_NODE || (attached && is_copied(child))) continue;
        const api_mjcf_known *known = find_known(t, child);
        const unsigned        use   = known ? (unsigned)known->use : UNKNOWN;
        const bool            told  = !known || (!quiet && is_told(use));
        api_xml_finding       found = {.words  = &words[use],
                                       .in     = element,
                                       .name   = (const char *)child->name,
                                       .effect = known ? known->effect : NULL};
        if (told) api_xml_count_finding(&t->all, &found);
        if (!known) continue;
        bool inside = quiet || told || known->use == API_MJCF_REPORTED || known->use == API_MJCF_SILENT;
        check_attributes(t, child, known, inside);
        check_children(t, child, inside, false);
    }
}

bool api_mjcf_report_unused(api_mjcf *m)
{
    static const api_mjcf_known root = {.names = " mujoco ", .attributes = {[API_MJCF_HELD] = " model "}};
    findings                    t    = {0};
    t.known                          = api_mjcf_schema(&t.n_known);
    for (size_t k = 0; k < m->files->n_models; k++) {
        check_attributes(&t, m->files->model[k].root, &root, false);
        check_children(&t, m->files->model[k].root, false, k > 0);
    }
    return api_xml_report_findings(&m->xml, &t.all);
}
