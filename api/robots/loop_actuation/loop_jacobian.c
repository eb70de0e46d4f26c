/* loop_jacobian.c - the Jacobian of the loops (loop_jacobian.h). */
#include "loop_jacobian.h"
#include <math.h>
#include <string.h>

/* Largest numbers of joints and equations of the loops; with more there is no Jacobian. */
enum { MOST_JOINTS = 512, MOST_ROWS = 1024 };

/* --- columns ------------------------------------------------------------------------------------------------------ */

/* The motion of one degree of freedom at the reference position, in the world. */
typedef struct motion {
    double axis[3], point[3];
    double turns, slides; /* rotation and translation per unit of the coordinate: rad/rad and m/rad, or 0 and m/m */
} motion;

static motion motion_about(api_loop_motion kind, double pitch)
{
    return (motion){.turns  = kind != API_LOOP_SLIDES,
                    .slides = kind == API_LOOP_SLIDES   ? 1
                              : kind == API_LOOP_SCREWS ? pitch
                                                        : 0};
}

static bool has_several(const api_loop_joint *joint)
{
    return joint->motion == API_LOOP_BALL || joint->motion == API_LOOP_FREE;
}

/* Returns degree of freedom k of a joint. Free joints move first, then turn. */
static motion degree_motion(const api_loop_tree *t, const api_loop_joint *joint, size_t k)
{
    const dyn_pose *X    = &t->bodies[joint->body].X_wb;
    motion          w    = motion_about(joint->motion, joint->pitch);
    double          e[3] = {joint->axis[0], joint->axis[1], joint->axis[2]};
    if (has_several(joint))
        for (size_t i = 0; i < 3; i++)
            e[i] = i == k % 3;
    if (joint->motion == API_LOOP_FREE && k < 3) w.turns = 0, w.slides = 1;
    for (int i = 0; i < 3; i++) {
        w.point[i] = X->p[i];
        for (int j = 0; j < 3; j++) {
            w.axis[i] += X->R[i][j] * e[j];
            w.point[i] += X->R[i][j] * joint->pos[j];
        }
    }
    return w;
}

/* Adds `factor` times the velocity of the point x to the first three rows of a loop, and the angular velocity to the
 * next three unless the loop constrains a point only. */
static void add_degree_motion(double *to, const motion *w, const double x[3], bool is_point, double factor)
{
    for (int i = 0; i < 3; i++) {
        const int    j = (i + 1) % 3, k = (i + 2) % 3;
        const double arm = w->axis[j] * (x[k] - w->point[k]) - w->axis[k] * (x[j] - w->point[j]);
        to[i] += factor * (w->turns * arm + w->slides * w->axis[i]);
        if (!is_point) to[3 + i] += factor * w->turns * w->axis[i];
    }
}

static size_t rows_of_loop(const api_loop *loop)
{
    return loop->is_point ? 3 : 6;
}

/* Pose of a frame of a loop in the world. */
static dyn_pose loop_frame(const api_loop_tree *t, const api_loop *loop, int side)
{
    const dyn_pose X = loop->body[side] < 0 ? dyn_pose_identity() : t->bodies[loop->body[side]].X_wb;
    return dyn_pose_compose(&X, &loop->X[side]);
}

/* Returns 1 if the joint moves only the second body of the loop, -1 only the first, else 0. */
static double loop_side_of(const api_loop_tree *t, const api_loop *loop, const api_loop_joint *joint)
{
    int side[2] = {0, 0};
    for (int s = 0; s < 2; s++)
        for (int body = loop->body[s]; body >= 0; body = t->bodies[body].parent)
            side[s] |= body == joint->body;
    return side[1] - side[0];
}

/* Adds `factor` times the columns of a joint to v. */
static void add_joint_to_loops(const api_loop_tree *t, const api_loop_joint *joint, double factor, size_t n, double *v,
                               size_t rows)
{
    size_t row = 0;
    for (size_t l = 0; l < t->n_loops; l++) {
        const api_loop *loop = &t->loops[l];
        const double    side = loop_side_of(t, loop, joint);
        const dyn_pose  X    = loop_frame(t, loop, 0);
        for (size_t k = 0; side != 0 && k < n; k++) {
            const motion w = degree_motion(t, joint, k);
            add_degree_motion(v + k * rows + row, &w, X.p, loop->is_point, side * factor);
        }
        row += rows_of_loop(loop);
    }
}

api_loop_joint *api_loop_leader_of(api_loop_tree *t, api_loop_joint *joint, double *factor)
{
    size_t steps = 0;
    for (*factor = 1; joint->leader >= 0; joint = &t->joints[joint->leader]) {
        if (steps++ == t->n_joints) return NULL;
        *factor *= joint->multiplier;
    }
    return joint->locked ? NULL : joint;
}

static size_t degrees_of_joint(const api_loop_joint *joint)
{
    return joint->motion == API_LOOP_FREE ? 6 : joint->motion == API_LOOP_BALL ? 3 : 1;
}

double api_loop_column_length(const double *v, size_t rows)
{
    double sum = 0;
    for (size_t i = 0; i < rows; i++)
        sum += v[i] * v[i];
    return sqrt(sum);
}

