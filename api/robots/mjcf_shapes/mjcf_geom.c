/* mjcf_geom.c - compute the inertias of geoms, by mass or density: solids, their surfaces, and meshes. */
#include "api/robots/mesh_inertia/shell.h"
#include "api/robots/mjcf/mjcf_reader.h"
#include <math.h>
#include <string.h>

#define LEAST_GEOM    1e-14  /* kg; a geom of at most this mass counts as none (mjEPS) */
#define WATER_DENSITY 1000.0 /* kg/m^3, or kg/m^2 of a shell: of a geom without mass and density */

typedef enum geom_type { PLANE, HFIELD, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH, SDF_SHAPE } geom_type;

static const char *const names[] = {"plane",    "hfield", "sphere", "capsule", "ellipsoid",
                                    "cylinder", "box",    "mesh",   "sdf",     NULL};

/* Solids of inertia.h, and how many sizes MJCF gives, which are half lengths. */
static const struct {
    bool      solid;
    api_solid shape;
    size_t    n_sizes;
    size_t    n_with_ends; /* number of sizes that remain with fromto; 0: the type has no fromto */
} types[] = {[SPHERE]    = {true, API_SPHERE, 1, 0},
             [CAPSULE]   = {true, API_CAPSULE, 2, 1},
             [ELLIPSOID] = {true, API_ELLIPSOID, 3, 1},
             [CYLINDER]  = {true, API_CYLINDER, 2, 1},
             [BOX]       = {true, API_BOX, 3, 1},
             [SDF_SHAPE] = {false, API_BOX, 0, 0}};

/* Reads the sizes in the terms of inertia.h: whole edges of a box, whole lengths of capsule and cylinder. */
static bool read_geom_size(api_mjcf *m, const api_mjcf_item *geom, geom_type type, double half_length, double size[3])
{
    api_xml_span   span    = {.v = size, .min = 1, .max = 3};
    const xmlNode *element = api_mjcf_with(m, geom, "size");
    bool           ends    = half_length > 0;
    size_t         needed  = ends ? types[type].n_with_ends : types[type].n_sizes;
    if (!api_mjcf_span(m, geom, "size", &span)) return false;
    if (ends && needed == 0)
        return api_xml_fail(&m->xml, geom->element, API_BAD_VALUE,
                            "fromto is for capsules, cylinders, ellipsoids and boxes");
    if (span.count < needed)
        return api_xml_fail(&m->xml, element, API_WRONG_SHAPE, "size of <geom>: expected %zu numbers, given %zu",
                            needed, span.count);
    if (ends && (type == ELLIPSOID || type == BOX)) {
        size[1] = size[0];
        size[2] = half_length;
    } else if (ends) {
        size[1] = half_length;
    }
    for (size_t i = 0; i < types[type].n_sizes; i++)
        if (!(size[i] > 0))
            return api_xml_fail(&m->xml, element, API_BAD_VALUE, "size of <geom>: entry %zu is not positive", i + 1);
    for (int i = 0; i < 3; i++)
        if (type == BOX || (i == 1 && (type == CAPSULE || type == CYLINDER))) size[i] *= 2;
    return true;
}

static bool read_group(api_mjcf *m, const api_mjcf_item *geom, bool *weighs)
{
    double group = 0;
    if (!api_mjcf_numbers(m, geom, "group", &group, 1)) return false;
    const double *groups = api_mjcf_compiler_of(m, geom->element)->inertia_groups;
    *weighs              = group >= groups[0] && group <= groups[1];
    return true;
}

/* Sets *mass to that of the geom, or else to density times volume, or times area for a shell. */
static bool read_geom_mass(api_mjcf *m, const api_mjcf_item *geom, double volume, double *mass)
{
    double density = WATER_DENSITY;
    if (api_mjcf_has(m, geom, "mass")) {
        if (!api_mjcf_numbers(m, geom, "mass", mass, 1)) return false;
    } else {
        if (!api_mjcf_numbers(m, geom, "density", &density, 1)) return false;
        *mass = density * volume;
    }
    return *mass >= 0 ||
           api_xml_fail(&m->xml, geom->element, API_BAD_INERTIA, "the mass of the geom is %.9g kg, negative", *mass);
}

static void add_inertia(api_mjcf_body *body, dyn_inertia inertia, const dyn_pose *X)
{
    api_inertia_add(&body->from_geoms, &inertia);
    if (body->n_geoms++ == 0) body->principal = *X;
}

