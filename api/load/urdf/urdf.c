/* urdf.c - see urdf.h: build the tree of links and joints of a file, and write it as a model document. */
#include "urdf_reader.h"
#include "api/load/formats.h"
#include "api/wire/escape.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- links and joints --------------------------------------------------------------------------------------------- */

static size_t count_elements(const xmlNode *in, const char *name)
{
    size_t n = 0;
    for (const xmlNode *e = api_urdf_child(in, name); e; e = api_urdf_next(e, name))
        n++;
    return n;
}

/* Counts links and joints and allocates their arrays. The base is a link in the file but not in the document. */
static bool take_arrays(api_urdf *urdf)
{
    urdf->n_links  = count_elements(urdf->robot, "link");
    urdf->n_joints = count_elements(urdf->robot, "joint");
    if (urdf->n_links > urdf->max_links + 1 || urdf->n_joints > urdf->max_links)
        return api_fail(urdf->reader.problem, API_MODEL_TOO_LARGE, NULL,
                        "the model has %zu links and %zu joints; the limit is %zu joints", urdf->n_links,
                        urdf->n_joints, urdf->max_links);
    if (urdf->n_links == 0) return api_urdf_fail(urdf, urdf->robot, API_BAD_MODEL, "the robot has no <link>");
    urdf->links  = api_arena_take(urdf->reader.arena, urdf->n_links, sizeof *urdf->links);
    urdf->joints = api_arena_take(urdf->reader.arena, urdf->n_joints, sizeof *urdf->joints);
    return (urdf->links && urdf->joints) || api_reader_no_memory(&urdf->reader);
}

/* Adds a name to `map`, a jansson object from names to indices. Fails if the name is already in the map. */
static bool enter(api_urdf *urdf, json_t *map, const xmlNode *element, const char *name, size_t place)
{
    if (json_object_get(map, name))
        return api_urdf_fail(urdf, element, API_DUPLICATE_NAME, "another <%s> has this name",
                             (const char *)element->name);
    return api_urdf_set_field(urdf, map, name, json_integer((json_int_t)place));
}

static bool read_links(api_urdf *urdf, json_t *map)
{
    size_t i = 0;
    for (const xmlNode *e = api_urdf_child(urdf->robot, "link"); e; e = api_urdf_next(e, "link"), i++) {
        const char *name;
        urdf->links[i] = e;
        if (!api_urdf_name(urdf, e, "name", &name) || !enter(urdf, map, e, name, i)) return false;
    }
    return true;
}

static bool read_parent_or_child(api_urdf *urdf, const api_urdf_joint *joint, const char *which, const json_t *links,
                                 const char **name)
{
    const xmlNode *end = api_urdf_child(joint->element, which);
    if (!end) return api_urdf_fail(urdf, joint->element, API_MISSING_FIELD, "<joint> has no <%s>", which);
    if (!api_urdf_name(urdf, end, "link", name)) return false;
    if (json_object_get(links, *name)) return true;
    return api_urdf_fail(urdf, end, API_UNKNOWN_NAME, "its %s \"%.*s\" is not a link of this file", which,
                         api_text_shown(*name), *name);
}

static bool read_joint(api_urdf *urdf, const xmlNode *element, const json_t *links, api_urdf_joint *joint)
{
    joint->element = element;
    return api_urdf_name(urdf, element, "name", &joint->name) && api_urdf_name(urdf, element, "type", &joint->type) &&
           read_parent_or_child(urdf, joint, "parent", links, &joint->parent) &&
           read_parent_or_child(urdf, joint, "child", links, &joint->child);
}

static bool read_joints(api_urdf *urdf, const json_t *links, json_t *map)
{
    size_t i = 0;
    for (const xmlNode *e = api_urdf_child(urdf->robot, "joint"); e; e = api_urdf_next(e, "joint"), i++)
        if (!read_joint(urdf, e, links, &urdf->joints[i]) || !enter(urdf, map, e, urdf->joints[i].name, i))
            return false;
    return true;
}

/* --- the tree ----------------------------------------------------------------------------------------------------- */

/* Sets the problem of a file without a root: every link is the child of some joint, so the chain of parents of any
 * link ends in a cycle. */
