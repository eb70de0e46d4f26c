/* held_frames.h - finds the accelerations of a robot whose frames are held along some directions, and their
 * derivatives. Part of step.c.
 *
 * With J (k x nv) the rows of the frames' Jacobians in these directions and l the efforts along them,
 *
 *     M qdd + bias = tau + J^T l,  J qdd + J' qd = 0.
 *
 * Let a_0 be the acceleration without l, Y = M^-1 J^T and G = J Y. Then l = -G^-1 (J a_0 + J' qd) and qdd = a_0 + Y l.
 * With a_x the derivative of forward dynamics at constant l, and C_x that of J qdd + J' qd at constant qdd,
 *
 *     dqdd/dx = a_x - Y G^-1 (J a_x + C_x).
 *
 * G = L D L^T may be singular, since directions may depend on each other: a pivot that is zero up to rounding is left
 * out with its direction, and qdd is the same whichever of dependent directions remain. */
#pragma once
#include "kernels.h"
#include "dynamics/recursion/world_kinematics.h"
#include "dynamics/step.h"
#include <string.h>

/* A pivot below this part of its diagonal entry counts as zero. */
#define DEPENDENT 1e-12
/* A direction that is left out must be held by the others up to this part of the largest acceleration. */
#define CONSISTENT 1e-8

typedef struct held_system {
    dyn_scene        scene; /* with the wrenches of held frames after those of the request */
    const dyn_scene *free;  /* without them */
    const dyn_step  *io;
    size_t           nv, k;
    lane            *M, *inverse;           /* [nv x nv] */
    lane            *frame_J, *frame_J_dot; /* [6 x nv] of one frame */
    lane            *J, *Y, *by_q, *by_qd;  /* [k x nv]: J; Y^T; C_q and C_qd */
    lane            *right;                 /* [k x nv] */
    lane            *L, *reciprocal;        /* [k x k], [k]: L below its diagonal; 1/D */
    lane            *c, *l;                 /* [k]: J' qd, later J a_0 + J' qd; efforts */
    lane            *qdd;                   /* [nv] */
    lane            *wrenches;              /* [9 (n_wrenches + n_held)] */
} held_system;

/* The outputs of an evaluation; the matrices are set only if it differentiates. */
typedef struct held_outputs {
    lane *qdd, *a_q, *a_qd, *a_tau, *singular, *contradictory;
} held_outputs;

static inline held_system held_place(const dyn_scene *scene, const dyn_step *io, lane *work)
{
    const size_t nv = (size_t)scene->model->nv;
    held_system  h  = {.scene = *scene, .free = scene, .io = io, .nv = nv};
    for (size_t i = 0; i < io->n_held; i++)
        h.k += io->held[i].n;
    if (io->n_held > 0) h.scene.wrench = io->sites;
    h.scene.n_wrenches += io->n_held;
    lane **const arrays[] = {&h.M,     &h.inverse, &h.frame_J,    &h.frame_J_dot, &h.J, &h.Y,   &h.by_q,    &h.by_qd,
                             &h.right, &h.L,       &h.reciprocal, &h.c,           &h.l, &h.qdd, &h.wrenches};
    const size_t rows = h.k * nv, sizes[] = {nv * nv, nv * nv,   6 * nv, 6 * nv, rows, rows, rows, rows,
                                             rows,    h.k * h.k, h.k,    h.k,    h.k,  nv,   0};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; work += sizes[i++])
        *arrays[i] = work;
    return h;
}

/* --- the system ------------------------------------------------------------------------------------------------- */

/* Sets the rows of J, the right side J' qd, and J' as the first part of C_qd. */
static inline void held_set_rows(const held_system *h, const lane *q, const lane *qd, void *memory)
{
    const size_t nv = h->nv;
    for (size_t i = 0, row = 0; i < h->io->n_held; i++) {
        const dyn_held_frame *f = &h->io->held[i];
        LANE_NAME(kinematics)
        (h->free, memory,
         &(dyn_kinematics){.q            = (const double *)q,
                           .qd           = (const double *)qd,
                           .frame        = &f->frame,
                           .frame_axes   = f->frame_axes,
                           .jacobian     = (double *)h->frame_J,
                           .jacobian_dot = (double *)h->frame_J_dot},
         1);
        for (size_t a = 0; a < f->n; a++, row++) {
            const lane *J_dot = h->frame_J_dot + (size_t)f->axis[a] * nv;
            memcpy(h->J + row * nv, h->frame_J + (size_t)f->axis[a] * nv, nv * sizeof(lane));
            memcpy(h->by_qd + row * nv, J_dot, nv * sizeof(lane));
            h->c[row] = lane_of(0);
            for (size_t v = 0; qd && v < nv; v++)
                h->c[row] = add_mul(h->c[row], J_dot[v], qd[v]);
        }
    }
}