/* Adds a solid, or its surface. */
static bool add_solid(api_mjcf *m, const api_mjcf_item *geom, const dyn_pose *X, const double size[3], api_solid solid,
                      api_mjcf_body *body)
{
    static const char *const values[] = {"false", "true", NULL};
    int                      shell    = 0;
    double                   mass;
    if (!api_mjcf_choice(m, geom, "shellinertia", values, &shell) ||
        !read_geom_mass(m, geom, shell ? api_shell_area(solid, size) : api_solid_volume(solid, size), &mass))
        return false;
    if (mass <= LEAST_GEOM) return true;
    dyn_inertia inertia = shell ? api_shell_inertia(solid, size, mass, X) : api_solid_inertia(solid, size, mass, X);
    add_inertia(body, inertia, X);
    return true;
}

/* --- meshes ------------------------------------------------------------------------------------------------------- */

/* Enters a geom whose mesh is read when its mass is needed. */
static bool enter_mesh_geom(api_mjcf *m, const api_mjcf_item *item, int type, const dyn_pose *X, api_mjcf_body *body)
{
    api_mjcf_mesh_geom *geom = api_arena_take(m->xml.base.arena, 1, sizeof *geom);
    if (!geom) return api_reader_no_memory(&m->xml.base);
    *geom            = (api_mjcf_mesh_geom){.item = *item, .type = type, .X = *X, .next = body->mesh_geoms};
    body->mesh_geoms = geom;
    return true;
}

/* Inertia of a mesh of a given mass, in the axes and about the centre that MuJoCo gives its geom. */
static dyn_inertia mesh_inertia(const api_mjcf_mesh *mesh, double mass, const dyn_pose *X)
{
    const double *b       = mesh->box;
    const double  T[6]    = {[0] = mass / 3 * (b[1] * b[1] + b[2] * b[2]),
                             [3] = mass / 3 * (b[0] * b[0] + b[2] * b[2]),
                             [5] = mass / 3 * (b[0] * b[0] + b[1] * b[1])};
    dyn_inertia   inertia = {.mass = mass};
    api_tensor_rotate((const double(*)[3])X->R, T, inertia.about_com);
    memcpy(inertia.com, X->p, sizeof inertia.com);
    return inertia;
}

/* Computes the sizes of a shape, in the terms of inertia.h, from half edges of the mesh along its axes: those of the
 * bounding box (`aabb`), or of the box with its inertia. */
static void fit_size(geom_type type, const double half[3], bool aabb, double scale, double size[3])
{
    double across = aabb ? fmax(half[0], half[1]) : (half[0] + half[1]) / 2, along = half[2];
    memcpy(size, half, 3 * sizeof *size);
    if (type == SPHERE) size[0] = aabb ? fmax(across, along) : (half[0] + half[1] + half[2]) / 3;
    if (type == CAPSULE) along = aabb ? along - across : fmax(0, along - across / 2);
    if (type == CAPSULE || type == CYLINDER) {
        size[0] = across;
        size[1] = along;
    }
    for (int i = 0; i < 3; i++)
        size[i] *= type == BOX || (i == 1 && (type == CAPSULE || type == CYLINDER)) ? 2 * scale : scale;
}

/* Adds a shape that is fitted to a mesh; X is the pose of the mesh's axes in the body. */
static bool add_fitted(api_mjcf *m, const api_mjcf_mesh_geom *geom, const api_mjcf_mesh *mesh, const dyn_pose *X,
                       api_mjcf_body *body)
{
    const bool fit_aabb = api_mjcf_compiler_of(m, geom->item.element)->fit_aabb;
    double     scale    = 1, half[3], size[3];
    dyn_pose   centre   = dyn_pose_identity();
    if (!api_mjcf_numbers(m, &geom->item, "fitscale", &scale, 1)) return false;
    memcpy(half, mesh->box, sizeof half);
    for (int i = 0; fit_aabb && i < 3; i++) {
        centre.p[i] = (mesh->low[i] + mesh->high[i]) / 2;
        half[i]     = (mesh->high[i] - mesh->low[i]) / 2;
    }
    fit_size((geom_type)geom->type, half, fit_aabb, scale, size);
    for (size_t i = 0; i < types[geom->type].n_sizes; i++)
        if (!(size[i] >= 0))
            return api_xml_fail(&m->xml, geom->item.element, API_BAD_INERTIA,
                                "the shape that is fitted to the mesh \"%.*s\" has a negative size",
                                api_text_shown(mesh->name), mesh->name);
    dyn_pose placed = dyn_pose_compose(X, &centre);
    return add_solid(m, &geom->item, &placed, size, types[geom->type].shape, body);
}

/* Fails for a mesh that cannot be read if its body moves, or if its mass counts in the total mass. */
static bool refuse_mesh(api_mjcf *m, const api_mjcf_mesh_geom *geom, const api_mjcf_body *body, const char *reason)
{
    if (body->moves || m->compilers[0].total_mass > 0)
        return api_xml_fail(
            &m->xml, geom->item.element, API_BAD_INERTIA,
            "the mass of the body comes from this <geom>, and %s; <inertial> in the body would tell its "
            "mass and inertia",
            reason);
    return api_xml_report(&m->xml, geom->item.element, "warning", "not-held",
                          "the mass of this <geom> is left out: %s; the body does not move", reason);
}

