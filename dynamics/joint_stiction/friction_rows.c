/* friction_rows.c - sets up the friction problem of one state (friction_rows.h). */
#include "friction_rows.h"
#include <lapacke.h>
#include <math.h>
#include <string.h>

/* --- memory ------------------------------------------------------------------------------------------------------- */

size_t dyn_friction_rows_entries(size_t n, size_t nv)
{
    return nv * nv + 2 * n * nv + n * n + 9 * n + 2 * nv + dyn_friction_problem_entries(n);
}

dyn_friction_rows dyn_friction_rows_lay_out(size_t n, size_t nv, double *room)
{
    dyn_friction_rows r         = {.nv = nv};
    double **const    part[]    = {&r.W,    &r.Y, &r.A,   &r.b,        &r.positive, &r.negative, &r.free_diagonal,
                                   &r.size, &r.f, &r.qdd, &r.held_qdd, &r.L,        &r.room};
    const size_t      entries[] = {
             n * nv, n * nv, n * n, n, n, n, n, n, n, nv, nv, nv * nv, dyn_friction_problem_entries(n)};
    for (size_t i = 0; i < sizeof entries / sizeof *entries; room += entries[i++])
        *part[i] = room;
    void *integers = room; /* r.side and r.follows each take the memory of n doubles */
    r.side         = integers;
    void *marks    = room + n;
    r.follows      = marks;
    return r;
}

/* --- joints and motors -------------------------------------------------------------------------------------------- */

size_t dyn_friction_rows_list(const dyn_mechanism *mechanism, dyn_stiction_joint *joints)
{
    const size_t n = dyn_stiction_list_joints(mechanism->tree, joints);
    for (size_t i = 0; mechanism->loops && i < n; i++) {
        const int v = joints[i].drive ? -1 : dyn_mechanism_velocity(mechanism, (int)joints[i].tree_v);
        joints[i].v = v < 0 ? DYN_NO_COORDINATE : (size_t)v;
    }
    return n;
}

/* --- rows ----------------------------------------------------------------------------------------------------------
 */

/* Adds `weight` times the rate of coordinate `tree_v` of the tree to `row`: nv coefficients of the model's
 * velocities. */
static void add_tree_row(const dyn_friction_state *s, size_t tree_v, double weight, double *row)
{
    const size_t nv = s->nv;
    if (!s->G) row[tree_v] += weight;
    for (size_t v = 0; s->G && v < nv; v++)
        row[v] += weight * s->G[(tree_v * nv + v) * s->W + s->lane];
}

void dyn_friction_row_fill(const dyn_friction_state *s, const dyn_stiction_joint *joint, double *row)
{
    memset(row, 0, s->nv * sizeof *row);
    if (joint->v != DYN_NO_COORDINATE)
        row[joint->v] = 1;
    else if (!joint->drive)
        add_tree_row(s, joint->tree_v, 1, row);
    for (size_t j = 0; joint->drive && j < joint->drive->n; j++)
        add_tree_row(s, (size_t)joint->drive->joint[j], joint->drive->weight[j], row);
}

double dyn_friction_motor_rate(const dyn_friction_state *s, const dyn_drive *drive)
{
    double sum = 0;
    for (size_t j = 0; j < drive->n; j++) {
        const double rate = s->qd[(size_t)drive->joint[j] * s->W + s->lane];
        sum               = s->fused ? fma(drive->weight[j], rate, sum) : sum + drive->weight[j] * rate;
    }
    return sum;
}

bool dyn_friction_row_rests(const dyn_friction_state *s, const dyn_stiction_joint *joint)
{
    if (!s->qd) return true;
    if (joint->v != DYN_NO_COORDINATE) return s->qd[joint->v * s->W + s->lane] == 0;
    if (joint->drive && !s->G) return dyn_friction_motor_rate(s, joint->drive) == 0;
    for (size_t v = 0; v < s->nv; v++)
        if (s->qd[v * s->W + s->lane] != 0) return false;
    return true;
}

/* --- the problem ---------------------------------------------------------------------------------------------------
 */

enum { CHECK = 1 << 20 /* multiplications between two checks of the deadline: less than a millisecond */ };

