/* loops.c - see loops.h: what a loop holds of the motion between its frames, and how far it is open. */
#include "loops.h"
#include <math.h>
#include <string.h>

/* Two unit vectors across u, the first from the coordinate axis that is least along it. */
static void find_across(api_loop *loop)
{
    const double *u = loop->u;
    int           k = 0;
    for (int i = 1; i < 3; i++)
        if (fabs(u[i]) < fabs(u[k])) k = i;
    double e[3] = {k == 0, k == 1, k == 2};
    api_cross(u, e, loop->across[1]);
    double length = sqrt(api_dot(loop->across[1], loop->across[1]));
    for (int i = 0; i < 3; i++)
        loop->across[1][i] /= length;
    api_cross(loop->across[1], u, loop->across[0]);
}

/* --- rows ------------------------------------------------------------------------------------------------------- */

static void hold(api_loop *loop, const double linear[3], double factor, const double angular[3], double angle)
{
    for (int i = 0; i < 3; i++) {
        loop->E[loop->rows][i]     = factor * linear[i];
        loop->E[loop->rows][3 + i] = angle * angular[i];
    }
    loop->rows++;
}

static const double axes[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

/* n directions of y, of the length's unit, then of w. */
static void hold_linear(api_loop *loop, const double (*d)[3], int n, double length)
{
    for (int i = 0; i < n; i++)
        hold(loop, d[i], 1 / length, d[i], 0);
}

static void hold_angular(api_loop *loop, const double (*d)[3], int n)
{
    for (int i = 0; i < n; i++)
        hold(loop, d[i], 0, d[i], 1);
}

void api_loop_rows(api_loop *loop, double length)
{
    const double(*across)[3] = (const double(*)[3])loop->across, (*u)[3] = (const double(*)[3]) & loop->u;
    bool slides = loop->kind == API_LOOP_PRISMATIC || loop->kind == API_LOOP_HELICAL,
         plane  = loop->kind == API_LOOP_PLANAR;
    bool turns  = loop->kind == API_LOOP_FIXED || loop->kind == API_LOOP_PRISMATIC;
    loop->rows  = 0;
    find_across(loop);
    hold_linear(loop, slides ? across : plane ? u : axes, slides ? 2 : plane ? 1 : 3, length);
    if (loop->kind != API_LOOP_SPHERICAL) hold_angular(loop, turns ? axes : across, turns ? 3 : 2);
    if (loop->kind == API_LOOP_HELICAL) hold(loop, loop->u, 1 / length, loop->u, -loop->pitch / length);
}

/* sin(angle) times the axis of a rotation, and cos(angle). */
static double sine_of(const double R[9], double sine[3])
{
    for (int i = 0; i < 3; i++)
        sine[i] = 0.5 * (R[3 * ((i + 2) % 3) + (i + 1) % 3] - R[3 * ((i + 1) % 3) + (i + 2) % 3]);
    return 0.5 * (R[0] + R[4] + R[8] - 1);
}

/* angle times axis; near a half turn, where the sine tells no axis, it is the longest column of 1 + R. */
static void rotation_vector(const double R[9], double vector[3])
{
    double cosine = sine_of(R, vector), sine = sqrt(api_dot(vector, vector)), angle = atan2(sine, cosine);
    if (sine < 1e-6 && cosine < 0) {
        int k = R[0] >= R[4] ? (R[0] >= R[8] ? 0 : 2) : (R[4] >= R[8] ? 1 : 2);
        for (int i = 0; i < 3; i++)
            vector[i] = R[3 * i + k] + (i == k);
        sine = sqrt(api_dot(vector, vector));
    }
    for (int i = 0; i < 3 && sine > 0; i++)
        vector[i] *= angle / sine;
}

/* angle times axis of the least rotation that takes u to R u. */
static void swing_of(const api_loop *loop, const double R[9], double swing[3])
{
    double turned[3];
    for (int i = 0; i < 3; i++)
        turned[i] = api_dot(R + 3 * i, loop->u);
    api_cross(loop->u, turned, swing);
    double sine = sqrt(api_dot(swing, swing)), cosine = api_dot(loop->u, turned);
    if (sine == 0 && cosine < 0) {
        memcpy(swing, loop->across[0], sizeof loop->across[0]);
        sine = 1;
    }
    for (int i = 0; i < 3 && sine > 0; i++)
        swing[i] *= atan2(sine, cosine) / sine;
}

/* y along u less the pitch times the angle about u, which is the one of all turns that fits best. */
static double advance_of(const api_loop *loop, const double y[3], const double R[9])
{
    double sine[3], cosine = sine_of(R, sine), along = api_dot(loop->u, y), turn = 2 * M_PI * loop->pitch;
    double rest = along - loop->pitch * atan2(api_dot(loop->u, sine), cosine);
    return turn != 0 ? rest - turn * nearbyint(rest / turn) : rest;
}

void api_loop_residual(const api_loops *loops, size_t k, const double y[3], const double R[9], double *residual)
{
    const api_loop *loop    = &loops->loop[k];
    double          turn[3] = {0};
    if (loop->kind == API_LOOP_FIXED || loop->kind == API_LOOP_PRISMATIC)
        rotation_vector(R, turn);
    else if (loop->kind != API_LOOP_SPHERICAL)
        swing_of(loop, R, turn);
    for (size_t i = 0; i < loop->rows; i++)
        residual[i] = api_dot(loop->E[i], y) + api_dot(loop->E[i] + 3, turn);
    if (loop->kind == API_LOOP_HELICAL) residual[loop->rows - 1] = advance_of(loop, y, R) / loops->length;
}

void api_place_residual(const double position[3], const double orientation[4], const double y[3], const double R[9],
                        double residual[6])
{
    const double *r = orientation, s = r[3];
    double        goal[9], turn[9];
    for (int i = 0; i < 3; i++) /* 2 r r^T + (s^2 - r.r) 1 + 2 s [r] */
        for (int k = 0; k < 3; k++) {
            double skew     = i == k ? 0 : (k == (i + 1) % 3 ? -1 : 1) * r[3 - i - k];
            goal[3 * i + k] = 2 * (r[i] * r[k] + s * skew) + (i == k ? s * s - api_dot(r, r) : 0);
        }
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            turn[3 * i + k] = api_dot(R + 3 * i, goal + 3 * k);
    rotation_vector(turn, residual + 3);
    for (int i = 0; i < 3; i++)
        residual[i] = y[i] - position[i];
}
