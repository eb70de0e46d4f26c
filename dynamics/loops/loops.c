/* loops.c - see loops.h: the constraint rows of a loop, its residual, and the derivative of the residual. */
#include "dynamics/math/geometry.h"
#include "loops.h"
#include "dynamics/math/elementary.h"
#include <math.h>
#include <string.h>

/* Computes two unit vectors perpendicular to the loop's axis u, from the coordinate axis that is least parallel to
 * u. */
static void find_across(dyn_loop *loop)
{
    const double *u = loop->u;
    int           k = 0;
    for (int i = 1; i < 3; i++)
        if (fabs(u[i]) < fabs(u[k])) k = i;
    double e[3] = {k == 0, k == 1, k == 2};
    dyn_cross(u, e, loop->across[1]);
    double length = sqrt(dyn_dot(loop->across[1], loop->across[1]));
    for (int i = 0; i < 3; i++)
        loop->across[1][i] /= length;
    dyn_cross(loop->across[1], u, loop->across[0]);
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

static void add_loop_row(dyn_loop *loop, const double linear[3], double factor, const double angular[3], double angle)
{
    for (int i = 0; i < 3; i++) {
        loop->E[loop->rows][i]     = factor * linear[i];
        loop->E[loop->rows][3 + i] = angle * angular[i];
    }
    loop->rows++;
}

static const double axes[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

/* Adds a row for each of n directions d: the translation y along d, in units of `length`. */
static void add_linear_rows(dyn_loop *loop, const double (*d)[3], int n, double length)
{
    for (int i = 0; i < n; i++)
        add_loop_row(loop, d[i], 1 / length, d[i], 0);
}

/* Adds a row for each of n directions d: the angular velocity w along d. */
static void add_angular_rows(dyn_loop *loop, const double (*d)[3], int n)
{
    for (int i = 0; i < n; i++)
        add_loop_row(loop, d[i], 0, d[i], 1);
}

void dyn_loop_rows(dyn_loop *loop, double length)
{
    const double(*across)[3] = (const double(*)[3])loop->across, (*u)[3] = (const double(*)[3]) & loop->u;
    dyn_loop_kind kind   = loop->kind;
    bool          slides = kind == DYN_LOOP_PRISMATIC || kind == DYN_LOOP_HELICAL || kind == DYN_LOOP_CYLINDRICAL;
    bool          plane  = kind == DYN_LOOP_PLANAR;
    bool          turns  = kind == DYN_LOOP_FIXED || kind == DYN_LOOP_PRISMATIC;
    loop->rows           = 0;
    find_across(loop);
    add_linear_rows(loop, slides ? across : plane ? u : axes, slides ? 2 : plane ? 1 : 3, length);
    if (kind == DYN_LOOP_UNIVERSAL)
        add_loop_row(loop, loop->u, 0, loop->u, 0); /* zero here: dyn_loop_universal_row gives this row */
    else if (kind != DYN_LOOP_SPHERICAL)
        add_angular_rows(loop, turns ? axes : across, turns ? 3 : 2);
    if (kind == DYN_LOOP_HELICAL) add_loop_row(loop, loop->u, 1 / length, loop->u, -loop->pitch / length);
}

/* --- the universal joint's last row ------------------------------------------------------------------------------- */

/* Sets x = R u_b: the universal joint's axis that is fixed in frame b, in the axes of frame a. */
static void turned_axis(const dyn_loop *loop, const double R[9], double x[3])
{
    for (int i = 0; i < 3; i++)
        x[i] = dyn_dot(R + 3 * i, loop->u_b);
}

void dyn_loop_universal_row(const dyn_loop *loop, const double R[9], double n[3])
{
    double x[3];
    turned_axis(loop, R, x);
    dyn_cross(x, loop->u, n);
    double length = sqrt(dyn_dot(n, n));
    for (int i = 0; i < 3 && length > 0; i++)
        n[i] /= length;
}

/* With the axis x = R u_b of frame b: x' = cross(w, x), x'' = cross(w', x) + cross(w, x'). */
void dyn_loop_universal_row_rates(const dyn_loop *loop, const double R[9], const double w[3], const double wd[3],
                                  double nd[3], double ndd[3])
{
    double x[3], xd[3], xdd[3], turning[3];
    turned_axis(loop, R, x);
    dyn_cross(w, x, xd);
    dyn_cross(wd, x, xdd);
    dyn_cross(w, xd, turning);
    for (int i = 0; i < 3; i++)
        xdd[i] += turning[i];
    dyn_cross(xd, loop->u, nd);
    dyn_cross(xdd, loop->u, ndd);
}

/* Returns the deviation of the angle between the axes of a universal joint from a right angle, in rad. */
static double universal_angle_error(const dyn_loop *loop, const double R[9])
{
    double x[3], n[3];
    turned_axis(loop, R, x);
    dyn_cross(x, loop->u, n);
    return dyn_atan2(dyn_dot(x, loop->u), sqrt(dyn_dot(n, n)));
}

/* Writes sin(angle) times the axis of a rotation; returns cos(angle). */
static double rotation_sine(const double R[9], double sine[3])
{
    for (int i = 0; i < 3; i++)
        sine[i] = 0.5 * (R[3 * ((i + 2) % 3) + (i + 1) % 3] - R[3 * ((i + 1) % 3) + (i + 2) % 3]);
    return 0.5 * (R[0] + R[4] + R[8] - 1);
}

/* Writes the rotation vector of R, angle times axis. Near a half turn, where the sine gives no axis, the axis is the
 * longest column of 1 + R. */
static void rotation_vector(const double R[9], double vector[3])
{
    double cosine = rotation_sine(R, vector), sine = sqrt(dyn_dot(vector, vector)), angle = dyn_atan2(sine, cosine);
    if (sine < 1e-6 && cosine < 0) {
        int k = R[0] >= R[4] ? (R[0] >= R[8] ? 0 : 2) : (R[4] >= R[8] ? 1 : 2);
        for (int i = 0; i < 3; i++)
            vector[i] = R[3 * i + k] + (i == k);
        sine = sqrt(dyn_dot(vector, vector));
    }
    for (int i = 0; i < 3 && sine > 0; i++)
        vector[i] *= angle / sine;
}

/* Writes the rotation vector of the smallest rotation that takes the loop's axis u to R u. */
static void swing_vector(const dyn_loop *loop, const double R[9], double swing[3])
{
    double turned[3];
    for (int i = 0; i < 3; i++)
        turned[i] = dyn_dot(R + 3 * i, loop->u);
    dyn_cross(loop->u, turned, swing);
    double sine = sqrt(dyn_dot(swing, swing)), cosine = dyn_dot(loop->u, turned), angle = dyn_atan2(sine, cosine);
    if (sine == 0 && cosine < 0) {
        memcpy(swing, loop->across[0], sizeof loop->across[0]);
        sine = 1;
    }
    for (int i = 0; i < 3 && sine > 0; i++)
        swing[i] *= angle / sine;
}

/* Returns the residual of a helical joint: translation y along the axis u minus pitch times the angle about u. The
 * number of full turns is the one that gives the smallest residual. */
static double screw_residual(const dyn_loop *loop, const double y[3], const double R[9])
{
    double sine[3], cosine = rotation_sine(R, sine), along = dyn_dot(loop->u, y), turn = 2 * M_PI * loop->pitch;
    double rest = along - loop->pitch * dyn_atan2(dyn_dot(loop->u, sine), cosine);
    return turn != 0 ? rest - turn * nearbyint(rest / turn) : rest;
}

void dyn_loop_residual(const dyn_loops *loops, size_t k, const double y[3], const double R[9], double *residual)
{
    const dyn_loop *loop    = &loops->loop[k];
    double          turn[3] = {0};
    if (loop->kind == DYN_LOOP_FIXED || loop->kind == DYN_LOOP_PRISMATIC)
        rotation_vector(R, turn);
    else if (loop->kind != DYN_LOOP_SPHERICAL && loop->kind != DYN_LOOP_UNIVERSAL)
        swing_vector(loop, R, turn);
    for (size_t i = 0; i < loop->rows; i++)
        residual[i] = dyn_dot(loop->E[i], y) + dyn_dot(loop->E[i] + 3, turn);
    if (loop->kind == DYN_LOOP_HELICAL) residual[loop->rows - 1] = screw_residual(loop, y, R) / loops->length;
    if (loop->kind == DYN_LOOP_UNIVERSAL) residual[loop->rows - 1] = universal_angle_error(loop, R);
}

/* --- rotations ---------------------------------------------------------------------------------------------------- */

/* R = 2 r r^T + (s^2 - r.r) 1 + 2 s [r] for the quaternion (r, s). */
void dyn_rotation_of_quaternion(const double quaternion[4], double R[9])
{
    const double *r = quaternion, s = r[3];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            double skew  = i == k ? 0 : (k == (i + 1) % 3 ? -1 : 1) * r[3 - i - k];
            R[3 * i + k] = 2 * (r[i] * r[k] + s * skew) + (i == k ? s * s - dyn_dot(r, r) : 0);
        }
}

void dyn_rotation_of_vector(const double vector[3], double R[9])
{
    double angle = sqrt(dyn_dot(vector, vector)), sine, cosine;
    dyn_sine_cosine(0.5 * angle, &sine, &cosine);
    double factor        = angle > 0 ? sine / angle : 0.5;
    double quaternion[4] = {factor * vector[0], factor * vector[1], factor * vector[2], cosine};
    dyn_rotation_of_quaternion(quaternion, R);
}

/* Sets out = A B^T, 3 x 3. */
static void multiply_transposed(const double A[9], const double B[9], double out[9])
{
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            out[3 * i + k] = dyn_dot(A + 3 * i, B + 3 * k);
}

void dyn_rotation_between(const double from[9], const double to[9], double vector[3])
{
    double turn[9];
    multiply_transposed(to, from, turn);
    rotation_vector(turn, vector);
}

void dyn_pose_residual(const double position[3], const double rotation[9], const double y[3], const double R[9],
                       double residual[6])
{
    dyn_rotation_between(rotation, R, residual + 3);
    for (int i = 0; i < 3; i++)
        residual[i] = y[i] - position[i];
}

/* --- derivatives of residuals ------------------------------------------------------------------------------------- */

/* D = 1 - [v]/2 + (1/a^2 - (1 + cos a)/(2 a sin a)) [v]^2, with the angle a = |v|. */
void dyn_rotation_vector_rate(const double v[3], double D[9])
{
    double square = dyn_dot(v, v), a = sqrt(square), sine, cosine;
    dyn_sine_cosine(a, &sine, &cosine);
    double second = a > 1e-4 ? 1 / square - (1 + cosine) / (2 * a * sine) : 1.0 / 12;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            double skew  = i == k ? 0 : (k == (i + 1) % 3 ? -1 : 1) * v[3 - i - k];
            D[3 * i + k] = (i == k ? 1 - second * square : 0) - 0.5 * skew + second * v[i] * v[k];
        }
}

