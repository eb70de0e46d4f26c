/* sdf.c - see sdf.h: the steps from a text to a model, and the format's constant. */
#include "api/robots/sdf_write/sdf_write.h"
#include "sdf_reader.h"
#include "api/robots/inertia_bounds/bound.h"
#include "api/robots/formats.h"
#include "api/robots/linked_files/template.h"
#include "api/robots/xml/xml_model.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 100 /* most frames of <world> in a chain of `relative_to` */ };

/* --- options ------------------------------------------------------------------------------------------------------ */

static bool read_options(const char *query, api_sdf *sdf, api_problem *problem)
{
    const api_xml_option known[]   = {{"base", {"fixed", "floating"}, NULL, NULL},
                                      {"mimic", {"coupled", "independent", "refuse"}, NULL, NULL},
                                      {"loops", {"closed", "open"}, NULL, NULL},
                                      {"zero_limits", {"kept", "none"}, NULL, NULL},
                                      {"model", {NULL}, NULL, sdf->wanted}};
    int                  chosen[5] = {-1, 0, 0, 0, 0};
    bool                 ok        = api_xml_options_read(query, "an SDF file", known, 5, chosen, problem);
    sdf->base                      = (api_sdf_base)(chosen[0] + 1);
    sdf->mimic                     = (api_sdf_mimic)chosen[1];
    sdf->loops_open                = chosen[2] == 1;
    sdf->no_zero_limits            = chosen[3] == 1;
    return ok;
}

static bool check_query(const char *query, api_problem *problem)
{
    api_sdf sdf = {.files = NULL};
    return read_options(query, &sdf, problem);
}

/* --- the world ---------------------------------------------------------------------------------------------------- */

/* Before version 1.6 gravity is part of the first <physics>. */
static const xmlNode *find_gravity(const api_sdf *sdf, const xmlNode *world)
{
    const xmlNode *physics = api_xml_child(world, "physics");
    const xmlNode *old = sdf->minor < API_SDF_GRAVITY_OF_WORLD && physics ? api_xml_child(physics, "gravity") : NULL;
    return old ? old : api_xml_child(world, "gravity");
}

/* The gravity of a world is 9.8 m/s^2 downwards unless it states another. */
static bool read_world(api_sdf *sdf, const xmlNode *world)
{
    const xmlNode *gravity = find_gravity(sdf, world);
    const xmlNode *model   = api_xml_child(world->parent, "model");
    sdf->world             = world;
    if (model && !api_xml_report(&sdf->xml, model, "warning", "not-held",
                                 "<model> beside <world> is not part of the model: that of the world is read"))
        return false;
    sdf->gravity = sdf->stated_gravity;
    memcpy(sdf->stated_gravity, (double[3]){0, 0, -9.8}, sizeof sdf->stated_gravity);
    if (gravity && !api_xml_content_numbers(&sdf->xml, gravity, sdf->stated_gravity, 3)) return false;
    if (!api_sdf_choose_model(sdf, world)) return false;
    return gravity || api_xml_report(&sdf->xml, world, "info", "assumed",
                                     "the world has no <gravity>: SDF's default is [0,0,-9.8] m/s^2");
}

/* Version 1.0 states masses and poses in attributes. */
bool api_sdf_read_version(api_sdf *sdf, const xmlNode *root, int *minor)
{
    static const char *const known[] = {"1.2", "1.3", "1.4",  "1.5",  "1.6",  "1.7",
                                        "1.8", "1.9", "1.10", "1.11", "1.12", NULL};
    const char              *text    = NULL;
    *minor                           = 9;
    if (!api_xml_text(&sdf->xml, root, "version", API_OPTIONAL, &text)) return false;
    if (!text) return api_xml_report(&sdf->xml, root, "info", "assumed", "<sdf> has no version: it is read as 1.9");
    for (int i = 0; known[i]; i++) {
        *minor = i + 2;
        if (strcmp(known[i], text) == 0) return true;
    }
    return api_xml_fail(&sdf->xml, root, API_NOT_SUPPORTED, "version \"%.*s\" of <sdf>: versions 1.2 to 1.12 are read",
                        api_text_shown(text), text);
}

/* Returns the frame or model of the world with a name, or NULL. */
static const xmlNode *find_outer(const api_sdf *sdf, const char *name)
{
    for (const xmlNode *e = sdf->world ? sdf->world->children : NULL; e; e = e->next) {
        if (!api_xml_is(e, "frame") && !api_xml_is(e, "model")) continue;
        xmlChar *title = xmlGetNoNsProp(e, BAD_CAST "name");
        bool     equal = title && strcmp((const char *)title, name) == 0;
        xmlFree(title);
        if (equal) return e;
    }
    return NULL;
}

/* Sets *name to that of the frame to which the pose of a frame or model of the world is relative; NULL: the world. */
static bool read_outer_name(api_sdf *sdf, const xmlNode *element, const char **name)
{
    const xmlNode *pose = api_xml_child(element, "pose");
    bool           old  = pose && api_sdf_minor(sdf, pose) < API_SDF_FRAMES && api_xml_has(pose, "frame");
    *name               = NULL;
    if (pose && !api_xml_text(&sdf->xml, pose, old ? "frame" : "relative_to", API_OPTIONAL, name)) return false;
    if (*name && **name == '\0') *name = NULL;
    if (!*name && api_xml_is(element, "frame") && !api_xml_text(&sdf->xml, element, "attached_to", API_OPTIONAL, name))
        return false;
    if (*name && (**name == '\0' || strcmp(*name, "world") == 0)) *name = NULL;
    return true;
}

