/* hua_torques.c - computes the torques of the controller hua for one state (hua_torques.h). */
#include "hua_torques.h"
#include <lapacke.h>
#include <math.h>
#include <string.h>

enum { MATRICES = 4, VECTORS = 15 };

size_t dyn_hua_entries(size_t nv, size_t n)
{
    return MATRICES * nv * nv + VECTORS * nv + 2 * n; /* an int or bool gets the memory of a double */
}

static void *take(double **room, size_t n)
{
    double *taken = *room;
    *room += n;
    return taken;
}

void dyn_hua_lay_out(dyn_hua_state *h, double *room)
{
    size_t   nv                 = h->nv;
    double **matrices[MATRICES] = {&h->M, &h->C, &h->A, &h->L};
    double **vectors[]          = {&h->known_bias, &h->zeta,         &h->q,       &h->qd,     &h->r,
                                   &h->rd,         &h->rdd,          &h->tau,     &h->wanted, &h->sigma,
                                   &h->velocity,   &h->acceleration, &h->measured};
    for (size_t i = 0; i < MATRICES; i++)
        *matrices[i] = take(&room, nv * nv);
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = take(&room, nv);
    h->pivot    = take(&room, nv);
    h->is_motor = take(&room, nv);
    h->x1       = take(&room, h->n);
    h->x2       = take(&room, h->n);
    for (size_t i = 0; i < nv; i++)
        h->is_motor[i] = false;
    for (size_t k = 0; k < h->n; k++)
        h->is_motor[h->coupling[k].v_theta] = true;
}

static double row_times(const double *matrix, size_t nv, size_t i, const double *x)
{
    double sum = 0;
    for (size_t j = 0; j < nv; j++)
        sum += matrix[i * nv + j] * x[j];
    return sum;
}

/* Finds the joint torques tau_c of equation (39) without the term S theta''. The motors contribute their velocities
 * theta' and zero accelerations. */
static void find_joint_torques(dyn_hua_state *h)
{
    size_t nv = h->nv;
    for (size_t i = 0; i < nv; i++) {
        double ratio       = h->is_motor[i] ? 0 : h->kp[i] / h->kd[i];
        h->velocity[i]     = h->is_motor[i] ? h->qd[i] : h->rd[i] + ratio * (h->r[i] - h->q[i]);
        h->acceleration[i] = h->is_motor[i] ? 0 : h->rdd[i] + ratio * (h->rd[i] - h->qd[i]);
        h->sigma[i]        = h->velocity[i] - h->qd[i];
    }
    for (size_t i = 0; i < nv; i++)
        h->wanted[i] = row_times(h->M, nv, i, h->acceleration) + row_times(h->C, nv, i, h->velocity) +
                       h->known_bias[i] + h->kd[i] * h->sigma[i];
}

/* Finds theta_d, theta'_d, theta''_r and sigma of the motors, equations (43) to (47), without the terms in S theta''
 * and q''. */
static void find_motor_references(dyn_hua_state *h)
{
    double w = h->filter;
    for (size_t k = 0; k < h->n; k++) {
        const dyn_coupling *c = &h->coupling[k];
        size_t              i = (size_t)c->v, t = (size_t)c->v_theta;
        double              ratio = h->kp[t] / h->kd[t], spring_rate = h->qd[t] - h->qd[i];
        h->r[t]  = h->q[i] - c->spring.rest + (h->wanted[i] - c->spring.damping * spring_rate) / c->spring.stiffness;
        h->rd[t] = h->x2[k];
        h->acceleration[t] =
            w * w * (h->r[t] - h->x1[k]) - 2 * w * h->x2[k] + ratio * (h->rd[t] - h->qd[t]) + h->acceleration[i];
        h->sigma[t] = h->rd[t] - h->qd[t] + ratio * (h->r[t] - h->q[t]) + h->sigma[i];
    }
}