/* Writes D with d(swing)/dt = D w, where swing is the result of swing_vector and w the angular velocity of R. The
 * swing takes u to x = R u by the angle a about the unit vector n. With f = a / sin a:
 *     D = f (cos a 1 - x u^T) + (1 - f cos a) n n^T. */
static void swing_rate(const double u[3], const double R[9], double D[9])
{
    double x[3], n[3];
    for (int i = 0; i < 3; i++)
        x[i] = dyn_dot(R + 3 * i, u);
    dyn_cross(u, x, n);
    double sine = sqrt(dyn_dot(n, n)), cosine = dyn_dot(u, x), f = sine > 1e-8 ? dyn_atan2(sine, cosine) / sine : 1;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            double turned = sine > 1e-8 ? (1 - f * cosine) * n[i] * n[k] / (sine * sine) : 0;
            D[3 * i + k]  = f * ((i == k ? cosine : 0) - x[i] * u[k]) + turned;
        }
}

bool dyn_loop_angular_derivative(const dyn_loop *loop, const double R[9], double rows[DYN_LOOP_ROWS][3])
{
    double vector[3], D[9];
    if (loop->kind == DYN_LOOP_SPHERICAL || loop->kind == DYN_LOOP_UNIVERSAL) return false;
    if (loop->kind == DYN_LOOP_FIXED || loop->kind == DYN_LOOP_PRISMATIC) {
        rotation_vector(R, vector);
        dyn_rotation_vector_rate(vector, D);
    } else {
        swing_rate(loop->u, R, D);
    }
    for (size_t r = 0; r < loop->rows; r++)
        for (int k = 0; k < 3; k++) {
            const double *e = loop->E[r] + 3;
            rows[r][k]      = e[0] * D[k] + e[1] * D[3 + k] + e[2] * D[6 + k];
        }
    if (loop->kind == DYN_LOOP_HELICAL) /* the helical residual also depends on the rotation about u */
        memcpy(rows[loop->rows - 1], loop->E[loop->rows - 1] + 3, sizeof *rows);
    return true;
}
