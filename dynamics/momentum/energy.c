/* energy.c - computes kinetic and potential energy, centre of mass, momentum, and their matrices.
 *
 * Sums over bodies use each body's momentum l = m v + w x h and its moment k = I w + h x v about the body's origin.
 * Matrices use composite inertias I_c: if joint i alone moves at unit rate, its body and descendants have the momentum
 * F_i = I_c S_i. Column i of the centroidal momentum matrix is F_i about the centre of mass (Orin & Goswami 2008).
 * Column i of the centre-of-mass Jacobian is the linear part of F_i over the total mass. The centroidal inertia maps
 * the angular velocity w of the robot with all joints locked to its angular momentum about the centre of mass: sum r x
 * (w x r) dm over all mass points r. */
#include "dynamics/algorithms/kernels.h"
#include "dynamics/joint/drive_forces.h"
#include "dynamics/joint/free_joint_spring.h"
#include "dynamics/recursion/composite_inertia.h"
#include "dynamics/recursion/world_kinematics.h"

typedef struct workspace {
    joint_transform *XJ;
    world_motion    *world;
    composite       *composite; /* [n_bodies]; before a body is visited, the sum of its children but the next body */
} workspace;

static workspace place(arena *a, const dyn_model *m)
{
    return (workspace){.XJ        = arena_take_joints(a, m),
                       .world     = arena_take(a, m->n_bodies, sizeof(world_motion)),
                       .composite = arena_take(a, m->n_bodies, sizeof(composite))};
}

size_t LANE_NAME(energy_size)(const dyn_model *m)
{
    arena a = {0};
    place(&a, m);
    return a.used;
}

/* Returns the centre of mass in world axes: p_com = sum (m p + R h) / sum m. */
static vec3 centre_of_mass(const dyn_model *m, const workspace *ws)
{
    vec3 sum = vec3_zero();
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body     *b = &m->body[i];
        const world_motion *B = &ws->world[i];
        sum = add(sum, add_scaled(mat3_mul(&B->R, vec3_of(b->moments.h)), B->p, lane_of(b->moments.mass)));
    }
    return times(1 / m->mass, sum);
}

/* Returns the momentum l = m v + w x h of one body and its moment k = I w + h x v about the body's origin, in world
 * axes. */
LANE_INLINE wrench momentum_of(const dyn_body *b, const world_motion *B)
{
    vec3 h  = mat3_mul(&B->R, vec3_of(b->moments.h)),
         Iw = tensor_const_mul(b->moments.E, mat3_mul_transposed(&B->R, B->w));
    return (wrench){.f = cross_add(times(b->moments.mass, B->v), B->w, h),
                    .n = cross_add(mat3_mul(&B->R, Iw), h, B->v)};
}

/* Returns sd^2 with the rate sd of the joint, or v.v + w.w of a joint with a quaternion. */
LANE_INLINE lane squared_rate(const dyn_body *b, const lane *qd)
{
    const lane sd = joint_rate(b, qd);
    const vec3 v = joint_linear(b, qd), w = joint_angular(b, qd);
    return dyn_joint_has_quaternion(b->joint.kind) ? dot(v, v) + dot(w, w) : sd * sd;
}

/* Returns the kinetic energy T = 1/2 sum (v l + w k) + 1/2 rotor sd^2, with each body's momentum l and moment k, and
 * with the rotors of joints and coupled transmissions. */
static lane kinetic_energy(const dyn_model *m, const workspace *ws, const lane *qd)
{
    lane twice = lane_of(0);
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        wrench          l = momentum_of(b, &ws->world[i]);
        twice += dot(ws->world[i].v, l.f) + dot(ws->world[i].w, l.n);
        if (b->joint.rotor_inertia != 0) twice = add_mul(twice, b->joint.rotor_inertia, squared_rate(b, qd));
    }
    for (size_t k = 0; k < m->n_drives; k++) {
        lane sd = drive_sum(&m->drive[k], qd);
        twice   = add_mul(twice, m->drive[k].rotor_inertia, sd * sd);
    }
    return 0.5 * twice;
}

/* Returns V plus the energy of a joint spring stretched by x: stiffness x^2 / 2 + stiffness2 x^3 / 3 + stiffness3 x^4 /
 * 4. */
