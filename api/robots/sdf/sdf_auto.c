/* sdf_auto.c - compute the inertia of a link from its collisions, <inertial auto="true">, as libsdformat 15 does.
 *
 * The density of a collision is its own, else that of <inertial>, else 1000 kg/m^3. A mass that <inertial> states
 * scales the sum; pose and <inertia> of the <inertial> have no effect. */
#include "sdf_reader.h"
#include <math.h>
#include <string.h>

#define WATER 1000.0 /* kg/m^3 */

/* Reads n numbers of an element that a shape needs. */
static bool read_entries(api_sdf *sdf, const xmlNode *shape, const char *name, double *v, size_t n)
{
    const xmlNode *element = api_xml_child(shape, name);
    if (!element)
        return api_xml_fail(&sdf->xml, shape, API_MISSING_FIELD, "<%.40s> has no <%s>", (const char *)shape->name,
                            name);
    return api_xml_content_numbers(&sdf->xml, element, v, n);
}

static bool read_round(api_sdf *sdf, const xmlNode *shape, api_collision *c)
{
    return read_entries(sdf, shape, "radius", &c->size[0], 1) &&
           (c->solid == API_SPHERE || read_entries(sdf, shape, "length", &c->size[1], 1));
}

static bool read_sdf_mesh(api_sdf *sdf, const xmlNode *shape, api_collision *c)
{
    const xmlNode *uri = api_xml_child(shape, "uri");
    if (!uri) return api_xml_fail(&sdf->xml, shape, API_MISSING_FIELD, "the mesh has no <uri>");
    if (api_xml_child(shape, "submesh"))
        return api_xml_fail(&sdf->xml, shape, API_NOT_SUPPORTED,
                            "<submesh> of a mesh that weighs: give the link mass and inertia");
    c->kind = API_COLLISION_MESH;
    return api_xml_content_text(&sdf->xml, uri, &c->file) &&
           (!api_xml_child(shape, "scale") || read_entries(sdf, shape, "scale", c->scale, 3));
}

bool api_sdf_read_geometry(api_sdf *sdf, const xmlNode *geometry, api_collision *c)
{
    static const struct {
        const char        *name;
        api_collision_kind kind;
        api_solid          solid;
    } known[] = {{"box", API_COLLISION_SOLID, API_BOX},
                 {"sphere", API_COLLISION_SOLID, API_SPHERE},
                 {"cylinder", API_COLLISION_SOLID, API_CYLINDER},
                 {"capsule", API_COLLISION_SOLID, API_CAPSULE},
                 {"ellipsoid", API_COLLISION_SOLID, API_ELLIPSOID},
                 {"cone", API_COLLISION_CONE, API_SOLIDS},
                 {"plane", API_COLLISION_NO_SOLID, API_SOLIDS},
                 {"heightmap", API_COLLISION_NO_SOLID, API_SOLIDS},
                 {"image", API_COLLISION_NO_SOLID, API_SOLIDS},
                 {"empty", API_COLLISION_NO_SOLID, API_SOLIDS}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const xmlNode *shape = api_xml_child(geometry, known[i].name);
        if (!shape) continue;
        c->kind  = known[i].kind;
        c->solid = known[i].solid;
        if (c->kind == API_COLLISION_NO_SOLID) return true;
        if (c->solid == API_BOX) return read_entries(sdf, shape, "size", c->size, 3);
        if (c->solid == API_ELLIPSOID) return read_entries(sdf, shape, "radii", c->size, 3);
        return read_round(sdf, shape, c);
    }
    const xmlNode *mesh = api_xml_child(geometry, "mesh");
    if (mesh) return read_sdf_mesh(sdf, mesh, c);
    return api_xml_fail(
        &sdf->xml, geometry, API_NOT_SUPPORTED,
        "the inertia of this shape is not computed: box, sphere, cylinder, capsule, ellipsoid, cone and "
        "mesh are; give the link mass and inertia");
}

bool api_sdf_read_shape_pose(api_sdf *sdf, const api_sdf_frame *link, const xmlNode *shape, dyn_pose *X)
{
    const xmlNode *pose = api_xml_child(shape, "pose");
    const char    *name = NULL;
    bool           old  = pose && sdf->minor < API_SDF_FRAMES && api_xml_has(pose, "frame");
    if (!api_sdf_read_pose(sdf, shape, X) ||
        (pose && !api_xml_text(&sdf->xml, pose, old ? "frame" : "relative_to", API_OPTIONAL, &name)))
        return false;
    if (!name || !*name) return true;
    int frame = api_sdf_find_frame(sdf, pose, link, name);
    if (frame == API_SDF_NONE) return false;
    dyn_pose X_wl = api_sdf_in_world(sdf, (int)(link - sdf->frames)), X_lw = dyn_pose_inverse(&X_wl);
    dyn_pose X_wf = api_sdf_in_world(sdf, frame), X_lf = dyn_pose_compose(&X_lw, &X_wf);
    *X = dyn_pose_compose(&X_lf, X);
    return true;
}

/* Adds one collision. Counts those whose density is the format's default. */
static bool add_collision(api_sdf *sdf, const api_sdf_frame *link, const xmlNode *element, double density,
                          dyn_inertia *sum)
{
    const xmlNode *geometry = api_xml_child(element, "geometry");
    api_collision  c        = {.element = element, .scale = {1, 1, 1}, .density = density};
    if (!geometry) return api_xml_fail(&sdf->xml, element, API_MISSING_FIELD, "the collision has no <geometry>");
    return api_sdf_number(sdf, element, "density", &c.density) && api_sdf_read_shape_pose(sdf, link, element, &c.X) &&
           api_sdf_read_geometry(sdf, geometry, &c) && api_xml_add_collision(&sdf->xml, sdf->files->source, &c, sum);
}

/* Scales the inertia to the mass that the file states. */
static bool scale_to_mass(api_sdf *sdf, const xmlNode *inertial, dyn_inertia *inertia)
{
    double mass = inertia->mass;
    if (!api_sdf_number(sdf, inertial, "mass", &mass)) return false;
    if (!(mass > 0))
        return api_xml_fail(&sdf->xml, inertial, API_BAD_INERTIA, "the mass is %.9g kg, not above 0", mass);
    for (int k = 0; k < 6; k++)
        inertia->about_com[k] *= mass / inertia->mass;
    inertia->mass = mass;
    return true;
}

bool api_sdf_read_auto_inertia(api_sdf *sdf, const api_sdf_frame *link, const xmlNode *inertial, dyn_inertia *inertia)
{
    double      density = WATER;
    size_t      n = 0, assumed = 0;
    dyn_inertia sum         = {0};
    bool        has_density = api_xml_child(inertial, "density") != NULL;
    if (!api_sdf_number(sdf, inertial, "density", &density)) return false;
    for (const xmlNode *c = api_xml_child(link->element, "collision"); c; c = api_xml_next(c, "collision"), n++) {
        if (!add_collision(sdf, link, c, density, &sum)) return false;
        assumed += !has_density && !api_xml_child(c, "density");
    }
    if (!(sum.mass > 0))
        return api_xml_fail(&sdf->xml, inertial, API_BAD_INERTIA,
                            "<inertial auto=\"true\"> takes the inertia of the collisions of the link, and %s",
                            n == 0 ? "there are none" : "they have no volume");
    sdf->weighs_collisions = true;
    *inertia               = sum;
    return scale_to_mass(sdf, inertial, inertia) &&
           (assumed == 0 ||
            api_xml_report(&sdf->xml, inertial, "info", "assumed",
                           "%zu of %zu collisions state no density: SDF's default is 1000 kg/m^3", assumed, n));
}
