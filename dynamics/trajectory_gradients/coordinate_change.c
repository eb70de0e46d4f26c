/* coordinate_change.c - converts between rotation vectors of splines and quaternions of the model
 * (coordinate_change.h). */
#include "coordinate_change.h"
#include "dynamics/model/coordinates.h"
#include "dynamics/motion/rotation_vector.h"
#include <math.h>
#include <string.h>

#define LONGEST 0x1.921fb54442d18p2 /* rad, 2 pi */

enum { FREE = 6 /* velocities of a floating joint */ };

/* A joint with a quaternion. */
typedef struct quaternion_joint {
    size_t q, v;  /* indices of the first entries in q and in qd */
    size_t first; /* number of velocities before the angular ones: 3 if the joint floats, 0 if it is spherical */
} quaternion_joint;

static bool read_joint(const dyn_body *body, quaternion_joint *joint)
{
    if (!dyn_joint_has_quaternion(body->joint.kind)) return false;
    *joint = (quaternion_joint){(size_t)body->joint.q, (size_t)body->joint.v, (size_t)dyn_quaternion_offset(body)};
    return true;
}

/* The coordinates of the spline and their time derivatives in one lane; entries are W apart. */
typedef struct spline_lane {
    const double *x[DYN_SPLINE_ORDERS];
    size_t        W;
} spline_lane;

static spline_lane lane_of(const dyn_motion_block *b, size_t lane)
{
    spline_lane s = {.W = b->W};
    for (size_t r = 0; r < DYN_SPLINE_ORDERS; r++)
        s.x[r] = b->x[r] + lane;
    return s;
}

static void read_path(const spline_lane *s, size_t entry, dyn_rotation_path *path)
{
    for (size_t r = 0; r < DYN_SPLINE_ORDERS; r++)
        for (size_t i = 0; i < 3; i++)
            path->x[r][i] = s->x[r][(entry + i) * s->W];
}

bool dyn_rotation_vectors_within_limit(const dyn_motion_block *b, size_t lane)
{
    const dyn_model  *model = b->motion->robot.tree;
    const spline_lane s     = lane_of(b, lane);
    quaternion_joint  joint;
    dyn_rotation_path path;
    for (size_t i = 0; dyn_has_rotation_vectors(&b->motion->robot) && i < model->n_bodies; i++) {
        if (!read_joint(&model->body[i], &joint)) continue;
        read_path(&s, joint.v + joint.first, &path);
        const double *x = path.x[0];
        if (!(sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]) <= LONGEST)) return false;
    }
    return true;
}

/* --- coordinates -------------------------------------------------------------------------------------------------- */

static void rotate_back(const double R[3][3], const double a[3], double to[3]) /* R^T a */
{
    for (int i = 0; i < 3; i++)
        to[i] = R[0][i] * a[0] + R[1][i] * a[1] + R[2][i] * a[2];
}

