/* loop_jacobian.c - the Jacobian of the loops (loop_jacobian.h). */
#include "loop_jacobian.h"
#include <math.h>
#include <string.h>

/* Joints of the loops, and their equations; with more there is no Jacobian. */
enum { MOST_JOINTS = 512, MOST_ROWS = 1024 };

/* --- columns ------------------------------------------------------------------------------------------------------ */

/* The motion of one degree of freedom at the reference position, in the world: turning about a point, or moving. */
typedef struct motion {
    double axis[3], point[3];
    bool   turns;
} motion;

/* Returns degree of freedom k of a joint. Free joints move first, then turn, as in MuJoCo. */
static motion degree_motion(const api_mjcf *m, const api_mjcf_joint *joint, size_t k)
{
    const dyn_pose *X    = &m->bodies[joint->body].X_wb;
    motion          w    = {.turns = joint->type != API_MJCF_SLIDE};
    double          e[3] = {joint->axis[0], joint->axis[1], joint->axis[2]};
    if (api_mjcf_has_several(joint))
        for (size_t i = 0; i < 3; i++)
            e[i] = i == k % 3;
    if (joint->type == API_MJCF_FREE) w.turns = k >= 3;
    for (int i = 0; i < 3; i++) {
        w.point[i] = X->p[i];
        for (int j = 0; j < 3; j++) {
            w.axis[i] += X->R[i][j] * e[j];
            w.point[i] += X->R[i][j] * joint->pos[j];
        }
    }
    return w;
}

/* Adds `factor` times the motion of the point x, and for a weld the turn, to the rows of a loop. */
static void add_degree_motion(double *to, const motion *w, const double x[3], bool weld, double factor)
{
    for (int i = 0; i < 3; i++) {
        const int    j = (i + 1) % 3, k = (i + 2) % 3;
        const double arm = w->axis[j] * (x[k] - w->point[k]) - w->axis[k] * (x[j] - w->point[j]);
        to[i] += factor * (w->turns ? arm : w->axis[i]);
        if (weld && w->turns) to[3 + i] += factor * w->axis[i];
    }
}

static bool is_weld(const api_mjcf_loop *loop)
{
    return strcmp(loop->type, "fixed") == 0;
}

/* Returns 1 if the joint moves the second body of the loop alone, -1 the first alone, else 0. */
static double loop_side_of(const api_mjcf *m, const api_mjcf_loop *loop, const api_mjcf_joint *joint)
{
    int side[2] = {0, 0};
    for (int s = 0; s < 2; s++)
        for (int body = loop->body[s]; body >= 0; body = m->bodies[body].parent)
            side[s] |= body == joint->body;
    return side[1] - side[0];
}

/* Adds `factor` times the columns of a joint to v. */
static void add_joint_columns(const api_mjcf *m, const api_mjcf_joint *joint, double factor, size_t n, double *v,
                              size_t rows)
{
    size_t row = 0;
    for (size_t l = 0; l < m->n_loops; l++) {
        const api_mjcf_loop *loop = &m->loops[l];
        const double         side = loop_side_of(m, loop, joint);
        dyn_pose             X    = loop->body[0] < 0 ? dyn_pose_identity() : m->bodies[loop->body[0]].X_wb;
        X                         = dyn_pose_compose(&X, &loop->X[0]);
        for (size_t k = 0; side != 0 && k < n; k++) {
            const motion w = degree_motion(m, joint, k);
            add_degree_motion(v + k * rows + row, &w, X.p, is_weld(loop), side * factor);
        }
        row += is_weld(loop) ? 6 : 3;
    }
}

api_mjcf_joint *api_mjcf_leader_of(api_mjcf *m, api_mjcf_joint *joint, double *factor)
{
    for (*factor = 1; joint->leader >= 0; joint = &m->joints[joint->leader])
        *factor *= joint->multiplier;
    return joint->locked ? NULL : joint;
}

static size_t degrees_of_joint(const api_mjcf_joint *joint)
{
    return joint->type == API_MJCF_FREE ? 6 : joint->type == API_MJCF_BALL ? 3 : 1;
}

double api_mjcf_column_length(const double *v, size_t rows)
{
    double sum = 0;
    for (size_t i = 0; i < rows; i++)
        sum += v[i] * v[i];
    return sqrt(sum);
}

bool api_mjcf_jacobian_open(api_mjcf *m, api_mjcf_jacobian *J)
{
    api_arena *arena = m->xml.base.arena;
    size_t    *index = api_arena_take(arena, m->n_joints, sizeof *index);
    *J               = (api_mjcf_jacobian){
                      .m = m, .column = api_arena_take(arena, m->n_joints, sizeof *J->column), .tolerance = API_MJCF_INDEPENDENT};
    for (size_t l = 0; l < m->n_loops; l++)
        J->rows += is_weld(&m->loops[l]) ? 6 : 3;
    if (J->rows > MOST_ROWS) return true;
    J->basis = api_arena_take(arena, J->rows * J->rows, sizeof *J->basis);
    J->order = api_arena_take(arena, J->rows, sizeof *J->order);
    if (!index || !J->column || !J->basis || !J->order) return api_reader_no_memory(&m->xml.base);
    for (size_t i = 0; i < m->n_joints; i++) {
        double          factor;
        api_mjcf_joint *joint = m->joints[i].passive ? api_mjcf_leader_of(m, &m->joints[i], &factor) : NULL;
        if (!joint) continue;
        size_t *place = &index[joint - m->joints];
        if (*place == 0) {
            if (J->n == MOST_JOINTS) return J->n = 0, true;
            api_mjcf_column *c = &J->column[J->n];
            *c                 = (api_mjcf_column){.joint = joint, .n = degrees_of_joint(joint)};
            c->v               = api_arena_take(arena, c->n * J->rows, sizeof *c->v);
            if (!c->v) return api_reader_no_memory(&m->xml.base);
            *place = ++J->n;
            J->several |= c->n > 1;
        }
        add_joint_columns(m, &m->joints[i], factor, J->column[*place - 1].n, J->column[*place - 1].v, J->rows);
    }
    for (size_t i = 0; i < J->n; i++)
        J->column[i].norm = api_mjcf_column_length(J->column[i].v, J->rows);
    return true;
}

/* --- independent columns ------------------------------------------------------------------------------------------ */

double api_mjcf_column_reduce(const api_mjcf_jacobian *J, double *v)
{
    for (size_t k = 0; k < 2 * J->rank; k++) { /* twice for rounding */
        const double *b   = J->basis + (k % J->rank) * J->rows;
        double        dot = 0;
        for (size_t i = 0; i < J->rows; i++)
            dot += b[i] * v[i];
        for (size_t i = 0; i < J->rows; i++)
            v[i] -= dot * b[i];
    }
    return api_mjcf_column_length(v, J->rows);
}

bool api_mjcf_column_extend(api_mjcf_jacobian *J, double *v, double norm)
{
    double left = norm > 0 && J->rank < J->rows ? api_mjcf_column_reduce(J, v) : 0;
    if (!(left > J->tolerance * norm)) return false;
    for (size_t i = 0; i < J->rows; i++)
        J->basis[J->rank * J->rows + i] = v[i] / left;
    J->rank++;
    return true;
}
