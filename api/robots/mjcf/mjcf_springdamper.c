/* mjcf_springdamper.c - compute stiffness and damping of joints from `springdamper`, a time constant T and a damping
 * ratio r. With the joint's effective inertia m = n / sum of (M^-1)_ii over its n coordinates in the reference
 * position, as MuJoCo has it,
 *
 *     stiffness = m / (T r)^2,    damping = 2 m / T.
 *
 * M is the mass matrix of all joints, with armature: M_ij = S_j^T I_i S_i, where S is the motion of the world's origin
 * by one unit of the coordinate, and I_i the inertia of all bodies that coordinate i moves, if j moves them too.
 *
 * MuJoCo 3.14 leaves out the armature of the slides of a "simple" body: one without bodies in it, on the world, with
 * slides alone, through its origin along its axes, which are its inertial frame. */
#include "mjcf_reader.h"
#include <math.h>
#include <string.h>

enum { MOST_COORDINATES = 600 }; /* M takes memory of their square, its factor time of their cube */

#define LEAST 1e-15 /* smaller numbers count as this or as 0 (mjMINVAL) */
#define SAME  1e-6  /* m and 1: frames that differ by less are the same for MuJoCo */

/* Motion or momentum: angular or moment, then linear, about the world's origin in its axes. */
typedef struct twist {
    double w[3], v[3];
} twist;

typedef struct coordinate {
    int    body;
    double armature;
    twist  S, IS;
} coordinate;

typedef struct matrix {
    size_t      n;
    coordinate *at;
    double     *M;   /* [n n] mass matrix, then its Cholesky factor; then [n] for a column */
    int        *end; /* [n_bodies] end of the body's descendants, which directly follow the body in the list */
} matrix;

/* --- coordinates -------------------------------------------------------------------------------------------------- */

static void axis_in_world(const dyn_pose *X, const double axis[3], double turned[3])
{
    for (int i = 0; i < 3; i++)
        turned[i] = dyn_dot(X->R[i], axis);
}

static void add(matrix *t, int body, double armature, const double axis[3], const double *point)
{
    coordinate *c = &t->at[t->n++];
    *c            = (coordinate){.body = body, .armature = armature};
    memcpy(point ? c->S.w : c->S.v, axis, 3 * sizeof *axis);
    if (point) dyn_cross(point, axis, c->S.v);
}

