/* mjcf_mesh_load.c - load vertices and faces of one <mesh>: from its file, its attributes `vertex` and `face`, or a
 * built-in shape. A mesh without faces weighs as its convex hull. */
#include "api/robots/mesh_inertia/mesh_builtin.h"
#include "api/robots/mesh_inertia/mesh_read.h"
#include "api/robots/link_shapes/xml_collision.h"
#include "api/robots/mjcf/mjcf_reader.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const api_mjcf_mesh_rules[API_MESH_RULES + 1] = {"convex", "exact", "legacy", "shell", NULL};

/* Reads an attribute with any number of numbers into the arena; a text of n characters has at most n/2 + 1. */
static bool read_triples(api_mjcf *m, const xmlNode *element, const char *attribute, api_arena *arena,
                         api_xml_span *span, char reason[API_MESH_REASON])
{
    const char *text = "";
    if (!api_xml_text(&m->xml, element, attribute, API_OPTIONAL, &text)) return false;
    *span   = (api_xml_span){.max = strlen(text) / 2 + 1};
    span->v = api_arena_take(arena, span->max, sizeof *span->v);
    if (!span->v) return api_reader_no_memory(&m->xml.base);
    if (!api_xml_span_read(&m->xml, element, attribute, API_OPTIONAL, span)) return false;
    if (span->count % 3 != 0) api_mesh_fail(reason, "its %s has %zu numbers, no multiple of 3", attribute, span->count);
    return true;
}

/* Copies the indices of the vertices of faces, which must be integers. */
static void copy_faces(const api_xml_span *from, api_mesh *to, char reason[API_MESH_REASON])
{
    for (size_t i = 0; i < from->count && !*reason; i++) {
        to->face[i] = from->v[i] >= 0 && from->v[i] < API_MESH_VERTICES ? (uint32_t)from->v[i] : UINT32_MAX;
        if ((double)to->face[i] != from->v[i]) api_mesh_fail(reason, "face %zu has the vertex %.9g", i / 3, from->v[i]);
    }
}

static bool load_attributes(api_mjcf *m, const xmlNode *element, api_arena *arena, api_mesh *to,
                            char reason[API_MESH_REASON])
{
    api_xml_span vertex, face;
    if (!read_triples(m, element, "vertex", arena, &vertex, reason) ||
        !read_triples(m, element, "face", arena, &face, reason))
        return false;
    if (*reason || api_mesh_take(to, arena, vertex.count / 3, face.count / 3, reason)) return true;
    for (size_t i = 0; i < vertex.count; i++)
        to->vertex[i] = api_mesh_round(vertex.v[i]);
    copy_faces(&face, to, reason);
    return true;
}

static bool load_builtin(api_mjcf *m, const xmlNode *element, api_arena *arena, api_mesh *to, api_mesh_rule *rule,
                         char reason[API_MESH_REASON])
{
    int          shape = 0;
    double       v[API_BUILTIN_PARAMETERS];
    api_xml_span span = {.v = v, .min = 1, .max = API_BUILTIN_PARAMETERS};
    if (!api_xml_choice(&m->xml, element, "builtin", api_builtin_mesh_names, &shape) ||
        !api_xml_span_read(&m->xml, element, "params", API_REQUIRED, &span))
        return false;
    if (shape == API_BUILTIN_PLATE) *rule = API_MESH_SHELL;
    if (span.count != api_builtin_mesh_parameters[shape])
        api_mesh_fail(reason, "a %s has %zu params, given %zu", api_builtin_mesh_names[shape],
                      api_builtin_mesh_parameters[shape], span.count);
    else
        api_mesh_build(to, arena, (api_builtin_mesh)shape, v, reason);
    return true;
}