static bool fail_with_circle(api_urdf *urdf, const size_t *parent_joint, const json_t *links)
{
    size_t link = 0;
    for (size_t steps = 0; steps < urdf->n_links; steps++) /* n_links steps lead to a link on the cycle */
        link = (size_t)json_integer_value(json_object_get(links, urdf->joints[parent_joint[link] - 1].parent));
    const api_urdf_joint *joint = &urdf->joints[parent_joint[link] - 1];
    return api_urdf_fail(urdf, joint->element, API_BAD_MODEL,
                         "link \"%.*s\" hangs on \"%.*s\", which hangs on it in turn: there is no root",
                         api_text_shown(joint->child), joint->child, api_text_shown(joint->parent), joint->parent);
}

/* Sets parent_joint[i] to 1 + the index of the joint whose child is link i, 0 for the root. */
static bool find_parent_joints(api_urdf *urdf, size_t *parent_joint, const json_t *links)
{
    for (size_t j = 0; j < urdf->n_joints; j++) {
        api_urdf_joint *joint = &urdf->joints[j];
        size_t          i     = (size_t)json_integer_value(json_object_get(links, joint->child));
        if (parent_joint[i] != 0) {
            const char *other = urdf->joints[parent_joint[i] - 1].name;
            return api_urdf_fail(urdf, joint->element, API_BAD_MODEL,
                                 "its child \"%.*s\" is already the child of joint \"%.*s\": links form a tree",
                                 api_text_shown(joint->child), joint->child, api_text_shown(other), other);
        }
        parent_joint[i] = j + 1;
        joint->link     = urdf->links[i];
    }
    return true;
}

static bool find_root(api_urdf *urdf, const json_t *links)
{
    size_t *parent_joint = api_arena_take(urdf->reader.arena, urdf->n_links, sizeof *parent_joint);
    if (!parent_joint) return api_reader_no_memory(&urdf->reader);
    if (!find_parent_joints(urdf, parent_joint, links)) return false;
    for (size_t i = 0; i < urdf->n_links; i++) {
        if (parent_joint[i] != 0) continue;
        if (urdf->root)
            return api_urdf_fail(
                urdf, urdf->links[i], API_BAD_MODEL,
                "neither this link nor the link of line %lu is the child of a joint: a robot has one root",
                api_xml_line(urdf->root));
        urdf->root = urdf->links[i];
    }
    return urdf->root || fail_with_circle(urdf, parent_joint, links);
}

static bool read_tree(api_urdf *urdf)
{
    json_t *links = json_object(), *joints = json_object();
    bool    ok = (links && joints) || api_reader_no_memory(&urdf->reader);
    ok         = ok && take_arrays(urdf) && read_links(urdf, links) && read_joints(urdf, links, joints) &&
         find_root(urdf, links);
    json_decref(joints);
    json_decref(links);
    return ok;
}

/* --- the document ------------------------------------------------------------------------------------------------- */

static bool write_base(api_urdf *urdf, json_t *document)
{
    const char *name, *type = urdf->options->floating ? "floating" : "fixed";
    if (!api_urdf_name(urdf, urdf->root, "name", &name)) return false;
    json_t *base = json_object();
    return api_urdf_set_field(urdf, document, "base", base) &&
           api_urdf_set_field(urdf, base, "type", json_string(type)) &&
           api_urdf_set_field(urdf, base, "link", json_string(name)) && api_urdf_read_inertial(urdf, urdf->root, base);
}

/* Reports a moving link without mass, which may be intended or forgotten. */
static bool report_massless(api_urdf *urdf, const api_urdf_joint *joint)
{
    if (api_urdf_child(joint->link, "inertial") || strcmp(joint->type, "fixed") == 0) return true;
    return api_urdf_report(urdf, joint->link, "info", "assumed", "link \"%.*s\" has no inertial: it has no mass",
                           api_text_shown(joint->child), joint->child);
}

