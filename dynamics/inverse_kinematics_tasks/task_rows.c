/* task_rows.c - finds the errors and Jacobians of tasks (task_rows.h). */
#include "task_rows.h"
#include "dynamics/inverse_kinematics/swing.h"
#include "dynamics/math/gather.h"
#include "dynamics/math/geometry.h"
#include <math.h>
#include <string.h>

#define NOISE 1e-12 /* largest entry of a row, relative to its scale, that counts as a rounding error */

size_t dyn_task_block_entries(size_t nq, size_t nv, size_t n)
{
    return nq + (12 + 6 * nv) * n + 3 + 3 * nv;
}

void dyn_task_block_lay_out(dyn_task_block *b, double *lanes)
{
    const size_t W = (size_t)b->kernels->lanes, nv = (size_t)b->robot->tree->nv;
    b->q        = lanes;
    b->position = b->q + (size_t)b->robot->tree->nq * W;
    b->rotation = b->position + 3 * b->n * W;
    b->J        = b->rotation + 9 * b->n * W;
    b->com      = b->J + 6 * b->n * nv * W;
    b->com_J    = b->com + 3 * W;
}

size_t dyn_task_rows(const dyn_frame_task *task)
{
    return (task->positioned ? 3u : 0u) + (task->turn == DYN_TURN_FREE ? 0u : 3u);
}