/* Finds a file from the folder of its model's file. */
static const char *find_mesh_file(const api_mjcf *m, const xmlNode *element, const char *name, size_t *length)
{
    const api_mjcf_compiler *s      = api_mjcf_compiler_of(m, element);
    const char              *folder = s->mesh_folder ? s->mesh_folder : s->asset_folder ? s->asset_folder : "";
    const char              *slash  = s->strip_path ? strrchr(name, '/') : NULL;
    const api_file_entry    *entry  = m->files->model[api_mjcf_model_of(m->files, element)].entry;
    char                     path[API_FILE_PATH], around[API_FILE_PATH];
    if (slash) name = slash + 1;
    if (*name == '/') folder = "";
    if (snprintf(path, sizeof path, "%s%s%s", folder, *folder ? "/" : "", name) >= (int)sizeof path) return NULL;
    api_files_folder(entry ? entry->path : m->source->path ? m->source->path : "", around);
    entry = api_files_find(m->source->files, around, path);
    if (entry) *length = entry->length;
    return entry ? entry->bytes : NULL;
}

static bool load_mesh_file(api_mjcf *m, const xmlNode *element, const char *name, api_arena *arena, api_mesh *to,
                           char reason[API_MESH_REASON])
{
    size_t      length = 0;
    const char *type   = name;
    if (!api_xml_text(&m->xml, element, "content_type", API_OPTIONAL, &type)) return false;
    const char           *bytes  = find_mesh_file(m, element, name, &length);
    const api_mesh_format format = api_mesh_format_of(type);
    if (bytes || format == API_MESH_FORMATS) /* files of other formats do not come with the robot's */
        api_mesh_read(to, arena, &(api_mesh_file){format, bytes, length, true}, reason);
    else if (m->source->files)
        api_mesh_fail(reason, "there is no file \"%.80s\" beside that of the robot, or it is too large", name);
    else
        api_mesh_fail(reason, "the file \"%.80s\" did not come with the request", name);
    return true;
}

/* Reads the faces of the element for a mesh whose file has none. */
static bool load_faces(api_mjcf *m, const xmlNode *element, api_arena *arena, api_mesh *to,
                       char reason[API_MESH_REASON])
{
    api_xml_span face;
    if (!read_triples(m, element, "face", arena, &face, reason)) return false;
    if (*reason || face.count == 0) return true;
    if (to->n_faces > 0) {
        api_mesh_fail(reason, "its faces are both in the file and in the element");
        return true;
    }
    to->face    = api_arena_take(arena, face.count, sizeof *to->face);
    to->n_faces = face.count / 3;
    if (!to->face) return api_reader_no_memory(&m->xml.base);
    copy_faces(&face, to, reason);
    return true;
}

static bool load_shape(api_mjcf *m, const xmlNode *element, api_arena *arena, api_mesh *to, api_mesh_rule *rule,
                       char reason[API_MESH_REASON])
{
    const char *file = NULL;
    if (!api_xml_text(&m->xml, element, "file", API_OPTIONAL, &file)) return false;
    if (api_xml_child(element, "plugin")) {
        api_mesh_fail(reason, "a plugin makes it");
        return true;
    }
    if (api_xml_has(element, "builtin")) return load_builtin(m, element, arena, to, rule, reason);
    if (!file || !*file) return load_attributes(m, element, arena, to, reason);
    return load_mesh_file(m, element, file, arena, to, reason) &&
           (*reason != '\0' || load_faces(m, element, arena, to, reason));
}

bool api_mjcf_load_mesh(api_mjcf *m, const api_mjcf_mesh *mesh, api_arena *arena, api_mesh *to, api_mesh_rule *rule,
                        char reason[API_MESH_REASON])
{
    int    chosen = api_mjcf_compiler_of(m, mesh->element)->exact_meshes ? API_MESH_EXACT : API_MESH_LEGACY;
    double most   = -1;
    if (!api_mjcf_choice(m, &mesh->item, "inertia", api_mjcf_mesh_rules, &chosen) ||
        !api_mjcf_numbers(m, &mesh->item, "maxhullvert", &most, 1))
        return false;
    *rule = (api_mesh_rule)chosen;
    if (!load_shape(m, mesh->element, arena, to, rule, reason)) return false;
    /* A hull with a limited number of vertices depends on the order in which MuJoCo adds them. */
    if (!*reason && most > 0 && (*rule == API_MESH_CONVEX || to->n_faces == 0))
        api_mesh_fail(reason, "maxhullvert limits its convex hull, which MuJoCo alone knows then");
    return true;
}