LANE_INLINE lane row_product(size_t n, const lane *a, const lane *b)
{
    lane sum = lane_of(0);
    for (size_t v = 0; v < n; v++)
        sum = add_mul(sum, a[v], b[v]);
    return sum;
}

/* Sets Y = M^-1 J^T, row by row of its transpose, and factors G = J Y = L D L^T. */
static inline void held_factor(const held_system *h)
{
    const size_t nv = h->nv, k = h->k;
    for (size_t a = 0; a < k; a++)
        for (size_t v = 0; v < nv; v++)
            h->Y[a * nv + v] = row_product(nv, h->inverse + v * nv, h->J + a * nv);
    for (size_t a = 0; a < k; a++) {
        lane *row = h->L + a * k, diagonal = row_product(nv, h->J + a * nv, h->Y + a * nv), pivot = diagonal;
        for (size_t b = 0; b < a; b++) { /* row[b] is L_ab D_b until b is done */
            lane sum = row_product(nv, h->J + a * nv, h->Y + b * nv);
            for (size_t e = 0; e < b; e++)
                sum = sub_mul(sum, row[e], h->L[b * k + e]);
            row[b] = sum;
        }
        for (size_t b = 0; b < a; b++) {
            lane scaled = row[b] * h->reciprocal[b];
            pivot       = sub_mul(pivot, row[b], scaled);
            row[b]      = scaled;
        }
        lane_mask counts = lane_less(DEPENDENT * diagonal, pivot);
        h->reciprocal[a] = lane_select(counts, 1.0 / pivot, lane_of(0));
    }
}

/* Replaces column c of X (k rows, `stride` apart) by G^-1 X. Returns the largest entry of a direction left out, after
 * the others are eliminated. */
LANE_INLINE lane held_solve(const held_system *h, lane *X, size_t stride)
{
    const size_t k    = h->k;
    lane         most = lane_of(0);
    for (size_t a = 0; a < k; a++) {
        for (size_t b = 0; b < a; b++)
            X[a * stride] = sub_mul(X[a * stride], h->L[a * k + b], X[b * stride]);
        lane size = lane_abs(X[a * stride]), out = lane_abs(h->reciprocal[a]);
        size = lane_select(lane_less(lane_of(0), out), lane_of(0), size);
        most = lane_select(lane_less(most, size), size, most);
    }
    for (size_t a = 0; a < k; a++)
        X[a * stride] = X[a * stride] * h->reciprocal[a];
    for (size_t a = k; a-- > 0;)
        for (size_t b = a + 1; b < k; b++)
            X[a * stride] = sub_mul(X[a * stride], h->L[b * k + a], X[b * stride]);
    return most;
}

/* Corrects qdd, which is a_0 on entry, and sets the wrenches that hold the frames. */
static inline void held_correct(const held_system *h, lane *qdd, lane *contradictory)
{
    const size_t nv = h->nv, given = 9 * h->free->n_wrenches;
    lane         largest = lane_of(1);
    for (size_t a = 0; a < h->k; a++) {
        h->l[a]   = h->c[a] + row_product(nv, h->J + a * nv, qdd);
        lane size = lane_abs(h->l[a]);
        largest   = lane_select(lane_less(largest, size), size, largest);
    }
    lane left      = held_solve(h, h->l, 1);
    *contradictory = lane_select(lane_less(CONSISTENT * largest, left), lane_of(1), *contradictory);
    if (given > 0) memcpy(h->wrenches, block_in(h->io->wrenches, 0, 0), given * sizeof(lane));
    clear(h->wrenches + given, 9 * h->io->n_held);
    for (size_t i = 0, a = 0; i < h->io->n_held; i++)
        for (size_t j = 0; j < h->io->held[i].n; j++, a++) {
            h->wrenches[given + 9 * i + (size_t)h->io->held[i].axis[j]] = -h->l[a];
            for (size_t v = 0; v < nv; v++)
                qdd[v] = sub_mul(qdd[v], h->l[a], h->Y[a * nv + v]);
        }
}

