/* urdf.c - see urdf.h: build the tree of links and joints of a file, and write it as a model document. */
#include "urdf_reader.h"
#include "api/robots/inertia_bounds/bound.h"
#include "api/robots/formats.h"
#include "api/robots/linked_files/template.h"
#include "api/robots/xml/xml_model.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WATER 1000.0 /* kg/m^3, density of collisions without another one */

/* --- links and joints --------------------------------------------------------------------------------------------- */

static size_t count_elements(const xmlNode *in, const char *name)
{
    size_t n = 0;
    for (const xmlNode *e = api_xml_child(in, name); e; e = api_xml_next(e, name))
        n++;
    return n;
}

/* Counts links and joints and allocates their arrays. The base is a link in the file but not in the document. */
static bool take_arrays(api_urdf *urdf)
{
    urdf->n_links  = count_elements(urdf->xml.root, "link");
    urdf->n_joints = count_elements(urdf->xml.root, "joint");
    if (urdf->n_links > urdf->xml.max_links + 1 || urdf->n_joints > urdf->xml.max_links)
        return api_fail(urdf->xml.base.problem, API_MODEL_TOO_LARGE, NULL,
                        "the model has %zu links and %zu joints; the limit is %zu joints", urdf->n_links,
                        urdf->n_joints, urdf->xml.max_links);
    if (urdf->n_links == 0) return api_xml_fail(&urdf->xml, urdf->xml.root, API_BAD_MODEL, "the robot has no <link>");
    urdf->links  = api_arena_take(urdf->xml.base.arena, urdf->n_links, sizeof *urdf->links);
    urdf->joints = api_arena_take(urdf->xml.base.arena, urdf->n_joints, sizeof *urdf->joints);
    urdf->colours =
        api_arena_take(urdf->xml.base.arena, count_elements(urdf->xml.root, "material"), sizeof *urdf->colours);
    return (urdf->links && urdf->joints && urdf->colours) || api_reader_no_memory(&urdf->xml.base);
}

/* Adds a name to `map`, a jansson object from names to indices. Fails if the name is already in the map. */
static bool enter(api_urdf *urdf, json_t *map, const xmlNode *element, const char *name, size_t place)
{
    if (json_object_get(map, name))
        return api_xml_fail(&urdf->xml, element, API_DUPLICATE_NAME, "another <%s> has this name",
                            (const char *)element->name);
    return api_xml_set_field(&urdf->xml, map, name, json_integer((json_int_t)place));
}

static bool read_links(api_urdf *urdf, json_t *map)
{
    size_t i = 0;
    for (const xmlNode *e = api_xml_child(urdf->xml.root, "link"); e; e = api_xml_next(e, "link"), i++) {
        const char *name;
        urdf->links[i] = e;
        if (!api_xml_name(&urdf->xml, e, "name", &name) || !enter(urdf, map, e, name, i)) return false;
        urdf->has_inertial |= api_xml_child(e, "inertial") != NULL;
    }
    return true;
}

static bool read_parent_or_child(api_urdf *urdf, const api_urdf_joint *joint, const char *which, const json_t *links,
                                 const char **name)
{
    const xmlNode *end = api_xml_child(joint->element, which);
    if (!end) return api_xml_fail(&urdf->xml, joint->element, API_MISSING_FIELD, "<joint> has no <%s>", which);
    if (!api_xml_name(&urdf->xml, end, "link", name)) return false;
    if (json_object_get(links, *name)) return true;
    return api_xml_fail(&urdf->xml, end, API_UNKNOWN_NAME, "its %s \"%.*s\" is not a link of this file%s", which,
                        api_text_shown(*name), *name,
                        strcmp(*name, "world") == 0 ? ": for a fixed base, declare <link name=\"world\"/>" : "");
}

static bool read_joint(api_urdf *urdf, const xmlNode *element, const json_t *links, api_urdf_joint *joint)
{
    joint->element = element;
    return api_xml_name(&urdf->xml, element, "name", &joint->name) &&
           api_xml_name(&urdf->xml, element, "type", &joint->type) &&
           read_parent_or_child(urdf, joint, "parent", links, &joint->parent) &&
           read_parent_or_child(urdf, joint, "child", links, &joint->child);
}

