/* parameters.c - numbers the parameters, and computes their values and their columns of the regressor
 * (parameters.h). */
#include "parameters.h"
#include <math.h>
#include <string.h>

size_t dyn_parameter_count(const dyn_model *m)
{
    return DYN_PER_BODY * m->n_rows + DYN_PER_JOINT * m->n_movers;
}

size_t dyn_joint_parameter(const dyn_model *m, size_t j, size_t c)
{
    return DYN_PER_BODY * m->n_rows + DYN_PER_JOINT * j + c;
}

size_t dyn_curve_parameter(const dyn_model *m, size_t j, size_t c)
{
    return dyn_parameter_count(m) + DYN_PER_CURVE * j + c;
}

static bool is_of_curve(const dyn_model *m, size_t parameter)
{
    return parameter >= dyn_parameter_count(m);
}

static bool is_of_body(const dyn_model *m, size_t parameter)
{
    return parameter < DYN_PER_BODY * m->n_rows;
}

/* Returns the joint or motor that a parameter belongs to. *c becomes the number of the parameter among the four of the
 * joint (DYN_PER_JOINT), or among the four of its friction curve (DYN_PER_CURVE). */
static size_t mover_of(const dyn_model *m, size_t parameter, size_t *c)
{
    if (is_of_curve(m, parameter)) {
        *c = (parameter - dyn_parameter_count(m)) % DYN_PER_CURVE;
        return (parameter - dyn_parameter_count(m)) / DYN_PER_CURVE;
    }
    size_t k = parameter - DYN_PER_BODY * m->n_rows;
    *c       = k % DYN_PER_JOINT;
    return k / DYN_PER_JOINT;
}

dyn_parameter_owner dyn_parameter_owner_of(const dyn_model *m, size_t parameter)
{
    if (is_of_body(m, parameter))
        return (dyn_parameter_owner){DYN_OF_BODY, parameter / DYN_PER_BODY, parameter % DYN_PER_BODY};
    size_t       c;
    const size_t mover = mover_of(m, parameter, &c);
    return (dyn_parameter_owner){is_of_curve(m, parameter) ? DYN_OF_CURVE : DYN_OF_MOVER, mover, c};
}

/* --- efforts ------------------------------------------------------------------------------------------------------ */

/* Returns the motor of a coupled transmission that is mover j, or NULL. */
static const dyn_drive *drive_of(const dyn_model *m, size_t j)
{
    size_t first = dyn_drive_mover(m, 0);
    return j >= first ? &m->drive[j - first] : NULL;
}

static bool drives(const dyn_drive *d, size_t v)
{
    for (size_t j = 0; j < d->n; j++)
        if (d->joint[j] == (int)v) return true;
    return false;
}

/* Returns the number of joints. Movers are numbered: joints first, in the order of m->row_body (without the row of a
 * floating base), then the motors of elastic joints, then those of coupled transmissions. */
static size_t joint_count(const dyn_model *m)
{
    return m->n_rows - (m->floating ? 1 : 0);
}

/* Returns the last of the bodies of joint j, which is the moved link. */
static const dyn_body *joint_body(const dyn_model *m, size_t j)
{
    return &m->body[m->row_body[j + (m->floating ? 1 : 0)]];
}

/* Returns the body that is moved by the coordinate of joint j, or by the motor coordinate of an elastic joint. */
static const dyn_body *body_of_mover(const dyn_model *m, size_t j)
{
    const dyn_body *b = m->body;
    if (j < joint_count(m)) return joint_body(m, j);
    while (b->joint.mover != (int)j)
        b++;
    return b;
}

static const dyn_body *rotor_of(const dyn_model *m, size_t j)
{
    for (size_t i = m->n_bodies; i > 0 && m->body[i - 1].joint.is_rotor; i--) /* rotors come last */
        if (m->body[i - 1].joint.mover == (int)j) return &m->body[i - 1];
    return NULL;
}

static bool moves(const dyn_body *body, size_t v)
{
    return v >= (size_t)body->joint.v && v < (size_t)(body->joint.v + dyn_joint_nv(body->joint.kind));
}

bool dyn_parameter_acts(const dyn_mechanism *mechanism, size_t parameter, size_t v)
{
    const dyn_model *m = mechanism->tree;
    size_t           c;
    int              body;
    if (mechanism->loops) return true; /* every parameter may act through the loops */
    if (is_of_body(m, parameter)) {
        body = m->row_body[parameter / DYN_PER_BODY];
    } else {
        size_t           j     = mover_of(m, parameter, &c);
        const dyn_drive *drive = drive_of(m, j);
        if (drive) return drives(drive, v);
        const dyn_body *rotor = c == DYN_ROTOR_INERTIA && !is_of_curve(m, parameter) ? rotor_of(m, j) : NULL;
        if (moves(body_of_mover(m, j), v)) return true;
        body = rotor ? rotor->tree.parent : DYN_WORLD; /* a spinning rotor acts on the link that carries it */
    }
    for (; body != DYN_WORLD; body = m->body[body].tree.parent)
        if (moves(&m->body[body], v)) return true;
    return false;
}