/* --- derivatives ------------------------------------------------------------------------------------------------ */

/* An axis of a joint as its displacement moves a frame: d the velocity of the frame's origin, z the angular velocity,
 * with the rates that they have while the axis moves with the parent. A translation has no z. */
typedef struct held_axis {
    vec3 z, zd, zdd, d1, d2;
} held_axis;

LANE_INLINE held_axis held_axis_of(const world_motion *P, const world_motion *B, const world_motion *f, vec3 z,
                                   bool turns)
{
    const vec3 zd = cross(P->w, z), zdd = cross_add(cross(P->wd, z), P->w, zd), o = vec3_zero();
    if (!turns) return (held_axis){o, o, o, zd, zdd};
    const vec3 arm = sub(B->p, P->p), spin = cross(P->w, arm);
    const vec3 velocity = add(P->v, spin), acceleration = cross_add(cross_add(P->a, P->wd, arm), P->w, spin);
    const vec3 r = sub(f->p, B->p), rd = sub(f->v, velocity), rdd = sub(f->a, acceleration);
    return (held_axis){z, zd, zdd, cross_add(cross(zd, r), z, rd),
                       cross_add(cross_add(cross(zdd, r), add(zd, zd), rd), z, rdd)};
}

/* Derivatives of the frame's six accelerations: by the coordinate, and by its rate without J'. */
LANE_INLINE void held_axis_rates(const held_axis *x, const world_motion *f, bool frame_axes, lane by_q[6],
                                 lane by_qd[6])
{
    vec3 q_v, q_w, qd_v, qd_w;
    if (frame_axes) {
        qd_v = sub(x->d1, cross(x->z, f->v));
        qd_w = x->zd;
        q_v  = sub(sub(sub(x->d2, cross(x->zd, f->v)), cross(x->z, f->a)), cross(f->w, qd_v));
        q_w  = sub(x->zdd, cross(f->w, x->zd));
        q_v = mat3_mul_transposed(&f->R, q_v), q_w = mat3_mul_transposed(&f->R, q_w);
        qd_v = mat3_mul_transposed(&f->R, qd_v), qd_w = mat3_mul_transposed(&f->R, qd_w);
    } else {
        q_v  = x->d2;
        q_w  = cross_add(cross_add(x->zdd, x->zd, f->w), x->z, f->wd);
        qd_v = x->d1;
        qd_w = cross_add(x->zd, x->z, f->w);
    }
    store3(by_q, q_v), store3(by_q + 3, q_w), store3(by_qd, qd_v), store3(by_qd + 3, qd_w);
}

/* Adds the columns of one body's joint to C_q and C_qd of a frame, whose rows begin at `row`. */
static inline void held_joint_columns(const held_system *h, const dyn_held_frame *held, const dyn_body *b,
                                      const world_motion *P, const world_motion *B, const world_motion *f, size_t row)
{
    const bool   free  = dyn_joint_has_quaternion(b->joint.kind);
    const int    first = free ? joint_first_axis(b) : b->joint.kind == DYN_REVOLUTE ? 5 : 2;
    const double ratio = free ? 1 : b->joint.ratio;
    for (int k = first; k < (free ? 6 : first + 1); k++) {
        const size_t    v = (size_t)(b->joint.v + k - first);
        const held_axis x = held_axis_of(P, B, f, times(ratio, mat3_column(&B->R, k % 3)), k >= 3);
        lane            by_q[6], by_qd[6];
        held_axis_rates(&x, f, held->frame_axes, by_q, by_qd);
        for (size_t a = 0; a < held->n; a++) {
            lane *q = &h->by_q[(row + a) * h->nv + v], *qd = &h->by_qd[(row + a) * h->nv + v];
            *q  = *q + by_q[held->axis[a]];
            *qd = *qd + by_qd[held->axis[a]];
        }
    }
}

