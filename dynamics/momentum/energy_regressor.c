/* energy_regressor.c - computes energies and momentum as rows times the inertial parameters of links and rotors.
 *
 * With position x, velocity v and angular velocity w of a link's frame, h = m c and inertia tensor J about its origin,
 * in link axes, the energies and the momentum l with its moment k about the world's origin
 *
 *     T = 1/2 m v.v + h . (v x w) + 1/2 w . J w,   V = -g . (m x + h),   l = m v + w x h,   k = J w + h x v + x x l
 *
 * are linear in (m, h, J). A motor's rotor with spin inertia J and spin rate sd about z, on a link with angular
 * velocity w, adds
 *
 *     T = J (1/2 sd^2 + sd w.z),   k = J sd z
 *
 * to the energy and momentum of the link with the rotor locked (expand_joints.c); a rotor reflected to its joint adds T
 * = 1/2 J sd^2 alone. */
#include "dynamics/algorithms/kernels.h"
#include "dynamics/energy_regressor.h"
#include "dynamics/joint/drive_forces.h"
#include "dynamics/recursion/world_kinematics.h"

enum { PARAMETERS = 10, ROTOR_PARAMETERS = 3 };

typedef struct workspace {
    joint_transform *XJ;
    world_motion    *world;
} workspace;

static workspace place(arena *a, const dyn_model *m)
{
    return (workspace){.XJ = arena_take_joints(a, m), .world = arena_take(a, m->n_bodies, sizeof(world_motion))};
}

size_t LANE_NAME(energy_regressor_size)(const dyn_model *m)
{
    arena a = {0};
    place(&a, m);
    return a.used;
}

/* --- links -------------------------------------------------------------------------------------------------------- */

/* Returns the motion of the frame of body b's link, whose pose in the body is constant. */
static world_motion link_frame_of(const dyn_body *b, const world_motion *B, motion_order order)
{
    const dyn_frame frame = {.X_bf = b->pose.X_bl};
    return frame_of(B, &frame, order);
}

/* Writes the derivatives of T with respect to the parameters of a link. For the entries Ixx Ixy Iyy Ixz Iyz Izz of J
 * they are products w_i w_j, halved on the diagonal. */
static void kinetic_row(const world_motion *k, lane *row)
{
    const vec3 v = mat3_mul_transposed(&k->R, k->v), w = mat3_mul_transposed(&k->R, k->w);
    row[0] = 0.5 * dot(v, v);
    store3(row + 1, cross(v, w));
    row[4] = 0.5 * w.x * w.x;
    row[5] = w.x * w.y;
    row[6] = 0.5 * w.y * w.y;
    row[7] = w.x * w.z;
    row[8] = w.y * w.z;
    row[9] = 0.5 * w.z * w.z;
}

/* Returns the part (1 - share) g of gravity that acts on a body whose weight is compensated by `share`. */
static vec3 weighing_gravity(const dyn_scene *scene, const dyn_body *b)
{
    return scale(vec3_of(scene->gravity), lane_of(1 - b->compensation.share));
}

static void potential_row(const world_motion *k, vec3 gravity, lane *row)
{
    const vec3 up = scale(gravity, lane_of(-1));
    row[0]        = dot(up, k->p);
    store3(row + 1, mat3_mul_transposed(&k->R, up));
    for (int c = 4; c < PARAMETERS; c++)
        row[c] = lane_of(0);
}

/* Writes the momentum l and its moment k to column c of the six rows of the momentum. */
LANE_INLINE void put_momentum(vec3 l, vec3 k, size_t columns, size_t c, lane *to)
{
    lane column[6];
    store3(column, l);
    store3(column + 3, k);
    for (size_t r = 0; r < 6; r++)
        to[r * columns + c] = column[r];
}

/* Writes the momentum per unit of each parameter of one link to the columns from `first` on. With the axes e_i of the
 * link in world axes, an entry J_ij off the diagonal has the moment w_j e_i + w_i e_j. */
