/* frame_sensitivity.c - computes the derivatives of velocity, acceleration and Jacobian of frames with respect to q.
 *
 * Column k of the Jacobian is [l; w]: a change of coordinate k moves the origin p of the frame by l, and rotates the
 * bodies from the joint to the frame by w. Let v_b, a_b, w_b and wd_b be the motion of the parent body of the joint,
 * with v_b and a_b the velocity and acceleration of its point at p. The motion relative to that body,
 *
 *     v_r = v - v_b,   a_r = a - a_b - 2 w_b x v_r,   w_r = w_f - w_b,   wd_r = wd_f - wd_b - w_b x w_r,
 *
 * rotates about w as the coordinate changes; the remaining part of the motion, that of the parent body, is taken at the
 * point p, which moves by l. The derivatives of the frame's motion are therefore
 *
 *     dv/dq_k   = w_b x l + w x v_r,                                        dw_f/dq_k  = w x w_r,
 *     da/dq_k   = wd_b x l + w_b x (w_b x l) + 2 w_b x (w x v_r) + w x a_r,  dwd_f/dq_k = w_b x (w x w_r) + w x wd_r.
 *
 * The derivatives of a and wd_f with respect to qd_k are J_k' + [dv/dq_k; dw_f/dq_k].
 *
 * Column j rotates with joint k if its joint is nearer to the frame, or is joint k: dJ_j/dq_k = [w_k x l_j; w_k x w_j].
 * Otherwise its axis does not move, and dJ_j/dq_k = [w_j x l_k; 0]. In the axes of the frame a vector x has the
 * components R^T x, with the derivative R^T (dx - w x x). */
#include "kernels.h"
#include "dynamics/math/clear_large.h"
#include "dynamics/recursion/world_kinematics.h"
#include "dynamics/frame_sensitivity.h"

/* A column of the Jacobian of a frame, in world axes. */
typedef struct column {
    vec3   l, w;
    vec3   ld, wd; /* time derivatives of l and w; set only if the velocities of the bodies are known */
    int    body;   /* the body that the joint moves */
    size_t v;      /* coordinate of the column, 0 to nv - 1 */
} column;

typedef struct frame_workspace {
    world_workspace motions;
    column         *columns; /* [n_dofs] columns of the Jacobian of one frame, the joint nearest to the frame first */
} frame_workspace;

static inline frame_workspace place_frame(arena *a, const dyn_model *m)
{
    return (frame_workspace){.motions = place_world(a, m), .columns = arena_take(a, m->n_dofs, sizeof(column))};
}

/* Appends the columns of the joint of body i to `to`. Returns their number: 1, 3 or 6. B: motion of the body; f: motion
 * of the frame. */
static size_t list_joint(const dyn_body *b, int i, const world_motion *B, const world_motion *f, motion_order order,
                         column *to)
{
    const bool   free  = dyn_joint_has_quaternion(b->joint.kind);
    const int    first = free ? joint_first_axis(b) : b->joint.kind == DYN_REVOLUTE ? 5 : 2, end = free ? 6 : first + 1;
    const double ratio = free ? 1 : b->joint.ratio;
    for (int k = first; k < end; k++, to++) { /* translation along, or rotation about, axis k % 3 */
        const bool       turns = k >= 3;
        const vec3_rates z     = fixed_vector(B, times(ratio, mat3_column(&B->R, k % 3)), order);
        *to                    = (column){.l    = turns ? cross(z.x, sub(f->p, B->p)) : z.x,
                                          .w    = turns ? z.x : vec3_zero(),
                                          .body = i,
                                          .v    = (size_t)(b->joint.v + k - first)};
        if (order < VELOCITIES) continue;
        to->ld = turns ? cross_add(cross(z.d, sub(f->p, B->p)), z.x, sub(f->v, B->v)) : z.d;
        to->wd = turns ? z.d : vec3_zero();
    }
    return (size_t)(end - first);
}

static size_t list_columns(const dyn_model *m, const world_motion *world, int body, const world_motion *f,
                           motion_order order, column *to)
{
    size_t n = 0;
    for (; body != DYN_WORLD; body = m->body[body].tree.parent)
        n += list_joint(&m->body[body], body, &world[body], f, order, to + n);
    return n;
}

/* The frame whose motion is differentiated, and how its derivatives are stored: see dyn_frame_sensitivity. */
typedef struct target_frame {
    world_motion  f;
    bool          axes; /* true: results are components in the axes of the frame, whose rotation R is then set */
    bool          sums; /* true: several joints may add to one entry, because the model has mimic joints */
    size_t        nv;
    const column *column; /* [n] the columns of the Jacobian of the frame */
    size_t        n;
} target_frame;

