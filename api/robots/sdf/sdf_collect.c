/* sdf_collect.c - collect the frames of a model, of the models in it and of the joints of the world, and find them by
 * their names (SDFormat 1.8, "Name scoping and cross-referencing"). */
#include "api/codec/names.h"
#include "sdf_reader.h"
#include <stdio.h>
#include <string.h>

/* --- collecting --------------------------------------------------------------------------------------------------- */

static int kind_of(const xmlNode *element)
{
    static const char *const names[] = {"model", "link", "joint", "frame"};
    for (int i = 0; i < 4; i++)
        if (api_xml_is(element, names[i])) return i;
    return -1;
}

static size_t count_frames(const xmlNode *model)
{
    size_t n = 1;
    for (const xmlNode *e = model->children; e; e = e->next) {
        int kind = kind_of(e);
        n += kind == API_SDF_IS_MODEL ? count_frames(e) : kind >= 0;
    }
    return n;
}

/* Name in the outermost model. NULL when memory is short. */
static const char *scoped_name(api_sdf *sdf, int scope, const char *name)
{
    const char *prefix = sdf->frames[scope].name;
    if (!*prefix) return name;
    size_t size = strlen(prefix) + strlen(name) + 3;
    char  *text = api_arena_take(sdf->xml.base.arena, size, 1);
    if (text) snprintf(text, size, "%s::%s", prefix, name);
    return text;
}

/* True for names that the format keeps for itself; joints of earlier versions may have them. */
static bool is_reserved(const char *name)
{
    size_t n = strlen(name);
    return strcmp(name, "world") == 0 || (n >= 4 && memcmp(name, "__", 2) == 0 && memcmp(name + n - 2, "__", 2) == 0);
}

/* Enters the name of a frame. Before version 1.7 links and joints had name spaces of their own: a name that both have
 * is that of the link where poses and joints refer to it. */
static bool enter_name(api_sdf *sdf, int index)
{
    const api_sdf_frame *frame = &sdf->frames[index], *other;
    const json_t        *found = json_object_get(sdf->index, frame->name);
    if (!found) return api_xml_set_field(&sdf->xml, sdf->index, frame->name, json_integer(index));
    other = &sdf->frames[json_integer_value(found)];
    if (api_sdf_minor(sdf, frame->element) >= API_SDF_FRAMES || other->kind == frame->kind)
        return api_xml_fail(&sdf->xml, frame->element, API_DUPLICATE_NAME,
                            "another link, joint, frame or model of this model has this name");
    if (!api_xml_report(&sdf->xml, frame->element, "info", "assumed",
                        "a %s has the same name as this %s: in poses and joints it is the name of the %s",
                        (const char *)other->element->name, (const char *)frame->element->name,
                        other->kind < frame->kind ? (const char *)other->element->name
                                                  : (const char *)frame->element->name))
        return false;
    return other->kind < frame->kind || api_xml_set_field(&sdf->xml, sdf->index, frame->name, json_integer(index));
}

static bool add_frame(api_sdf *sdf, const xmlNode *element, api_sdf_kind kind, int scope)
{
    int         index = (int)sdf->n_frames++;
    const char *name;
    sdf->frames[index] = (api_sdf_frame){.kind = kind, .element = element, .scope = scope, .link = API_SDF_NONE};
    if (!api_xml_name(&sdf->xml, element, "name", &name)) return false;
    if (is_reserved(name) && (kind < API_SDF_IS_JOINT || api_sdf_minor(sdf, element) >= API_SDF_FRAMES))
        return api_xml_fail(&sdf->xml, element, API_BAD_NAME,
                            "the name is reserved: a joint whose parent is \"world\" needs no <%s> of that name",
                            (const char *)element->name);
    sdf->frames[index].name = scoped_name(sdf, scope, name);
    return sdf->frames[index].name ? enter_name(sdf, index) : api_reader_no_memory(&sdf->xml.base);
}

