/* document_visual.c - read "visual" of a link or base: solids, and meshes by the names of their files. */
#include "document.h"

static bool read_rgba(const api_entry *entry, api_document_visual *visual)
{
    visual->has_rgba = api_entry_has(entry, "rgba");
    if (!visual->has_rgba) return true;
    if (!api_entry_vector(entry, "rgba", API_REQUIRED, visual->rgba, 4)) return false;
    for (int i = 0; i < 4; i++)
        if (visual->rgba[i] < 0 || visual->rgba[i] > 1)
            return api_entry_fail(entry, "rgba", API_BAD_VALUE, "red, green, blue and opacity are from 0 to 1");
    return true;
}

static bool read_mesh(const api_entry *entry, api_document_visual *visual)
{
    visual->solid = API_SOLIDS;
    return api_entry_name(entry, "mesh", API_REQUIRED, &visual->mesh) &&
           api_entry_vector(entry, "scale", API_OPTIONAL, visual->scale, 3);
}

static bool read_one_visual(const api_entry *owner, size_t i, api_document_visual *visual)
{
    static const char *const solid_fields[] = {"solid", "size", "xyz", "rpy", "rgba", NULL};
    static const char *const mesh_fields[]  = {"mesh", "scale", "xyz", "rpy", "rgba", NULL};
    const json_t            *in             = json_array_get(json_object_get(owner->input, "visual"), i);
    bool                     is_mesh        = json_object_get(in, "mesh") != NULL;
    double                   xyz[3] = {0}, rpy[3] = {0};
    api_entry                entry;
    *visual = (api_document_visual){.scale = {1, 1, 1}};
    if (!api_entry_item(&entry, owner, "visual", i, is_mesh ? mesh_fields : solid_fields) ||
        !(is_mesh ? read_mesh(&entry, visual) : api_document_read_solid(&entry, &visual->solid, visual->size)) ||
        !api_entry_vector(&entry, "xyz", API_OPTIONAL, xyz, 3) || !api_entry_rpy(&entry, rpy) ||
        !read_rgba(&entry, visual))
        return false;
    visual->X = dyn_pose_rpy(xyz, rpy);
    return true;
}

bool api_document_read_visuals(const api_entry *owner, api_document_visuals *visuals)
{
    size_t n;
    if (!api_entry_has(owner, "visual")) return true;
    if (!api_entry_list(owner, "visual", API_OPTIONAL, &n)) return false;
    if (n > API_MOST_VISUALS)
        return api_entry_fail(owner, "visual", API_MODEL_TOO_LARGE, "a link has at most %d shapes, given %zu",
                              API_MOST_VISUALS, n);
    owner->reader->n_shapes += n;
    if (owner->reader->n_shapes > API_MOST_SHAPES)
        return api_entry_fail(owner, "visual", API_MODEL_TOO_LARGE, "the links have together at most %d shapes",
                              API_MOST_SHAPES);
    visuals->list = api_arena_take(owner->reader->arena, n, sizeof *visuals->list);
    if (n > 0 && !visuals->list) return api_reader_no_memory(owner->reader);
    for (visuals->n = 0; visuals->n < n; visuals->n++)
        if (!read_one_visual(owner, visuals->n, &visuals->list[visuals->n])) return false;
    return true;
}
