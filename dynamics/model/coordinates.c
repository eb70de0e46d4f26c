/* coordinates.c - see coordinates.h: quaternion and pose arithmetic in lanes. */
#include "coordinates.h"
#include "dynamics/math/geometry.h"
#include "dynamics/math/elementary.h"
#include <math.h>
#include <string.h>

/* Rotates the unit quaternion r by the rotation vector w, in rad and in the rotated axes: r <- r (w/|w| sin(|w|/2),
 * cos(|w|/2)). */
static void rotate_quaternion(double *r, size_t stride, const double w[3])
{
    double x[3], s = r[3 * stride], u[3], v[3];
    double angle = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
    double sine, c;
    dyn_sine_cosine(0.5 * angle, &sine, &c);
    double k = angle > 0 ? sine / angle : 0.5;
    dyn_get3(r, stride, 1, x);
    for (int i = 0; i < 3; i++)
        v[i] = k * w[i];
    dyn_cross(x, v, u);
    for (size_t i = 0; i < 3; i++)
        r[i * stride] = s * v[i] + c * x[i] + u[i];
    r[3 * stride] = c * s - (x[0] * v[0] + x[1] * v[1] + x[2] * v[2]);
}

/* Computes p += R v for the rotation R of the quaternion (x, s): R v = v + s t + cross(x, t), t = 2 cross(x, v). */
static void shift_position(double *p, size_t stride, const double *r, const double v[3])
{
    double x[3], t[3], u[3];
    dyn_get3(r, stride, 1, x);
    dyn_cross(x, v, t);
    for (int i = 0; i < 3; i++)
        t[i] *= 2;
    dyn_cross(x, t, u);
    for (size_t i = 0; i < 3; i++)
        p[i * stride] += v[i] + r[3 * stride] * t[i] + u[i];
}

void dyn_coordinates_make_quaternions_positive(const dyn_model *model, double *q, size_t W)
{
    for (size_t i = 0; i < model->n_bodies; i++) {
        const dyn_body *b      = &model->body[i];
        int             offset = dyn_quaternion_offset(b);
        if (offset < 0) continue;
        double *r = q + (size_t)(b->joint.q + offset) * W;
        for (size_t lane = 0; lane < W; lane++)
            for (size_t k = 0; r[3 * W + lane] < 0 && k < 4; k++)
                r[k * W + lane] = -r[k * W + lane];
    }
}

void dyn_coordinates_move(const dyn_body *body, double *q, size_t stride, const double *dx, double part)
{
    double v[3], w[3];
    int    offset = dyn_quaternion_offset(body);
    if (offset < 0) {
        q[0] += part * dx[0];
        return;
    }
    const size_t linear = (size_t)offset; /* number of entries before the quaternion in q, and before w in dx */
    if (linear > 0) dyn_get3(dx, stride, part, v);
    if (linear > 0) shift_position(q, stride, q + linear * stride, v);
    dyn_get3(dx + linear * stride, stride, part, w);
    rotate_quaternion(q + linear * stride, stride, w);
}

/* Computes the bracket of two motions (v, w) of a rigid body in its own axes: (w_a x v_b - w_b x v_a, w_a x w_b). */
void dyn_coordinates_bracket(const dyn_body *body, size_t stride, const double *a, const double *b, double *bracket)
{
    double va[3], wa[3], vb[3], wb[3], x[3], y[3];
    int    offset = dyn_quaternion_offset(body);
    if (offset < 0) {
        bracket[0] = 0;
        return;
    }
    const size_t linear = (size_t)offset;
    dyn_get3(a + linear * stride, stride, 1, wa), dyn_get3(b + linear * stride, stride, 1, wb);
    dyn_cross(wa, wb, x);
    for (size_t i = 0; i < 3; i++)
        bracket[(linear + i) * stride] = x[i];
    if (linear == 0) return;
    dyn_get3(a, stride, 1, va), dyn_get3(b, stride, 1, vb);
    dyn_cross(wa, vb, x), dyn_cross(wb, va, y);
    for (size_t i = 0; i < 3; i++)
        bracket[i * stride] = x[i] - y[i];
}

/* Computes p' = R v in W lanes: v = qd[0..2] is the velocity in the joint's own axes, R the rotation of its unit
 * quaternion r (x y z w). */
static void position_rate(const double *r, const double *qd, size_t W, double *rate)
{
    for (size_t l = 0; l < W; l++) {
        double x = r[l], y = r[W + l], z = r[2 * W + l], w = r[3 * W + l];
        double v[3]     = {qd[l], qd[W + l], qd[2 * W + l]};
        double t[3]     = {2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0])};
        rate[l]         = v[0] + w * t[0] + (y * t[2] - z * t[1]);
        rate[W + l]     = v[1] + w * t[1] + (z * t[0] - x * t[2]);
        rate[2 * W + l] = v[2] + w * t[2] + (x * t[1] - y * t[0]);
    }
}

/* Computes r' = 1/2 r (w, 0) of the unit quaternion r in W lanes: w = qd[0..2] is the angular velocity in the joint's
 * own axes. */
static void quaternion_rate(const double *r, const double *qd, size_t W, double *rate)
{
    for (size_t l = 0; l < W; l++) {
        double x = r[l], y = r[W + l], z = r[2 * W + l], w = r[3 * W + l];
        double o[3]     = {qd[l], qd[W + l], qd[2 * W + l]};
        rate[l]         = 0.5 * (w * o[0] + y * o[2] - z * o[1]);
        rate[W + l]     = 0.5 * (w * o[1] + z * o[0] - x * o[2]);
        rate[2 * W + l] = 0.5 * (w * o[2] + x * o[1] - y * o[0]);
        rate[3 * W + l] = -0.5 * (x * o[0] + y * o[1] + z * o[2]);
    }
}

void dyn_coordinates_rate(const dyn_body *body, const double *q, const double *qd, size_t W, double *rate)
{
    int offset = dyn_quaternion_offset(body);
    if (offset < 0) {
        memcpy(rate, qd, W * sizeof *rate);
        return;
    }
    const size_t first = (size_t)offset * W; /* first entry of the quaternion in q, and of the angular velocity in qd */
    if (offset > 0) position_rate(q + first, qd, W, rate);
    quaternion_rate(q + first, qd + first, W, rate + first);
}
