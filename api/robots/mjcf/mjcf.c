/* mjcf.c - see mjcf.h: the steps from a text to a model, and the format's constant. */
#define _GNU_SOURCE /* memmem */
#include "api/robots/mjcf_write/mjcf_write.h"
#include "mjcf_reader.h"
#include "api/robots/formats.h"
#include "api/robots/several/template.h"
#include "api/robots/xml/xml_model.h"
#include <stdio.h>
#include <string.h>

#define BUILT_IN_BYTES ((size_t)12 << 20) /* a built-in mesh of the greatest resolution */
#define MESH_BYTES     ((size_t)80 << 20) /* a mesh with as many vertices as a hull may have */

static bool read_options(const char *query, api_mjcf_equality *equality, api_problem *problem)
{
    static const api_xml_option known[] = {{"equality", {"coupled", "independent", "refuse"}, NULL}};
    int                         chosen  = API_EQUALITY_COUPLED;
    bool                        ok      = api_xml_options_read(query, "an MJCF file", known, 1, &chosen, problem);
    *equality                           = (api_mjcf_equality)chosen;
    return ok;
}

static bool check_query(const char *query, api_problem *problem)
{
    api_mjcf_equality equality;
    return read_options(query, &equality, problem);
}

/* Opens the maps from names to indices. */
static bool open_maps(api_mjcf *m)
{
    m->class_index = json_object();
    m->body_index  = json_object();
    m->joint_index = json_object();
    m->site_index  = json_object();
    m->mesh_index  = json_object();
    return (m->class_index && m->body_index && m->joint_index && m->site_index && m->mesh_index) ||
           api_reader_no_memory(&m->xml.base);
}

static void close_maps(api_mjcf *m)
{
    json_decref(m->class_index);
    json_decref(m->body_index);
    json_decref(m->joint_index);
    json_decref(m->site_index);
    json_decref(m->mesh_index);
}

static bool read_robot(api_mjcf *m, api_mjcf_files *files)
{
    if (!api_xml_is(m->xml.root, "mujoco"))
        return api_fail(m->xml.base.problem, API_BAD_MODEL, NULL,
                        "the outermost element is <%.40s>; MJCF's is <mujoco>, without a prefix",
                        (const char *)m->xml.root->name);
    return api_mjcf_include(&m->xml, files) && api_xml_refuse_template(&m->xml) && open_maps(m) &&
           api_mjcf_read_settings(m) && api_mjcf_expand_replicates(m) && api_mjcf_read_classes(m) &&
           api_mjcf_index_meshes(m) && api_mjcf_read_bodies(m) && api_mjcf_name_all(m) && api_mjcf_read_masses(m) &&
           api_mjcf_read_equalities(m) && api_mjcf_read_actuators(m) && api_mjcf_choose_driven(m) &&
           api_mjcf_read_springdampers(m) && api_mjcf_write_document(m) && api_mjcf_report_unused(m);
}

/* Adds to a problem of the loops of a file what its user can do about it: a file has no fields of a document. */
static void suggest_tree(const api_mjcf *m, api_problem *problem)
{
    size_t length = strlen(problem->detail);
    if (m->n_loops + m->n_fixed == 0 || problem->code != API_BAD_MODEL) return;
    snprintf(problem->detail + length, sizeof problem->detail - length,
             "; with equality=independent the model is the tree, without the loops and welds of <equality>");
}

static api_model *read_files(api_mjcf *m, api_mjcf_files *files, api_problem *problem)
{
    api_arena  scratch = {0};
    api_model *model   = NULL;
    if (api_xml_reader_open(&m->xml, files->file[0], files->source, &scratch, problem) && read_robot(m, files))
        model = api_xml_make_model(&m->xml, m->document.document, files->source->name, api_xml_document_element,
                                   &m->document);
    if (!model) suggest_tree(m, problem);
    api_xml_document_close(&m->document);
    close_maps(m);
    api_xml_reader_close(&m->xml);
    api_arena_free(&scratch);
    return model;
}

api_model *api_model_from_mjcf(const api_model_source *source, api_problem *problem)
{
    api_mjcf_files files = {.source = source, .n = 1, .name = {""}};
    api_xml_source text  = {.text = source->text, .length = source->length, .nesting = source->nesting};
    api_mjcf       m     = {.source = source};
    if (!read_options(source->query, &m.equality, problem)) return NULL;
    files.file[0] = api_xml_parse(&text, problem);
    if (!files.file[0]) return NULL;
    files.entry[0]   = api_files_find(source->files, "", source->path ? source->path : "");
    api_model *model = read_files(&m, &files, problem);
    while (files.n > 0) /* the included files hold names that nodes of the first use */
        xmlFreeDoc(files.file[--files.n]);
    if (source->share) api_unclaim(source->share, files.claimed);
    return model;
}

/* A mesh is measured in memory of its own, one after another: at most 60 bytes for each character of its vertices. */
static size_t estimate_memory(const char *text, size_t length)
{
    size_t inline_vertices = memmem(text, length, "vertex", 6) ? 60 * length : 0;
    size_t built_in        = memmem(text, length, "builtin", 7) ? BUILT_IN_BYTES : 0;
    size_t mesh            = inline_vertices < MESH_BYTES ? inline_vertices : MESH_BYTES;
    return api_xml_estimate_memory(text, length) + (mesh > built_in ? mesh : built_in);
}

static const char *const media_types[] = {"application/mjcf+xml", NULL};

const api_model_format api_model_format_mjcf = {
    .name            = "mjcf",
    .media_types     = media_types,
    .root            = "mujoco",
    .check_query     = check_query,
    .estimate_memory = estimate_memory,
    .read            = api_model_from_mjcf,
    .write           = api_mjcf_write,
    .bound           = api_mjcf_bound,
};