/* to -= a x b */
static void subtract_cross(const double a[3], const double b[3], double to[3])
{
    for (int i = 0; i < 3; i++)
        to[i] -= a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

/* Computes the linear velocity v = R^T p' and two time derivatives of its entries: v' = R^T p'' - w x v and v'' = R^T
 * p''' - w x R^T p'' - w' x v - w x v'. */
static void find_linear(const dyn_rotation_motion *rotation, const dyn_rotation_path *p, double v[3][3])
{
    double second[3];
    rotate_back(rotation->R, p->x[1], v[0]);
    rotate_back(rotation->R, p->x[2], second);
    memcpy(v[1], second, sizeof second);
    subtract_cross(rotation->w[0], v[0], v[1]);
    rotate_back(rotation->R, p->x[3], v[2]);
    subtract_cross(rotation->w[0], second, v[2]);
    subtract_cross(rotation->w[1], v[0], v[2]);
    subtract_cross(rotation->w[0], v[1], v[2]);
}

static void put(double *lane, size_t W, size_t entry, const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        lane[(entry + i) * W] = x[i];
}

/* Writes the coordinates of a joint and their time derivatives; state[r] is the first entry, in the lane, of derivative
 * r of q. */
static void put_joint(const spline_lane *s, const quaternion_joint *joint, double *const state[DYN_SPLINE_ORDERS])
{
    const size_t        W = s->W;
    double              v[3][3];
    dyn_rotation_path   path, position;
    dyn_rotation_motion rotation;
    read_path(s, joint->v + joint->first, &path);
    dyn_rotation_vector_move(&path, &rotation);
    put(state[0], W, joint->q + joint->first, rotation.quaternion, 4);
    for (size_t r = 0; r < 3; r++)
        put(state[1 + r], W, joint->v + joint->first, rotation.w[r], 3);
    if (joint->first == 0) return;
    read_path(s, joint->v, &position);
    find_linear(&rotation, &position, v);
    put(state[0], W, joint->q, position.x[0], 3);
    for (size_t r = 0; r < 3; r++)
        put(state[1 + r], W, joint->v, v[r], 3);
}

void dyn_motion_put_coordinates(const dyn_motion_block *b, size_t lane, double *const state[DYN_SPLINE_ORDERS])
{
    const dyn_mechanism *robot = &b->motion->robot;
    const dyn_model     *model = robot->tree;
    const spline_lane    s     = lane_of(b, lane);
    double              *q[DYN_SPLINE_ORDERS];
    quaternion_joint     joint;
    if (!dyn_has_rotation_vectors(robot)) return;
    for (size_t r = 0; r < DYN_SPLINE_ORDERS; r++)
        q[r] = state[r] + lane;
    for (size_t r = 1; r < DYN_SPLINE_ORDERS; r++)
        for (size_t i = 0; i < robot->nv; i++)
            q[r][i * s.W] = s.x[r][i * s.W];
    for (size_t i = 0; i < model->n_bodies; i++) {
        const dyn_body *body = &model->body[i];
        if (read_joint(body, &joint))
            put_joint(&s, &joint, q);
        else
            q[0][(size_t)body->joint.q * s.W] = s.x[0][(size_t)body->joint.v * s.W];
    }
}

/* --- derivatives -------------------------------------------------------------------------------------------------- */

enum { RATES = DYN_SPLINE_ORDERS - 1 /* a velocity and its first two time derivatives */ };

static const double binomial[RATES][RATES] = {{1}, {1, 1}, {1, 2, 1}};

/* The matrices of coordinate_change.h for one joint in one state: the first n rows and columns of each. */
typedef struct change_matrices {
    size_t n;
    double T[RATES][FREE][FREE], V[RATES][FREE][FREE];           /* T, V, and their time derivatives */
    double by[DYN_SPLINE_ORDERS][DYN_SPLINE_ORDERS][FREE][FREE]; /* [r][k], k <= r: factor of y_r in dy / d s_k */
} change_matrices;

/* Sets the block of M whose first entry is (first, first). */
static void put_block(double M[FREE][FREE], size_t first, const double block[3][3])
{
    for (size_t i = 0; i < 3; i++)
        memcpy(&M[first + i][first], block[i], sizeof block[i]);
}

/* Adds k [a] X to the first three rows of M, from the column `first` on. */
static void add_skew_product(double M[FREE][FREE], size_t first, double k, const double a[3], const double X[3][3])
{
    for (size_t j = 0; j < 3; j++) {
        const double column[3]  = {X[0][j], X[1][j], X[2][j]};
        double       product[3] = {0};
        subtract_cross(a, column, product);
        for (size_t i = 0; i < 3; i++)
            M[i][first + j] -= k * product[i];
    }
}

/* Sets the rows of T and V that belong to the linear velocity v = R^T p', with dv/dp' = R^T, (R^T)' = -[w] R^T, dv/dx =
 * [v] J. */
static void set_linear(const dyn_rotation_motion *rotation, const double v[RATES][3], change_matrices *t)
{
    double back[RATES][3][3]; /* R^T and its derivatives by time */
    for (size_t i = 0; i < 9; i++)
        back[0][i / 3][i % 3] = rotation->R[i % 3][i / 3];
    put_block(t->T[0], 0, back[0]);
    for (size_t n = 1; n < RATES; n++) {
        for (size_t k = 0; k < n; k++)
            add_skew_product(t->T[n], 0, -binomial[n - 1][k], rotation->w[k], back[n - 1 - k]);
        for (size_t i = 0; i < 3; i++)
            memcpy(back[n][i], t->T[n][i], sizeof back[n][i]);
    }
    for (size_t n = 0; n < RATES; n++)
        for (size_t k = 0; k <= n; k++)
            add_skew_product(t->V[n], 3, binomial[n][k], v[k], rotation->J[n - k]);
}

/* Adds k M to `to`. */
static void add_matrix(double to[FREE][FREE], double k, const double M[FREE][FREE])
{
    for (size_t i = 0; i < FREE; i++)
        for (size_t j = 0; j < FREE; j++)
            to[i][j] += k * M[i][j];
}

/* Sets t->by. Since v = T s', the r-th time derivative of v has, with respect to the k-th of s, the derivative
 * binomial(r, k) V^(r - k) + binomial(r, k - 1) T^(r - k + 1). */
static void set_factors(change_matrices *t)
{
    add_matrix(t->by[0][0], 1, t->T[0]);
    for (size_t r = 0; r < RATES; r++)
        for (size_t k = 0; k <= r + 1; k++) {
            if (k <= r) add_matrix(t->by[r + 1][k], binomial[r][k], t->V[r - k]);
            if (k > 0) add_matrix(t->by[r + 1][k], binomial[r][k - 1], t->T[r + 1 - k]);
        }
}

static void find_matrices(const spline_lane *s, const quaternion_joint *joint, change_matrices *t)
{
    dyn_rotation_path   path, position;
    dyn_rotation_motion rotation;
    double              v[RATES][3];
    const size_t        first = joint->first;
    memset(t, 0, sizeof *t);
    t->n = 3 + first;
    read_path(s, joint->v + first, &path);
    dyn_rotation_vector_move(&path, &rotation);
    for (size_t n = 0; n < RATES; n++) {
        put_block(t->T[n], first, rotation.J[n]);
        put_block(t->V[n], first, rotation.w_by_x[n]);
    }
    if (first > 0) {
        read_path(s, joint->v, &position);
        find_linear(&rotation, &position, v);
        set_linear(&rotation, v, t);
    }
    set_factors(t);
}

/* to += y M for a row y */
static void add_product(size_t n, const double y[FREE], const double M[FREE][FREE], double to[FREE])
{
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++)
            to[j] += y[i] * M[i][j];
}

