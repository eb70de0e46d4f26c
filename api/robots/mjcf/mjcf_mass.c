/* mjcf_mass.c - compute the inertias of bodies, from <inertial> or from geoms, and apply the bounds and the total mass
 * of <compiler>. */
#include "mjcf_reader.h"
#include <math.h>
#include <string.h>

#define LEAST_MASS 1e-15 /* kg; a smaller mass counts as none (mjMINVAL) */

static const int tensor_index[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};

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
    *X            = dyn_pose_compose(m->compilers[0].global ? &X_bw : &body->X_bi, X);
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
    const api_mjcf_compiler *c       = api_mjcf_compiler_of(m, body->element);
    const double             least   = c->bound_inertia;
    bool                     changed = false;
    body->inertia.mass               = fmax(body->inertia.mass, c->bound_mass);
    if (!(least > 0) && !c->balance_inertia) return;
    if (!axes->known) api_tensor_principal(body->inertia.about_com, axes->I, axes->V);
    for (int i = 0; i < 3; i++) {
        changed |= axes->I[i] < least;
        axes->I[i] = fmax(axes->I[i], least);
    }
    if (c->balance_inertia && violates_triangle(axes->I)) {
        axes->I[0] = axes->I[1] = axes->I[2] = (axes->I[0] + axes->I[1] + axes->I[2]) / 3;
        changed                              = true;
    }
    if (changed) compose_tensor(axes->I, (const double(*)[3])axes->V, body->inertia.about_com);
}

/* Chooses between <inertial> and geoms. A body without either gets only its bounds, and MuJoCo puts that mass at the
 * attribute `pos` of the body, taken in the body. */
static bool read_inertia(api_mjcf *m, api_mjcf_body *body)
{
    int  mode   = api_mjcf_compiler_of(m, body->element)->inertia_from_geom;
    bool needed = mode == API_FROM_GEOM_ALWAYS || (mode == API_FROM_GEOM_AUTO && !body->inertial);
    if (needed && !api_mjcf_add_meshes(m, body)) return false;
    bool      has_geoms = body->from_geoms.mass > 0;
    bool      stated    = body->inertial && (mode != API_FROM_GEOM_ALWAYS || !has_geoms);
    bool      geoms     = !stated && has_geoms && mode != API_FROM_GEOM_NEVER;
    principal axes      = {.known = false};
    if (stated && !read_inertial(m, body, &axes)) return false;
    if (geoms) body->inertia = body->from_geoms;
    if (!stated && !geoms) memcpy(body->inertia.com, body->stated.p, sizeof body->stated.p);
    if (stated || !geoms) body->principal = stated ? axes.X : body->stated;
    body->has_principal = stated ? axes.known : !geoms || body->n_geoms == 1;
    bound(m, body, &axes);
    return true;
}

/* Scales all masses to the total. Bodies that <compiler fusestatic> merges into the world have lost theirs before. */
static void scale(api_mjcf *m)
{
    double total = 0;
    for (size_t i = 0; i < m->n_bodies; i++)
        total += m->bodies[i].fused_to_world ? 0 : m->bodies[i].inertia.mass;
    if (!(m->compilers[0].total_mass > 0) || !(total >= LEAST_MASS)) return;
    double by = m->compilers[0].total_mass / total;
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

/* Checks that inertias are finite, and that each body with joints has a mass, by itself or by bodies that are fixed to
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

/* Reports a centre of mass that MuJoCo 3.14 moves to the origin of its body: it takes an inertial frame for the body's
 * frame where no component of its position and of its quaternion differs by 1e-6. */
static bool report_small_offset(api_mjcf *m, const api_mjcf_body *body)
{
    const double *c    = body->inertia.com;
    const double  most = fmax(fabs(c[0]), fmax(fabs(c[1]), fabs(c[2])));
    return !body->moves || most <= 1e-10 || most >= 1e-6 || /* below, the difference is rounding */
           api_xml_report(
               &m->xml, body->element, "info", "assumed",
               "the centre of mass is %.3g m from the origin of the body: MuJoCo takes such an inertial frame "
               "for the frame of the body, if it is not rotated either; the model keeps the offset",
               most);
}

bool api_mjcf_read_masses(api_mjcf *m)
{
    if (!api_mjcf_fuse(m)) return false;
    for (size_t i = 0; i < m->n_bodies; i++)
        if (!read_inertia(m, &m->bodies[i])) return false;
    scale(m);
    if (!check_masses(m) || !api_mjcf_align(m)) return false;
    for (size_t i = 0; i < m->n_bodies; i++)
        if (!report_small_offset(m, &m->bodies[i])) return false;
    return true;
}