static void momentum_columns(const world_motion *k, size_t columns, size_t first, lane *to)
{
    const vec3 w = mat3_mul_transposed(&k->R, k->w), o = vec3_zero();
    vec3       e[3];
    put_momentum(k->v, cross(k->p, k->v), columns, first, to);
    for (int i = 0; i < 3; i++) {
        e[i]         = mat3_column(&k->R, i);
        const vec3 l = cross(k->w, e[i]);
        put_momentum(l, cross_add(cross(e[i], k->v), k->p, l), columns, first + 1 + (size_t)i, to);
    }
    put_momentum(o, scale(e[0], w.x), columns, first + 4, to);
    put_momentum(o, add_scaled(scale(e[0], w.y), e[1], w.x), columns, first + 5, to);
    put_momentum(o, scale(e[1], w.y), columns, first + 6, to);
    put_momentum(o, add_scaled(scale(e[0], w.z), e[2], w.x), columns, first + 7, to);
    put_momentum(o, add_scaled(scale(e[1], w.z), e[2], w.y), columns, first + 8, to);
    put_momentum(o, scale(e[2], w.z), columns, first + 9, to);
}

/* --- rotors ------------------------------------------------------------------------------------------------------- */

/* Writes the kinetic energy per unit of rotor inertia of each mover (dyn_model.n_movers). */
static void joint_kinetic_row(const dyn_model *m, const workspace *ws, const lane *qd, lane *row)
{
    clear(row, ROTOR_PARAMETERS * m->n_movers);
    for (size_t i = m->floating; i < m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        if (b->joint.mover < 0) continue;
        lane      *to = row + ROTOR_PARAMETERS * (size_t)b->joint.mover;
        const lane sd = joint_rate(b, qd);
        const vec3 v = joint_linear(b, qd), w = joint_angular(b, qd);
        if (dyn_joint_has_quaternion(b->joint.kind))
            *to = 0.5 * (dot(v, v) + dot(w, w));
        else if (!b->joint.is_multi_dof)
            *to = 0.5 * sd * sd;
        if (b->joint.is_rotor && b->tree.parent != DYN_WORLD)
            *to = add_mul(*to, sd, dot(ws->world[b->tree.parent].w, mat3_column(&ws->world[i].R, 2)));
    }
    for (size_t k = 0; k < m->n_drives; k++) {
        const lane sd = drive_sum(&m->drive[k], qd);

        row[ROTOR_PARAMETERS * dyn_drive_mover(m, k)] = 0.5 * sd * sd;
    }
}

/* Writes the momentum per unit of rotor inertia of each mover (dyn_model.n_movers). It is nonzero for rotors on links
 * and for motors on the world. */
static void joint_momentum_columns(const dyn_model *m, const workspace *ws, const lane *qd, lane *to)
{
    const size_t columns = ROTOR_PARAMETERS * m->n_movers;
    clear(to, 6 * columns);
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        if (!b->joint.is_rotor || (b->tree.parent == DYN_WORLD && b->joint.spin_inertia == 0)) continue;
        put_momentum(vec3_zero(), scale(mat3_column(&ws->world[i].R, 2), joint_rate(b, qd)), columns,
                     ROTOR_PARAMETERS * (size_t)b->joint.mover, to);
    }
}

void LANE_NAME(energy_regressor)(const dyn_scene *scene, void *memory, const dyn_energy_regressor *io, size_t blocks)
{
    const dyn_model *m  = scene->model;
    const size_t     nq = (size_t)m->nq, nv = (size_t)m->nv, n = PARAMETERS * m->n_rows;
    const size_t     nj = ROTOR_PARAMETERS * m->n_movers;
    arena            a  = {.base = memory};
    const workspace  ws = place(&a, m);
    for (size_t block = 0; block < blocks; block++) {
        const lane *qd      = block_in(io->qd, block, nv);
        lane       *kinetic = block_out(io->kinetic, block, n), *potential = block_out(io->potential, block, n);
        lane       *momentum = block_out(io->momentum, block, 6 * n);
        set_joint_transforms(m, block_in(io->q, block, nq), ws.XJ);
        world_motions(m, &(world_workspace){.XJ = ws.XJ, .world = ws.world}, (coordinate_rates){.qd = qd}, VELOCITIES);
        for (size_t i = 0; i < m->n_bodies; i++) {
            if (m->body[i].tree.row < 0) continue;
            const size_t       first = PARAMETERS * (size_t)m->body[i].tree.row;
            const world_motion k     = link_frame_of(&m->body[i], &ws.world[i], VELOCITIES);
            if (kinetic) kinetic_row(&k, kinetic + first);
            if (potential) potential_row(&k, weighing_gravity(scene, &m->body[i]), potential + first);
            if (momentum) momentum_columns(&k, n, first, momentum);
        }
        if (io->joint_kinetic) joint_kinetic_row(m, &ws, qd, block_out(io->joint_kinetic, block, nj));
        if (io->joint_momentum) joint_momentum_columns(m, &ws, qd, block_out(io->joint_momentum, block, 6 * nj));
    }
}
