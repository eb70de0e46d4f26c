/* reference_motion.c - computes forward kinematics over power series in time (jet.h, reference.h). */
#include "reference_motion.h"
#include <stdlib.h>

static real entry(const double *array, size_t i)
{
    return array ? (real)array[i] : 0;
}

/* Computes the rotation by s about the unit vector a (Rodrigues): R = 1 + sin(s) [a] + (1 - cos(s)) [a]^2. */
static jet33 rotation_about(const double a[3], jet s)
{
    jet sine, cosine;
    jet_sincos(s, &sine, &cosine);
    jet        versine    = jet_sub(jet_constant(1), cosine);
    const real skew[3][3] = {{0, -(real)a[2], a[1]}, {a[2], 0, -(real)a[0]}, {-(real)a[1], a[0], 0}};
    jet33      R;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            real square = 0;
            for (int k = 0; k < 3; k++)
                square += skew[i][k] * skew[k][j];
            R.e[i][j] = jet_add(jet_scale(skew[i][j], sine), jet_scale(square, versine));
            R.e[i][j].c[0] += i == j;
        }
    return R;
}

static void quaternion_to_matrix(const double q[4], real R[3][3])
{
    real       norm = sqrtl((real)q[0] * q[0] + (real)q[1] * q[1] + (real)q[2] * q[2] + (real)q[3] * q[3]);
    real       x = q[0] / norm, y = q[1] / norm, z = q[2] / norm, w = q[3] / norm;
    const real value[3][3] = {
        {1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
        {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
        {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)},
    };
    for (int i = 0; i < 9; i++)
        R[i / 3][i % 3] = value[i / 3][i % 3];
}

/* Returns three velocities as series, from coordinate v on. */
static void velocity_series(reference_state state, size_t v, jet out[3])
{
    for (size_t i = 0; i < 3; i++)
        out[i] = jet_path(entry(state.qd, v + i), entry(state.qdd, v + i), entry(state.qddd, v + i), 0);
}

/* Computes the rotation of a frame with angular velocity w in its own axes. R' = R [w]x, term by term: (k+1) R_(k+1) =
 * sum_i R_i [w_(k-i)]x. */
static jet33 turn_freely(const double quaternion[4], const jet w[3])
{
    jet33 R;
    real  R0[3][3];
    quaternion_to_matrix(quaternion, R0);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            R.e[r][c] = jet_constant(R0[r][c]);
    for (int k = 0; k + 1 < JET_TERMS; k++)
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) {
                int c1 = (c + 1) % 3, c2 = (c + 2) % 3; /* column c of [w]x: w[c2] at row c1, -w[c1] at row c2 */
                for (int i = 0; i <= k; i++)
                    R.e[r][c].c[k + 1] +=
                        (R.e[r][c1].c[i] * w[c2].c[k - i] - R.e[r][c2].c[i] * w[c1].c[k - i]) / (real)(k + 1);
            }
    return R;
}

/* Computes the origin of a frame with velocity v in its own axes: p' = R v. */
static jet3 move_freely(const double position[3], const jet33 *R, const jet v[3])
{
    jet3 p, rate = jet33_apply(R, (jet3){{v[0], v[1], v[2]}});
    for (size_t i = 0; i < 3; i++) {
        p.e[i] = jet_constant(position[i]);
        for (int k = 0; k + 1 < JET_TERMS; k++)
            p.e[i].c[k + 1] = rate.e[i].c[k] / (real)(k + 1);
    }
    return p;
}

/* Moves the joint frame R, p, at rest on entry, by the coordinates of a spherical or floating joint. Its velocities are
 * in the axes of the moved frame. */
