/* mjcf_align.c - align free bodies, <freejoint align> and <compiler alignfree>: the frame of a free body without other
 * joints and without bodies in it becomes its inertial frame, the centre of mass with the principal axes. */
#include "mjcf_reader.h"
#include <math.h>
#include <string.h>

enum { MAX_TURNS = 500 };

#define LEAST_OFF_DIAGONAL 1e-15 /* relative to the largest entry */
#define COARSE             1e-7  /* part of the largest entry of the tensor at which MuJoCo 3.14 stops */
#define LEAST_DIFFERENCE   1e-12 /* kg m^2; moments that differ by less keep their order (MuJoCo) */

/* D = R^T T R of a symmetric tensor in the order xx xy xz yy yz zz. */
static void tensor_in(const dyn_pose *X, const double T[6], double D[3][3])
{
    dyn_pose back = dyn_pose_inverse(X);
    double   t[6];
    api_tensor_rotate((const double(*)[3])back.R, T, t);
    memcpy(D, (double[3][3]){{t[0], t[1], t[2]}, {t[1], t[3], t[4]}, {t[2], t[4], t[5]}}, 9 * sizeof D[0][0]);
}

static dyn_pose turn_about(int axis, double angle)
{
    return dyn_pose_rotation((dyn_axis)(DYN_X + axis), angle);
}

/* Rotates X by the Jacobi rotation that removes the largest off-diagonal entry; false if all these entries are zero or
 * at most `least`. */
static bool turn_once(dyn_pose *X, double D[3][3], double least)
{
    int    row = 1, column = 2;
    double largest = fmax(fabs(D[0][0]), fmax(fabs(D[1][1]), fabs(D[2][2])));
    if (fabs(D[0][1]) > fabs(D[0][2]) && fabs(D[0][1]) > fabs(D[1][2]))
        row = 0, column = 1;
    else if (fabs(D[0][2]) > fabs(D[1][2]))
        row = 0;
    if (fabs(D[row][column]) <= fmax(LEAST_OFF_DIAGONAL * largest, least)) return false;
    double   ratio = (D[column][column] - D[row][row]) / (2 * D[row][column]);
    double   angle = atan2(ratio >= 0 ? 1 : -1, fabs(ratio) + sqrt(1 + ratio * ratio));
    int      axis  = 3 - row - column;
    dyn_pose turn  = turn_about(axis, axis == 1 ? angle : -angle);
    *X             = dyn_pose_compose(X, &turn);
    return true;
}

/* Sorts the moments in decreasing order by rotations of 90 degrees. */
static void sort_axes(dyn_pose *X, double I[3])
{
    for (int i = 0; i < 3; i++) {
        int first = i % 2;
        if (I[first] + LEAST_DIFFERENCE >= I[first + 1]) continue;
        double   moved = I[first];
        dyn_pose turn  = turn_about((first + 2) % 3, M_PI / 2);
        I[first]       = I[first + 1];
        I[first + 1]   = moved;
        *X             = dyn_pose_compose(X, &turn);
    }
}

/* Jacobi rotations from the given axes on, largest entry first, then the axes in the order of decreasing moments. */
void api_mjcf_find_axes(const double T[6], bool coarse, dyn_pose *X, double moments[3])
{
    double D[3][3], least = 0;
    *X = dyn_pose_identity();
    for (int i = 0; coarse && i < 6; i++)
        least = fmax(least, COARSE * fabs(T[i]));
    for (int n = 0; n < MAX_TURNS; n++) {
        tensor_in(X, T, D);
        if (!turn_once(X, D, least)) break;
    }
    memcpy(moments, (double[3]){D[0][0], D[1][1], D[2][2]}, 3 * sizeof *moments);
    sort_axes(X, moments);
}

static bool has_children(const api_mjcf *m, size_t body)
{
    return body + 1 < m->n_bodies && m->bodies[body + 1].parent == (int)body;
}

/* True if the body's only joint is free and asks for alignment. */
static bool is_aligned(api_mjcf *m, size_t index, bool *aligned)
{
    static const char *const values[] = {"false", "true", "auto", NULL};
    const api_mjcf_body     *body     = &m->bodies[index];
    const api_mjcf_joint    *joint    = &m->joints[body->first_joint];
    int                      align    = 2;
    *aligned                          = false;
    if (body->n_joints != 1 || joint->type != API_MJCF_FREE || has_children(m, index)) return true;
    if (api_xml_is(joint->element, "freejoint") && !api_xml_choice(&m->xml, joint->element, "align", values, &align))
        return false;
    *aligned = align == 1 || (align == 2 && api_mjcf_compiler_of(m, joint->element)->align_free);
    return true;
}

/* Moves the frame of the body to its inertial frame; body->principal becomes the old frame in the new one. */
static void align(api_mjcf *m, size_t index)
{
    api_mjcf_body *body = &m->bodies[index];
    dyn_pose       X    = body->principal;
    double         moments[3];
    if (!body->has_principal) api_mjcf_find_axes(body->inertia.about_com, false, &X, moments);
    memcpy(X.p, body->inertia.com, sizeof X.p);
    dyn_pose back = dyn_pose_inverse(&X);
    double   turned[6];
    api_tensor_rotate((const double(*)[3])back.R, body->inertia.about_com, turned);
    memcpy(body->inertia.about_com, turned, sizeof turned);
    memset(body->inertia.com, 0, sizeof body->inertia.com);
    body->X_pb      = dyn_pose_compose(&body->X_pb, &X);
    body->X_wb      = body->X_pb;
    body->principal = back;
    body->aligned   = true;
}

bool api_mjcf_align(api_mjcf *m)
{
    for (size_t i = 0; i < m->n_bodies; i++) {
        bool aligned;
        if (m->bodies[i].n_joints == 0) continue;
        if (!is_aligned(m, i, &aligned)) return false;
        if (!aligned) continue;
        align(m, i);
        if (!api_xml_report(&m->xml, m->bodies[i].element, "info", "aligned",
                            "the free body is aligned: its frame is its centre of mass with its principal axes"))
            return false;
    }
    for (size_t i = 0; i < m->n_sites; i++) {
        api_mjcf_site *site = &m->sites[i];
        if (site->body >= 0 && m->bodies[site->body].aligned)
            site->X_bs = dyn_pose_compose(&m->bodies[site->body].principal, &site->X_bs);
    }
    return true;
}