/* Fails for an include whose file sdf_include.c did not find. */
static bool fail_include(api_sdf *sdf, const xmlNode *include)
{
    const char *uri = "";
    if (api_xml_child(include, "uri") && !api_sdf_text(sdf, include, "uri", &uri)) return false;
    return api_xml_fail(
        &sdf->xml, include, API_NOT_SUPPORTED,
        sdf->files->source->files
            ? "<include> of \"%.*s\": there is no such file; add it, with the folder that has this name"
            : "<include> of \"%.*s\": a request with one file has no other; send the folder as an archive "
              "(application/zip), or use torqued put",
        api_text_shown(uri), uri);
}

/* Adds what a model contains; the nesting limit of the parser bounds the recursion. */
static bool collect(api_sdf *sdf, const xmlNode *model, int scope)
{
    for (const xmlNode *e = model->children; e; e = e->next) {
        int kind  = kind_of(e);
        int index = (int)sdf->n_frames;
        if (api_xml_is(e, "include")) return fail_include(sdf, e);
        if (kind < 0) continue;
        if (!add_frame(sdf, e, (api_sdf_kind)kind, scope)) return false;
        if (kind == API_SDF_IS_MODEL && !collect(sdf, e, index)) return false;
    }
    return true;
}

/* The first joint of the world; before version 1.10 the world has none. */
static const xmlNode *first_world_joint(const api_sdf *sdf)
{
    return sdf->world && sdf->minor >= API_SDF_JOINTS_OF_WORLD ? api_xml_child(sdf->world, "joint") : NULL;
}

/* Adds the joints of the world. Their names are not those of any frame of the model. */
static bool collect_world(api_sdf *sdf)
{
    for (const xmlNode *e = first_world_joint(sdf); e; e = api_xml_next(e, "joint")) {
        api_sdf_frame *frame = &sdf->frames[sdf->n_frames++];
        *frame               = (api_sdf_frame){
                          .kind = API_SDF_IS_JOINT, .element = e, .scope = API_SDF_MODEL, .of_world = true, .link = API_SDF_NONE};
        if (!api_xml_name(&sdf->xml, e, "name", &frame->name)) return false;
    }
    return true;
}

/* Reads <static> of the nested models. */
static bool read_still(api_sdf *sdf)
{
    for (size_t i = 1; i < sdf->n_frames; i++)
        if (sdf->frames[i].kind == API_SDF_IS_MODEL &&
            !api_sdf_flag(sdf, sdf->frames[i].element, "static", &sdf->frames[i].still))
            return false;
    return true;
}

/* Allocates the frames: of the outermost model, of the elements in it, and of the joints of the world. */
static bool take_frames(api_sdf *sdf)
{
    size_t n = count_frames(sdf->model);
    for (const xmlNode *e = first_world_joint(sdf); e; e = api_xml_next(e, "joint"))
        n++;
    if (n > 4 * sdf->xml.max_links)
        return api_fail(sdf->xml.base.problem, API_MODEL_TOO_LARGE, NULL,
                        "the model has %zu links, joints, frames and models; the limit is %zu", n,
                        4 * sdf->xml.max_links);
    sdf->frames = api_arena_take(sdf->xml.base.arena, n, sizeof *sdf->frames);
    if (!sdf->frames) return api_reader_no_memory(&sdf->xml.base);
    sdf->frames[API_SDF_MODEL] = (api_sdf_frame){.kind     = API_SDF_IS_MODEL,
                                                 .element  = sdf->model,
                                                 .name     = "",
                                                 .scope    = API_SDF_NONE,
                                                 .resolved = true,
                                                 .X        = dyn_pose_identity(),
                                                 .link     = API_SDF_NONE};
    sdf->n_frames              = 1;
    return true;
}

/* Reports the joints of a world whose version does not have them. */
static bool report_old_world(api_sdf *sdf)
{
    const xmlNode *joint = sdf->world && !first_world_joint(sdf) ? api_xml_child(sdf->world, "joint") : NULL;
    return !joint || api_xml_report(&sdf->xml, joint, "warning", "not-held",
                                    "<joint> in <world> has no effect in a file of version 1.%d: version 1.%d has it",
                                    sdf->minor, API_SDF_JOINTS_OF_WORLD);
}