static bool write_link(api_urdf *urdf, const api_urdf_joint *joint, json_t *links)
{
    json_t *link = json_object();
    if (!link || json_array_append_new(links, link)) return api_reader_no_memory(&urdf->reader);
    json_t *fields = api_urdf_read_joint(urdf, joint);
    return fields && api_urdf_set_field(urdf, link, "joint", fields) &&
           api_urdf_set_field(urdf, link, "name", json_string(joint->child)) &&
           api_urdf_set_field(urdf, link, "parent", json_string(joint->parent)) &&
           api_urdf_read_inertial(urdf, joint->link, link) && report_massless(urdf, joint);
}

static bool write_document(api_urdf *urdf, json_t *document)
{
    const char *name = NULL;
    if (!api_urdf_text(urdf, urdf->robot, "name", API_OPTIONAL, &name) || !write_base(urdf, document)) return false;
    if (name && !api_urdf_set_field(urdf, document, "name", json_string(name))) return false;
    json_t *links = json_array();
    if (!api_urdf_set_field(urdf, document, "links", links)) return false;
    for (size_t i = 0; i < urdf->n_joints; i++)
        if (!write_link(urdf, &urdf->joints[i], links)) return false;
    return true;
}

static bool read_robot(api_urdf *urdf, json_t *document)
{
    if (!document) return api_reader_no_memory(&urdf->reader);
    const xmlNs *space = urdf->robot->ns;
    const char  *named = space && space->prefix ? (const char *)space->prefix : NULL;
    if (!api_urdf_is(urdf->robot, "robot"))
        return api_fail(urdf->reader.problem, API_BAD_MODEL, NULL,
                        "the outermost element is <%.40s%s%.40s>, URDF's is <robot>", named ? named : "",
                        named ? ":" : "", (const char *)urdf->robot->name);
    return read_tree(urdf) && write_document(urdf, document) && api_urdf_report_unused(urdf);
}

/* --- the model ---------------------------------------------------------------------------------------------------- */

/* The element of the file that corresponds to a pointer into the document; NULL: the whole file. */
static const xmlNode *element_at(const api_urdf *urdf, const char *pointer)
{
    size_t i      = 0;
    int    length = 0;
    if (strncmp(pointer, "/base", 5) == 0) return urdf->root;
    if (sscanf(pointer, "/links/%zu%n", &i, &length) != 1 || i >= urdf->n_joints) return NULL;
    const char *field   = pointer + length;
    bool        of_link = strncmp(field, "/name", 5) == 0 || strncmp(field, "/inertial", 9) == 0;
    return of_link ? urdf->joints[i].link : urdf->joints[i].element;
}

/* Restates a problem of the model document in terms of the URDF file, since the client sent no document. */
static void translate_problem(api_urdf *urdf, const api_problem *found)
{
    const xmlNode *element = found->has_pointer ? element_at(urdf, found->pointer) : NULL;
    if (element)
        api_urdf_fail(urdf, element, found->code, "%s", found->detail);
    else
        api_fail(urdf->reader.problem, found->code, NULL, "%s", found->detail);
}

/* Puts the report about the URDF file before the report about the document that was made from it. */
static bool join_reports(api_urdf *urdf, api_model *model)
{
    if (json_array_extend(urdf->reader.report, model->report)) return api_reader_no_memory(&urdf->reader);
    json_decref(model->report);
    model->report = json_incref(urdf->reader.report);
    return true;
}

static api_model *make_model(api_urdf *urdf, const char *name)
{
    json_t     *document = json_object();
    api_model  *model    = NULL;
    api_problem found;
    api_problem_clear(&found);
    if (read_robot(urdf, document) && !(model = api_model_from_document(document, name, urdf->max_links, &found)))
        translate_problem(urdf, &found);
    json_decref(document);
    if (!model || join_reports(urdf, model)) return model;
    api_model_release(model);
    return NULL;
}

api_model *api_model_from_urdf(const api_model_source *source, api_problem *problem)
{
    api_urdf_options options;
    if (!api_urdf_options_read(source->query, &options, problem)) return NULL;
    xmlDoc *file = api_xml_parse(source->text, source->length, source->nesting, problem);
    if (!file) return NULL;
    api_arena  scratch = {0};
    api_urdf   urdf    = {.options = &options, .max_links = source->max_links, .robot = xmlDocGetRootElement(file)};
    api_model *model   = NULL;
    urdf.reader        = (api_reader){.arena = &scratch, .problem = problem, .report = json_array()};
    if (urdf.reader.report)
        model = make_model(&urdf, source->name);
    else
        api_reader_no_memory(&urdf.reader);
    json_decref(urdf.reader.report);
    api_arena_free(&scratch);
    xmlFreeDoc(file);
    return model;
}

