/* contact.c - solves for the wrenches on held frames (contact.h). */
#include "contact.h"
#include "dynamics/dynamics.h"
#include "dynamics/held_directions.h"
#include <lapacke.h>
#include <math.h>
#include <string.h>

/* --- a block of states ------------------------------------------------------------------------------------------ */

size_t dyn_contact_entries(size_t nv, const dyn_contact *contact)
{
    size_t k = contact->k; /* `task` needs memory for one state only, but is counted for every lane */
    return k * nv + 3 * k + nv * nv + 12 * nv + dyn_task_entries(nv, k);
}

dyn_contact_block dyn_contact_lay_out(const dyn_contact *contact, size_t nv, size_t W, double *lanes)
{
    size_t            k = contact->k;
    dyn_contact_block b = {.contact   = contact,
                           .nv        = nv,
                           .W         = W,
                           .J         = lanes,
                           .unsettled = 1,
                           .task      = {.nv = nv, .k = k, .redundant = true}};
    b.row_scale         = b.J + k * nv * W;
    b.jdot_qd           = b.row_scale + k * W;
    b.sizes             = b.jdot_qd + k * W;
    b.M                 = b.sizes + k * W;
    b.frame_J           = b.M + nv * nv * W;
    b.frame_J_dot       = b.frame_J + 6 * nv * W;
    dyn_task_lay_out(&b.task, b.frame_J_dot + 6 * nv * W);
    return b;
}

/* The acceleration by which velocities of rounding size are judged, m/s^2. */
static double gravity_of(const dyn_scene *scene)
{
    const double *g = scene->gravity;
    return fmax(sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]), DYN_STANDARD_GRAVITY);
}

void dyn_contact_set_sizes(const dyn_contact_block *b, const dyn_held_frame *held_frame,
                           const dyn_contact_states *states, size_t first, size_t lane)
{
    const double reach = dyn_point_reach(states->scene->model, held_frame->frame.body, held_frame->frame.X_bf.p);
    size_t       nv = b->nv, W = b->W;
    double       u = 0, w = 0, gravity = gravity_of(states->scene);
    for (size_t v = 0; states->qd && v < nv; v++) {
        double linear = 0, angular = 0;
        for (size_t a = 0; a < 3; a++) {
            linear  = fmax(linear, fabs(b->frame_J[(a * nv + v) * W + lane]));
            angular = fmax(angular, fabs(b->frame_J[((3 + a) * nv + v) * W + lane]));
        }
        u += linear * fabs(states->qd[v * W + lane]);
        w += angular * fabs(states->qd[v * W + lane]);
    }
    for (size_t i = 0; i < held_frame->n; i++)
        b->sizes[(first + i) * W + lane] = held_frame->axis[i] < 3 ? gravity + b->unsettled * w * (reach * w + 2 * u)
                                                                   : gravity / reach + b->unsettled * w * w;
}

/* Fills the rows of one held frame in J, jdot_qd, row_scale and sizes, from row `first` on. */
static void fill_frame(const dyn_contact_block *b, const dyn_held_frame *held_frame, const dyn_contact_states *states,
                       size_t first)
{
    size_t           nv = b->nv, W = b->W;
    const dyn_frame *frame = &held_frame->frame;
    const double    *qd = states->qd, reach = dyn_point_reach(states->scene->model, frame->body, frame->X_bf.p);
    dyn_kinematics   io = {.q            = states->q,
                           .qd           = qd,
                           .frame        = frame,
                           .frame_axes   = held_frame->frame_axes,
                           .jacobian     = b->frame_J,
                           .jacobian_dot = b->frame_J_dot};
    states->kernels->kinematics(states->scene, states->workspace, &io, 1);
    for (size_t lane = 0; lane < W; lane++)
        dyn_contact_set_sizes(b, held_frame, states, first, lane);
    for (size_t i = 0; i < held_frame->n; i++) {
        const double *J_dot   = b->frame_J_dot + (size_t)held_frame->axis[i] * nv * W;
        double       *jdot_qd = b->jdot_qd + (first + i) * W, *row_scale = b->row_scale + (first + i) * W;
        memcpy(b->J + (first + i) * nv * W, b->frame_J + (size_t)held_frame->axis[i] * nv * W, nv * W * sizeof *b->J);
        for (size_t l = 0; l < W; l++)
            row_scale[l] = dyn_task_row_scale(b->frame_J + l, nv, W, (size_t)held_frame->axis[i], reach);
        memset(jdot_qd, 0, W * sizeof *jdot_qd);
        for (size_t v = 0; qd && v < nv; v++)
            for (size_t l = 0; l < W; l++)
                jdot_qd[l] += J_dot[v * W + l] * qd[v * W + l];
    }
}

void dyn_contact_evaluate(const dyn_contact_block *b, const dyn_contact_states *states)
{
    const dyn_contact *contact = b->contact;
    dyn_mass_matrix    io      = {.q = states->q, .mass_matrix = b->M, .inverse = b->inverse, .singular = b->singular};
    states->kernels->mass_matrix(states->scene, states->workspace, &io, 1);
    for (size_t i = 0, first = 0; i < contact->n; first += contact->frame[i++].n)
        fill_frame(b, &contact->frame[i], states, first);
}

/* --- one state -------------------------------------------------------------------------------------------------- */

/* Removes the driven coordinates from the system: rows and columns of M become those of the identity, columns of J
 * zero. */