/* Adds dx, the derivative of the vector x along column c, to three entries that are `stride` apart. Without mimics
 * (t->sums false) the entries were zero and are not loaded: a load from an address a multiple of 4 KiB behind an
 * earlier store would wait for this store. */
LANE_INLINE void add_derivative(const target_frame *t, const column *c, vec3 x, vec3 dx, lane *entry, size_t stride)
{
    const vec3 d     = t->axes ? mat3_mul_transposed(&t->f.R, sub(dx, cross(c->w, x))) : dx;
    const lane d3[3] = {d.x, d.y, d.z};
    for (size_t i = 0; i < 3; i++)
        entry[i * stride] = (t->sums ? entry[i * stride] : lane_of(0)) + d3[i];
}

/* --- velocity and acceleration ------------------------------------------------------------------------------------ */

/* Motion of the frame relative to the body before a joint: the quantities w_b, wd_b and v_r, a_r, w_r, wd_r of the
 * first comment. */
typedef struct relative_motion {
    vec3 w_b, wd_b, v, a, w, wd;
} relative_motion;

LANE_INLINE relative_motion relative_to(const world_motion *b, const world_motion *f, motion_order order)
{
    const vec3_rates d = fixed_vector(b, sub(f->p, b->p), order);
    relative_motion  r = {.w_b = b->w, .v = sub(sub(f->v, b->v), d.d), .w = sub(f->w, b->w)};
    if (order < ACCELERATIONS) return r;
    r.wd_b = b->wd;
    r.a    = sub(sub(sub(f->a, b->a), d.dd), cross(add(b->w, b->w), r.v));
    r.wd   = sub(sub(f->wd, b->wd), cross(b->w, r.w));
    return r;
}

LANE_INLINE void add_velocity(const target_frame *t, const column *c, const relative_motion *r, lane *out)
{
    add_derivative(t, c, t->f.v, cross_add(cross(r->w_b, c->l), c->w, r->v), out + c->v, t->nv);
    add_derivative(t, c, t->f.w, cross(c->w, r->w), out + 3 * t->nv + c->v, t->nv);
}

LANE_INLINE void add_acceleration(const target_frame *t, const column *c, const relative_motion *r, lane *out)
{
    const vec3 turned = cross(c->w, r->v), carried = add(cross(r->w_b, c->l), add(turned, turned));
    const vec3 linear = cross_add(cross_add(cross(r->wd_b, c->l), r->w_b, carried), c->w, r->a);
    add_derivative(t, c, t->f.a, linear, out + c->v, t->nv);
    add_derivative(t, c, t->f.wd, cross_add(cross(c->w, r->wd), r->w_b, cross(c->w, r->w)), out + 3 * t->nv + c->v,
                   t->nv);
}

/* The derivative of the acceleration with respect to qd is the rate of the column plus the derivative of the velocity
 * with respect to q. A change of qd does not rotate the axes of the frame, so column `still` has w = 0. */
LANE_INLINE void add_acceleration_by_rate(const target_frame *t, const column *c, const relative_motion *r, lane *out)
{
    const column still = {.w = vec3_zero()};
    add_derivative(t, &still, t->f.a, add(c->ld, cross_add(cross(r->w_b, c->l), c->w, r->v)), out + c->v, t->nv);
    add_derivative(t, &still, t->f.wd, add(c->wd, cross(c->w, r->w)), out + 3 * t->nv + c->v, t->nv);
}

/* The outputs of one frame: see dyn_frame_sensitivity. */
typedef struct frame_outputs {
    lane *velocity, *acceleration, *acceleration_by_rate, *jacobian;
} frame_outputs;

static void put_motions(const dyn_model *m, const world_workspace *ws, const target_frame *t, motion_order order,
                        const frame_outputs *to)
{
    const world_motion rest = world_at_rest();
    if (order == POSES) return;
    clear(to->velocity, 6 * t->nv);
    clear(to->acceleration, 6 * t->nv);
    clear(to->acceleration_by_rate, 6 * t->nv);
    for (size_t k = 0; k < t->n; k++) {
        const column         *c = &t->column[k];
        const world_motion   *b = motion_of(ws->world, &rest, m->body[c->body].tree.parent);
        const relative_motion r = relative_to(b, &t->f, order);
        if (to->velocity) add_velocity(t, c, &r, to->velocity);
        if (to->acceleration) add_acceleration(t, c, &r, to->acceleration);
        if (to->acceleration_by_rate) add_acceleration_by_rate(t, c, &r, to->acceleration_by_rate);
    }
}