/* Estimates the memory that libxml2 allocates, including malloc's rounding: 136 bytes per element or text, 112 bytes
 * and the text per attribute. The document and the report take about as much per element again. */
static size_t estimate_memory(const char *text, size_t length)
{
    size_t elements = 1, attributes = 0;
    for (size_t i = 0; i < length; i++) {
        elements += text[i] == '<' && i + 1 < length && text[i + 1] != '/';
        attributes += text[i] == '=';
    }
    return 400 * elements + 300 * attributes + 2 * length;
}

bool api_urdf_likely(const char *text, size_t length)
{
    size_t offset = length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    while (offset < length && strchr(" \t\r\n", text[offset]) && text[offset])
        offset++;
    return offset < length && text[offset] == '<';
}

/* --- options ------------------------------------------------------------------------------------------------------ */

enum {
    OPTION_MAX = 64 /* most bytes of a parameter's name or value; a longer text is cut, and then is an unknown one */
};

/* Decodes percent-encoding in [from, end). False for an invalid escape or a NUL character. */
static bool decode(const char *from, const char *end, char to[OPTION_MAX])
{
    size_t n = 0;
    while (from < end && n + 1 < OPTION_MAX) {
        bool escaped = *from == '%';
        int  byte    = escaped ? api_percent_decode(from) : *from;
        if (escaped && byte <= 0) return false;
        to[n++] = (char)byte;
        from += escaped ? 3 : 1;
    }
    to[n] = '\0';
    return true;
}

static bool set_base(const char *value, api_urdf_options *options)
{
    options->floating = strcmp(value, "floating") == 0;
    return options->floating || strcmp(value, "fixed") == 0;
}

static bool set_mimic(const char *value, api_urdf_options *options)
{
    static const char *const values[] = {"independent", "coupled", "refuse"};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        options->mimic = (api_urdf_mimic)i;
        if (strcmp(value, values[i]) == 0) return true;
    }
    return false;
}

bool api_urdf_options_read(const char *query, api_urdf_options *options, api_problem *problem)
{
    bool has_base = false, has_mimic = false;
    *options = (api_urdf_options){0};
    for (const char *part = query ? query : "", *end; *part; part = end + (*end == '&')) {
        char        name[OPTION_MAX], value[OPTION_MAX];
        const char *equals = part + strcspn(part, "=&");
        end                = part + strcspn(part, "&");
        if (!decode(part, equals, name) || !decode(equals + (equals < end), end, value))
            return api_fail(problem, API_BAD_VALUE, NULL, "\"%.*s\" has a bad escape: %% and two hexadecimal digits",
                            end - part < OPTION_MAX ? (int)(end - part) : OPTION_MAX, part);
        bool is_base = strcmp(name, "base") == 0 && !has_base, is_mimic = strcmp(name, "mimic") == 0 && !has_mimic;
        if (!is_base && !is_mimic)
            return api_fail(problem, API_UNKNOWN_PARAMETER, NULL,
                            "\"%s\": a URDF file takes the query parameters base and mimic, each once", name);
        if (is_base && !set_base(value, options))
            return api_fail(problem, API_BAD_VALUE, NULL, "base is fixed or floating, given \"%s\"", value);
        if (is_mimic && !set_mimic(value, options))
            return api_fail(problem, API_BAD_VALUE, NULL, "mimic is independent, coupled or refuse, given \"%s\"",
                            value);
        has_base |= is_base;
        has_mimic |= is_mimic;
    }
    return true;
}

static bool check_query(const char *query, api_problem *problem)
{
    api_urdf_options options;
    return api_urdf_options_read(query, &options, problem);
}

static const char *const media_types[] = {"application/xml", "text/xml", NULL};

const api_model_format api_model_format_urdf = {
    .media_types     = media_types,
    .matches         = api_urdf_likely,
    .check_query     = check_query,
    .estimate_memory = estimate_memory,
    .read            = api_model_from_urdf,
};
