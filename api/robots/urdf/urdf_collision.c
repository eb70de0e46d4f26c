/* urdf_collision.c - read the shapes of a link's visuals and collisions. With inertia=collision, collisions give the
 * link its inertia. */
#include "api/robots/link_shapes/xml_collision.h"
#include "dynamics/math/geometry.h"
#include "urdf_reader.h"
#include <string.h>

static bool read_needed(api_urdf *urdf, const xmlNode *shape, const char *attribute, double *v, size_t n)
{
    return api_xml_numbers(&urdf->xml, shape, attribute, API_REQUIRED, v, n);
}

static bool read_urdf_mesh(api_urdf *urdf, const xmlNode *mesh, api_collision *c)
{
    api_xml_span scale = {.v = c->scale, .min = 1, .max = 3};
    c->kind            = API_COLLISION_MESH;
    if (!api_xml_name(&urdf->xml, mesh, "filename", &c->file) ||
        !api_xml_span_read(&urdf->xml, mesh, "scale", API_OPTIONAL, &scale))
        return false;
    if (scale.count == 1) c->scale[1] = c->scale[2] = c->scale[0];
    return scale.count != 2 || api_xml_fail(&urdf->xml, mesh, API_WRONG_SHAPE, "scale of <mesh>: expected 3 numbers");
}

bool api_urdf_read_geometry(api_urdf *urdf, const xmlNode *geometry, api_collision *c)
{
    static const struct {
        const char *name;
        api_solid   solid;
    } round[] = {
        {"sphere", API_SPHERE}, {"cylinder", API_CYLINDER}, {"capsule", API_CAPSULE}, {"drake:capsule", API_CAPSULE}};
    const xmlNode *box = api_xml_child(geometry, "box"), *mesh = api_xml_child(geometry, "mesh");
    c->solid = API_BOX;
    if (box) return read_needed(urdf, box, "size", c->size, 3);
    if (mesh) return read_urdf_mesh(urdf, mesh, c);
    for (size_t i = 0; i < sizeof round / sizeof *round; i++) {
        const xmlNode *shape = api_xml_qualified_child(geometry, round[i].name);
        c->solid             = round[i].solid;
        if (shape)
            return read_needed(urdf, shape, "radius", &c->size[0], 1) &&
                   (c->solid == API_SPHERE || read_needed(urdf, shape, "length", &c->size[1], 1));
    }
    return api_xml_fail(
        &urdf->xml, geometry, API_NOT_SUPPORTED,
        "the inertia of this shape is not computed: box, sphere, cylinder, capsule and mesh are; give the "
        "link an <inertial>");
}

static bool weigh_collision(api_urdf *urdf, const xmlNode *element, dyn_inertia *sum)
{
    const xmlNode *geometry = api_xml_child(element, "geometry");
    api_collision  c        = {.element = element, .scale = {1, 1, 1}, .density = urdf->options->density};
    double         xyz[3], rpy[3];
    if (!geometry) return api_xml_fail(&urdf->xml, element, API_MISSING_FIELD, "the collision has no <geometry>");
    if (!api_urdf_read_origin(urdf, element, xyz, rpy) || !api_urdf_read_geometry(urdf, geometry, &c) ||
        !api_xml_review_angles(&urdf->xml, element, "rpy of <origin>", rpy))
        return false;
    c.X = dyn_pose_rpy(xyz, rpy);
    return api_xml_add_collision(&urdf->xml, urdf->source, &c, sum);
}

bool api_urdf_read_collisions(api_urdf *urdf, const xmlNode *link, dyn_inertia *sum, size_t *n)
{
    for (const xmlNode *c = api_xml_child(link, "collision"); c; c = api_xml_next(c, "collision"), (*n)++)
        if (!weigh_collision(urdf, c, sum)) return false;
    return true;
}
