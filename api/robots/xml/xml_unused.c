/* xml_unused.c - see xml_unused.h: compare a file with the table of what its reader knows. */
#include "xml_unused.h"
#include "xml_findings.h"
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Types of findings; each has a severity, a code and a text in `words`. */
typedef enum finding_type {
    DROPPED_ELEMENT,
    DROPPED_ATTRIBUTE,
    NOT_HELD,
    ATTRIBUTE_NOT_HELD,
    REPEATED,
    UNKNOWN_ELEMENT,
    UNKNOWN_MACRO,
    UNKNOWN_ATTRIBUTE
} finding_type;

static const api_xml_words words[] = {
    [DROPPED_ELEMENT]    = {"info", "dropped", "has no part in the dynamics"},
    [DROPPED_ATTRIBUTE]  = {"info", "dropped", "has no part in the dynamics"},
    [NOT_HELD]           = {"warning", "not-held", "is not part of the model"},
    [ATTRIBUTE_NOT_HELD] = {"warning", "not-held", "is not part of the model"},
    [REPEATED]           = {"warning", "repeated", "is given again: the first one counts"},
    [UNKNOWN_ELEMENT]    = {"warning", "unknown", "is an unknown element, not used"},
    [UNKNOWN_MACRO] = {"warning", "unknown", "is a macro that was not expanded, not used: expand xacro macros first"},
    [UNKNOWN_ATTRIBUTE] = {"warning", "unknown", "is an unknown attribute, not used"},
};

struct row_list;
enum { KEPT_ROWS = 1024 };

typedef struct findings {
    api_arena              *arena;
    bool                    no_memory;
    const struct row_list **kept;    /* [KEPT_ROWS] hash table of rows by names of elements; NULL: an empty entry */
    size_t                  counted; /* number of all findings */
    bool quiet; /* true: the element is inside one without effect on the dynamics, which is reported itself, so that
                   only other types of findings count */
    api_xml_findings all;
} findings;

static void count(findings *t, finding_type type, api_xml_finding found)
{
    if (t->quiet && (type == DROPPED_ELEMENT || type == DROPPED_ATTRIBUTE)) return;
    t->counted++;
    found.words = &words[type];
    api_xml_count_finding(&t->all, &found);
}

static const char *prefix_of(const xmlNs *space)
{
    return space ? (const char *)space->prefix : NULL;
}

static void count_element(findings *t, finding_type type, const xmlNode *element, const char *effect)
{
    const char *prefix = prefix_of(element->ns);
    if (type == UNKNOWN_ELEMENT && prefix && strcmp(prefix, "xacro") == 0) type = UNKNOWN_MACRO;
    count(t, type,
          (api_xml_finding){
              .in = element->parent, .prefix = prefix, .name = (const char *)element->name, .effect = effect});
}

/* --- the table ---------------------------------------------------------------------------------------------------- */

/* A word between spaces, by which it is found in a list of words; empty if it is too long for any list. */
typedef struct spaced_word {
    char text[2 * API_XML_QUALIFIED];
} spaced_word;

static spaced_word space(const char *before, const char *word)
{
    spaced_word spaced;
    int         length = snprintf(spaced.text, sizeof spaced.text, " %s%s%s ", before, *before ? "/" : "", word);
    if (length >= (int)sizeof spaced.text || strchr(word, ' ')) spaced.text[0] = '\0';
    return spaced;
}

static bool lists(const char *list, const spaced_word *word)
{
    return list && word->text[0] && strstr(list, word->text);
}

/* Rows of the table whose elements are inside an element `name` of a parent `above`. */
typedef struct row_list {
    const xmlChar *name, *above; /* interned by libxml2: equal names are at one address */
    size_t         n;
    unsigned short row[];
} row_list;

static const api_xml_known *row_of(const api_xml_vocabulary *v, size_t i)
{
    return i < v->n ? &v->known[i] : &v->more[i - v->n];
}