static bool read_joints(api_urdf *urdf, const json_t *links, json_t *map)
{
    size_t i = 0;
    for (const xmlNode *e = api_xml_child(urdf->xml.root, "joint"); e; e = api_xml_next(e, "joint"), i++)
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
    return api_xml_fail(&urdf->xml, joint->element, API_BAD_MODEL,
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
            return api_xml_fail(&urdf->xml, joint->element, API_BAD_MODEL,
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
    size_t *parent_joint = api_arena_take(urdf->xml.base.arena, urdf->n_links, sizeof *parent_joint);
    if (!parent_joint) return api_reader_no_memory(&urdf->xml.base);
    if (!find_parent_joints(urdf, parent_joint, links)) return false;
    for (size_t i = 0; i < urdf->n_links; i++) {
        if (parent_joint[i] != 0) continue;
        if (urdf->root)
            return api_xml_fail(
                &urdf->xml, urdf->links[i], API_BAD_MODEL,
                "neither this link nor the link of line %lu is the child of a joint: a robot has one root",
                api_xml_line(urdf->root));
        urdf->root = urdf->links[i];
    }
    return urdf->root || fail_with_circle(urdf, parent_joint, links);
}

static bool read_tree(api_urdf *urdf)
{
    json_t *links = json_object(), *joints = json_object();
    urdf->materials = json_object();
    bool ok         = (links && joints && urdf->materials) || api_reader_no_memory(&urdf->xml.base);
    ok              = ok && take_arrays(urdf) && read_links(urdf, links) && read_joints(urdf, links, joints) &&
         api_urdf_index_materials(urdf) && find_root(urdf, links) && api_urdf_read_transmissions(urdf, joints);
    json_decref(joints);
    json_decref(links);
    return ok;
}

/* --- the document ------------------------------------------------------------------------------------------------- */

static bool write_base(api_urdf *urdf, json_t *document)
{
    const char *name, *type = urdf->options->floating ? "floating" : "fixed";
    if (!api_xml_name(&urdf->xml, urdf->root, "name", &name)) return false;
    json_t *base = json_object();
    return api_xml_set_field(&urdf->xml, document, "base", base) &&
           api_xml_set_field(&urdf->xml, base, "type", json_string(type)) &&
           api_xml_set_field(&urdf->xml, base, "link", json_string(name)) &&
           api_urdf_read_inertial(urdf, urdf->root, base) && api_urdf_read_visuals(urdf, urdf->root, base) &&
           (urdf->options->inertia != API_URDF_ACCEPT ||
            api_xml_set_field(&urdf->xml, document, "accept_indefinite", json_true()));
}

/* Reports a moving link without mass, which may be intended or forgotten. If no link has a mass, document_review.c
 * reports that instead. */
static bool report_massless(api_urdf *urdf, const api_urdf_joint *joint)
{
    if (!urdf->has_inertial || api_xml_child(joint->link, "inertial") || strcmp(joint->type, "fixed") == 0) return true;
    if (urdf->options->inertia == API_URDF_COLLISION && api_xml_child(joint->link, "collision")) return true;
    return api_xml_report(&urdf->xml, joint->link, "info", "assumed", "link \"%.*s\" has no inertial: it has no mass",
                          api_text_shown(joint->child), joint->child);
}

static bool write_link(api_urdf *urdf, const api_urdf_joint *joint, json_t *links)
{
    json_t *link = json_object();
    if (!link || json_array_append_new(links, link)) return api_reader_no_memory(&urdf->xml.base);
    json_t *fields = api_urdf_read_joint(urdf, joint);
    return fields && api_xml_set_field(&urdf->xml, link, "joint", fields) &&
           api_xml_set_field(&urdf->xml, link, "name", json_string(joint->child)) &&
           api_xml_set_field(&urdf->xml, link, "parent", json_string(joint->parent)) &&
           api_urdf_read_inertial(urdf, joint->link, link) && api_urdf_read_visuals(urdf, joint->link, link) &&
           report_massless(urdf, joint);
}

static bool write_document(api_urdf *urdf, json_t *document)
{
    const char *name = NULL;
    if (!api_xml_text(&urdf->xml, urdf->xml.root, "name", API_OPTIONAL, &name) || !write_base(urdf, document))
        return false;
    if (name && !api_xml_set_field(&urdf->xml, document, "name", json_string(name))) return false;
    json_t *links = json_array();
    if (!api_xml_set_field(&urdf->xml, document, "links", links)) return false;
    for (size_t i = 0; i < urdf->n_joints; i++)
        if (!write_link(urdf, &urdf->joints[i], links)) return false;
    return true;
}

/* Returns the remedy for a file whose outermost element is that of a related format, such as Gazebo's; "": none. */
static const char *remedy_of(const xmlNode *root)
{
    if (api_xml_is(root, "gazebo") && api_xml_has(root, "version"))
        return "; <gazebo> is that of SDF before version 1.3: rename it to <sdf>, or take a newer file of the model";
    if (api_xml_is(root, "gazebo")) return "; <gazebo> alone is an extension of a URDF file: put it in its <robot>";
    if (api_xml_is(root, "mujocoinclude")) return "; <mujocoinclude> is a part: send the file that includes it";
    if (api_xml_is(root, "model")) return "; a model.config names the file with the <sdf>: send that one";
    return "";
}

static bool fail_outermost(const api_urdf *urdf)
{
    const xmlNode *root  = urdf->xml.root;
    const xmlNs   *space = root->ns;
    const char    *named = space && space->prefix ? (const char *)space->prefix : NULL;
    return api_fail(urdf->xml.base.problem, API_BAD_MODEL, NULL,
                    "the outermost element is <%.40s%s%.40s>; URDF's is <robot>, MJCF's <mujoco>, SDF's <sdf>%s",
                    named ? named : "", named ? ":" : "", (const char *)root->name, remedy_of(root));
}

static bool read_robot(api_urdf *urdf, json_t *document)
{
    if (!document) return api_reader_no_memory(&urdf->xml.base);
    if (!api_xml_is(urdf->xml.root, "robot")) return fail_outermost(urdf);
    return api_xml_refuse_template(&urdf->xml) && api_urdf_read_version(urdf) && read_tree(urdf) &&
           write_document(urdf, document) && api_urdf_report_unused(urdf);
}

/* --- the model ---------------------------------------------------------------------------------------------------- */

/* The element of the file that corresponds to a pointer into the document; NULL: the whole file. */
static const xmlNode *element_at(const void *reader, const char *pointer)
{
    const api_urdf *urdf   = reader;
    size_t          i      = 0;
    int             length = 0;
    if (strncmp(pointer, "/base", 5) == 0) return urdf->root;
    if (sscanf(pointer, "/links/%zu%n", &i, &length) != 1 || i >= urdf->n_joints) return NULL;
    const char *field = pointer + length;
    bool        of_link =
        strncmp(field, "/name", 5) == 0 || strncmp(field, "/inertial", 9) == 0 || strncmp(field, "/visual", 7) == 0;
    return of_link ? urdf->joints[i].link : urdf->joints[i].element;
}

static api_model *make_model(api_urdf *urdf, const char *name)
{
    json_t    *document = json_object();
    api_model *model    = NULL;
    if (read_robot(urdf, document)) model = api_xml_make_model(&urdf->xml, document, name, element_at, urdf);
    json_decref(urdf->materials);
    json_decref(document);
    return model;
}

/* True if the outermost element is another one than URDF's. Such a file is refused for its outermost element, whatever
 * its query parameters are: those of another format are unknown to URDF. */
static bool has_other_root(const api_model_source *source)
{
    size_t      n    = 0;
    const char *root = api_xml_root_name(source->text, source->length, &n);
    return root && (n != strlen("robot") || memcmp(root, "robot", n) != 0);
}

api_model *api_model_from_urdf(const api_model_source *source, api_problem *problem)
{
    api_urdf_options options = {0};
    api_xml_source   text    = {.text = source->text, .length = source->length, .nesting = API_XML_NESTING};
    if (!has_other_root(source) && !api_urdf_options_read(source->query, &options, problem)) return NULL;
    xmlDoc *file = api_xml_parse(&text, problem);
    if (!file) return NULL;
    api_arena  scratch = {0};
    api_urdf   urdf    = {.options = &options, .source = source};
    api_model *model   = NULL;
    if (api_xml_reader_open(&urdf.xml, file, source, &scratch, problem)) model = make_model(&urdf, source->name);
    api_xml_reader_close(&urdf.xml);
    api_arena_free(&scratch);
    xmlFreeDoc(file);
    return model;
}

/* --- options ------------------------------------------------------------------------------------------------------ */

bool api_urdf_options_read(const char *query, api_urdf_options *options, api_problem *problem)
{
    double               density   = 0;
    const api_xml_option known[]   = {{"base", {"fixed", "floating"}, NULL, NULL},
                                      {"mimic", {"independent", "coupled", "refuse"}, NULL, NULL},
                                      {"inertia", {"stated", "collision", "accept"}, NULL, NULL},
                                      {"density", {NULL}, &density, NULL},
                                      {"zero_limits", {"kept", "none"}, NULL, NULL}};
    int                  chosen[5] = {0, 0, 0, 0, 0};
    if (!api_xml_options_read(query, "a URDF file", known, 5, chosen, problem)) return false;
    *options = (api_urdf_options){chosen[0] == 1, (api_urdf_mimic)chosen[1], (api_urdf_inertia)chosen[2],
                                  density > 0 ? density : WATER, chosen[4] == 1};
    return density == 0 || options->inertia == API_URDF_COLLISION ||
           api_fail(problem, API_BAD_VALUE, NULL,
                    "density is that of collisions: it has an effect with inertia=collision");
}

static bool check_query(const char *query, api_problem *problem)
{
    api_urdf_options options;
    return api_urdf_options_read(query, &options, problem);
}

static const char *const versions[] = {"1.0", "1.2", NULL};

static const char *const media_types[] = {"application/urdf+xml", NULL};

static const char *const endings[] = {".urdf", ".xml", NULL};

const api_model_format api_model_format_urdf = {
    .name            = "urdf",
    .media_types     = media_types,
    .versions        = versions,
    .root            = "robot",
    .endings         = endings,
    .check_query     = check_query,
    .estimate_memory = api_xml_estimate_memory,
    .read            = api_model_from_urdf,
    .write           = api_urdf_write,
    .bound           = api_bound_moving,
};