static void decouple_driven(const dyn_contact_block *b)
{
    const dyn_task *t  = &b->task;
    size_t          nv = b->nv;
    for (size_t v = 0; b->driven && v < nv; v++) {
        if (!b->driven[v]) continue;
        for (size_t i = 0; i < nv; i++)
            t->M[v + nv * i] = t->M[i + nv * v] = i == v;
        for (size_t a = 0; a < t->k; a++)
            t->X[v + nv * a] = 0;
    }
}

bool dyn_contact_solve(dyn_contact_block *b, size_t lane)
{
    dyn_task *t  = &b->task;
    size_t    nv = b->nv, W = b->W;
    if (!dyn_may_continue(b->contact->deadline)) return false;
    for (size_t i = 0; i < nv * nv; i++)
        t->M[i] = b->M[i * W + lane];
    for (size_t a = 0; a < t->k; a++)
        dyn_task_set_row(t, a, b->J + a * nv * W + lane, W, b->row_scale[a * W + lane]);
    decouple_driven(b);
    return dyn_task_solve(t) == DYN_TASK_DONE;
}

size_t dyn_contact_find_contradiction(const dyn_contact_block *b, const double *along, const double *qdd, size_t lane)
{
    double sizes[DYN_MAX_HELD_AXES] = {0};
    size_t k = b->task.k, nv = b->nv, W = b->W;
    for (size_t a = 0; a < k; a++) {
        sizes[a] = b->sizes[a * W + lane];
        for (size_t v = 0; v < nv; v++)
            sizes[a] += fabs(b->J[(a * nv + v) * W + lane] * qdd[v * W + lane]);
    }
    size_t row = dyn_task_contradiction(&b->task, along, sizes);
    return row < k ? 1 + row : 0;
}

void dyn_contact_add_jacobian_product(const dyn_contact_block *b, const double *x, size_t lane, double *to)
{
    size_t nv = b->nv, W = b->W;
    for (size_t a = 0; x && a < b->task.k; a++)
        for (size_t v = 0; v < nv; v++)
            to[a] += b->J[(a * nv + v) * W + lane] * x[v * W + lane];
}

void dyn_contact_apply_correction(const dyn_contact_block *b, const double *right_side, size_t lane, double *x)
{
    const dyn_task *t = &b->task;
    for (size_t v = 0; v < t->nv; v++) {
        double sum = 0;
        for (size_t c = 0; c < t->k; c++)
            sum += t->X[v + t->nv * c] * right_side[c];
        x[v * b->W + lane] -= sum;
    }
}

void dyn_contact_put_wrenches(const dyn_contact_block *b, const double *right_side, size_t lane, double *wrenches)
{
    const dyn_task       *t     = &b->task;
    const dyn_held_frame *frame = b->contact->frame;
    size_t                W = b->W, a = 0;
    for (size_t i = 0; i < b->contact->n * DYN_FRAME_AXES; i++)
        wrenches[i * W + lane] = 0;
    for (size_t i = 0; i < b->contact->n; i++)
        for (size_t j = 0; j < frame[i].n; j++, a++) {
            double sum = 0;
            for (size_t c = 0; c < t->k; c++)
                sum -= t->Lambda[a + t->k * c] * right_side[c];
            wrenches[(i * DYN_FRAME_AXES + (size_t)frame[i].axis[j]) * W + lane] = sum;
        }
}

void dyn_contact_put_residual(const dyn_contact_block *b, double damping, const double *wrenches, size_t lane,
                              double *residual)
{
    for (size_t i = 0; i < b->contact->n * DYN_FRAME_AXES; i++)
        residual[i * b->W + lane] = -damping * wrenches[i * b->W + lane];
}

/* With M = L L^T the matrix is Z^T Z, Z = L^-1 J^T. The task keeps L, and its U is free. */
void dyn_contact_put_delassus(const dyn_contact_block *b, double damping, size_t lane, double *delassus)
{
    const dyn_task *t  = &b->task;
    const size_t    nv = b->nv, W = b->W, k = t->k;
    for (size_t a = 0; a < k; a++)
        for (size_t v = 0; v < nv; v++)
            t->U[v + nv * a] = b->J[(a * nv + v) * W + lane];
    if (nv > 0)
        LAPACKE_dtrtrs_work(LAPACK_COL_MAJOR, 'L', 'N', 'N', (lapack_int)nv, (lapack_int)k, t->M, (lapack_int)nv, t->U,
                            (lapack_int)nv);
    for (size_t a = 0; a < k; a++)
        for (size_t c = 0; c <= a; c++) {
            double sum = a == c ? damping : 0;
            for (size_t v = 0; v < nv; v++)
                sum += t->U[v + nv * a] * t->U[v + nv * c];
            delassus[(a * k + c) * W + lane] = delassus[(c * k + a) * W + lane] = sum;
        }
}

void dyn_contact_subtract_efforts(const dyn_contact_block *b, const double *wrenches, size_t lane, double *tau)
{
    const dyn_held_frame *frame = b->contact->frame;
    size_t                W = b->W, a = 0;
    for (size_t i = 0; i < b->contact->n; i++)
        for (size_t j = 0; j < frame[i].n; j++, a++) {
            double along = wrenches[(i * DYN_FRAME_AXES + (size_t)frame[i].axis[j]) * W + lane];
            for (size_t v = 0; v < b->nv; v++)
                tau[v * W + lane] -= b->J[(a * b->nv + v) * W + lane] * along;
        }
}

void dyn_contact_pad(const dyn_contact_block *b, size_t live, size_t entries, double *values)
{
    for (size_t i = 0; i < entries; i++)
        for (size_t l = live; l < b->W; l++)
            values[i * b->W + l] = values[i * b->W + live - 1];
}