static void get_row(const double *lane, size_t W, size_t n, double y[FREE])
{
    for (size_t i = 0; i < n; i++)
        y[i] = lane[i * W];
}

/* Converts one row of partial derivatives, except that of the highest order: from q, qd, ... to the spline's
 * coordinates. y[r] is the row's first entry in the derivative of order r. */
static void change_row(const change_matrices *t, size_t orders, size_t W, double *const y[])
{
    double old[DYN_SPLINE_ORDERS][FREE];
    for (size_t r = 0; r < orders; r++)
        get_row(y[r], W, t->n, old[r]);
    for (size_t k = 0; k + 1 < orders; k++) {
        double changed[FREE] = {0};
        for (size_t r = k; r < orders; r++)
            add_product(t->n, old[r], t->by[r][k], changed);
        put(y[k], W, 0, changed, t->n);
    }
}

/* Converts the columns of one joint in one lane; `first` is the index of the joint's first column. */
typedef void change_action(const change_matrices *t, const dyn_partials *p, size_t nv, size_t W, size_t first);

static void change_lower(const change_matrices *t, const dyn_partials *p, size_t nv, size_t W, size_t first)
{
    for (size_t row = 0; row < p->rows; row++) {
        double *y[DYN_SPLINE_ORDERS] = {NULL};
        for (size_t r = 0; r < p->orders; r++)
            y[r] = p->by[r] + row * nv * W + first;
        change_row(t, p->orders, W, y);
    }
}

static void change_highest(const change_matrices *t, const dyn_partials *p, size_t nv, size_t W, size_t first)
{
    for (size_t row = 0; row < p->rows; row++) {
        double old[FREE], changed[FREE] = {0}, *y = p->by[0] + row * nv * W + first;
        get_row(y, W, t->n, old);
        add_product(t->n, old, t->T[0], changed);
        put(y, W, 0, changed, t->n);
    }
}

static void for_joints(const dyn_motion_block *b, const dyn_partials *p, change_action *action)
{
    const dyn_model *model = b->motion->robot.tree;
    quaternion_joint joint;
    change_matrices  t;
    for (size_t i = 0; i < model->n_bodies; i++)
        for (size_t lane = 0; read_joint(&model->body[i], &joint) && lane < b->W; lane++) {
            const spline_lane s = lane_of(b, lane);
            find_matrices(&s, &joint, &t);
            action(&t, p, b->motion->robot.nv, b->W, joint.v * b->W + lane);
        }
}

void dyn_change_partials(const dyn_motion_block *b, const dyn_partials *p)
{
    if (dyn_has_rotation_vectors(&b->motion->robot) && p->orders > 1 && p->by[0]) for_joints(b, p, change_lower);
}

void dyn_change_highest_partial(const dyn_motion_block *b, size_t rows, double *matrix)
{
    const dyn_partials p = {.rows = rows, .orders = 1, .by = {matrix}};
    if (dyn_has_rotation_vectors(&b->motion->robot) && matrix) for_joints(b, &p, change_highest);
}