static void add_joint_inertia(matrix *t, const api_mjcf *m, const api_mjcf_joint *joint, double armature)
{
    static const double unit[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const dyn_pose     *X          = &m->bodies[joint->body].X_wb;
    dyn_pose            anchor     = dyn_pose_translation(joint->pos[0], joint->pos[1], joint->pos[2]);
    double              axis[3];
    anchor = dyn_pose_compose(X, &anchor);
    for (int i = 0; i < 3 && joint->type == API_MJCF_FREE; i++)
        add(t, joint->body, armature, unit[i], NULL);
    for (int i = 0; i < 3 && api_mjcf_has_several(joint); i++) {
        axis_in_world(X, unit[i], axis);
        add(t, joint->body, armature, axis, anchor.p);
    }
    if (api_mjcf_has_several(joint)) return;
    axis_in_world(X, joint->axis, axis);
    add(t, joint->body, armature, axis, joint->type == API_MJCF_HINGE ? anchor.p : NULL);
}

/* --- inertia ------------------------------------------------------------------------------------------------------ */

/* Adds to `sum` the momentum of a body that moves with S: h = m (v + w x c), l = T w + c x h. */
static void add_momentum(const api_mjcf_body *body, const twist *S, twist *sum)
{
    double        T[6], c[3], turn[3], h[3], l[3];
    const double *com = body->inertia.com, *w = S->w;
    api_tensor_rotate((const double(*)[3])body->X_wb.R, body->inertia.about_com, T);
    for (int i = 0; i < 3; i++)
        c[i] = dyn_dot(body->X_wb.R[i], com) + body->X_wb.p[i];
    dyn_cross(w, c, turn);
    for (int i = 0; i < 3; i++)
        h[i] = body->inertia.mass * (S->v[i] + turn[i]);
    dyn_cross(c, h, l);
    const double spin[3] = {T[0] * w[0] + T[1] * w[1] + T[2] * w[2], T[1] * w[0] + T[3] * w[1] + T[4] * w[2],
                            T[2] * w[0] + T[4] * w[1] + T[5] * w[2]};
    for (int i = 0; i < 3; i++) {
        sum->w[i] += spin[i] + l[i];
        sum->v[i] += h[i];
    }
}

static bool is_in(const matrix *t, int body, int ancestor)
{
    return body >= ancestor && body < t->end[ancestor];
}

static void find_ends(matrix *t, const api_mjcf *m)
{
    for (size_t i = m->n_bodies; i-- > 0;) { /* children before parents */
        int parent = m->bodies[i].parent;
        if (t->end[i] <= (int)i) t->end[i] = (int)i + 1;
        if (parent >= 0 && t->end[parent] < t->end[i]) t->end[parent] = t->end[i];
    }
}

static void fill(matrix *t, const api_mjcf *m)
{
    find_ends(t, m);
    for (size_t i = 0; i < t->n; i++) {
        coordinate *c = &t->at[i];
        for (int k = c->body; k < t->end[c->body]; k++)
            add_momentum(&m->bodies[k], &c->S, &c->IS);
        for (size_t j = 0; j <= i; j++) {
            const coordinate *a     = &t->at[j];
            bool              moves = is_in(t, c->body, a->body);
            t->M[i * t->n + j]      = moves ? dyn_dot(a->S.w, c->IS.w) + dyn_dot(a->S.v, c->IS.v) : 0;
        }
        t->M[i * t->n + i] += c->armature;
    }
}

/* M = L L^T in place; false if M is not positive definite. */
static bool factor(matrix *t)
{
    size_t n = t->n;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = t->M[i * n + j];
            for (size_t k = 0; k < j; k++)
                sum -= t->M[i * n + k] * t->M[j * n + k];
            if (i == j && !(sum > 0)) return false;
            t->M[i * n + j] = i == j ? sqrt(sum) : sum / t->M[j * n + j];
        }
    return true;
}

/* (M^-1)_ii = |L^-1 e_i|^2 */
static double inverse_entry(const matrix *t, size_t i, double *x)
{
    double square = 0;
    for (size_t r = i; r < t->n; r++) {
        double sum = r == i;
        for (size_t k = i; k < r; k++)
            sum -= t->M[r * t->n + k] * x[k];
        x[r] = sum / t->M[r * t->n + r];
        square += x[r] * x[r];
    }
    return square;
}

/* --- joints ------------------------------------------------------------------------------------------------------- */

static bool not_held(api_mjcf *m, const api_mjcf_joint *joint, const char *reason)
{
    return api_xml_report(&m->xml, joint->element, "warning", "not-held",
                          "springdamper of joint \"%.*s\" is not part of the model: %s", api_text_shown(joint->name),
                          joint->name, reason);
}

/* Reads the attribute of all joints; *wanted tells whether a joint has it. */
static bool read_attributes(api_mjcf *m, bool *wanted)
{
    *wanted = false;
    for (size_t i = 0; i < m->n_joints; i++) {
        api_mjcf_joint *joint = &m->joints[i];
        double         *v     = joint->springdamper;
        if (!api_mjcf_numbers(m, &joint->item, "springdamper", v, 2)) return false;
        if (v[0] == 0 && v[1] == 0) continue;
        if (!(v[0] > 0) || !(v[1] > 0))
            return api_xml_fail(&m->xml, joint->element, API_BAD_VALUE,
                                "springdamper of <joint>: %.9g %.9g given, two positive numbers expected", v[0], v[1]);
        joint->has_springdamper = joint->part == 0;
        *wanted |= joint->has_springdamper;
        if (!joint->has_springdamper && !not_held(m, joint, "three hinges stand for the joint")) return false;
    }
    return true;
}

