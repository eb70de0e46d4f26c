/* document_points.c - finds bodies with mass and without inertia about an axis about which they turn. Some encoders
 * write small numbers as 0 (R's jsonlite keeps four decimals): a light link then arrives as a point mass, is accepted,
 * and the mass matrix is far too small. */
#include "document.h"
#include <math.h>

#define NO_MOMENT 1e-9 /* part of the sum of the principal moments; a moment below it is 0 but for rounding */

/* The nearest joint at or above a link that rotates the link, and its axis in the frame of the link. */
typedef struct turning {
    bool   turns;   /* false: no joint rotates the link, and the other members are unused */
    bool   all;     /* the link turns about all axes */
    int    joint;   /* index of the joint's link; DYN_WORLD: the floating base */
    double axis[3]; /* unit vector, unless `all` */
} turning;

/* v = R^T u */
static void turn_back(const double R[3][3], const double u[3], double v[3])
{
    for (int i = 0; i < 3; i++)
        v[i] = R[0][i] * u[0] + R[1][i] * u[1] + R[2][i] * u[2];
}

/* Finds the joint that rotates link i, from the result for its parent. */
static turning find_turning(const api_document *document, int i, const turning *parent)
{
    const dyn_link *link = &document->links[i].dyn;
    const bool      all  = dyn_joint_has_quaternion(link->joint);
    turning         t    = *parent;
    if (all || dyn_joint_types[link->joint].turns) {
        t = (turning){.turns = true, .all = all, .joint = i};
        if (!t.all) turn_back(link->after.R, link->axis, t.axis);
    } else if (t.turns &&
               !t.all) { /* fixed and prismatic joints keep the direction of the axis constant in the link frame */
        const dyn_pose X = dyn_pose_compose(&link->before, &link->after);
        turn_back(X.R, parent->axis, t.axis);
    }
    return t;
}

/* Returns the moment of inertia about the parallel to the rotation axis through the centre of mass; the smallest
 * principal moment if the body rotates about all axes. `whole` receives the sum of the principal moments. */
static double find_moment(const dyn_inertia *inertia, const turning *t, double *whole)
{
    const double *T = inertia->about_com, *a = t->axis;
    double        moments[3], axes[3][3];
    *whole = T[0] + T[3] + T[5];
    if (!t->all)
        return a[0] * (T[0] * a[0] + 2 * T[1] * a[1] + 2 * T[2] * a[2]) + a[1] * (T[3] * a[1] + 2 * T[4] * a[2]) +
               T[5] * a[2] * a[2];
    api_tensor_principal(T, moments, axes);
    return fmin(moments[0], fmin(moments[1], moments[2]));
}

/* True if the body has mass, and no moment of inertia about an axis about which it rotates. */
static bool is_point(const dyn_inertia *body, const turning *t, double *whole)
{
    *whole = 0;
    return body->mass > 0 && t->turns && find_moment(body, t, whole) <= NO_MOMENT * *whole;
}

bool api_document_find_points(const api_document *document, api_reader *reader, const dyn_inertia *sum,
                              api_document_point *points)
{
    const size_t n = document->n_links;
    turning     *t = api_arena_take(reader->arena, n + 1, sizeof *t);
    if (!t) return api_reader_no_memory(reader);
    t[0] = (turning){.turns = document->floating, .all = true, .joint = DYN_WORLD};
    for (size_t k = 0; k < n; k++) {
        int i    = document->order[k];
        t[i + 1] = find_turning(document, i, &t[document->links[i].parent_index + 1]);
    }
    for (size_t i = 0; i <= n; i++) {
        double     whole;
        const bool moves = i == 0 || document->links[i - 1].dyn.joint != DYN_FIXED,
                   found = is_point(&sum[i], &t[i], &whole);
        points[i]        = (api_document_point){
                   .is_point = moves && found, .on_axis = whole > 0, .all = t[i].all, .joint = t[i].joint};
    }
    return true;
}