void dyn_task_evaluate(dyn_task_block *b, const double *q)
{
    const size_t    W     = (size_t)b->kernels->lanes;
    const dyn_scene scene = {.model = b->robot->tree};
    dyn_frame_pair  pair[DYN_MOST_TASKS];
    size_t          pairs   = 0;
    bool            has_com = false;
    for (size_t lane = 0; lane < W; lane++)
        dyn_scatter(q, (size_t)b->robot->tree->nq, W, lane, b->q);
    for (size_t i = 0; i < b->n; i++) {
        static const dyn_frame world = {.body = DYN_WORLD, .X_bf = {.R = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
        if (b->task[i].frame) pair[pairs++] = (dyn_frame_pair){world, *b->task[i].frame};
        has_com |= !b->task[i].frame;
    }
    dyn_closure frames = {.q         = b->q,
                          .n_pairs   = pairs,
                          .pairs     = pair,
                          .positions = b->position,
                          .rotations = b->rotation,
                          .jacobian  = b->J};
    dyn_energy  energy = {.q = b->q, .com = b->com, .com_jacobian = b->com_J};
    if (pairs > 0) b->kernels->closure(&scene, b->workspace, &frames, 1);
    if (has_com) b->kernels->energy(&scene, b->workspace, &energy, 1);
}

/* Returns the index of the frame of a task among the frames of all tasks. */
static size_t pair_of(const dyn_task_block *b, size_t i)
{
    size_t pair = 0;
    for (size_t j = 0; j < i; j++)
        pair += b->task[j].frame != NULL;
    return pair;
}

static void pointing_axis(const dyn_frame_task *task, const double R[9], double a[3])
{
    for (int i = 0; i < 3; i++)
        a[i] = dyn_dot(R + 3 * i, task->axis);
}

/* Writes the rotation vector from the goal to the frame. */
static void find_turn(const dyn_frame_task *task, const double R[9], const double *goal, double error[3])
{
    double G[9], axis[3];
    if (task->turn == DYN_TURN_ORIENTATION) {
        dyn_rotation_of_quaternion(goal, G);
        dyn_rotation_between(G, R, error);
    } else {
        pointing_axis(task, R, axis);
        dyn_swing_between(goal, axis, error);
    }
}

void dyn_task_errors(dyn_task_block *b, const double *goal)
{
    const size_t W = (size_t)b->kernels->lanes;
    for (size_t i = 0; i < b->n; i++, goal += DYN_TASK_GOAL) {
        const dyn_frame_task *task  = &b->task[i];
        const size_t          pair  = pair_of(b, i);
        double               *error = b->error[i], position[3], R[9];
        memset(error, 0, DYN_TASK_ROWS * sizeof *error);
        dyn_gather(task->frame ? b->position + 3 * pair * W : b->com, 3, W, 0, position);
        for (int r = 0; task->positioned && r < 3; r++)
            error[r] = position[r] - goal[r];
        if (task->turn == DYN_TURN_FREE) continue;
        dyn_gather(b->rotation + 9 * pair * W, 9, W, 0, R);
        find_turn(task, R, goal + 3, error + 3);
    }
}

/* Removes the components along the pointing axis from three rows. */
static void ignore_axis(const dyn_task_block *b, size_t i, double *rows)
{
    const size_t W = (size_t)b->kernels->lanes, nv = (size_t)b->robot->tree->nv;
    double       R[9], axis[3];
    dyn_gather(b->rotation + 9 * pair_of(b, i) * W, 9, W, 0, R);
    pointing_axis(&b->task[i], R, axis);
    for (size_t v = 0; v < nv; v++) {
        const double w[3] = {rows[v], rows[nv + v], rows[2 * nv + v]}, along = dyn_dot(w, axis);
        for (size_t r = 0; r < 3; r++)
            rows[r * nv + v] = w[r] - along * axis[r];
    }
}

/* Copies rows first to first + 2 of a Jacobian in lanes. */
static double *copy_rows(const dyn_task_block *b, const double *J, size_t first, double factor, double *to)
{
    const size_t W = (size_t)b->kernels->lanes, nv = (size_t)b->robot->tree->nv;
    for (size_t k = 0; k < 3 * nv; k++)
        to[k] = factor * J[(first * nv + k) * W];
    return to + 3 * nv;
}

void dyn_task_jacobian(const dyn_task_block *b, double *A)
{
    const size_t W = (size_t)b->kernels->lanes, nv = (size_t)b->robot->tree->nv;
    for (size_t i = 0; i < b->n; i++) {
        const dyn_frame_task *task   = &b->task[i];
        const double         *J      = task->frame ? b->J + 6 * nv * pair_of(b, i) * W : b->com_J;
        const double          factor = sqrt(task->weight);
        if (task->positioned) A = copy_rows(b, J, 0, factor, A);
        if (task->turn == DYN_TURN_FREE) continue;
        copy_rows(b, J, 3, factor, A);
        if (task->turn == DYN_TURN_DIRECTION) ignore_axis(b, i, A);
        A += 3 * nv;
    }
}

/* Sets each of three rows to zero if all its entries are rounding errors: not larger than NOISE times `scale`, the
 * usual size of entries, or times the largest entry of the three rows. */
static void drop_noisy_rows(size_t nv, double scale, double *rows)
{
    double largest[3] = {0};
    for (size_t r = 0; r < 3; r++)
        for (size_t v = 0; v < nv; v++)
            largest[r] = fmax(largest[r], fabs(rows[r * nv + v]));
    const double noise = NOISE * fmax(scale, fmax(largest[0], fmax(largest[1], largest[2])));
    for (size_t r = 0; r < 3; r++)
        if (largest[r] <= noise) memset(rows + r * nv, 0, nv * sizeof *rows);
}

void dyn_task_drop_noise(const dyn_task_block *b, double *A)
{
    const size_t nv = (size_t)b->robot->tree->nv;
    for (size_t i = 0; i < b->n; i++) {
        const dyn_frame_task *task   = &b->task[i];
        const double          factor = sqrt(task->weight);
        if (task->positioned) drop_noisy_rows(nv, factor * task->reach, A), A += 3 * nv;
        if (task->turn != DYN_TURN_FREE) drop_noisy_rows(nv, factor, A), A += 3 * nv;
    }
}

void dyn_task_gather(const dyn_task_block *b, const double (*value)[DYN_TASK_ROWS], double sign, double *to)
{
    for (size_t i = 0; i < b->n; i++) {
        const double factor = sign * sqrt(b->task[i].weight);
        for (size_t r = b->task[i].positioned ? 0 : 3; r < (b->task[i].turn == DYN_TURN_FREE ? 3 : 6); r++)
            *to++ = factor * value[i][r];
    }
}

size_t dyn_task_levels(const dyn_task_block *b, const double *A, const double *right, dyn_step_level *level,
                       size_t *rows)
{
    size_t n = 0;
    *rows    = 0;
    for (size_t i = 0; i < b->n; i++) {
        const size_t count = dyn_task_rows(&b->task[i]);
        if (i == 0 || b->task[i].priority != b->task[i - 1].priority)
            level[n++] = (dyn_step_level){.A = A + *rows * (size_t)b->robot->tree->nv, .b = right + *rows};
        level[n - 1].rows += count;
        *rows += count;
    }
    return n;
}