/* Reads the pose of the model in the world, or in a frame or model of the world, whose pose may be relative to another.
 */
static bool read_place(api_sdf *sdf)
{
    const xmlNode *element = sdf->model;
    const char    *name    = NULL;
    if (!api_sdf_read_pose(sdf, element, &sdf->X_wm) || !read_outer_name(sdf, element, &name)) return false;
    for (int depth = 0; name; depth++) {
        const xmlNode *outer = find_outer(sdf, name);
        dyn_pose       X;
        if (!outer || api_xml_has(outer, "placement_frame"))
            return api_xml_fail(&sdf->xml, element, API_NOT_SUPPORTED,
                                "its pose is relative to \"%.*s\"; only frames and models of the world are read here",
                                api_text_shown(name), name);
        if (depth == DEEPEST)
            return api_xml_fail(&sdf->xml, element, API_BAD_MODEL,
                                "poses are relative to each other in a circle, or more than %d of them", DEEPEST);
        if (!api_sdf_read_pose(sdf, outer, &X) || !read_outer_name(sdf, outer, &name)) return false;
        sdf->X_wm = dyn_pose_compose(&X, &sdf->X_wm);
        element   = outer;
    }
    return true;
}

static bool read_robot(api_sdf *sdf)
{
    const xmlNode *world = api_xml_child(sdf->xml.root, "world");
    if (!api_xml_is(sdf->xml.root, "sdf"))
        return api_fail(sdf->xml.base.problem, API_BAD_MODEL, NULL,
                        "the outermost element is <%.40s>; SDF's is <sdf>, without a prefix",
                        (const char *)sdf->xml.root->name);
    sdf->index = json_object();
    if (!sdf->index) return api_reader_no_memory(&sdf->xml.base);
    if (!api_sdf_read_version(sdf, sdf->xml.root, &sdf->minor) || !api_sdf_include(sdf) ||
        !api_xml_refuse_template(&sdf->xml) ||
        !(world ? read_world(sdf, world) : api_sdf_choose_model(sdf, sdf->xml.root)) || !read_place(sdf) ||
        !api_xml_document_open(&sdf->document, &sdf->xml, 8 * sdf->xml.max_links) ||
        !api_xml_reserve_name(&sdf->document, sdf->document.names, "world"))
        return api_reader_no_memory(&sdf->xml.base); /* keeps a problem that is already set */
    return api_sdf_read_frames(sdf) && api_sdf_read_links(sdf) && api_sdf_read_joints(sdf) &&
           api_sdf_write_document(sdf) && api_sdf_report_unused(sdf);
}

/* Adds a remedy for problems of loops, the option that leaves the loops out: to the problem of reading the file or, if
 * the model exists, to the model for later problems. */
static void write_remedy(const api_sdf *sdf, api_model *model, api_problem *problem)
{
    static const char tree[] = "; with loops=open the model is the tree, without the joints that close loops";
    const size_t      length = strlen(problem->detail);
    if (model && sdf->undetermined)
        snprintf(model->loop_remedy, API_REMEDY_BYTES, "; the loops leave joint \"%.*s\" a freedom%s",
                 api_text_shown(sdf->undetermined), sdf->undetermined, tree);
    else if (model)
        snprintf(model->loop_remedy, API_REMEDY_BYTES, "%s", tree);
    else if (problem->code == API_BAD_MODEL)
        snprintf(problem->detail + length, sizeof problem->detail - length, "%s", tree);
}

api_model *api_model_from_sdf(const api_model_source *source, api_problem *problem)
{
    api_sdf_files  files = {.source = source, .n = 1, .name = {""}};
    api_sdf        sdf   = {.files = &files};
    api_xml_source text  = {.text = source->text, .length = source->length, .nesting = API_XML_NESTING};
    if (!read_options(source->query, &sdf, problem)) return NULL;
    xmlDoc *file = api_xml_parse(&text, problem);
    if (!file) return NULL;
    files.file[0]      = file;
    files.entry[0]     = api_files_find(source->files, "", source->path ? source->path : "");
    api_arena  scratch = {0};
    api_model *model   = NULL;
    if (api_xml_reader_open(&sdf.xml, file, source, &scratch, problem) && read_robot(&sdf))
        model =
            api_xml_make_model(&sdf.xml, sdf.document.document, source->name, api_xml_document_element, &sdf.document);
    if (sdf.has_loops) write_remedy(&sdf, model, problem);
    api_xml_document_close(&sdf.document);
    json_decref(sdf.index);
    api_xml_reader_close(&sdf.xml);
    api_arena_free(&scratch);
    while (files.n > 0) /* the included files hold names that nodes of the first use */
        xmlFreeDoc(files.file[--files.n]);
    if (source->share) api_unclaim(source->share, files.claimed);
    return model;
}

static const char *const media_types[] = {"application/sdf+xml", NULL};

static const char *const endings[] = {".sdf", ".xml", ".world", ".config", NULL};

const api_model_format api_model_format_sdf = {
    .name            = "sdf",
    .media_types     = media_types,
    .root            = "sdf",
    .endings         = endings,
    .check_query     = check_query,
    .estimate_memory = api_xml_estimate_memory,
    .read            = api_model_from_sdf,
    .write           = api_sdf_write,
    .bound           = api_bound_moving,
};
