/* pose_rates.c - finds the rates of the coordinates that give a frame its velocity and acceleration (pose_solver.h).
 *
 * With the eigenvalues s^2 and eigenvectors u of J J^T, rows in units of `length` and rad,
 *
 *     x = J^T sum u (u . b) / (s^2 + damping^2)
 *
 * is the solution of J x = b of least norm or, with damping, of least |J x - b|^2 + damping^2 |x|^2 (Nakamura &
 * Hanafusa 1986). Without damping, components of b along eigenvectors with s = 0 cannot be reached. */
#include "pose_solver.h"
#include <lapacke.h>
#include <math.h>
#include <string.h>

enum { N = DYN_GOAL_ROWS };
#define SINGULAR  1e-6 /* smallest singular value of J, relative to the largest, that counts as not zero */
#define REACHABLE 1e-6 /* largest component of b that may be out of reach, relative to its largest entry */

/* The scaled Jacobian of one state, and the decomposition of J J^T. */
typedef struct decomposition {
    size_t        rows, nv, W;
    const double *J;              /* the lane's Jacobian, [rows][nv], entries W apart, not scaled */
    double        scale[N];       /* factors of the rows: 1 / length or 1 */
    double        u[N * N], s[N]; /* eigenvectors of J J^T, column by column; its eigenvalues, increasing */
} decomposition;

static double entry(const decomposition *d, size_t r, size_t v)
{
    return d->scale[r] * d->J[(r * d->nv + v) * d->W];
}

static bool decompose_jacobian(decomposition *d)
{
    double work[4 * N];
    for (size_t r = 0; r < d->rows; r++)
        for (size_t c = 0; c <= r; c++) {
            double sum = 0;
            for (size_t v = 0; v < d->nv; v++)
                sum += entry(d, r, v) * entry(d, c, v);
            if (!isfinite(sum)) return false;
            d->u[c * d->rows + r] = sum;
        }
    return LAPACKE_dsyev_work(LAPACK_COL_MAJOR, 'V', 'L', (lapack_int)d->rows, d->u, (lapack_int)d->rows, d->s, work,
                              4 * N) == 0;
}

/* Adds J^T sum u (u . b) / (s^2 + damping^2) to x ([nv], entries W apart). Returns the largest component of b that is
 * out of reach. */
static double add_solution(const decomposition *d, double damping, const double b[N], double *x)
{
    double y[N] = {0}, missed = 0, largest = d->s[d->rows - 1];
    for (size_t k = 0; k < d->rows; k++) {
        const double *u     = d->u + k * d->rows;
        double        along = 0, divisor = fmax(d->s[k], 0) + damping * damping;
        for (size_t r = 0; r < d->rows; r++)
            along += u[r] * b[r];
        if (damping == 0 && !(d->s[k] > SINGULAR * SINGULAR * largest)) {
            missed = fmax(missed, fabs(along));
            continue;
        }
        for (size_t r = 0; r < d->rows; r++)
            y[r] += u[r] * along / divisor;
    }
    for (size_t v = 0; v < d->nv; v++)
        for (size_t r = 0; r < d->rows; r++)
            x[v * d->W] += entry(d, r, v) * y[r];
    return missed;
}

/* Finds x with J x = b. The condition number of J J^T is the square of that of J, so the solution is refined once: the
 * system is solved again for the residual of b. Returns false if b is out of reach. */
static bool solve(const decomposition *d, double damping, const double b[N], double *x)
{
    double most = 0, left[N];
    for (size_t v = 0; v < d->nv; v++)
        x[v * d->W] = 0;
    double missed = add_solution(d, damping, b, x);
    for (size_t r = 0; r < d->rows; r++) {
        left[r] = b[r];
        for (size_t v = 0; v < d->nv; v++)
            left[r] -= entry(d, r, v) * x[v * d->W];
        most = fmax(most, fabs(b[r]));
    }
    if (damping == 0) add_solution(d, damping, left, x);
    return missed <= REACHABLE * most;
}

/* Sets b = motion - J' qd of a lane, the right side of J x = b, with scaled rows. NULL means zeros. */
static void right_side(const decomposition *d, const double *motion, const double *J_dot, const double *qd, size_t lane,
                       double b[N])
{
    for (size_t r = 0; r < d->rows; r++) {
        b[r] = motion ? motion[r * d->W + lane] : 0;
        for (size_t v = 0; J_dot && v < d->nv; v++)
            b[r] -= J_dot[(r * d->nv + v) * d->W + lane] * qd[v * d->W + lane];
        b[r] *= d->scale[r];
    }
}

/* Calls the kernel for J and, if J_dot is not NULL, for J' at the velocities qd. */
static void evaluate(const dyn_pose_problem *p, const dyn_kernels *kernels, void *workspace, const double *q,
                     const double *qd, double *J, double *J_dot)
{
    const dyn_frame_pair pair  = {{.body = DYN_WORLD, .X_bf = {.R = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}}, *p->frame};
    const dyn_scene      scene = {.model = p->robot.tree};
    dyn_closure          io    = {.q = q, .qd = qd, .n_pairs = 1, .pairs = &pair, .jacobian = J, .jacobian_dot = J_dot};
    kernels->closure(&scene, workspace, &io, 1);
}

static void repeat_last(size_t n, size_t W, size_t live, double *lanes)
{
    for (size_t i = 0; i < n; i++)
        for (size_t lane = live; lane < W; lane++)
            lanes[i * W + lane] = lanes[i * W + live - 1];
}

/* Gives the motors of elastic joints the rates of their joints. */
static void move_motors(const dyn_model *m, size_t W, double *rates)
{
    for (size_t c = 0; c < m->n_couplings; c++)
        memcpy(rates + (size_t)m->coupling[c].v_theta * W, rates + (size_t)m->coupling[c].v * W, W * sizeof *rates);
}

unsigned dyn_pose_rates(const dyn_pose_problem *p, const dyn_kernels *kernels, void *workspace, double *room,
                        const double *q, const double *velocity, const double *acceleration, size_t live, double *qd,
                        double *qdd)
{
    const size_t  W = (size_t)kernels->lanes, nv = p->robot.nv;
    double       *J = room, *J_dot = J + 6 * nv * W;
    unsigned      exist = 0;
    decomposition d[DYN_MAX_LANES];
    evaluate(p, kernels, workspace, q, NULL, J, NULL);
    for (size_t lane = 0; lane < live; lane++) {
        double b[N];
        d[lane] = (decomposition){.rows = p->kind == DYN_GOAL_POSITION ? 3 : N, .nv = nv, .W = W, .J = J + lane};
        for (size_t r = 0; r < N; r++)
            d[lane].scale[r] = r < 3 ? 1 / p->length : 1;
        right_side(&d[lane], velocity, NULL, NULL, lane, b);
        exist |= (unsigned)(decompose_jacobian(&d[lane]) && solve(&d[lane], p->damping, b, qd + lane)) << lane;
    }
    repeat_last(nv, W, live, qd);
    move_motors(p->robot.tree, W, qd);
    if (!qdd) return exist;
    evaluate(p, kernels, workspace, q, qd, J, J_dot);
    for (size_t lane = 0; lane < live; lane++) {
        double b[N];
        right_side(&d[lane], acceleration, J_dot, qd, lane, b);
        if (exist >> lane & 1 && !solve(&d[lane], p->damping, b, qdd + lane)) exist &= ~(1u << lane);
    }
    repeat_last(nv, W, live, qdd);
    move_motors(p->robot.tree, W, qdd);
    return exist;
}