/* Returns the number of rows between two checks of the deadline, if each row takes `products` multiplications. */
static size_t rows_at_once(size_t products)
{
    return 1 + CHECK / (products + 1);
}

/* Sets Y = L^-1 W^T, with M = L L^T, and r->free_diagonal to the squares of its columns. Returns false if LAPACK fails
 * or the deadline has passed. */
static bool solve_rows(dyn_friction_rows *r, const dyn_friction_state *s, const double *L)
{
    const lapack_int nv   = (lapack_int)r->nv;
    const size_t     most = rows_at_once(r->nv * r->nv / 2);
    memcpy(r->Y, r->W, r->n * r->nv * sizeof *r->Y);
    for (size_t i = 0; i < r->n; i += most) {
        const lapack_int rows = (lapack_int)(r->n - i < most ? r->n - i : most);
        if (!dyn_may_continue(s->deadline)) return false;
        if (LAPACKE_dtrtrs_work(LAPACK_COL_MAJOR, 'L', 'N', 'N', nv, rows, L, nv, r->Y + i * r->nv, nv) != 0)
            return false;
    }
    for (size_t i = 0; i < r->n; i++) {
        double sum = 0;
        for (size_t v = 0; v < r->nv; v++)
            sum += r->Y[i * r->nv + v] * r->Y[i * r->nv + v];
        r->free_diagonal[i] = sum;
    }
    return true;
}

/* Subtracts U c U^T Y from Y, with the left singular vectors U, singular values S and Cholesky factor L of
 * friction_rows.h, so that Y^T Y = W K W^T. Without contact damping c = 1, and Y becomes orthogonal to the held rows.
 * With contact damping d, K = L^-T (1 - U S^2 / (S^2 + d^2) U^T) L^-1 and c = 1 - d / sqrt(S^2 + d^2). Returns false if
 * the deadline has passed. */
static bool eliminate_held(const dyn_friction_rows *r, const dyn_friction_state *s, const dyn_task *t)
{
    const size_t rank = dyn_task_rank(t), nv = r->nv, known = rank < nv ? rank : nv;
    const size_t most = rows_at_once(2 * known * nv);
    for (size_t i = 0; i < r->n; i++) {
        if (i % most == 0 && !dyn_may_continue(s->deadline)) return false;
        for (size_t c = 0; c < known; c++) {
            const double *U = t->U + c * nv, part = 1 - fabs(t->damping) / hypot(t->S[c], t->damping);
            double       *Y = r->Y + i * nv, along = 0;
            for (size_t v = 0; v < nv; v++)
                along += U[v] * Y[v];
            for (size_t v = 0; v < nv; v++)
                Y[v] -= part * along * U[v];
        }
    }
    return true;
}

/* Sets r->qdd to the accelerations qdd without held frames, and r->held_qdd to the accelerations with held frames.
 * Returns the energy norm sqrt(qdd^T M qdd) = |L^T qdd| of qdd. */
static double correct_accelerations(dyn_friction_rows *r, const dyn_friction_state *s,
                                    const dyn_contact_block *contacts, const double *qdd)
{
    const dyn_task *t  = &contacts->task;
    const size_t    nv = r->nv;
    double          b[DYN_MAX_HELD_AXES], norm = 0;
    for (size_t a = 0; a < t->k; a++)
        b[a] = contacts->jdot_qd[a * contacts->W + s->lane];
    dyn_contact_add_jacobian_product(contacts, qdd, s->lane, b);
    for (size_t v = 0; v < nv; v++) {
        double sum = 0;
        r->qdd[v]  = qdd[v * s->W + s->lane];
        for (size_t a = 0; a < t->k; a++)
            sum += t->X[v + nv * a] * b[a];
        r->held_qdd[v] = r->qdd[v] - sum;
    }
    for (size_t v = 0; v < nv; v++) {
        double sum = 0;
        for (size_t u = v; u < nv; u++)
            sum += t->M[u + nv * v] * r->qdd[u];
        norm += sum * sum;
    }
    return sqrt(norm);
}

enum { SIDE_BY_SIDE = 4 /* dot products at a time, since an addition waits only for the last one of its own sum */ };

