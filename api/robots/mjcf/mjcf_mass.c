/* mjcf_mass.c - compute the inertias of bodies, from <inertial> or from geoms by mass or density, and apply the bounds
 * and the total mass of <compiler>. */
#include "api/robots/shape/shell.h"
#include "mjcf_reader.h"
#include <math.h>
#include <string.h>

#define LEAST_MASS    1e-15  /* kg; a smaller mass counts as none (mjMINVAL) */
#define LEAST_GEOM    1e-14  /* kg; a geom of at most this mass counts as none (mjEPS) */
#define WATER_DENSITY 1000.0 /* kg/m^3, or kg/m^2 of a shell: of a geom without mass and density */

static const int tensor_index[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};

/* --- geoms -------------------------------------------------------------------------------------------------------- */

typedef enum geom_type { PLANE, HFIELD, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH, SDF_SHAPE } geom_type;

/* Solids of inertia.h, and how many sizes MJCF gives, which are half lengths. */
static const struct {
    bool      solid;
    api_solid shape;
    size_t    n_sizes;
    size_t    n_with_ends; /* sizes that remain beside fromto; 0: the type takes no fromto */
} types[] = {[SPHERE]    = {true, API_SPHERE, 1, 0},
             [CAPSULE]   = {true, API_CAPSULE, 2, 1},
             [ELLIPSOID] = {true, API_ELLIPSOID, 3, 1},
             [CYLINDER]  = {true, API_CYLINDER, 2, 1},
             [BOX]       = {true, API_BOX, 3, 1},
             [SDF_SHAPE] = {false, API_BOX, 0, 0}};

/* Reads the sizes in the terms of inertia.h: whole edges of a box, whole lengths of capsule and cylinder. */
static bool read_size(api_mjcf *m, const api_mjcf_item *geom, geom_type type, double half_length, double size[3])
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
    *weighs = group >= m->settings.inertia_groups[0] && group <= m->settings.inertia_groups[1];
    return true;
}

/* Sets *mass to the mass that is given, or else to density times volume, or area of a shell. */
static bool read_mass(api_mjcf *m, const api_mjcf_item *geom, double volume, double *mass)
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

/* Notes a geom whose inertia cannot be computed, unless it has no mass. */
static bool note_shapeless(api_mjcf *m, const api_mjcf_item *geom, api_mjcf_body *body)
{
    double mass = 0;
    if (!read_mass(m, geom, 1, &mass)) return false;
    if (mass > 0 && !body->shapeless) body->shapeless = geom->element;
    return true;
}

/* Adds a solid, or its surface. */
static bool add_solid(api_mjcf *m, const api_mjcf_item *geom, const dyn_pose *X, const double size[3], api_solid solid,
                      api_mjcf_body *body)
{
    static const char *const values[] = {"false", "true", NULL};
    int                      shell    = 0;
    double                   mass;
    if (!api_mjcf_choice(m, geom, "shellinertia", values, &shell) ||
        !read_mass(m, geom, shell ? api_shell_area(solid, size) : api_solid_volume(solid, size), &mass))
        return false;
    if (mass <= LEAST_GEOM) return true;
    dyn_inertia inertia =
        shell ? api_shell_inertia(solid, size, mass, X) : api_solid_inertia(solid, size, mass, X);
    api_inertia_add(&body->from_geoms, &inertia);
    if (body->n_geoms++ == 0) body->principal = *X;
    return true;
}

bool api_mjcf_add_geom(api_mjcf *m, const api_mjcf_item *geom, const dyn_pose *X, double half_length,
                       api_mjcf_body *body)
{
    static const char *const names[] = {"plane",    "hfield", "sphere", "capsule", "ellipsoid",
                                        "cylinder", "box",    "mesh",   "sdf",     NULL};
    int                      type    = SPHERE;
    double                   size[3] = {0};
    bool                     weighs;
    if (!api_mjcf_choice(m, geom, "type", names, &type) || !read_group(m, geom, &weighs)) return false;
    if (!weighs || type == PLANE || type == HFIELD) return true;
    if (type == MESH || type == SDF_SHAPE || api_mjcf_has(m, geom, "mesh")) return note_shapeless(m, geom, body);
    return read_size(m, geom, (geom_type)type, half_length, size) &&
           add_solid(m, geom, X, size, types[type].shape, body);
}