static const row_list *make_rows(findings *t, const api_xml_vocabulary *v, const xmlNode *element,
                                 const xmlNode *parent)
{
    char           own[API_XML_QUALIFIED], above[API_XML_QUALIFIED];
    unsigned short row[API_XML_ROWS];
    const char    *name   = api_xml_qualified_name(element, own);
    spaced_word    plain  = space("", name);
    spaced_word    within = space(parent ? api_xml_qualified_name(parent, above) : "", name);
    size_t         n      = 0;
    for (size_t i = 0; i < v->n + v->n_more && i < API_XML_ROWS; i++) {
        const char *in = row_of(v, i)->in;
        if (lists(in, &within) || lists(in, &plain)) row[n++] = (unsigned short)i;
    }
    row_list *rows = api_arena_take(t->arena, 1, sizeof *rows + n * sizeof *row);
    if (!rows) {
        static const row_list none;
        t->no_memory = true;
        return &none;
    }
    *rows = (row_list){.name = element->name, .above = parent ? parent->name : NULL, .n = n};
    memcpy(rows->row, row, n * sizeof *row);
    return rows;
}

/* Finds the rows for the content of an element. Rows of elements without a prefix are cached while the cache has a free
 * place. */
static const row_list *find_rows(findings *t, const api_xml_vocabulary *v, const xmlNode *element)
{
    const xmlNode *parent = element->parent && element->parent->type == XML_ELEMENT_NODE ? element->parent : NULL;
    const xmlChar *above  = parent ? parent->name : NULL;
    if (prefix_of(element->ns) || (parent && prefix_of(parent->ns))) return make_rows(t, v, element, parent);
    size_t place = ((uintptr_t)element->name >> 3) * 31 + ((uintptr_t)above >> 3);
    for (size_t i = 0; i < KEPT_ROWS; i++) {
        const row_list **kept = &t->kept[(place + i) % KEPT_ROWS];
        if (!*kept) return *kept = make_rows(t, v, element, parent);
        const row_list *rows = *kept;
        if (rows->name == element->name && rows->above == above) return rows;
    }
    return make_rows(t, v, element, parent);
}

static bool is_of_attributes(const api_xml_known *known)
{
    return known->use == API_XML_ATTRIBUTE_READ || known->use == API_XML_ATTRIBUTE_DROPPED ||
           known->use == API_XML_ATTRIBUTE_NOT_HELD;
}

/* Row number of an element or attribute; the first that lists it counts. API_XML_ROWS: it is unknown. */
static size_t find_row(const api_xml_vocabulary *v, const row_list *rows, const spaced_word *word, bool attribute)
{
    for (size_t i = 0; i < rows->n; i++) {
        const api_xml_known *known = row_of(v, rows->row[i]);
        if (is_of_attributes(known) == attribute && lists(known->names, word)) return rows->row[i];
    }
    return API_XML_ROWS;
}

static size_t find_element(const api_xml_vocabulary *v, const row_list *rows, const xmlNode *element)
{
    char        text[API_XML_QUALIFIED];
    spaced_word word = space("", api_xml_qualified_name(element, text));
    return find_row(v, rows, &word, false);
}

/* --- the file ----------------------------------------------------------------------------------------------------- */

static void check_attribute(findings *t, const api_xml_vocabulary *v, const row_list *rows, const api_xml_known *known,
                            const xmlAttr *a)
{
    char         text[API_XML_QUALIFIED];
    spaced_word  word = space("", api_xml_qualified_attribute(a, text));
    size_t       row  = find_row(v, rows, &word, true);
    api_xml_use  use  = row < API_XML_ROWS ? row_of(v, row)->use : API_XML_READ;
    finding_type type = UNKNOWN_ATTRIBUTE;
    if (lists(known->attributes, &word) || use == API_XML_ATTRIBUTE_READ) return;
    if (lists(known->dropped, &word) || use == API_XML_ATTRIBUTE_DROPPED) type = DROPPED_ATTRIBUTE;
    if (use == API_XML_ATTRIBUTE_NOT_HELD) type = ATTRIBUTE_NOT_HELD;
    count(t, type,
          (api_xml_finding){.attribute = true,
                            .in        = a->parent,
                            .prefix    = prefix_of(a->ns),
                            .name      = (const char *)a->name,
                            .effect    = type == ATTRIBUTE_NOT_HELD ? row_of(v, row)->effect : NULL});
}

static void check_element(findings *t, const api_xml_vocabulary *v, const xmlNode *element, const api_xml_known *known);