/* Finds the dot products of a vector y of nv entries with SIDE_BY_SIDE consecutive rows of Y. */
static void multiply_four(size_t nv, const double *y, const double *Y, double sum[SIDE_BY_SIDE])
{
    double a = 0, b = 0, c = 0, d = 0;
    for (size_t v = 0; v < nv; v++) {
        a += y[v] * Y[v];
        b += y[v] * Y[nv + v];
        c += y[v] * Y[2 * nv + v];
        d += y[v] * Y[3 * nv + v];
    }
    sum[0] = a, sum[1] = b, sum[2] = c, sum[3] = d;
}

static double multiply_one(size_t nv, const double *y, const double *Y)
{
    double sum = 0;
    for (size_t v = 0; v < nv; v++)
        sum += y[v] * Y[v];
    return sum;
}

/* Sets A = Y^T Y. Returns false if the deadline has passed. */
static bool set_A(const dyn_friction_rows *r, const dyn_friction_state *s)
{
    const size_t n = r->n, nv = r->nv, most = rows_at_once(n * nv);
    for (size_t i = 0; i < n; i++) {
        if (i % most == 0 && !dyn_may_continue(s->deadline)) return false;
        const double *y = r->Y + i * nv;
        double       *A = r->A + i * n;
        size_t        j = 0;
        for (; j + SIDE_BY_SIDE <= i + 1; j += SIDE_BY_SIDE)
            multiply_four(nv, y, r->Y + j * nv, A + j);
        for (; j <= i; j++)
            A[j] = multiply_one(nv, y, r->Y + j * nv);
        for (j = 0; j < i; j++)
            r->A[j * n + i] = A[j];
    }
    return true;
}

/* Finds the Cholesky factor L of M = L L^T, after the rows and columns of driven coordinates in M are replaced by those
 * of the identity. */
static bool factor(const dyn_friction_rows *r, const dyn_friction_state *s, const double *M, const bool *driven)
{
    const size_t nv = r->nv;
    for (size_t i = 0; i < nv; i++)
        for (size_t j = 0; j < nv; j++) {
            const bool apart = driven && (driven[i] || driven[j]);
            r->L[i * nv + j] = apart ? i == j : M[(i * nv + j) * s->W + s->lane];
        }
    return LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', (lapack_int)nv, r->L, (lapack_int)nv) == 0;
}

bool dyn_friction_rows_set(dyn_friction_rows *r, const dyn_friction_state *s, const double *M, const bool *driven,
                           const double *qdd)
{
    r->with_held = false;
    if (!factor(r, s, M, driven) || !solve_rows(r, s, r->L)) return false;
    for (size_t i = 0; i < r->n; i++) {
        r->b[i] = 0;
        for (size_t v = 0; v < r->nv; v++)
            if (r->W[i * r->nv + v] != 0) r->b[i] += r->W[i * r->nv + v] * qdd[v * s->W + s->lane];
    }
    return set_A(r, s);
}

bool dyn_friction_rows_set_held(dyn_friction_rows *r, const dyn_friction_state *s, const dyn_contact_block *contacts,
                                const double *qdd)
{
    const size_t n = r->n, nv = r->nv;
    const double norm = correct_accelerations(r, s, contacts, qdd);
    r->with_held      = true;
    if (!solve_rows(r, s, contacts->task.M) || !eliminate_held(r, s, &contacts->task)) return false;
    for (size_t i = 0; i < n; i++) {
        r->b[i]    = 0;
        r->size[i] = sqrt(r->free_diagonal[i]) * norm;
        for (size_t v = 0; v < nv; v++) {
            r->b[i] += r->W[i * nv + v] * r->held_qdd[v];
            r->size[i] += fabs(r->W[i * nv + v] * r->held_qdd[v]);
        }
    }
    return set_A(r, s);
}

dyn_friction_status dyn_friction_rows_solve(const dyn_friction_rows *r, dyn_deadline deadline)
{
    const dyn_friction_problem p = {.n             = r->n,
                                    .A             = r->A,
                                    .b             = r->b,
                                    .positive      = r->positive,
                                    .negative      = r->negative,
                                    .free_diagonal = r->with_held ? r->free_diagonal : NULL,
                                    .size          = r->with_held ? r->size : NULL,
                                    .f             = r->f,
                                    .side          = r->side,
                                    .follows       = r->follows,
                                    .room          = r->room};
    return dyn_friction_problem_solve(&p, deadline);
}