/* --- <inertial> --------------------------------------------------------------------------------------------------- */

/* Principal moments of a body and their axes, in the body frame: T = V diag(I) V^T. */
typedef struct principal {
    double   I[3], V[3][3];
    dyn_pose X;     /* inertial frame */
    bool     known; /* false: to be computed from the tensor */
} principal;

/* Reads the tensor in the axes of the <inertial>: fullinertia is xx yy zz xy xz yz. A body without joints may be a
 * point mass. */
static bool read_tensor(api_mjcf *m, const api_mjcf_body *body, double T[6], bool *diagonal)
{
    static const int full[6]  = {0, 3, 5, 1, 2, 4};
    const xmlNode   *inertial = body->inertial;
    double           v[6];
    bool             is_full = api_xml_has(inertial, "fullinertia");
    *diagonal                = api_xml_has(inertial, "diaginertia");
    if (!*diagonal && !is_full && body->n_joints == 0) return true;
    if (*diagonal == is_full)
        return api_xml_fail(&m->xml, inertial, *diagonal ? API_BAD_VALUE : API_MISSING_FIELD,
                            "<inertial> has %s diaginertia and fullinertia: it takes one of them",
                            *diagonal ? "both" : "neither");
    if (!api_xml_numbers(&m->xml, inertial, *diagonal ? "diaginertia" : "fullinertia", API_REQUIRED, v,
                         *diagonal ? 3 : 6))
        return false;
    for (int i = 0; i < (*diagonal ? 3 : 6); i++)
        T[full[i]] = v[i];
    return true;
}

/* Reads the pose of the <inertial> in the body. */
static bool read_inertial_pose(api_mjcf *m, const api_mjcf_body *body, dyn_pose *X)
{
    if (!api_xml_has(body->inertial, "pos"))
        return api_xml_fail(&m->xml, body->inertial, API_MISSING_FIELD, "<inertial> has no attribute \"pos\"");
    if (!api_mjcf_read_plain_pose(m, body->inertial, X)) return false;
    dyn_pose X_bw = dyn_pose_inverse(&body->X_wb);
    *X            = dyn_pose_compose(m->settings.global ? &X_bw : &body->X_bi, X);
    return true;
}

static bool read_inertial(api_mjcf *m, api_mjcf_body *body, principal *axes)
{
    dyn_pose X;
    double   T[6] = {0};
    if (!read_inertial_pose(m, body, &X) || !read_tensor(m, body, T, &axes->known) ||
        !api_xml_numbers(&m->xml, body->inertial, "mass", API_REQUIRED, &body->inertia.mass, 1))
        return false;
    memcpy(body->inertia.com, X.p, sizeof X.p);
    axes->X = X;
    memcpy(axes->V, X.R, sizeof X.R);
    memcpy(axes->I, (double[3]){T[0], T[3], T[5]}, sizeof axes->I);
    api_tensor_rotate((const double(*)[3])X.R, T, body->inertia.about_com);
    return true;
}

/* --- bounds ------------------------------------------------------------------------------------------------------- */

/* T = V diag(I) V^T */
static void compose_tensor(const double moments[3], const double V[3][3], double T[6])
{
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++)
            T[tensor_index[i][j]] =
                moments[0] * V[i][0] * V[j][0] + moments[1] * V[i][1] * V[j][1] + moments[2] * V[i][2] * V[j][2];
}

/* MuJoCo's own comparison, without a tolerance. */
static bool violates_triangle(const double I[3])
{
    return I[0] + I[1] < I[2] || I[0] + I[2] < I[1] || I[1] + I[2] < I[0];
}

/* Raises mass and principal moments to their bounds, and makes the moments equal where they violate the triangle
 * inequality and `balanceinertia` asks for it. A tensor that needs neither keeps its bits. */