/* Collects all frames; *n is the number of those of the model, which come first. */
bool api_sdf_collect(api_sdf *sdf, size_t *n)
{
    if (!take_frames(sdf) || !collect(sdf, sdf->model, API_SDF_MODEL) || !read_still(sdf)) return false;
    *n = sdf->n_frames;
    return collect_world(sdf) && report_old_world(sdf);
}

/* --- finding ------------------------------------------------------------------------------------------------------ */

static const char *frame_name(const void *frames, size_t i)
{
    return ((const api_sdf_frame *)frames)[i + 1].name; /* skips the outermost model, which has no name */
}

static void fail_frame(api_sdf *sdf, const xmlNode *element, const char *name, const char *whole)
{
    const api_names known = {sdf->n_frames - 1, frame_name, sdf->frames};
    char            list[API_NAMES_TEXT];
    api_names_write(&known, whole, list);
    api_xml_fail(&sdf->xml, element, API_UNKNOWN_NAME, "\"%.*s\" is not a link, joint, frame or model of this model%s",
                 api_text_shown(name), name, list);
}

/* Finds a frame by its name in a model; `arm::__model__` is the model `arm`, unless a
 * flattened file has a frame of that name. */
static int find_in_model(api_sdf *sdf, const xmlNode *element, int scope, const char *name)
{
    static const char end[] = "::__model__";
    if (strcmp(name, end + 2) == 0) return scope;
    const char   *whole = scoped_name(sdf, scope, name);
    size_t        n = whole ? strlen(whole) : 0, n_end = sizeof end - 1;
    bool          model = n > n_end && strcmp(whole + n - n_end, end) == 0;
    const json_t *found = whole ? json_object_get(sdf->index, whole) : NULL;
    if (found) return (int)json_integer_value(found);
    if (model) found = json_object_getn(sdf->index, whole, n - n_end);
    if (found && sdf->frames[json_integer_value(found)].kind == API_SDF_IS_MODEL) return (int)json_integer_value(found);
    if (!whole)
        api_reader_no_memory(&sdf->xml.base);
    else
        fail_frame(sdf, element, name, whole);
    return API_SDF_NONE;
}

/* Finds a frame that a joint of the world names: the world, the model, or as "MODEL::NAME" a frame of the model. */
static int find_in_world(api_sdf *sdf, const xmlNode *element, const char *name)
{
    const char *model = NULL;
    if (strcmp(name, "world") == 0) return API_SDF_WORLD;
    if (!api_xml_name(&sdf->xml, sdf->model, "name", &model)) return API_SDF_NONE;
    size_t n = strlen(model);
    if (strcmp(name, model) == 0) return API_SDF_MODEL;
    if (strncmp(name, model, n) == 0 && strncmp(name + n, "::", 2) == 0)
        return find_in_model(sdf, element, API_SDF_MODEL, name + n + 2);
    api_xml_fail(
        &sdf->xml, element, API_NOT_SUPPORTED,
        "\"%.*s\" is neither the world nor in the moving model \"%.*s\": joints of the world connect these two",
        api_text_shown(name), name, api_text_shown(model), model);
    return API_SDF_NONE;
}

int api_sdf_find_frame(api_sdf *sdf, const xmlNode *element, const api_sdf_frame *user, const char *name)
{
    int scope = user->kind == API_SDF_IS_MODEL ? (int)(user - sdf->frames) : user->scope;
    return user->of_world ? find_in_world(sdf, element, name) : find_in_model(sdf, element, scope, name);
}

bool api_sdf_is_still(const api_sdf *sdf, int link)
{
    for (int at = sdf->frames[link].scope; at > API_SDF_MODEL; at = sdf->frames[at].scope)
        if (sdf->frames[at].still) return true;
    return false;
}
