/* loop_path.c - builds the paths along which the loops of a state are closed (loop_kernels.h): a straight line in the
 * actuated coordinates, a curve, or a loop error that shrinks to zero. */
#include "loop_workspace.h"
#include "dynamics/model/coordinates.h"
#include "dynamics/math/elementary.h"
#include <math.h>
#include <string.h>

/* --- a straight line ---------------------------------------------------------------------------------------------- */

static bool is_active(const dyn_loop_workspace *c, const dyn_body *b)
{
    return !b->joint.mimic && b->joint.v >= 0 && dyn_joint_nv(b->joint.kind) > 0 &&
           c->loops->active_index_v[b->joint.v] >= 0;
}

static double sine(double angle)
{
    double s, c;
    dyn_sine_cosine(angle, &s, &c);
    return s;
}

/* Sets r to the unit quaternion at the fraction s of the shorter arc from one quaternion to another. Entries of the
 * arrays are W apart. */
static void slerp(const double *from, const double *to, size_t W, double s, double *r)
{
    double cosine = 0, norm = 0;
    for (size_t i = 0; i < 4; i++)
        cosine += from[i * W] * to[i * W];
    double sign = cosine < 0 ? -1 : 1, angle = dyn_acos(fmin(sign * cosine, 1));
    double a = angle > 1e-6 ? sine((1 - s) * angle) / sine(angle) : 1 - s;
    double b = angle > 1e-6 ? sine(s * angle) / sine(angle) : s;
    for (size_t i = 0; i < 4; i++) {
        r[i * W] = a * from[i * W] + sign * b * to[i * W];
        norm += r[i * W] * r[i * W];
    }
    for (size_t i = 0; i < 4; i++)
        r[i * W] /= sqrt(norm);
}

/* Sets a joint's coordinates to the point at the fraction s of the line from line_start to line_end. At s = 1 the
 * coordinates equal line_end exactly. */
static void set_joint_point(const dyn_loop_workspace *c, const dyn_body *b, size_t lane, double s, double *q)
{
    size_t        W = c->W, first = (size_t)b->joint.q * W + lane, n = (size_t)dyn_joint_nq(b->joint.kind);
    const double *from = c->line_start + first, *to = c->line_end + first;
    int           quaternion = dyn_quaternion_offset(b);
    size_t        linear     = quaternion < 0 ? n : (size_t)quaternion;
    bool          at_end     = s >= 1 || c->loops->travel[b->joint.v] == 0;
    for (size_t i = 0; i < n; i++)
        q[first + i * W] = at_end || i >= linear ? to[i * W] : from[i * W] + s * (to[i * W] - from[i * W]);
    if (quaternion >= 0 && !at_end) slerp(from + linear * W, to + linear * W, W, s, q + first + linear * W);
}

static void set_line_point(const void *arg, dyn_closure_solver *closure, size_t lane, double s)
{
    const dyn_loop_workspace *c = arg;
    for (size_t i = 0; i < c->mechanism.tree->n_bodies; i++)
        if (is_active(c, &c->mechanism.tree->body[i]))
            set_joint_point(c, &c->mechanism.tree->body[i], lane, s, closure->q);
}

/* Returns the distance that a joint moves along the line: rad, or parts of the model's length. */
static double joint_length(const dyn_loop_workspace *c, const dyn_body *b, size_t lane)
{
    size_t        W = c->W, first = (size_t)b->joint.q * W + lane, n = (size_t)dyn_joint_nq(b->joint.kind);
    const double *from = c->line_start + first, *to = c->line_end + first, *travel = c->loops->travel + b->joint.v;
    int           quaternion = dyn_quaternion_offset(b);
    size_t        linear     = quaternion < 0 ? n : (size_t)quaternion;
    double        cosine = 0, most = 0;
    for (size_t i = 0; i < linear; i++)
        most = fmax(most, travel[i] * fabs(to[i * W] - from[i * W]));
    for (size_t i = linear; i < n; i++)
        cosine += from[i * W] * to[i * W];
    return quaternion < 0 ? most : fmax(most, travel[linear] * 2 * dyn_acos(fmin(fabs(cosine), 1)));
}

static double line_length(const dyn_loop_workspace *c, size_t lane)
{
    const dyn_model *m    = c->mechanism.tree;
    double           most = 0;
    for (size_t i = 0; i < m->n_bodies; i++)
        if (is_active(c, &m->body[i])) most = fmax(most, joint_length(c, &m->body[i], lane));
    return most;
}

static dyn_continuation_path straight_path(const dyn_loop_workspace *c)
{
    dyn_continuation_path path = {.set_point = set_line_point, .arg = c};
    for (size_t lane = 0; lane < c->closure.live; lane++)
        path.length[lane] = line_length(c, lane);
    return path;
}

/* --- a curve ------------------------------------------------------------------------------------------------------ */

static void set_curve_point(const void *arg, dyn_closure_solver *closure, size_t lane, double s)
{
    const dyn_loop_workspace *c     = arg;
    const dyn_approach       *along = &c->approach;
    if (s < 1) along->curve(along->arg, lane, s, c->curve_q);
    for (size_t i = 0; i < c->mechanism.nq; i++) {
        size_t entry      = (size_t)c->loops->active_q[i] * c->W + lane;
        closure->q[entry] = s < 1 ? c->curve_q[i] : c->line_end[entry];
    }
}

/* --- start of a path ---------------------------------------------------------------------------------------------- */

/* put_active copies the actuated coordinates, in lanes, to their places among the tree's coordinates; put_passive does
 * so for the passive coordinates. */
static void put_active(const dyn_loop_workspace *c, const double *q, double *tree)
{
    for (size_t i = 0; i < c->mechanism.nq; i++)
        memcpy(tree + (size_t)c->loops->active_q[i] * c->W, q + i * c->W, c->W * sizeof *q);
}
static void put_passive(const dyn_loop_workspace *c, const double *passive, double *tree)
{
    for (size_t i = 0; i < c->loops->n_passive_q; i++)
        memcpy(tree + (size_t)c->loops->passive_q[i] * c->W, passive + i * c->W, c->W * sizeof *passive);
}

void dyn_loop_set_reference(const dyn_loop_workspace *c, double *tree)
{
    for (size_t i = 0; i < c->loops->nq; i++)
        for (size_t lane = 0; lane < c->W; lane++)
            tree[i * c->W + lane] = c->loops->reference[i];
}

dyn_continuation_path dyn_loop_path(dyn_loop_workspace *c, const dyn_scene *scene, const double *q,
                                    const dyn_approach *from)
{
    size_t entries = c->loops->nq * c->W;
    c->approach    = from ? *from : (dyn_approach){0};
    memset(c->closure.remaining, 0, c->nr * c->W * sizeof *c->closure.remaining);
    dyn_loop_set_reference(c, c->line_start);
    memcpy(c->line_end, c->line_start, entries * sizeof *c->line_end);
    put_active(c, q, c->line_end);
    if (from && from->q) put_active(c, from->q, c->line_start);
    if (from && from->passive) put_passive(c, from->passive, c->line_start);
    if (from && from->guess) {
        memcpy(c->q, c->line_end, entries * sizeof *c->q);
        put_passive(c, from->guess, c->q);
        return dyn_continuation_guess_path(&c->closure, scene);
    }
    memcpy(c->q, c->line_start, entries * sizeof *c->q);
    dyn_continuation_path path = straight_path(c);
    path.at_reference          = !from || !(from->q || from->passive);
    if (!from || !from->curve) return path;
    path.set_point = set_curve_point;
    memcpy(path.length, from->length, sizeof path.length);
    return path;
}