static bool add_mesh_geom(api_mjcf *m, const api_mjcf_mesh_geom *geom, api_mjcf_body *body)
{
    const api_mjcf_mesh *mesh   = NULL;
    const char          *reason = NULL;
    double               mass   = 0;
    bool                 fitted = geom->type != MESH && geom->type != SDF_SHAPE;
    if (!read_geom_mass(m, &geom->item, 1, &mass)) return false;
    if (mass <= 0) return true;
    if (!api_mjcf_read_mesh(m, &geom->item, &mesh, &reason)) return false;
    if (!mesh) return refuse_mesh(m, geom, body, reason);
    dyn_pose X = dyn_pose_compose(&geom->X, &mesh->axes);
    if (fitted) return add_fitted(m, geom, mesh, &X, body);
    if (!read_geom_mass(m, &geom->item, mesh->body.size, &mass)) return false;
    if (mass > LEAST_GEOM) add_inertia(body, mesh_inertia(mesh, mass, &X), &X);
    return true;
}

bool api_mjcf_add_meshes(api_mjcf *m, api_mjcf_body *body)
{
    for (const api_mjcf_mesh_geom *geom = body->mesh_geoms; geom; geom = geom->next)
        if (!add_mesh_geom(m, geom, body)) return false;
    return true;
}

/* --- height fields ------------------------------------------------------------------------------------------------ */

/* Finds a height field of <asset>; *found is NULL if there is none of this name. */
static bool find_hfield(api_mjcf *m, const char *name, const xmlNode **found)
{
    *found = NULL;
    for (const xmlNode *asset = api_xml_child(m->xml.root, "asset"); asset; asset = api_xml_next(asset, "asset"))
        for (const xmlNode *e = api_xml_child(asset, "hfield"); e; e = api_xml_next(e, "hfield")) {
            const char *other = NULL;
            if (!api_mjcf_asset_name(m, e, &other)) return false;
            if (other && strcmp(other, name) == 0) *found = e;
        }
    return true;
}

/* MuJoCo gives a height field the mass of a box about the origin of its geom: half edges r_x, r_y, and half the height
 * below plus a quarter of that above. */
static bool add_hfield(api_mjcf *m, const api_mjcf_item *geom, const dyn_pose *X, api_mjcf_body *body)
{
    const char    *name  = NULL;
    const xmlNode *asset = NULL;
    double         v[4]  = {0};
    if (!api_xml_text(&m->xml, api_mjcf_with(m, geom, "hfield"), "hfield", API_OPTIONAL, &name)) return false;
    if (name && !find_hfield(m, name, &asset)) return false;
    if (!asset)
        return api_xml_fail(&m->xml, geom->element, API_UNKNOWN_NAME, "its hfield \"%.*s\" is not in <asset>",
                            api_text_shown(name ? name : ""), name ? name : "");
    if (!api_xml_numbers(&m->xml, asset, "size", API_REQUIRED, v, 4)) return false;
    for (int i = 0; i < 4; i++)
        if (!(v[i] > 0))
            return api_xml_fail(&m->xml, asset, API_BAD_VALUE, "size of <hfield>: entry %d is not positive", i + 1);
    const double size[3] = {2 * v[0], 2 * v[1], v[2] / 2 + v[3]};
    return add_solid(m, geom, X, size, API_BOX, body);
}

bool api_mjcf_read_solid(api_mjcf *m, const api_mjcf_item *geom, double half_length, api_solid *solid, double size[3])
{
    int type = SPHERE;
    *solid   = API_SOLIDS;
    if (!api_mjcf_choice(m, geom, "type", names, &type)) return false;
    if (!types[type].solid || api_mjcf_has(m, geom, "mesh")) return true;
    *solid = types[type].shape;
    return read_geom_size(m, geom, (geom_type)type, half_length, size);
}

/* --- all ---------------------------------------------------------------------------------------------------------- */

bool api_mjcf_add_geom(api_mjcf *m, const api_mjcf_item *geom, const dyn_pose *X, double half_length,
                       api_mjcf_body *body)
{
    int    type    = SPHERE;
    double size[3] = {0};
    bool   weighs;
    if (!api_mjcf_choice(m, geom, "type", names, &type) || !read_group(m, geom, &weighs)) return false;
    if (!weighs || type == PLANE) return true;
    if (type == HFIELD) return add_hfield(m, geom, X, body);
    if (type == MESH || type == SDF_SHAPE || api_mjcf_has(m, geom, "mesh"))
        return enter_mesh_geom(m, geom, type, X, body);
    return read_geom_size(m, geom, (geom_type)type, half_length, size) &&
           add_solid(m, geom, X, size, types[type].shape, body);
}