static lane add_spring_energy(lane V, const dyn_body *b, lane x)
{
    const dyn_spring *k = &b->joint.spring;
    if (k->stiffness != 0) V = add_mul(V, 0.5 * k->stiffness, x * x);
    if (b->joint.has_nonlinear_spring) V += x * x * x * add_mul(lane_of(k->stiffness2 / 3), k->stiffness3 / 4, x);
    return V;
}

/* Returns the potential energy of gravity, joint springs and elastic joints. Compensated shares are subtracted from the
 * mass m and the first moment h:
 *     V = -sum g (m p + R h) + 1/2 stiffness (s - rest)^2 + 1/2 stiffness (q - theta - rest)^2. */
static lane potential_energy(const dyn_scene *scene, const workspace *ws, const lane *q)
{
    const dyn_model *m = scene->model;
    vec3             g = vec3_of(scene->gravity);
    lane             V = lane_of(0);
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body     *b = &m->body[i];
        const world_motion *B = &ws->world[i];
        const vec3          h = sub(vec3_of(b->moments.h), vec3_of(b->compensation.h));
        V -= dot(g, add_scaled(mat3_mul(&B->R, h), B->p, lane_of(b->moments.mass - b->compensation.mass)));
        if (has_free_spring(b, scene->terms)) {
            const vec3 theta = joint_rotation_vector(q + b->joint.q);
            V                = add_mul(V, 0.5 * b->joint.spring.stiffness, dot(theta, theta));
        } else if (b->joint.has_spring && (scene->terms & DYN_SPRINGS) && !dyn_joint_has_quaternion(b->joint.kind)) {
            V = add_spring_energy(V, b, joint_position(b, q) - b->joint.spring.rest);
        }
    }
    for (size_t i = 0; (scene->terms & DYN_SPRINGS) && i < m->n_couplings; i++) {
        const dyn_coupling *c       = &m->coupling[i];
        lane                stretch = q[c->q] - q[c->theta] - c->spring.rest;
        V                           = add_mul(V, 0.5 * c->spring.stiffness, stretch * stretch);
    }
    return V;
}

/* Writes the momentum of the robot, and its moment about the centre of mass: sum l_i and sum k_i + (p_i - p_com) x l_i.
 */
static void momentum(const dyn_model *m, const workspace *ws, vec3 com, lane *out)
{
    wrench sum = {vec3_zero(), vec3_zero()};
    for (size_t i = 0; i < m->n_bodies; i++) {
        wrench l = momentum_of(&m->body[i], &ws->world[i]);
        sum.f    = add(sum.f, l.f);
        sum.n    = add(sum.n, cross_add(l.n, sub(ws->world[i].p, com), l.f));
    }
    store3(out, sum.f);
    store3(out + 3, sum.n);
}

/* Writes the inertia tensor of all bodies about the centre of mass, trace(E) 1 - E, in world axes. The second moment E
 * about the centre of mass is the sum of R E_i R^T + r h^T + h r^T + m r r^T with r = p - p_com, where E_i and h are
 * the moments of body i about the body's origin. The rotor of a motor on the world, a body of its own, is left out,
 * since the motor does not rotate with the robot. A rotor on a link completes the inertia of that link. */
static void centroidal_inertia(const dyn_model *m, const workspace *ws, vec3 com, lane *out)
{
    sym3 E = {0};
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body     *b = &m->body[i];
        const world_motion *B = &ws->world[i];
        if (b->joint.is_rotor && b->tree.parent == DYN_WORLD) continue;
        composite c = {sym3_rotate(&B->R, sym3_of(b->moments.E)), mat3_mul(&B->R, vec3_of(b->moments.h))};
        composite_slide(&c, sub(B->p, com), b->moments.mass);
        E = sym3_add(E, c.E);
    }
    const lane zero = lane_of(0), xy = zero - E.xy, xz = zero - E.xz, yz = zero - E.yz; /* without -0 */
    store3(out, (vec3){E.yy + E.zz, xy, xz});
    store3(out + 3, (vec3){xy, E.xx + E.zz, yz});
    store3(out + 6, (vec3){xz, yz, E.xx + E.yy});
}

/* Adds the momentum F per unit joint rate, times `ratio`, to column v of the momentum matrix and of the Jacobian of the
 * centre of mass. F is given in body axes about the body's origin; the matrices are in world axes, about the centre of
 * mass. */