double dyn_friction_rate(const dyn_model *m, const dyn_regressor_lane *state, size_t j)
{
    const dyn_drive *drive = drive_of(m, j);
    double           sum   = 0;
    for (size_t k = 0; drive && k < drive->n; k++)
        sum += drive->weight[k] * state->rates[(size_t)drive->joint[k] * state->lanes + state->lane];
    if (drive) return sum;
    const dyn_body *b = body_of_mover(m, j);
    return state->rates[(size_t)b->joint.v * state->lanes + state->lane] * (j < joint_count(m) ? b->joint.ratio : 1);
}

/* Returns the torque per unit of parameter c (load, breakaway, Stribeck velocity) of the friction of joint j. `coulomb`
 * is the joint's column for Coulomb friction: the sign of the rate times the ratio. Stribeck's term is (breakaway -
 * Coulomb) exp(-(rate / velocity)^2) in the same direction. */
static double curve_effort(const dyn_regressor_lane *state, size_t j, size_t c, double rate, size_t v, double coulomb)
{
    const dyn_friction_curve *curve = state->curve ? &state->curve[j] : NULL;
    if (c == DYN_LOAD) return coulomb == 0 ? 0 : copysign(state->transmitted[v * state->lanes + state->lane], coulomb);
    if (!curve || !(curve->velocity > 0)) return 0;
    const double u = rate / curve->velocity, share = coulomb * exp(-u * u);
    if (c == DYN_STRIBECK_VELOCITY)
        return (rate > 0 ? curve->positive : curve->negative) * share * 2 * u * u / curve->velocity;
    return (c == DYN_BREAKAWAY_POSITIVE ? rate > 0 : rate < 0) ? share : 0;
}

double dyn_parameter_effort(const dyn_model *m, const dyn_regressor_lane *state, size_t parameter, size_t v)
{
    enum { ROTOR, VISCOUS, COULOMB, COLUMNS }; /* columns of joint_regressor (dyn_regressor) for each mover */
    size_t W = state->lanes, c;
    if (is_of_body(m, parameter)) return state->regressor[(v * DYN_PER_BODY * m->n_rows + parameter) * W + state->lane];
    size_t        j        = mover_of(m, parameter, &c);
    const double *row      = state->joint_regressor + (v * COLUMNS * m->n_movers + COLUMNS * j) * W + state->lane;
    const bool    of_curve = is_of_curve(m, parameter);
    if (!of_curve && c == DYN_ROTOR_INERTIA) return row[ROTOR * W];
    if (!of_curve && c == DYN_VISCOUS) return row[VISCOUS * W];
    const double rate = dyn_friction_rate(m, state, j), coulomb = row[COULOMB * W];
    if (of_curve) return curve_effort(state, j, c, rate, v, coulomb);
    const double falls = curve_effort(
        state, j, c == DYN_COULOMB_POSITIVE ? DYN_BREAKAWAY_POSITIVE : DYN_BREAKAWAY_NEGATIVE, rate, v, coulomb);
    return (c == DYN_COULOMB_POSITIVE ? rate > 0 : rate < 0) ? coulomb - falls : 0;
}

bool dyn_mover_is_estimated(const dyn_model *m, size_t j)
{
    if (j >= joint_count(m)) return true;
    const dyn_body_joint *joint = &joint_body(m, j)->joint;
    if (joint->rotor_inertia != 0 || joint->has_friction) return true;
    for (size_t k = 0; k < m->n_drives; k++)
        if (drives(&m->drive[k], (size_t)joint->v)) return false;
    return true;
}

/* --- the model's figures ------------------------------------------------------------------------------------------ */

void dyn_pseudo_inertia(const double p[DYN_PER_BODY], double J[16])
{
    double       half       = (p[4] + p[6] + p[9]) / 2;
    const double packed[16] = {half - p[4], -p[5],       -p[7], p[1], /* rows of [E h; hT m] */
                               -p[5],       half - p[6], -p[8], p[2], -p[7], -p[8],
                               half - p[9], p[3],        p[1],  p[2], p[3],  p[0]};
    for (int i = 0; i < 16; i++)
        J[i] = packed[i];
}

void dyn_pseudo_inertia_parameters(const double J[16], double p[DYN_PER_BODY])
{
    p[0] = J[15];
    for (int i = 0; i < 3; i++)
        p[1 + i] = J[4 * i + 3];
    p[4] = J[5] + J[10]; /* I = trace(E) 1 - E */
    p[5] = -J[1];
    p[6] = J[0] + J[10];
    p[7] = -J[2];
    p[8] = -J[6];
    p[9] = J[0] + J[5];
}

/* Converts the ten parameters to mass, centre of mass and inertia about it, whose second moment is E_c = E - h hT / m,
 * with the second moment E and the first moment h of the pseudo-inertia. */
