/* motion_hessian.c - adds up second derivatives along motions (motion_hessian.h). */
#include "motion_hessian.h"
#include <string.h>

enum { VECTORS = 4 /* q, qd, qdd and multipliers of a sample */, MATRICES = 5 /* results of the kernel */ };

size_t dyn_motion_hessian_entries(size_t nv)
{
    return (VECTORS + MATRICES * nv) * nv;
}

dyn_motion_hessian dyn_motion_hessian_lay_out(const dyn_motion *motion, const dyn_points *multipliers, size_t W,
                                              double *room)
{
    const size_t vector = motion->robot.nv * W, matrix = vector * motion->robot.nv;
    double      *M = room + VECTORS * vector;
    return (dyn_motion_hessian){.motion            = motion,
                                .multiplier_points = multipliers,
                                .W                 = W,
                                .q                 = room,
                                .qd                = room + vector,
                                .qdd               = room + 2 * vector,
                                .multipliers       = room + 3 * vector,
                                .q_q               = M,
                                .q_qd              = M + matrix,
                                .q_qdd             = M + 2 * matrix,
                                .qd_qd             = M + 3 * matrix,
                                .qd_qdd            = M + 4 * matrix};
}

/* Evaluates the basis at sample n of the motion of a lane, and from it q, qd, qdd and the multipliers. */
static void put_lane(dyn_motion_hessian *s, size_t n, size_t lane)
{
    const dyn_motion *m = s->motion;
    const size_t      W = s->W, nv = m->robot.nv, row = s->row[lane];
    const double      duration = dyn_motion_duration(m, row);
    const dyn_sample  on_path  = dyn_motion_sample(m, n, duration);
    const double     *points   = dyn_points_of(&m->points, row) + on_path.first * nv, *multipliers;
    double scale = 1, *const x[3] = {s->q, s->qd, s->qdd};
    s->first[lane] = on_path.first;
    for (size_t r = 0; r < 3; r++, scale /= duration)
        for (size_t j = 0; j < nv; j++) {
            double sum = 0;
            for (size_t k = 0; k <= m->spline.degree; k++) {
                s->b[r][k][lane] = on_path.basis[r][k] * scale;
                sum += s->b[r][k][lane] * points[k * nv + j];
            }
            x[r][j * W + lane] = sum;
        }
    multipliers = dyn_points_of(s->multiplier_points, row) + n * nv;
    for (size_t j = 0; j < nv; j++)
        s->multipliers[j * W + lane] = multipliers[j];
}

void dyn_motion_hessian_put(dyn_motion_hessian *s, size_t n)
{
    for (size_t lane = 0; lane < s->W; lane++)
        put_lane(s, n, lane);
}

/* Adds the sample's part of entry (i, j), number i nv + j, of H_kl for all pairs of control points k <= l that affect
 * the sample. */
static inline __attribute__((always_inline)) void add_entry(size_t W, const dyn_motion_hessian *s, size_t entry,
                                                            double *out)
{
    const size_t nv = s->motion->robot.nv, n = s->motion->spline.n, i = entry / nv, j = entry % nv;
    const size_t ij = entry * W, ji = (j * nv + i) * W, support = s->motion->spline.degree + 1;
    for (size_t k = 0; k < support; k++)
        for (size_t l = k; l < support; l++)
            for (size_t w = 0; w < W; w++) {
                const double b0k = s->b[0][k][w], b1k = s->b[1][k][w], b2k = s->b[2][k][w];
                const double b0l = s->b[0][l][w], b1l = s->b[1][l][w], b2l = s->b[2][l][w];
                const double by_position     = b0l * s->q_q[ij + w] + b1l * s->q_qd[ij + w] + b2l * s->q_qdd[ij + w];
                const double by_rate         = b0l * s->q_qd[ji + w] + b1l * s->qd_qd[ij + w] + b2l * s->qd_qdd[ij + w];
                const double by_acceleration = b0l * s->q_qdd[ji + w] + b1l * s->qd_qdd[ji + w];
                const size_t row             = (s->first[w] + k) * nv + i;
                out[((row * n + s->first[w] + l) * nv + j) * W + w] +=
                    b0k * by_position + b1k * by_rate + b2k * by_acceleration;
            }
}

static inline __attribute__((always_inline)) void add_sample_by(size_t W, const dyn_motion_hessian *s, double *out)
{
    for (size_t entry = 0; entry < s->motion->robot.nv * s->motion->robot.nv; entry++)
        add_entry(W, s, entry, out);
}

/* Calls add_sample_by with the number of lanes as a constant, so that the compiler unrolls the loops over lanes. */
void dyn_motion_hessian_add(const dyn_motion_hessian *s, double *out)
{
    switch (s->W) {
    case 8: add_sample_by(8, s, out); break;
    case 4: add_sample_by(4, s, out); break;
    case 2: add_sample_by(2, s, out); break;
    default: add_sample_by(s->W, s, out); break;
    }
}

void dyn_motion_hessian_mirror(const dyn_motion_hessian *s, double *out)
{
    const size_t W = s->W, nv = s->motion->robot.nv, n = s->motion->spline.n * nv;
    for (size_t row = 0; row < n; row++)
        for (size_t column = (row / nv + 1) * nv; column < n; column++)
            memcpy(out + (column * n + row) * W, out + (row * n + column) * W, W * sizeof *out);
}