LANE_INLINE void momentum_column(const dyn_model *m, const world_motion *B, vec3 com, wrench F, double ratio, size_t v,
                                 lane *com_jacobian, lane *matrix)
{
    size_t nv = (size_t)m->nv;
    vec3   l  = times(ratio, mat3_mul(&B->R, F.f));
    vec3   k  = cross_add(times(ratio, mat3_mul(&B->R, F.n)), sub(B->p, com), l);
    lane   column[6];
    store3(column, l);
    store3(column + 3, k);
    for (size_t r = 0; matrix && r < 6; r++) /* with mimics several joints add to one column */
        matrix[r * nv + v] += column[r];
    for (size_t r = 0; com_jacobian && r < 3; r++)
        com_jacobian[r * nv + v] += column[r] * (1 / m->mass);
}

/* Sets the momentum matrix and the Jacobian of the centre of mass, column by column F_i = I_c S_i, with the composites
 * I_c from the tips to the base. */
static void matrices(const dyn_model *m, const workspace *ws, vec3 com, lane *com_jacobian, lane *matrix)
{
    for (int e = 0; com_jacobian && e < 3 * m->nv; e++)
        com_jacobian[e] = lane_of(0);
    for (int e = 0; matrix && e < 6 * m->nv; e++)
        matrix[e] = lane_of(0);
    composite next_body = {0};
    for (size_t i = m->n_bodies; i-- > 0;) {
        const dyn_body *b = &m->body[i];
        ws->composite[i] = next_body = composite_gather(m, ws->composite, &next_body, i, m->branched);
        if (b->tree.parent == DYN_WORLD) continue;
        WITH_LINK_TRANSFORM(b, &ws->XJ[i], composite_form, &next_body, b->derived.regrouped_mass)
        composite_add_to_parent(b, ws->composite, &next_body, i);
    }
    for (size_t i = 0; i < m->n_bodies; i++) {
        const dyn_body *b = &m->body[i];
        if (!dyn_joint_has_quaternion(b->joint.kind)) {
            wrench F = composite_along_joint(b, &ws->composite[i]);
            momentum_column(m, &ws->world[i], com, F, b->joint.ratio, (size_t)b->joint.v, com_jacobian, matrix);
            continue;
        }
        for (int k = joint_first_axis(b), v = b->joint.v; k < 6; k++, v++)
            momentum_column(m, &ws->world[i], com, composite_column(b, &ws->composite[i], k), 1, (size_t)v,
                            com_jacobian, matrix);
    }
}

void LANE_NAME(energy)(const dyn_scene *scene, void *memory, const dyn_energy *io, size_t blocks)
{
    const dyn_model *m  = scene->model;
    size_t           nq = (size_t)m->nq, nv = (size_t)m->nv;
    arena            a                = {.base = memory};
    workspace        ws               = place(&a, m);
    bool             needs_velocities = io->kinetic || io->com_velocity || io->momentum;
    for (size_t block = 0; block < blocks; block++) {
        const lane *q = block_in(io->q, block, nq), *qd = block_in(io->qd, block, nv);
        set_joint_transforms(m, q, ws.XJ);
        world_motions(m, &(world_workspace){.XJ = ws.XJ, .world = ws.world}, (coordinate_rates){.qd = qd},
                      needs_velocities ? VELOCITIES : POSES);
        vec3 com = centre_of_mass(m, &ws);
        if (io->kinetic) *block_out(io->kinetic, block, 1) = kinetic_energy(m, &ws, qd);
        if (io->potential) *block_out(io->potential, block, 1) = potential_energy(scene, &ws, q);
        if (io->com) store3(block_out(io->com, block, 3), com);
        if (io->com_velocity || io->momentum) {
            lane l[6];
            momentum(m, &ws, com, l);
            for (int k = 0; io->momentum && k < 6; k++)
                block_out(io->momentum, block, 6)[k] = l[k];
            if (io->com_velocity) store3(block_out(io->com_velocity, block, 3), times(1 / m->mass, load3(l)));
        }
        if (io->com_jacobian || io->momentum_matrix)
            matrices(m, &ws, com, block_out(io->com_jacobian, block, 3 * nv),
                     block_out(io->momentum_matrix, block, 6 * nv));
        if (io->centroidal_inertia) centroidal_inertia(m, &ws, com, block_out(io->centroidal_inertia, block, 9));
    }
}