/* Sets C_q, and adds to C_qd, which has J' before. */
static inline void held_rates(const held_system *h, const lane *q, const lane *qd, void *memory)
{
    const dyn_model   *m    = h->scene.model;
    arena              room = {.base = memory};
    world_workspace    ws   = place_world(&room, m);
    const world_motion rest = world_at_rest();
    need_nothing(m, &ws.needed);
    for (size_t i = 0; i < h->io->n_held; i++)
        need_body(m, &ws.needed, h->io->held[i].frame.body);
    list_needed(m, &ws.needed);
    needed_motions(m, &ws, q, (coordinate_rates){.qd = qd, .qdd = h->qdd}, ACCELERATIONS);
    clear(h->by_q, h->k * h->nv);
    for (size_t i = 0, row = 0; i < h->io->n_held; row += h->io->held[i++].n) {
        const dyn_held_frame *held = &h->io->held[i];
        const world_motion    f = frame_of(motion_of(ws.world, &rest, held->frame.body), &held->frame, ACCELERATIONS);
        for (int body = held->frame.body; body != DYN_WORLD; body = m->body[body].tree.parent)
            held_joint_columns(h, held, &m->body[body], motion_of(ws.world, &rest, m->body[body].tree.parent),
                               &ws.world[body], &f, row);
    }
}

/* a_x -= Y G^-1 (J a_x + C_x); C NULL means zeros. */
static inline void held_project(const held_system *h, lane *a, const lane *C)
{
    const size_t nv = h->nv;
    for (size_t r = 0; r < h->k; r++)
        for (size_t c = 0; c < nv; c++)
            h->right[r * nv + c] = C ? C[r * nv + c] : lane_of(0);
    for (size_t r = 0; r < h->k; r++)
        for (size_t v = 0; v < nv; v++)
            for (size_t c = 0; c < nv; c++)
                h->right[r * nv + c] = add_mul(h->right[r * nv + c], h->J[r * nv + v], a[v * nv + c]);
    for (size_t c = 0; c < nv; c++)
        held_solve(h, h->right + c, nv);
    for (size_t v = 0; v < nv; v++)
        for (size_t r = 0; r < h->k; r++)
            for (size_t c = 0; c < nv; c++)
                a[v * nv + c] = sub_mul(a[v * nv + c], h->Y[r * nv + v], h->right[r * nv + c]);
}

/* Sets M^-1 and J at q, the right side J' qd, and the factors of G. */
static inline void held_prepare(const held_system *h, const lane *q, const lane *qd, lane *singular, void *memory)
{
    LANE_NAME(mass_matrix)
    (h->free, memory,
     &(dyn_mass_matrix){.q           = (const double *)q,
                        .mass_matrix = (double *)h->M,
                        .inverse     = (double *)h->inverse,
                        .singular    = (double *)singular},
     1);
    held_set_rows(h, q, qd, memory);
    held_factor(h);
}

/* Sets the derivatives of the accelerations h->qdd; those with respect to tau only if a_tau is not NULL. Overwrites
 * to->qdd. */
static inline void held_differentiate(const held_system *h, const lane *q, const lane *qd, const held_outputs *to,
                                      void *memory)
{
    lane ignored;
    LANE_NAME(forward_sensitivity)
    (&h->scene, memory,
     &(dyn_forward_sensitivity){.q         = (const double *)q,
                                .qd        = (const double *)qd,
                                .tau       = h->io->tau,
                                .wrenches  = (const double *)h->wrenches,
                                .qdd       = (double *)to->qdd,
                                .dqdd_dq   = (double *)to->a_q,
                                .dqdd_dqd  = (double *)to->a_qd,
                                .dqdd_dtau = (double *)to->a_tau,
                                .singular  = (double *)&ignored},
     1);
    held_rates(h, q, qd, memory);
    held_project(h, to->a_q, h->by_q);
    held_project(h, to->a_qd, h->by_qd);
    if (to->a_tau) held_project(h, to->a_tau, NULL);
}

/* Computes qdd at (q, qd) with held frames and, if `differentiates`, its derivatives. */
static inline void held_evaluate(const held_system *h, const lane *q, const lane *qd, const held_outputs *to,
                                 bool differentiates, void *memory)
{
    LANE_NAME(forward_dynamics)
    (h->free, memory,
     &(dyn_forward_dynamics){.q        = (const double *)q,
                             .qd       = (const double *)qd,
                             .tau      = h->io->tau,
                             .wrenches = h->io->wrenches,
                             .qdd      = (double *)to->qdd},
     1);
    held_prepare(h, q, qd, to->singular, memory);
    held_correct(h, to->qdd, to->contradictory);
    memcpy(h->qdd, to->qdd, h->nv * sizeof(lane));
    if (!differentiates) return;
    held_differentiate(h, q, qd, to, memory);
    memcpy(to->qdd, h->qdd, h->nv * sizeof(lane)); /* the same bits as without derivatives */
}
