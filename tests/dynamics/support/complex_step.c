/* complex_step.c - moves states by complex steps and reads the derivatives of results (complex_step.h). */
#include "complex_step.h"
#include "check.h"
#include <stdlib.h>

double _Complex *complex_array(size_t n)
{
    size_t           bytes = (n * sizeof(double _Complex) + DYN_ALIGN) / DYN_ALIGN * DYN_ALIGN;
    double _Complex *a     = aligned_alloc(DYN_ALIGN, bytes);
    assert_non_null(a);
    for (size_t i = 0; i < n; i++)
        a[i] = 0;
    return a;
}

static double _Complex *from_row(const double *rows, size_t row, size_t n)
{
    double _Complex *a = complex_array(n);
    for (size_t i = 0; i < n; i++)
        a[i] = rows[row * n + i];
    return a;
}

complex_state complex_state_make(const trial *t, size_t row)
{
    size_t        bytes = dyn_kernels_complex.step_workspace_size(t->model);
    complex_state s     = {.t         = t,
                           .workspace = aligned_alloc(DYN_ALIGN, (bytes + DYN_ALIGN) / DYN_ALIGN * DYN_ALIGN),
                           .q         = from_row(t->q, row, t->nq),
                           .qd        = from_row(t->qd, row, t->nv),
                           .qdd       = from_row(t->qdd, row, t->nv),
                           .qddd      = from_row(t->qddd, row, t->nv),
                           .tau       = from_row(t->tau, row, t->nv),
                           .wrenches  = from_row(t->wrenches, row, 9 * t->scene.n_wrenches)};
    assert_non_null(s.workspace);
    return s;
}

void complex_state_free(complex_state *s)
{
    free(s->workspace);
    free(s->q), free(s->qd), free(s->qdd), free(s->qddd), free(s->tau), free(s->wrenches);
}

void complex_add(size_t n, double _Complex *x, const double *dx)
{
    for (size_t i = 0; i < n; i++)
        x[i] += I * (COMPLEX_STEP * dx[i]);
}

/* Computes the rates of a free joint's position p and quaternion (u, s) from the body's linear and angular velocity v,
 * w in its own axes: p' = R v = v + 2 u x (u x v + s v), u' = (s w + u x w) / 2, s' = -u.w / 2. */
static void free_rates(const double quaternion[4], const double *v, const double *w, double *position, double rate[4])
{
    const double *u = quaternion, s = quaternion[3];
    rate[3] = -(u[0] * w[0] + u[1] * w[1] + u[2] * w[2]) / 2;
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        rate[i] = (s * w[i] + u[j] * w[k] - u[k] * w[j]) / 2;
        double c[3];
        for (int a = 0; v && a < 3; a++)
            c[a] = u[(a + 1) % 3] * v[(a + 2) % 3] - u[(a + 2) % 3] * v[(a + 1) % 3] + s * v[a];
        if (v) position[i] = v[i] + 2 * (u[j] * c[k] - u[k] * c[j]);
    }
}

void position_rates(const dyn_model *m, const double *q, const double *qd, double *rate)
{
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        if (b->joint.mimic) continue;
        if (b->joint.kind == DYN_FLOATING)
            free_rates(q + b->joint.q + 3, qd + b->joint.v, qd + b->joint.v + 3, rate + b->joint.q,
                       rate + b->joint.q + 3);
        else if (b->joint.kind == DYN_SPHERICAL)
            free_rates(q + b->joint.q, NULL, qd + b->joint.v, NULL, rate + b->joint.q);
        else
            rate[b->joint.q] = qd[b->joint.v];
    }
}

void complex_state_move(complex_state *s, const double *direction)
{
    double *q = trial_array(s->t, s->t->nq), *rate = trial_array(s->t, s->t->nq);
    for (size_t i = 0; i < s->t->nq; i++)
        q[i] = creal(s->q[i]);
    position_rates(s->t->model, q, direction, rate);
    complex_add(s->t->nq, s->q, rate);
    free(q), free(rate);
}

complex_state complex_state_along(const trial *t, size_t j)
{
    complex_state s    = complex_state_make(t, 0);
    double       *unit = calloc(t->nv, sizeof *unit);
    assert_non_null(unit);
    unit[j] = 1;
    complex_state_move(&s, unit);
    free(unit);
    return s;
}

void complex_derivative(size_t n, const double _Complex *x, double *derivative)
{
    for (size_t i = 0; i < n; i++)
        derivative[i] = cimag(x[i]) / COMPLEX_STEP;
}

void complex_inverse_rates(const complex_state *s, double *tau, double *joint_wrenches)
{
    const size_t     nv = s->t->nv, nj = 6 * s->t->bodies;
    double _Complex *efforts = complex_array(nv), *wrenches = complex_array(nj);
    dyn_kernels_complex.inverse_dynamics(&s->t->scene, s->workspace,
                                         &(dyn_inverse_dynamics){.q              = as_lanes(s->q),
                                                                 .qd             = as_lanes(s->qd),
                                                                 .qdd            = as_lanes(s->qdd),
                                                                 .wrenches       = as_lanes(s->wrenches),
                                                                 .tau            = as_lanes(efforts),
                                                                 .joint_wrenches = as_lanes(wrenches)},
                                         1);
    complex_derivative(nv, efforts, tau);
    complex_derivative(nj, wrenches, joint_wrenches);
    free(efforts), free(wrenches);
}