static size_t count_coordinates(const api_mjcf_joint *joint)
{
    return joint->type == API_MJCF_FREE ? 6 : joint->type == API_MJCF_BALL ? 3 : 1;
}

/* The joint's effective inertia. */
static double effective_inertia(const matrix *t, const api_mjcf_joint *joint)
{
    const size_t n   = count_coordinates(joint);
    double       sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += inverse_entry(t, joint->coordinate + i, t->M + t->n * t->n);
    return (double)n / fmax(LEAST, sum);
}

static bool is_simple_slide(const api_mjcf_joint *joint)
{
    int along = 0;
    for (int i = 0; i < 3; i++) {
        along += fabs(joint->axis[i]) > LEAST;
        if (fabs(joint->pos[i]) > LEAST) return false;
    }
    return joint->type == API_MJCF_SLIDE && along == 1;
}

/* True if the frame of the body is its inertial frame. */
static bool is_inertial_frame(const api_mjcf_body *body)
{
    dyn_pose X = body->principal;
    double   moments[3];
    if (!body->has_principal) api_mjcf_find_axes(body->inertia.about_com, false, &X, moments);
    for (int i = 0; i < 3; i++) {
        if (fabs(body->inertia.com[i]) > SAME || X.R[i][i] < 0) return false;
        for (int j = 0; j < 3; j++) /* twice the sine of half the angle, as in a quaternion */
            if (i != j && fabs(X.R[i][j]) > 2 * SAME) return false;
    }
    return true;
}

static bool is_simple(const api_mjcf *m, const api_mjcf_joint *joint)
{
    const api_mjcf_body *body = &m->bodies[joint->body];
    const size_t         next = (size_t)joint->body + 1;
    if (next < m->n_bodies && m->bodies[next].parent == joint->body) return false;
    if (body->parent >= 0 && m->bodies[body->parent].moves) return false;
    for (size_t i = 0; i < body->n_joints; i++)
        if (!is_simple_slide(&m->joints[body->first_joint + i])) return false;
    return is_inertial_frame(body);
}

/* Numbers the coordinates of all joints, and allocates the mass matrix M; false with a problem. */
static bool open_matrix(api_mjcf *m, matrix *t)
{
    size_t most = 6 * m->n_joints;
    *t          = (matrix){.at = api_arena_take(m->xml.base.arena, most, sizeof *t->at)};
    if (!t->at) return api_reader_no_memory(&m->xml.base);
    for (size_t i = 0; i < m->n_joints; i++) {
        double armature;
        if (!api_mjcf_read_armature(m, &m->joints[i], &armature)) return false;
        m->joints[i].coordinate = t->n;
        add_joint_inertia(t, m, &m->joints[i], is_simple(m, &m->joints[i]) ? 0 : armature);
    }
    if (t->n > MOST_COORDINATES) return true;
    t->end = api_arena_take(m->xml.base.arena, m->n_bodies, sizeof *t->end);
    t->M   = api_arena_take(m->xml.base.arena, (t->n + 1) * t->n, sizeof *t->M);
    return (t->M && t->end) || api_reader_no_memory(&m->xml.base);
}

bool api_mjcf_read_springdampers(api_mjcf *m)
{
    matrix t;
    bool   wanted;
    if (!read_attributes(m, &wanted)) return false;
    if (!wanted) return true;
    if (!open_matrix(m, &t)) return false;
    if (t.M) fill(&t, m);
    bool known = t.M && factor(&t);
    for (size_t i = 0; i < m->n_joints; i++) {
        api_mjcf_joint *joint = &m->joints[i];
        if (!joint->has_springdamper) continue;
        if (!known && !not_held(m, joint, "its inertia in the reference position is not known")) return false;
        double time = joint->springdamper[0], ratio = joint->springdamper[1];
        double inertia         = known ? effective_inertia(&t, joint) : 0;
        joint->springdamper[0] = inertia / fmax(LEAST, time * time * ratio * ratio);
        joint->springdamper[1] = 2 * inertia / fmax(LEAST, time);
    }
    return true;
}