static void place_free_joint(motion_link *k, bool floats, reference_state state, jet33 *R, jet3 *p)
{
    size_t linear = floats ? 3 : 0, q = (size_t)k->q, first = (size_t)k->v;
    velocity_series(state, first + linear, k->rates + 3);
    k->turn = turn_freely(state.q + q + linear, k->rates + 3);
    if (floats) {
        velocity_series(state, first, k->rates);
        k->way = move_freely(state.q + q, &k->turn, k->rates);
        *p     = jet3_add(*p, jet33_apply(R, k->way));
    }
    *R = jet33_mul(R, &k->turn);
    for (size_t i = 0; i < 3; i++) {
        jet3 axis          = {{R->e[0][i], R->e[1][i], R->e[2][i]}};
        k->lin[linear + i] = jet3_cross(*p, axis);
        k->ang[linear + i] = axis;
        if (floats) k->lin[i] = axis;
        if (floats) k->ang[i] = (jet3){0};
    }
}

static void place_base(motion_link *b, const dyn_description *d, reference_state state)
{
    const double identity[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, zero[3] = {0};
    *b = (motion_link){.parent = -1, .ratio = 1, .R = jet33_constant(identity), .p = jet3_constant(zero)};
    if (d->floating) {
        b->moves = true;
        b->n     = 6;
        place_free_joint(b, true, state, &b->R, &b->p);
    }
    b->near = b->p;
}

/* Returns the smallest rotation that takes e_z to the axis; for the axis -e_z, half a turn about e_x. */
static jet33 plane_axes(const double axis[3])
{
    double across = hypot(axis[0], axis[1]);
    if (across == 0) return rotation_about((const double[3]){1, 0, 0}, jet_constant(axis[2] < 0 ? acosl(-1) : 0));
    const double about[3] = {-axis[1] / across, axis[0] / across, 0};
    return rotation_about(about, jet_constant(atan2l(across, axis[2])));
}

/* Places a planar joint: slides along the plane's axes, then rotates about `axis`. The columns are x, y, angle. R_joint
 * becomes the rotation. */
static jet3 place_planar(motion_link *k, const dyn_link *l, jet3 axis, jet33 *R_joint)
{
    jet33 plane    = plane_axes(l->axis);
    jet3  moved    = k->near;
    jet   slide[2] = {k->x, k->y};
    for (int c = 0; c < 2; c++) {
        jet3 e    = jet33_apply(R_joint, (jet3){{plane.e[0][c], plane.e[1][c], plane.e[2][c]}});
        k->lin[c] = e;
        k->ang[c] = (jet3){0};
        moved     = jet3_add(moved, jet3_scale(slide[c], e));
    }
    jet33 turn = rotation_about(l->axis, k->s);
    *R_joint   = jet33_mul(R_joint, &turn);
    k->ang[2]  = axis;
    k->lin[2]  = jet3_cross(moved, axis);
    return moved;
}

/* Places a link: link = parent * before * motion(axis, s) * after, s = ratio q + offset. */
static void place_link(motion_link *k, const motion_link *parent, const dyn_link *l, reference_state state)
{
    jet33 before = jet33_constant(l->before.R), after = jet33_constant(l->after.R);
    jet33 R_joint = jet33_mul(&parent->R, &before);
    k->near       = jet3_add(parent->p, jet33_apply(&parent->R, jet3_constant(l->before.p)));
    jet3 axis = jet33_apply(&R_joint, jet3_constant(l->axis)), moved = k->near;
    jet  ratio = jet_constant(k->ratio);
    if (l->joint == DYN_PLANAR) {
        moved = place_planar(k, l, axis, &R_joint);
    } else if (l->joint == DYN_HELICAL) {
        jet33 turn = rotation_about(l->axis, k->s);
        R_joint    = jet33_mul(&R_joint, &turn);
        k->ang[0]  = jet3_scale(ratio, axis);
        k->lin[0]  = jet3_add(jet3_cross(k->near, k->ang[0]), jet3_scale(jet_constant(l->pitch), k->ang[0]));
        moved      = jet3_add(moved, jet3_scale(jet_scale(l->pitch, k->s), axis));
    } else if (l->joint == DYN_REVOLUTE) {
        jet33 turn = rotation_about(l->axis, k->s);
        R_joint    = jet33_mul(&R_joint, &turn);
        k->ang[0]  = jet3_scale(ratio, axis);
        k->lin[0]  = jet3_cross(k->near, k->ang[0]);
    } else if (l->joint == DYN_PRISMATIC) {
        moved     = jet3_add(moved, jet3_scale(k->s, axis));
        k->ang[0] = (jet3){0};
        k->lin[0] = jet3_scale(ratio, axis);
    } else if (motion_has_quaternion(l)) {
        place_free_joint(k, l->joint == DYN_FLOATING, state, &R_joint, &moved);
    }
    k->R = jet33_mul(&R_joint, &after);
    k->p = jet3_add(moved, jet33_apply(&R_joint, jet3_constant(l->after.p)));
}

/* Numbers the coordinates in the order of the moving links. A mimic uses the coordinates of its leader, which may be a
 * later link. */
static void number_coordinates(motion *m, const dyn_description *d)
{
    int nq = d->floating ? 7 : 0;
    m->nv  = d->floating ? 6 : 0;
    for (size_t i = 0; i < d->n_links; i++) {
        const dyn_link *l = &d->links[i];
        m->link[i + 1].n  = l->mimic ? 1 : (int)motion_count_velocities(l);
        m->link[i + 1].v  = m->nv;
        m->link[i + 1].q  = nq;
        m->nv += (int)motion_count_velocities(l);
        nq += (int)motion_count_velocities(l) + motion_has_quaternion(l);
    }
    for (size_t i = 0; i < d->n_links; i++)
        if (d->links[i].elastic) {
            m->link[i + 1].v_theta = m->nv++;
            m->link[i + 1].q_theta = nq++;
        }
    for (size_t i = 0; i < d->n_links; i++) {
        if (d->links[i].joint == DYN_FIXED || !d->links[i].mimic) continue;
        m->link[i + 1].v = m->link[d->links[i].leader + 1].v;
        m->link[i + 1].q = m->link[d->links[i].leader + 1].q;
    }
}

size_t motion_count_velocities(const dyn_link *link)
{
    if (link->joint == DYN_FIXED || link->mimic) return 0;
    if (motion_has_quaternion(link)) return link->joint == DYN_FLOATING ? 6 : 3;
    return link->joint == DYN_PLANAR ? 3 : 1;
}

bool motion_has_quaternion(const dyn_link *link)
{
    return link->joint == DYN_SPHERICAL || link->joint == DYN_FLOATING;
}

/* Returns the series of velocity coordinate v, whose position is entry q. */
static jet path(reference_state state, size_t q, size_t v)
{
    return jet_path(state.q[q], entry(state.qd, v), entry(state.qdd, v), entry(state.qddd, v));
}

bool motion_at(motion *m, const dyn_description *d, reference_state state)
{
    m->n    = d->n_links + 1;
    m->link = calloc(m->n, sizeof *m->link);
    if (!m->link) return false;
    place_base(&m->link[0], d, state);
    number_coordinates(m, d);
    for (size_t i = 0; i < d->n_links; i++) {
        const dyn_link *l = &d->links[i];
        motion_link    *k = &m->link[i + 1], *parent = &m->link[l->parent + 1];
        size_t          v = (size_t)k->v, q = (size_t)k->q;
        k->parent = l->parent + 1;
        k->moves  = k->n > 0 || parent->moves;
        k->ratio  = l->ratio;
        if (l->joint == DYN_PLANAR) {
            k->x = path(state, q, v);
            k->y = path(state, q + 1, v + 1);
            q += 2, v += 2;
        }
        if (k->n > 0 && !motion_has_quaternion(l)) {
            k->s = jet_scale(l->ratio, path(state, q, v));
            k->s.c[0] += l->offset;
        }
        if (l->elastic) k->theta = path(state, (size_t)k->q_theta, (size_t)k->v_theta);
        place_link(k, parent, l, state);
    }
    return true;
}

void motion_free(motion *m)
{
    free(m->link);
    m->link = NULL;
}
