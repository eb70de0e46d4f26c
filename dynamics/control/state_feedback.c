/* state_feedback.c - computes the efforts of the controller state_feedback: a matrix of gains times the difference from
 * a reference state (state_feedback.h). */
#include "state_feedback.h"
#include "dynamics/model/coordinates.h"
#include "dynamics/motion/tangent.h"
#include <string.h>

enum { ROWS = 16 /* rows of the matrix between two checks of the deadline */ };

/* Writes the position errors of a joint with a quaternion. Axis i of the joint has the error error[0][v + i]. */
static void find_turn_error(const dyn_controlled_state *x, const dyn_body *body, const dyn_points *reference)
{
    const int place = dyn_first_position(x->mechanism, body), v = dyn_first_velocity(x->mechanism, body);
    if (place < 0 || v < 0) return;
    double       dx[DYN_TANGENT_MOST];
    const size_t n = (size_t)dyn_quaternion_offset(body) + 3;
    for (size_t l = 0; l < x->W; l++) {
        const double *from = dyn_points_of(reference, x->row[l]) + place;
        dyn_tangent_difference(body, from, x->q + (size_t)place * x->W + l, x->W, dx);
        for (size_t i = 0; i < n; i++)
            x->error[0][((size_t)v + i) * x->W + l] = -dx[i];
    }
}

static void find_state_errors(const void *options, const dyn_controlled_state *x)
{
    const dyn_state_feedback *f = options;
    for (size_t v = 0; v < x->mechanism->nv; v++)
        for (size_t l = 0; l < x->W; l++) {
            const size_t i = v * x->W + l, row = x->row[l];
            x->error[1][i] = (f->qd.numbers ? dyn_points_of(&f->qd, row)[v] : 0) - x->qd[i];
            if (x->position[v] < 0) continue;
            const size_t place = (size_t)x->position[v];
            x->error[0][i]     = dyn_points_of(&f->q, row)[place] - x->q[place * x->W + l];
        }
    for (size_t i = 0; i < x->mechanism->tree->n_bodies; i++) {
        const dyn_body *body = &x->mechanism->tree->body[i];
        if (dyn_quaternion_offset(body) >= 0) find_turn_error(x, body, &f->q);
    }
}

/* Computes tau = r + K e. Stops at the deadline: the efforts are then not used. */
static void state_feedback(const dyn_controller_input *c, double *tau)
{
    const dyn_state_feedback *f  = c->options;
    const size_t              nv = c->nv, W = c->W;
    memcpy(tau, c->reference[0], nv * W * sizeof *tau);
    for (size_t v = 0; v < nv; v++) {
        if (v % ROWS == ROWS - 1 && !dyn_may_continue(c->scene->deadline)) return;
        for (size_t j = 0; j < 2 * nv; j++) {
            const double gain = f->gain[v * 2 * nv + j], *error = c->error[j / nv] + j % nv * W;
            for (size_t l = 0; l < W; l++)
                tau[v * W + l] += gain * error[l];
        }
    }
}

const dyn_controller dyn_controller_state_feedback = {
    .name = "state_feedback", .drives_quaternions = true, .torques = state_feedback, .errors = find_state_errors};
