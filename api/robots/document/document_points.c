/* document_points.c - reports bodies with mass and without inertia about an axis about which they turn. Some encoders
 * write small numbers as 0 (R's jsonlite keeps four decimals): a light link then arrives as a point mass, is accepted,
 * and the mass matrix is far too small. */
#include "document.h"
#include "api/codec/number.h"
#include <math.h>
#include <stdio.h>

#define NO_MOMENT 1e-9 /* part of the sum of the principal moments; a moment below it is 0 but for rounding */

/* The nearest joint at or above a link that turns the link, and its axis in the frame of the link. */
typedef struct turning {
    bool   turns;   /* false: the link does not turn, and the rest is unused */
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

/* Finds the turning of link i from that of its parent. */
static turning find_turning(const api_document *document, int i, const turning *parent)
{
    const dyn_link *link = &document->links[i].dyn;
    const bool      all  = dyn_joint_has_quaternion(link->joint);
    turning         t    = *parent;
    if (all || dyn_joint_types[link->joint].turns) {
        t = (turning){.turns = true, .all = all, .joint = i};
        if (!t.all) turn_back(link->after.R, link->axis, t.axis);
    } else if (t.turns && !t.all) { /* the axis is at rest in the link, as a joint without rotation is between */
        const dyn_pose X = dyn_pose_compose(&link->before, &link->after);
        turn_back(X.R, parent->axis, t.axis);
    }
    return t;
}

/* The moment of inertia about the axes through the centre of mass about which the body turns, and the least where it
 * turns about all; `whole` is the sum of the principal moments. */
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

/* Reports body i, DYN_WORLD for the base, if it has mass and no inertia about an axis about which it turns. */
static bool report_point(const api_document *document, api_reader *reader, int i, const dyn_inertia *body,
                         const turning *t)
{
    double      whole;
    char        where[64] = "/base/inertial", about[160] = "an axis of the floating base";
    const char *link = i == DYN_WORLD ? document->base : document->links[i].name;
    if (!(body->mass > 0) || !t->turns) return true;
    if (find_moment(body, t, &whole) > NO_MOMENT * whole) return true;
    if (i != DYN_WORLD) snprintf(where, sizeof where, document->from_screws ? "/screws/G/%d" : "/links/%d/inertial", i);
    if (t->joint != DYN_WORLD) {
        const char *joint = document->links[t->joint].joint;
        snprintf(about, sizeof about, "%s axis of joint \"%.*s\"", t->all ? "an" : "the", api_text_shown(joint), joint);
    }
    return api_reader_report(reader, where, "warning", "suspicious",
                             "link \"%.*s\" has a mass of %s kg and no inertia about %s: a point mass%s; encoders that "
                             "round to a few decimals write small moments as 0",
                             api_text_shown(link), link, API_NUMBER_TEXT(body->mass), about,
                             whole > 0 ? " on this axis" : "");
}

bool api_document_report_points(const api_document *document, api_reader *reader)
{
    const size_t n   = document->n_links; /* [i + 1]: link i; [0]: the base */
    dyn_inertia *sum = api_arena_take(reader->arena, n + 1, sizeof *sum);
    turning     *t   = api_arena_take(reader->arena, n + 1, sizeof *t);
    if (!sum || !t) return api_reader_no_memory(reader);
    api_document_sum_bodies(document, sum);
    t[0] = (turning){.turns = document->floating, .all = true, .joint = DYN_WORLD};
    for (size_t k = 0; k < n; k++) {
        int i    = document->order[k];
        t[i + 1] = find_turning(document, i, &t[document->links[i].parent_index + 1]);
    }
    bool reported = report_point(document, reader, DYN_WORLD, &sum[0], &t[0]);
    for (size_t i = 0; reported && i < n; i++)
        if (document->links[i].dyn.joint != DYN_FIXED)
            reported = report_point(document, reader, (int)i, &sum[i + 1], &t[i + 1]);
    return reported;
}