double api_loop_column_norm(const api_loop_jacobian *J, const double *v)
{
    static const double rounding = 1e-13; /* relative to the longest column */
    double              length   = api_loop_column_length(v, J->rows);
    return length > rounding * J->longest ? length : 0;
}

/* Begins the basis with the directions in which the frames of a loop may move. Away from the reference position the two
 * frames may differ in such a direction; then that of frame a counts. */
static bool extend_by_free(api_loop_jacobian *J)
{
    size_t  row = 0;
    double *v   = api_arena_take(J->t->xml->base.arena, J->rows, sizeof *v);
    if (!v) return api_reader_no_memory(&J->t->xml->base);
    for (size_t l = 0; l < J->t->n_loops; l++) {
        const api_loop *loop = &J->t->loops[l];
        const dyn_pose  X    = loop_frame(J->t, loop, 0);
        for (size_t k = 0; k < loop->n_free; k++) {
            const api_loop_free *free = &loop->free[k];
            motion               w    = motion_about(free->motion, free->pitch);
            for (int i = 0; i < 3; i++) {
                w.axis[i]  = dyn_dot(X.R[i], free->axis);
                w.point[i] = X.p[i];
            }
            memset(v, 0, J->rows * sizeof *v);
            add_degree_motion(v + row, &w, X.p, loop->is_point, 1);
            api_loop_column_extend(J, v, api_loop_column_length(v, J->rows));
        }
        row += rows_of_loop(loop);
    }
    J->n_free = J->rank;
    return true;
}

bool api_loop_jacobian_open(api_loop_tree *t, api_loop_jacobian *J)
{
    api_arena *arena = t->xml->base.arena;
    size_t    *index = api_arena_take(arena, t->n_joints, sizeof *index);
    *J               = (api_loop_jacobian){
                      .t = t, .column = api_arena_take(arena, t->n_joints, sizeof *J->column), .tolerance = API_LOOP_INDEPENDENT};
    for (size_t l = 0; l < t->n_loops; l++)
        J->rows += rows_of_loop(&t->loops[l]);
    if (J->rows > MOST_ROWS) return true;
    J->basis = api_arena_take(arena, J->rows * J->rows, sizeof *J->basis);
    J->order = api_arena_take(arena, J->rows, sizeof *J->order);
    if (!index || !J->column || !J->basis || !J->order) return api_reader_no_memory(&t->xml->base);
    for (size_t i = 0; i < t->n_joints; i++) {
        double          factor;
        api_loop_joint *joint = t->joints[i].in_loop ? api_loop_leader_of(t, &t->joints[i], &factor) : NULL;
        if (!joint) continue;
        size_t *place = &index[joint - t->joints];
        if (*place == 0) {
            if (J->n == MOST_JOINTS) return J->n = 0, true;
            api_loop_column *c = &J->column[J->n];
            *c                 = (api_loop_column){.joint = joint, .n = degrees_of_joint(joint)};
            c->v               = api_arena_take(arena, c->n * J->rows, sizeof *c->v);
            if (!c->v) return api_reader_no_memory(&t->xml->base);
            *place = ++J->n;
            J->several |= c->n > 1;
        }
        add_joint_to_loops(t, &t->joints[i], factor, J->column[*place - 1].n, J->column[*place - 1].v, J->rows);
    }
    for (size_t i = 0; i < J->n; i++)
        for (size_t k = 0; k < J->column[i].n; k++)
            J->longest = fmax(J->longest, api_loop_column_length(J->column[i].v + k * J->rows, J->rows));
    for (size_t i = 0; i < J->n; i++)
        J->column[i].norm = api_loop_column_norm(J, J->column[i].v);
    return extend_by_free(J);
}

bool *api_loop_find_moves(const api_loop_jacobian *J)
{
    const api_loop_tree *t     = J->t;
    bool                *moves = api_arena_take(t->xml->base.arena, J->n * t->n_loops, sizeof *moves);
    for (size_t i = 0; moves && i < J->n; i++)
        for (size_t k = 0; k < J->column[i].n; k++) {
            const double *v = J->column[i].v + k * J->rows;
            for (size_t l = 0; l < t->n_loops; l++)
                for (size_t row = 0; row < rows_of_loop(&t->loops[l]); row++)
                    moves[i * t->n_loops + l] |= *v++ != 0;
        }
    return moves;
}

/* --- independent columns ------------------------------------------------------------------------------------------ */

double api_loop_column_reduce(const api_loop_jacobian *J, double *v)
{
    for (size_t k = 0; k < 2 * J->rank; k++) { /* projects twice, against rounding errors */
        const double *b   = J->basis + (k % J->rank) * J->rows;
        double        dot = 0;
        for (size_t i = 0; i < J->rows; i++)
            dot += b[i] * v[i];
        for (size_t i = 0; i < J->rows; i++)
            v[i] -= dot * b[i];
    }
    return api_loop_column_length(v, J->rows);
}

bool api_loop_column_extend(api_loop_jacobian *J, double *v, double norm)
{
    double left = norm > 0 && J->rank < J->rows ? api_loop_column_reduce(J, v) : 0;
    if (!(left > J->tolerance * norm)) return false;
    for (size_t i = 0; i < J->rows; i++)
        J->basis[J->rank * J->rows + i] = v[i] / left;
    J->rank++;
    return true;
}
