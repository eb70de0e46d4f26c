/* mjcf.c - see mjcf.h: the steps from a text to a model, and the format's constant. */
#define _GNU_SOURCE /* memmem */
#include "api/robots/mjcf_write/mjcf_write.h"
#include "mjcf_reader.h"
#include "mjcf_tendon.h"
#include "api/robots/formats.h"
#include "api/robots/linked_files/template.h"
#include "api/robots/xml/xml_model.h"
#include <stdio.h>
#include <string.h>

#define BUILT_IN_BYTES ((size_t)12 << 20) /* bytes for a built-in mesh of the greatest resolution */
#define MESH_BYTES     ((size_t)80 << 20) /* bytes for a mesh with as many vertices as a hull may have */

static bool read_options(const char *query, api_mjcf_equality *equality, api_problem *problem)
{
    static const api_xml_option known[] = {{"equality", {"coupled", "independent", "refuse"}, NULL, NULL}};
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
    m->class_index    = json_object();
    m->shadows        = json_object();
    m->body_index     = json_object();
    m->joint_index    = json_object();
    m->site_index     = json_object();
    m->mesh_index     = json_object();
    m->material_index = json_object();
    m->tendon_index   = json_object();
    return (m->class_index && m->shadows && m->body_index && m->joint_index && m->site_index && m->mesh_index &&
            m->material_index && m->tendon_index) ||
           api_reader_no_memory(&m->xml.base);
}

static void close_maps(api_mjcf *m)
{
    json_decref(m->class_index);
    json_decref(m->shadows);
    json_decref(m->body_index);
    json_decref(m->joint_index);
    json_decref(m->site_index);
    json_decref(m->mesh_index);
    json_decref(m->material_index);
    json_decref(m->tendon_index);
}

static bool read_robot(api_mjcf *m, api_mjcf_files *files)
{
    if (!api_xml_is(m->xml.root, "mujoco"))
        return api_fail(m->xml.base.problem, API_BAD_MODEL, NULL,
                        "the outermost element is <%.40s>; MJCF's is <mujoco>, without a prefix",
                        (const char *)m->xml.root->name);
    files->model[0] = (api_mjcf_submodel){.root = m->xml.root, .entry = files->entry[0]};
    m->files        = files;
    m->xml.files    = files->name;
    return api_mjcf_include(&m->xml, files, 0) && api_xml_refuse_template(&m->xml) && open_maps(m) &&
           api_mjcf_attach(m, files) && api_mjcf_read_settings(m) && api_mjcf_expand_replicates(m) &&
           api_mjcf_read_classes(m) && api_mjcf_index_meshes(m) && api_mjcf_index_materials(m) &&
           api_mjcf_read_bodies(m) && api_mjcf_name_all(m) && api_mjcf_read_masses(m) && api_mjcf_read_tendons(m) &&
           api_mjcf_read_equalities(m) && api_mjcf_read_actuators(m) && api_mjcf_write_tendons(m) &&
           api_mjcf_choose_driven(m) && api_mjcf_read_springdampers(m) && api_mjcf_write_document(m) &&
           api_mjcf_report_visuals(m) && api_mjcf_report_unused(m);
}

/* Writes a clause on how to read the file without its loops, for problems of the loops; "" without loops. */
static void write_remedy(const api_mjcf *m, char remedy[API_REMEDY_BYTES])
{
    static const char tree[] =
        "with equality=independent the model is the tree, without the loops and welds of <equality>";
    *remedy = '\0';
    if (m->n_loops + m->n_fixed == 0) return;
    if (m->undetermined)
        snprintf(remedy, API_REMEDY_BYTES,
                 "; the loops leave joint \"%.*s\" a freedom: give its body hinges and slides; %s",
                 api_text_shown(m->undetermined), m->undetermined, tree);
    else
        snprintf(remedy, API_REMEDY_BYTES, "; %s", tree);
}

/* Says why a model with loops was not built. A document's field `actuated` has no counterpart in MJCF. */
static void explain_loops(const api_mjcf *m, api_problem *problem)
{
    static const char        still[]  = "nothing moves";
    static const char *const own[][2] = {
        {"all joints are actuated",
         "the loops move ball and free joints alone, of which no freedom follows from others"},
        {"no joint is actuated", "nothing moves: the loops leave their joints no freedom"}};
    char remedy[API_REMEDY_BYTES];
    if (problem->code != API_BAD_MODEL) return;
    if (m->generates && strncmp(problem->detail, still, strlen(still)) == 0)
        snprintf(problem->detail, sizeof problem->detail,
                 "nothing moves but what <composite> or <flexcomp> makes: bodies that bend are not part of a model, "
                 "only rigid ones");
    write_remedy(m, remedy);
    for (size_t i = 0; *remedy && i < 2; i++)
        if (strncmp(problem->detail, own[i][0], strlen(own[i][0])) == 0)
            snprintf(problem->detail, sizeof problem->detail, "%s", own[i][1]);
    size_t length = strlen(problem->detail);
    snprintf(problem->detail + length, sizeof problem->detail - length, "%s", remedy);
}

static api_model *read_files(api_mjcf *m, api_mjcf_files *files, api_problem *problem)
{
    api_arena  scratch = {0};
    api_model *model   = NULL;
    if (api_xml_reader_open(&m->xml, files->file[0], files->source, &scratch, problem) && read_robot(m, files))
        model = api_xml_make_model(&m->xml, m->document.document, files->source->name, api_xml_document_element,
                                   &m->document);
    if (model)
        write_remedy(m, model->loop_remedy);
    else
        explain_loops(m, problem);
    api_xml_document_close(&m->document);
    close_maps(m);
    api_xml_reader_close(&m->xml);
    api_arena_free(&scratch);
    return model;
}

api_model *api_model_from_mjcf(const api_model_source *source, api_problem *problem)
{
    api_mjcf_files files = {.source = source, .n = 1, .n_models = 1, .name = {""}};
    api_xml_source text  = {.text = source->text, .length = source->length, .nesting = API_XML_NESTING};
    api_mjcf       m     = {.source = source};
    if (!read_options(source->query, &m.equality, problem)) return NULL;
    files.file[0] = api_xml_parse(&text, problem);
    if (!files.file[0]) return NULL;
    files.entry[0]   = api_files_find(source->files, "", source->path ? source->path : "");
    api_model *model = read_files(&m, &files, problem);
    while (files.n > 0) /* freed only now: nodes of the main file point to names that included files own */
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

static const char *const endings[] = {".mjcf", ".xml", NULL};

const api_model_format api_model_format_mjcf = {
    .name            = "mjcf",
    .media_types     = media_types,
    .root            = "mujoco",
    .endings         = endings,
    .check_query     = check_query,
    .estimate_memory = estimate_memory,
    .read            = api_model_from_mjcf,
    .write           = api_mjcf_write,
    .bound           = api_mjcf_bound,
};
