/* xml_unused.c - see xml_unused.h: compare a file with the table of what its reader knows. */
#include "xml_unused.h"
#include <stdio.h>
#include <string.h>

/* The report lists at most so many findings, in file order; further ones are only counted. */
enum { MAX_FINDINGS = 64 };

/* What a finding is; each has a severity, a code and a text in `words`. */
typedef enum finding_type {
    DROPPED_ELEMENT,
    DROPPED_ATTRIBUTE,
    NOT_HELD,
    REPEATED,
    UNKNOWN_ELEMENT,
    UNKNOWN_ATTRIBUTE
} finding_type;

static const struct {
    const char *severity, *code, *text;
} words[] = {
    [DROPPED_ELEMENT]   = {"info", "dropped", "has no part in the dynamics"},
    [DROPPED_ATTRIBUTE] = {"info", "dropped", "has no part in the dynamics"},
    [NOT_HELD]          = {"warning", "not-held", "is not part of the model"},
    [REPEATED]          = {"warning", "repeated", "is given again: the first one counts"},
    [UNKNOWN_ELEMENT]   = {"warning", "unknown", "is an unknown element, not used"},
    [UNKNOWN_ATTRIBUTE] = {"warning", "unknown", "is an unknown attribute, not used"},
};

typedef struct finding_kind {
    finding_type   type;
    const xmlNode *in;     /* the first element that contains the finding */
    const char    *name;   /* name of the element or attribute; owned by libxml2 */
    const char    *effect; /* NULL, or what the model lacks without it */
    size_t         times;
} finding_kind;

typedef struct findings {
    size_t       n, not_listed; /* n: entries in `finding`; not_listed: occurrences of further kinds */
    finding_kind finding[MAX_FINDINGS];
} findings;

static void count(findings *t, const finding_kind *found)
{
    for (size_t i = 0; i < t->n; i++) {
        finding_kind *k = &t->finding[i];
        if (k->type != found->type || strcmp(k->name, found->name) != 0 ||
            strcmp((const char *)k->in->name, (const char *)found->in->name) != 0)
            continue;
        k->times++;
        return;
    }
    if (t->n < MAX_FINDINGS) {
        t->finding[t->n]         = *found;
        t->finding[t->n++].times = 1;
    } else {
        t->not_listed++;
    }
}

static void count_element(findings *t, finding_type type, const xmlNode *element, const char *effect)
{
    finding_kind found = {.type = type, .in = element->parent, .name = (const char *)element->name, .effect = effect};
    count(t, &found);
}

/* True if a list of words, with a space before and after each, contains the word. */
static bool lists(const char *list, const xmlChar *word)
{
    char spaced[60];
    int  length = snprintf(spaced, sizeof spaced, " %s ", (const char *)word);
    return list && length < (int)sizeof spaced && strstr(list, spaced);
}

/* Row of the table for an element inside an element `in`; NULL: the element is unknown. */
static const api_xml_known *find_known(const api_xml_vocabulary *v, const xmlNode *element, const xmlNode *in)
{
    bool prefixed = element->ns && element->ns->prefix;
    for (size_t i = 0; i < v->n && !prefixed; i++)
        if (lists(v->known[i].in, in->name) && lists(v->known[i].names, element->name)) return &v->known[i];
    return NULL;
}

static void check_attributes(findings *t, const xmlNode *element, const api_xml_known *known)
{
    for (const xmlAttr *a = element->properties; a; a = a->next) {
        if (!a->ns && lists(known->attributes, a->name)) continue;
        bool         dropped = !a->ns && lists(known->dropped, a->name);
        finding_kind found   = {
              .type = dropped ? DROPPED_ATTRIBUTE : UNKNOWN_ATTRIBUTE, .in = element, .name = (const char *)a->name};
        count(t, &found);
    }
}

static void check_element(findings *t, const api_xml_vocabulary *v, const xmlNode *element, const api_xml_known *known);

/* Children of an element; the nesting limit of the parser bounds the recursion. */
static void check_children(findings *t, const api_xml_vocabulary *v, const xmlNode *element)
{
    uint64_t seen = 0; /* bit i: row i of the table */
    for (const xmlNode *child = element->children; child; child = child->next) {
        if (child->type != XML_ELEMENT_NODE) continue;
        const api_xml_known *known = find_known(v, child, element);
        uint64_t             bit   = known ? (uint64_t)1 << (known - v->known) : 0;
        if (!known)
            count_element(t, UNKNOWN_ELEMENT, child, NULL);
        else if (known->use == API_XML_ONCE && (seen & bit))
            count_element(t, REPEATED, child, NULL);
        else
            check_element(t, v, child, known);
        seen |= bit;
    }
}

static void check_element(findings *t, const api_xml_vocabulary *v, const xmlNode *element, const api_xml_known *known)
{
    switch (known->use) {
    case API_XML_READ:
    case API_XML_ONCE:
        check_attributes(t, element, known);
        check_children(t, v, element);
        break;
    case API_XML_DROPPED: count_element(t, DROPPED_ELEMENT, element, known->effect); break;
    case API_XML_NOT_HELD: count_element(t, NOT_HELD, element, known->effect); break;
    case API_XML_ELSEWHERE: break;
    }
}

static bool report_finding(api_xml_reader *reader, const finding_kind *k)
{
    bool        attribute = k->type == DROPPED_ATTRIBUTE || k->type == UNKNOWN_ATTRIBUTE;
    xmlChar    *in        = xmlGetNoNsProp(k->in, (const xmlChar *)"name");
    const char *name      = in ? (const char *)in : "";
    char        more[60]  = "";
    if (k->times > 1) snprintf(more, sizeof more, "; %zu of this kind", k->times);
    bool ok =
        api_xml_report(reader, k->in, words[k->type].severity, words[k->type].code,
                       "%s%.*s%s in <%.40s>%s%.*s%s %s%s%s%s", attribute ? "" : "<", api_text_shown(k->name), k->name,
                       attribute ? "" : ">", (const char *)k->in->name, in ? " \"" : "", api_text_shown(name), name,
                       in ? "\"" : "", words[k->type].text, k->effect ? ": " : "", k->effect ? k->effect : "", more);
    xmlFree(in);
    return ok;
}

bool api_xml_report_unused(api_xml_reader *reader, const api_xml_vocabulary *vocabulary)
{
    findings t = {0};
    check_attributes(&t, reader->root, &vocabulary->root);
    check_children(&t, vocabulary, reader->root);
    for (size_t i = 0; i < t.n; i++)
        if (!report_finding(reader, &t.finding[i])) return false;
    return t.not_listed == 0 ||
           api_xml_report(reader, reader->root, "warning", "unknown",
                          "%zu elements and attributes of further kinds are not used", t.not_listed);
}
