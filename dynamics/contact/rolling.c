/* rolling.c - finds the contact point of a rolling frame, and moves motions and wrenches to it (rolling.h). */
#include "rolling.h"
#include "dynamics/math/geometry.h"
#include <math.h>

/* Copies three numbers to entries that are `stride` apart. */
static void put_apart(const double from[3], size_t stride, double *to)
{
    for (size_t i = 0; i < 3; i++)
        to[i * stride] = from[i];
}

/* Rotates x by a unit quaternion (v, s): x + 2 v x (v x x + s x). */
static void turn_axle(const double *quaternion, size_t W, const double x[3], double to[3])
{
    double v[3], t[3], twice[3];
    dyn_get3(quaternion, W, 1, v);
    dyn_cross(v, x, t);
    for (int i = 0; i < 3; i++)
        t[i] += quaternion[3 * W] * x[i];
    dyn_cross(v, t, twice);
    for (int i = 0; i < 3; i++)
        to[i] = x[i] + 2 * twice[i];
}

void dyn_rolling_find_lever(const dyn_rolling *rolling, size_t W, const double *quaternion, const double *w, double *s,
                            double *rate)
{
    const double *n = rolling->axes[2], r = rolling->radius;
    double        a[3], e[3], spin[3] = {0}, turn[3];
    if (w) dyn_get3(w, W, 1, spin);
    turn_axle(quaternion, W, rolling->axle, a);
    const double c = rolling->is_disc ? dyn_dot(n, a) : 0;
    for (int i = 0; i < 3; i++)
        e[i] = n[i] - c * a[i];
    const double size = !rolling->is_disc ? 1 : dyn_dot(e, e) > DYN_FLAT ? sqrt(dyn_dot(e, e)) : NAN;
    for (size_t i = 0; i < 3; i++)
        s[i * W] = -r * e[i] / size;
    dyn_cross(spin, a, turn);
    const double along = dyn_dot(n, turn);
    double       ed[3];
    for (int i = 0; i < 3; i++)
        ed[i] = rolling->is_disc ? -(along * a[i] + c * turn[i]) : 0;
    const double lengthens = dyn_dot(e, ed) / (size * size);
    for (size_t i = 0; w && i < 3; i++)
        rate[i * W] = -r * (ed[i] - lengthens * e[i]) / size;
}

void dyn_rolling_move(const dyn_rolling *rolling, size_t W, const double *s, size_t columns, double *x)
{
    for (size_t k = 0; k < columns * W; k++) {
        const size_t part = columns * W;
        double       v[3], w[3], lever[3], moved[3];
        dyn_get3(x + k, part, 1, v);
        dyn_get3(x + 3 * part + k, part, 1, w);
        dyn_get3(s + k % W, W, 1, lever);
        dyn_cross(w, lever, moved);
        for (int i = 0; i < 3; i++)
            v[i] += moved[i];
        for (size_t i = 0; i < 3; i++)
            x[i * part + k] = dyn_dot(rolling->axes[i], v);
    }
}

void dyn_rolling_add_rate(size_t W, const double *w, const double *rate, double *acceleration)
{
    for (size_t lane = 0; lane < W; lane++) {
        double spin[3], moves[3], more[3];
        dyn_get3(w + lane, W, 1, spin);
        dyn_get3(rate + lane, W, 1, moves);
        dyn_cross(spin, moves, more);
        for (size_t i = 0; i < 3; i++)
            acceleration[i * W + lane] += more[i];
    }
}

void dyn_rolling_put_wrench(const dyn_held_frame *frame, size_t W, const double *s, const double *along, double *wrench)
{
    double force[3] = {0}, lever[3], torque[3];
    for (size_t a = 0; a < frame->n; a++)
        for (int i = 0; i < 3; i++)
            force[i] += frame->rolling->axes[frame->axis[a]][i] * along[a];
    dyn_get3(s, W, 1, lever);
    dyn_cross(lever, force, torque);
    put_apart(force, W, wrench);
    put_apart(torque, W, wrench + 3 * W);
}

double dyn_rolling_force(const dyn_rolling *rolling, size_t W, int axis, const double *wrench)
{
    double force[3];
    dyn_get3(wrench, W, 1, force);
    return dyn_dot(rolling->axes[axis], force);
}

void dyn_rolling_to_world(const dyn_rolling *rolling, size_t stride, double *x)
{
    double along[3], sum[3] = {0};
    dyn_get3(x, stride, 1, along);
    for (size_t a = 0; a < 3; a++)
        for (size_t i = 0; i < 3; i++)
            sum[i] += rolling->axes[a][i] * along[a];
    put_apart(sum, stride, x);
}