/* --- Jacobian ----------------------------------------------------------------------------------------------------- */

/* Adds dJ_j/dq_k for columns j = c and k = along, two columns of the Jacobian of the frame. */
LANE_INLINE void add_derivative_column(const target_frame *t, const column *along, const column *c, lane *out)
{
    const size_t nv    = t->nv;
    const bool   turns = c->body >= along->body; /* c is nearer to the frame; bodies are numbered from the base */
    lane        *entry = out + c->v * nv + along->v;
    add_derivative(t, along, c->l, turns ? cross(along->w, c->l) : cross(c->w, along->l), entry, nv * nv);
    add_derivative(t, along, c->w, turns ? cross(along->w, c->w) : vec3_zero(), entry + 3 * nv * nv, nv * nv);
}

/* Writes dJ_j/dq_k, row by row. With mimics entries are sums, whose terms are added in the order of k, then of j. */
static void put_jacobian(const target_frame *t, dyn_deadline deadline, lane *out)
{
    clear_large(deadline, out, 6 * t->nv * t->nv);
    for (size_t i = 0; out && i < t->n && goes_on(deadline, t->nv); i++)
        for (size_t e = 0; e < t->n; e++)
            add_derivative_column(t, &t->column[t->sums ? i : e], &t->column[t->sums ? e : i], out);
}

/* --- all frames --------------------------------------------------------------------------------------------------- */

static motion_order motion_order_of(const dyn_frame_sensitivity *io)
{
    if (io->dacceleration_dq) return ACCELERATIONS;
    return io->dvelocity_dq || io->dacceleration_dqd ? VELOCITIES : POSES;
}

static void need_frames(const dyn_model *m, const dyn_frame_sensitivity *io, needed_bodies *needed)
{
    need_nothing(m, needed);
    for (size_t i = 0; i < io->n_frames; i++)
        need_body(m, needed, io->frames[i].body);
    list_needed(m, needed);
}

/* Returns the entries of frame i in a block of an output, or NULL if the output is not requested. */
static lane *frame_entries(double *output, size_t block, size_t entries, size_t n, size_t i)
{
    return output ? block_out(output, block, entries * n) + i * entries : NULL;
}

static frame_outputs outputs_of(const dyn_frame_sensitivity *io, size_t block, size_t nv, size_t i)
{
    const size_t n = io->n_frames;
    return (frame_outputs){.velocity             = frame_entries(io->dvelocity_dq, block, 6 * nv, n, i),
                           .acceleration         = frame_entries(io->dacceleration_dq, block, 6 * nv, n, i),
                           .acceleration_by_rate = frame_entries(io->dacceleration_dqd, block, 6 * nv, n, i),
                           .jacobian             = frame_entries(io->djacobian_dq, block, 6 * nv * nv, n, i)};
}

size_t LANE_NAME(frame_sensitivity_size)(const dyn_model *m)
{
    arena a = {0};
    place_frame(&a, m);
    return a.used;
}

void LANE_NAME(frame_sensitivity)(const dyn_scene *scene, void *memory, const dyn_frame_sensitivity *io, size_t blocks)
{
    const dyn_model   *m     = scene->model;
    const size_t       nv    = (size_t)m->nv;
    arena              a     = {.base = memory};
    frame_workspace    ws    = place_frame(&a, m);
    const motion_order order = motion_order_of(io);
    const world_motion rest  = world_at_rest();
    need_frames(m, io, &ws.motions.needed);
    for (size_t block = 0; block < blocks; block++) {
        const coordinate_rates rates = {.qd = block_in(io->qd, block, nv), .qdd = block_in(io->qdd, block, nv)};
        needed_motions(m, &ws.motions, block_in(io->q, block, (size_t)m->nq), rates, order);
        for (size_t i = 0; i < io->n_frames && goes_on(scene->deadline, nv); i++) {
            const dyn_frame    *frame = &io->frames[i];
            const frame_outputs to    = outputs_of(io, block, nv, i);
            target_frame        t     = {.axes = io->frame_axes, .sums = m->has_mimics, .nv = nv, .column = ws.columns};
            t.f                       = frame_of(motion_of(ws.motions.world, &rest, frame->body), frame, order);
            t.n                       = list_columns(m, ws.motions.world, frame->body, &t.f, order, ws.columns);
            put_motions(m, &ws.motions, &t, order, &to);
            put_jacobian(&t, scene->deadline, to.jacobian);
        }
    }
}