dyn_inertial dyn_parameters_inertial(const double p[DYN_PER_BODY])
{
    static const int at[DYN_TENSOR] = {4, 6, 9, 5, 7, 8};
    double           J[16], about[DYN_PER_BODY];
    dyn_inertial     in = {.mass = p[0]};
    dyn_pseudo_inertia(p, J);
    for (int i = 0; i < 3 && p[0] != 0; i++)
        in.com[i] = p[1 + i] / p[0];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            J[4 * i + j] -= p[1 + i] * in.com[j];
    dyn_pseudo_inertia_parameters(J, about);
    for (int i = 0; i < DYN_TENSOR; i++)
        in.inertia[i] = about[at[i]];
    return in;
}

/* Converts the pseudo-inertia J of a body from the body frame to the link frame:
 *     J_l = T J_b T^T,  T = [R_lb p_lb; 0 1] = [R_bl^T, -R_bl^T p_bl; 0 1]. */
static void body_parameters(const dyn_body *b, double parameters[DYN_PER_BODY])
{
    static const int tensor_index[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
    double           J[4][4], T[4][4] = {[3] = {0, 0, 0, 1}}, TJ[4][4] = {{0}}, turned[16] = {0};
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            J[i][k] = b->moments.E[tensor_index[i][k]];
            T[i][k] = b->pose.X_bl.R[k][i];
            T[i][3] -= b->pose.X_bl.R[k][i] * b->pose.X_bl.p[k];
        }
        J[i][3] = J[3][i] = b->moments.h[i];
    }
    J[3][3] = b->moments.mass;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            for (int k = 0; k < 4; k++)
                TJ[i][j] += T[i][k] * J[k][j];
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            for (int k = 0; k < 4; k++)
                turned[4 * i + j] += TJ[i][k] * T[j][k];
    dyn_pseudo_inertia_parameters(turned, parameters);
}

/* Returns the body with the inertia that it has with locked rotors. The canonical model subtracts the spin inertia of
 * the rotors from it (expand_joints.c); this function adds it back. */
static dyn_body with_locked_rotors(const dyn_model *m, int body)
{
    static const int tensor_index[6][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}};
    dyn_body         b                  = m->body[body];
    for (size_t i = m->n_bodies; i > 0 && m->body[i - 1].joint.is_rotor; i--) { /* rotors come last */
        const dyn_body *r = &m->body[i - 1];
        const double a[3] = {r->pose.sg * r->pose.sa, -r->pose.cg * r->pose.sa, r->pose.ca}, J = r->joint.spin_inertia;
        for (int e = 0; r->tree.parent == body && e < 6; e++) /* E of the tensor J a a^T is J/2 1 - J a a^T */
            b.moments.E[e] += (tensor_index[e][0] == tensor_index[e][1] ? J / 2 : 0) -
                              J * a[tensor_index[e][0]] * a[tensor_index[e][1]];
    }
    return b;
}

static void add_friction_parameters(const dyn_friction *f, double square, double *own, bool turned)
{
    double rate = sqrt(square);
    own[DYN_VISCOUS] += f->viscous * square;
    own[DYN_COULOMB_POSITIVE] += (turned ? f->negative : f->positive) * rate;
    own[DYN_COULOMB_NEGATIVE] += (turned ? f->positive : f->negative) * rate;
}

/* Adds a motor's parameters to those of the driven joint; the motor rotates at `spin` times the joint's rate. */
static void add_rotor_parameters(const dyn_model *m, const dyn_body *rotor, double *own)
{
    double spin =
        rotor->joint.ratio / (rotor->joint.mimic ? body_of_mover(m, (size_t)rotor->joint.mover)->joint.ratio : 1);
    own[DYN_ROTOR_INERTIA] += rotor->joint.spin_inertia;
    add_friction_parameters(&rotor->joint.friction, spin * spin, own, spin < 0);
}

void dyn_parameters_compute(const dyn_model *m, double *parameters)
{
    for (size_t i = 0; i < m->n_rows; i++) {
        dyn_body b = with_locked_rotors(m, m->row_body[i]);
        body_parameters(&b, parameters + DYN_PER_BODY * i);
    }
    for (size_t j = 0; j < m->n_movers; j++) {
        const dyn_drive *drive = drive_of(m, j);
        double          *own   = parameters + dyn_joint_parameter(m, j, 0);
        memset(own, 0, DYN_PER_JOINT * sizeof *own);
        if (drive) {
            own[DYN_ROTOR_INERTIA] = drive->rotor_inertia;
            add_friction_parameters(&drive->friction, 1, own, false);
            continue;
        }
        const dyn_body *b = body_of_mover(m, j), *rotor = rotor_of(m, j);
        own[DYN_ROTOR_INERTIA] = b->joint.rotor_inertia;
        if (b != rotor) add_friction_parameters(&b->joint.friction, 1, own, false);
        if (rotor) add_rotor_parameters(m, rotor, own);
    }
}