/* Adds the motor's row of an elastic joint to tau = tau_0 + L a, equation (49). theta_d depends on the accelerations a
 * through s = S theta'' in tau_c (39): tau_c contains s, theta''_r contains w^2 s/k - q'', and sigma contains Lambda
 * s/k. */
static void add_motor(dyn_hua_state *h, const dyn_coupling *c)
{
    size_t nv = h->nv, i = (size_t)c->v, t = (size_t)c->v_theta;
    double gain = 1 + h->kp[t] / c->spring.stiffness;
    h->tau[t]   = row_times(h->C, nv, t, h->qd) + h->known_bias[t] + h->wanted[i] + h->kd[t] * h->sigma[t];
    for (size_t j = 0; j < nv; j++)
        h->L[t * nv + j] += h->is_motor[j] ? gain * h->M[i * nv + j] : h->M[t * nv + j];
    for (size_t m = 0; m < h->n; m++) {
        size_t joint = (size_t)h->coupling[m].v, motor = (size_t)h->coupling[m].v_theta;
        double B = h->M[t * nv + motor], filter_gain = B * h->filter * h->filter / h->coupling[m].spring.stiffness;
        h->tau[t] += B * h->acceleration[motor];
        h->L[t * nv + joint] -= B;
        for (size_t u = 0; u < nv; u++)
            if (h->is_motor[u]) h->L[t * nv + u] += filter_gain * h->M[joint * nv + u];
    }
}

static void find_affine_torques(dyn_hua_state *h)
{
    size_t nv = h->nv;
    for (size_t i = 0; i < nv; i++) {
        h->tau[i] = h->wanted[i];
        for (size_t j = 0; j < nv; j++)
            h->L[i * nv + j] = !h->is_motor[i] && h->is_motor[j] ? h->M[i * nv + j] : 0;
    }
    for (size_t k = 0; k < h->n; k++) { /* an elastic joint has no torque on the joint side, only its motor's */
        size_t i  = (size_t)h->coupling[k].v;
        h->tau[i] = 0;
        memset(h->L + i * nv, 0, nv * sizeof *h->L);
    }
    for (size_t k = 0; k < h->n; k++)
        add_motor(h, &h->coupling[k]);
}

/* Finds the accelerations a of the actual robot from (A - L) a = tau_0 - zeta, and adds the terms in a to torques and
 * references. LAPACK reads the row-major matrix transposed. */
static void find_measured_accelerations(dyn_hua_state *h)
{
    size_t     nv = h->nv;
    lapack_int n  = (lapack_int)nv;
    for (size_t i = 0; i < nv * nv; i++)
        h->A[i] -= h->L[i];
    for (size_t i = 0; i < nv; i++)
        h->measured[i] = h->tau[i] - h->zeta[i];
    if (LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, n, n, h->A, n, h->pivot) != 0 ||
        LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'T', n, 1, h->A, n, h->pivot, h->measured, n) != 0)
        for (size_t i = 0; i < nv; i++)
            h->measured[i] = NAN;
    for (size_t i = 0; i < nv; i++)
        h->tau[i] += row_times(h->L, nv, i, h->measured);
    for (size_t k = 0; k < h->n; k++)
        for (size_t u = 0; u < nv; u++)
            if (h->is_motor[u])
                h->r[h->coupling[k].v_theta] +=
                    h->M[(size_t)h->coupling[k].v * nv + u] * h->measured[u] / h->coupling[k].spring.stiffness;
}

void dyn_hua_find_torques(dyn_hua_state *h)
{
    find_joint_torques(h);
    find_motor_references(h);
    find_affine_torques(h);
    if (h->n > 0) find_measured_accelerations(h);
    for (size_t k = 0; k < h->n; k++) {
        double w = h->filter, x1 = h->x1[k];
        h->x1[k] = h->x2[k];
        h->x2[k] = w * w * (h->r[h->coupling[k].v_theta] - x1) - 2 * w * h->x2[k];
    }
}