static void bound(const api_mjcf *m, api_mjcf_body *body, principal *axes)
{
    double least       = m->settings.bound_inertia;
    bool   changed     = false;
    body->inertia.mass = fmax(body->inertia.mass, m->settings.bound_mass);
    if (!(least > 0) && !m->settings.balance_inertia) return;
    if (!axes->known) api_tensor_principal(body->inertia.about_com, axes->I, axes->V);
    for (int i = 0; i < 3; i++) {
        changed |= axes->I[i] < least;
        axes->I[i] = fmax(axes->I[i], least);
    }
    if (m->settings.balance_inertia && violates_triangle(axes->I)) {
        axes->I[0] = axes->I[1] = axes->I[2] = (axes->I[0] + axes->I[1] + axes->I[2]) / 3;
        changed                              = true;
    }
    if (changed) compose_tensor(axes->I, (const double(*)[3])axes->V, body->inertia.about_com);
}

/* Chooses between <inertial> and geoms. A body without either gets only its bounds, and MuJoCo puts that mass at the
 * attribute `pos` of the body, taken in the body. */
static bool read_inertia(api_mjcf *m, api_mjcf_body *body)
{
    int       mode      = m->settings.inertia_from_geom;
    bool      has_geoms = body->from_geoms.mass > 0 || body->shapeless;
    bool      stated    = body->inertial && (mode != API_FROM_GEOM_ALWAYS || !has_geoms);
    bool      geoms     = !stated && has_geoms && mode != API_FROM_GEOM_NEVER;
    principal axes      = {.known = false};
    if (stated && !read_inertial(m, body, &axes)) return false;
    if (geoms) body->inertia = body->from_geoms;
    if (!stated && !geoms) memcpy(body->inertia.com, body->stated.p, sizeof body->stated.p);
    if (stated || !geoms) body->principal = stated ? axes.X : body->stated;
    body->has_principal = stated ? axes.known : !geoms || body->n_geoms == 1;
    if (geoms && body->shapeless && body->moves)
        return api_xml_fail(
            &m->xml, body->shapeless, API_BAD_INERTIA,
            "a moving body needs <inertial>: it has the mass of a <geom> whose inertia only a mesh or a "
            "shell would tell");
    bound(m, body, &axes);
    return true;
}

/* Scales all masses to the total. Bodies that <compiler fusestatic> merges into the world have lost theirs before. */
static void scale(api_mjcf *m)
{
    double total = 0;
    for (size_t i = 0; i < m->n_bodies; i++)
        total += m->bodies[i].fused_to_world ? 0 : m->bodies[i].inertia.mass;
    if (!(m->settings.total_mass > 0) || !(total >= LEAST_MASS)) return;
    double by = m->settings.total_mass / total;
    for (size_t i = 0; i < m->n_bodies; i++) {
        m->bodies[i].inertia.mass *= by;
        for (int k = 0; k < 6; k++)
            m->bodies[i].inertia.about_com[k] *= by;
    }
}

static bool check_finite(api_mjcf *m, const api_mjcf_body *body)
{
    double sum = body->inertia.mass;
    for (int i = 0; i < 3; i++)
        sum += fabs(body->inertia.com[i]);
    for (int k = 0; k < 6; k++)
        sum += fabs(body->inertia.about_com[k]);
    return api_mjcf_check_finite(m, body->element, "mass, centre of mass or inertia", sum);
}

/* Checks that inertias are numbers, and that each body with joints has a mass, by itself or by bodies that are fixed to
 * it. */
static bool check_masses(api_mjcf *m)
{
    double *mass = api_arena_take(m->xml.base.arena, m->n_bodies, sizeof *mass);
    if (!mass) return api_reader_no_memory(&m->xml.base);
    for (size_t i = m->n_bodies; i-- > 0;) {
        const api_mjcf_body *body = &m->bodies[i];
        if (!check_finite(m, body)) return false;
        mass[i] += body->inertia.mass;
        if (body->n_joints == 0 && body->parent >= 0) mass[body->parent] += mass[i];
        if (body->n_joints > 0 && !(mass[i] >= LEAST_MASS))
            return api_xml_fail(&m->xml, body->element, API_BAD_INERTIA,
                                "the body moves but has no mass: give it <inertial>, or a <geom> with mass or density");
    }
    return true;
}

bool api_mjcf_read_masses(api_mjcf *m)
{
    if (!api_mjcf_fuse(m)) return false;
    for (size_t i = 0; i < m->n_bodies; i++)
        if (!read_inertia(m, &m->bodies[i])) return false;
    scale(m);
    return check_masses(m) && api_mjcf_align(m);
}
