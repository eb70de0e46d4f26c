/* hua_torques.c - see hua_torques.h. */
#include "hua_torques.h"
#include <lapacke.h>
#include <math.h>
#include <string.h>

enum { MATRICES = 4, VECTORS = 15 };

size_t api_hua_entries(size_t nv, size_t n)
{
    return MATRICES * nv * nv + VECTORS * nv + 2 * n; /* integers and truth values have more than they need */
}

static void *take(double **room, size_t n)
{
    double *taken = *room;
    *room += n;
    return taken;
}

void api_hua_lay_out(api_hua_state *h, double *room)
{
    size_t   nv                 = h->nv;
    double **matrices[MATRICES] = {&h->M, &h->C, &h->A, &h->L};
    double **vectors[] = {&h->known, &h->zeta,  &h->q,        &h->qd,           &h->r, &h->rd, &h->rdd, &h->tau,
                          &h->want,  &h->sigma, &h->velocity, &h->acceleration, &h->a};
    for (size_t i = 0; i < MATRICES; i++)
        *matrices[i] = take(&room, nv * nv);
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = take(&room, nv);
    h->pivot = take(&room, nv);
    h->motor = take(&room, nv);
    h->x1    = take(&room, h->n);
    h->x2    = take(&room, h->n);
    for (size_t i = 0; i < nv; i++)
        h->motor[i] = false;
    for (size_t k = 0; k < h->n; k++)
        h->motor[h->coupling[k].v_theta] = true;
}

static double row(const double *matrix, size_t nv, size_t i, const double *x)
{
    double sum = 0;
    for (size_t j = 0; j < nv; j++)
        sum += matrix[i * nv + j] * x[j];
    return sum;
}

/* tau_c of the joints into `want`, without S theta''; what is wanted of motors' velocities and accelerations is not
 * known yet: theta' and 0. */
static void want_of_joints(api_hua_state *h)
{
    size_t nv = h->nv;
    for (size_t i = 0; i < nv; i++) {
        double ratio       = h->motor[i] ? 0 : h->kp[i] / h->kd[i];
        h->velocity[i]     = h->motor[i] ? h->qd[i] : h->rd[i] + ratio * (h->r[i] - h->q[i]);
        h->acceleration[i] = h->motor[i] ? 0 : h->rdd[i] + ratio * (h->rd[i] - h->qd[i]);
        h->sigma[i]        = h->velocity[i] - h->qd[i];
    }
    for (size_t i = 0; i < nv; i++)
        h->want[i] =
            row(h->M, nv, i, h->acceleration) + row(h->C, nv, i, h->velocity) + h->known[i] + h->kd[i] * h->sigma[i];
}

/* theta_d, theta'_d, theta''_r and sigma of the motors, without what S theta'' and q'' add to them. */
static void want_of_motors(api_hua_state *h)
{
    double w = h->filter;
    for (size_t k = 0; k < h->n; k++) {
        const dyn_coupling *c = &h->coupling[k];
        size_t              i = (size_t)c->v, t = (size_t)c->v_theta;
        double              ratio = h->kp[t] / h->kd[t], slip = h->qd[t] - h->qd[i];
        h->r[t]  = h->q[i] - c->spring.rest + (h->want[i] - c->spring.damping * slip) / c->spring.stiffness;
        h->rd[t] = h->x2[k];
        h->acceleration[t] =
            w * w * (h->r[t] - h->x1[k]) - 2 * w * h->x2[k] + ratio * (h->rd[t] - h->qd[t]) + h->acceleration[i];
        h->sigma[t] = h->rd[t] - h->qd[t] + ratio * (h->r[t] - h->q[t]) + h->sigma[i];
    }
}

/* tau_0 and L. With s = S theta'' of an elastic joint, the motor's theta''_r grows by w^2 s/k - q'', its sigma by
 * Lambda s/k, and tau_c by s. */
static void put_motor(api_hua_state *h, const dyn_coupling *c)
{
    size_t nv = h->nv, i = (size_t)c->v, t = (size_t)c->v_theta;
    double grows = 1 + h->kp[t] / c->spring.stiffness;
    h->tau[t]    = row(h->C, nv, t, h->qd) + h->known[t] + h->want[i] + h->kd[t] * h->sigma[t];
    for (size_t j = 0; j < nv; j++)
        h->L[t * nv + j] += h->motor[j] ? grows * h->M[i * nv + j] : h->M[t * nv + j];
    for (size_t m = 0; m < h->n; m++) {
        size_t joint = (size_t)h->coupling[m].v, motor = (size_t)h->coupling[m].v_theta;
        double B = h->M[t * nv + motor], faster = B * h->filter * h->filter / h->coupling[m].spring.stiffness;
        h->tau[t] += B * h->acceleration[motor];
        h->L[t * nv + joint] -= B;
        for (size_t u = 0; u < nv; u++)
            if (h->motor[u]) h->L[t * nv + u] += faster * h->M[joint * nv + u];
    }
}

static void put_torques(api_hua_state *h)
{
    size_t nv = h->nv;
    for (size_t i = 0; i < nv; i++) {
        h->tau[i] = h->want[i];
        for (size_t j = 0; j < nv; j++)
            h->L[i * nv + j] = !h->motor[i] && h->motor[j] ? h->M[i * nv + j] : 0;
    }
    for (size_t k = 0; k < h->n; k++) { /* an elastic joint gets nothing but what its motor brings */
        size_t i  = (size_t)h->coupling[k].v;
        h->tau[i] = 0;
        memset(h->L + i * nv, 0, nv * sizeof *h->L);
    }
    for (size_t k = 0; k < h->n; k++)
        put_motor(h, &h->coupling[k]);
}

/* a, from (A - L) a = tau_0 - zeta, and what it changes. By columns the matrix is the transposed one. */
static void measure(api_hua_state *h)
{
    size_t     nv = h->nv;
    lapack_int n  = (lapack_int)nv;
    for (size_t i = 0; i < nv * nv; i++)
        h->A[i] -= h->L[i];
    for (size_t i = 0; i < nv; i++)
        h->a[i] = h->tau[i] - h->zeta[i];
    if (LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, n, n, h->A, n, h->pivot) != 0 ||
        LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'T', n, 1, h->A, n, h->pivot, h->a, n) != 0)
        for (size_t i = 0; i < nv; i++)
            h->a[i] = NAN;
    for (size_t i = 0; i < nv; i++)
        h->tau[i] += row(h->L, nv, i, h->a);
    for (size_t k = 0; k < h->n; k++)
        for (size_t u = 0; u < nv; u++)
            if (h->motor[u])
                h->r[h->coupling[k].v_theta] +=
                    h->M[(size_t)h->coupling[k].v * nv + u] * h->a[u] / h->coupling[k].spring.stiffness;
}

void api_hua_find_torques(api_hua_state *h)
{
    want_of_joints(h);
    want_of_motors(h);
    put_torques(h);
    if (h->n > 0) measure(h);
    for (size_t k = 0; k < h->n; k++) {
        double w = h->filter, x1 = h->x1[k];
        h->x1[k] = h->x2[k];
        h->x2[k] = w * w * (h->r[h->coupling[k].v_theta] - x1) - 2 * w * h->x2[k];
    }
}