/* Checks the children of an element; the nesting limit of the parser bounds the recursion. */
static void check_children(findings *t, const api_xml_vocabulary *v, const row_list *rows, const xmlNode *element)
{
    bool seen[API_XML_ROWS + 1] = {false};
    for (const xmlNode *child = element->children; child; child = child->next) {
        if (child->type != XML_ELEMENT_NODE) continue;
        size_t row = find_element(v, rows, child);
        if (row == API_XML_ROWS)
            count_element(t, UNKNOWN_ELEMENT, child, NULL);
        else if (row_of(v, row)->use == API_XML_ONCE && seen[row])
            count_element(t, REPEATED, child, NULL);
        else
            check_element(t, v, child, row_of(v, row));
        seen[row] = true;
    }
}

/* Checks the content of an element whose content the table does not list: only content that a model cannot hold is
 * reported. */
static void check_open_content(findings *t, const api_xml_vocabulary *v, const xmlNode *element)
{
    const row_list *rows = find_rows(t, v, element);
    for (const xmlNode *child = element->children; rows->n > 0 && child; child = child->next) {
        size_t row = child->type == XML_ELEMENT_NODE ? find_element(v, rows, child) : API_XML_ROWS;
        if (row < API_XML_ROWS && row_of(v, row)->use == API_XML_NOT_HELD) check_element(t, v, child, row_of(v, row));
    }
}

static void check_content(findings *t, const api_xml_vocabulary *v, const xmlNode *element, const api_xml_known *known)
{
    if (!element->properties && !element->children) return;
    const row_list *rows = find_rows(t, v, element);
    for (const xmlAttr *a = element->properties; a; a = a->next)
        check_attribute(t, v, rows, known, a);
    check_children(t, v, rows, element);
}

/* Counts an element without a part in the dynamics as dropped, unless its content is reported: content with an effect
 * on the motion, or unknown content. */
static void check_dropped(findings *t, const api_xml_vocabulary *v, const xmlNode *element, const api_xml_known *known)
{
    size_t before = t->counted;
    bool   quiet  = t->quiet;
    t->quiet      = true;
    if (known->attributes)
        check_content(t, v, element, known);
    else
        check_open_content(t, v, element);
    t->quiet = quiet;
    if (t->counted == before) count_element(t, DROPPED_ELEMENT, element, known->effect);
}

/* True if the text of an element or attribute is one word of a list. */
static bool is_one_of(const xmlNode *node, const char *harmless)
{
    static const char white[] = " \t\r\n";
    xmlChar          *content = harmless ? xmlNodeGetContent(node) : NULL;
    bool              is      = false;
    if (content) {
        char  *word        = (char *)content + strspn((char *)content, white);
        size_t length      = strcspn(word, white);
        bool   one         = word[length + strspn(word + length, white)] == '\0';
        word[length]       = '\0';
        spaced_word spaced = space("", word);
        is                 = one && length > 0 && lists(harmless, &spaced);
    }
    xmlFree(content);
    return is;
}

/* True if the content of an element or, without content, each of its attributes is one of the words. */
static bool says_only(const xmlNode *element, const char *harmless)
{
    const xmlAttr *a = element->properties;
    if (element->children || !a) return is_one_of(element, harmless);
    while (a && is_one_of((const xmlNode *)a, harmless))
        a = a->next;
    return !a;
}

static void check_element(findings *t, const api_xml_vocabulary *v, const xmlNode *element, const api_xml_known *known)
{
    switch (known->use) {
    case API_XML_READ:
    case API_XML_ONCE:
        t->counted += t->quiet; /* inside a dropped element, one that is read counts as a finding, so that the outer one
                                   is not reported as without effect */
        check_content(t, v, element, known);
        break;
    case API_XML_DROPPED: check_dropped(t, v, element, known); break;
    case API_XML_NOT_HELD:
        if (!says_only(element, known->dropped)) count_element(t, NOT_HELD, element, known->effect);
        break;
    case API_XML_ELSEWHERE:
    case API_XML_ATTRIBUTE_READ:
    case API_XML_ATTRIBUTE_DROPPED:
    case API_XML_ATTRIBUTE_NOT_HELD: break;
    }
}

bool api_xml_report_unused(api_xml_reader *reader, const api_xml_vocabulary *vocabulary)
{
    findings t = {.arena = reader->base.arena};
    t.kept     = api_arena_take(t.arena, KEPT_ROWS, sizeof *t.kept);
    if (!t.kept) return api_reader_no_memory(&reader->base);
    check_content(&t, vocabulary, reader->root, &vocabulary->root);
    if (t.no_memory) return api_reader_no_memory(&reader->base);
    return api_xml_report_findings(reader, &t.all);
}
