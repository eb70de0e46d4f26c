/* mujoco.c - calls MuJoCo's recursive Newton-Euler, composite inertias, forward dynamics and Jacobians.
 *
 * The robot is passed as MJCF text, one <body> per body. The model has nothing but rigid bodies: no geometry, contacts,
 * limits or actuators, so the stages named in `calls` are all that a step of mj_forward does for smooth dynamics. */
#define _GNU_SOURCE
#include "body.h"
#include "peer.h"
#include <math.h>
#include <mujoco/mujoco.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct world {
    mjModel *model;
    mjData  *data;
    double  *unit, *inverse; /* nv x nv */
    double  *jacobian;       /* 6 x nv */
} world;

/* Diagonalises I to V^T I V by Jacobi rotations V: the principal axes. MuJoCo's own iteration stops at angles of
 * 1e-6. */
static void principal_axes(double I[3][3], double V[3][3])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            V[i][j] = i == j;
    for (int turn = 0; turn < 60; turn++) { /* sweeps over the three pairs of axes; a few suffice */
        int    p = turn % 3, q = (turn + 1) % 3;
        double apart = I[q][q] - I[p][p]; /* the smaller of the two angles that make I_pq zero: 45 degrees at most */
        double angle = 0.5 * atan2(apart < 0 ? -2 * I[p][q] : 2 * I[p][q], fabs(apart)), c = cos(angle), s = sin(angle);
        for (int k = 0; k < 3; k++) {
            double a = I[k][p], b = I[k][q], v = V[k][p], w = V[k][q];
            I[k][p] = c * a - s * b, I[k][q] = s * a + c * b;
            V[k][p] = c * v - s * w, V[k][q] = s * v + c * w;
        }
        for (int k = 0; k < 3; k++) {
            double a = I[p][k], b = I[q][k];
            I[p][k] = c * a - s * b, I[q][k] = s * a + c * b;
        }
    }
}

static void write_inertia(FILE *out, const dyn_body *b)
{
    double com[3], t[6], V[3][3];
    body_inertia(b, com, t);
    double I[3][3] = {{t[0], t[3], t[4]}, {t[3], t[1], t[5]}, {t[4], t[5], t[2]}};
    principal_axes(I, V);
    fprintf(out, "<inertial mass='%.17g' pos='%.17g %.17g %.17g' ", b->moments.mass, com[0], com[1], com[2]);
    fprintf(out, "xyaxes='%.17g %.17g %.17g %.17g %.17g %.17g' ", V[0][0], V[1][0], V[2][0], V[0][1], V[1][1], V[2][1]);
    fprintf(out, "diaginertia='%.17g %.17g %.17g'/>\n", I[0][0], I[1][1], I[2][2]);
}

/* Writes frame, inertia and joint of body i, then its child bodies. */
static void write_body(FILE *out, const dyn_model *m, int i)
{
    const dyn_body *b = &m->body[i];
    double          R[3][3];
    body_rotation(b, R);
    fprintf(out, "<body pos='%.17g %.17g %.17g' xyaxes='%.17g %.17g %.17g %.17g %.17g %.17g'>\n", b->pose.p_pc[0],
            b->pose.p_pc[1], b->pose.p_pc[2], R[0][0], R[1][0], R[2][0], R[0][1], R[1][1], R[2][1]);
    write_inertia(out, b);
    fprintf(out, "<joint name='%d' type='%s' axis='0 0 1' armature='%.17g'/>\n", b->joint.v,
            b->joint.kind == DYN_PRISMATIC ? "slide" : "hinge", b->joint.rotor_inertia);
    for (int child = i + 1; child < (int)m->n_bodies; child++)
        if (m->body[child].tree.parent == i) write_body(out, m, child);
    fprintf(out, "</body>\n");
}

static char *write_model(const dyn_model *m, size_t *length)
{
    char *text = NULL;
    FILE *out  = open_memstream(&text, length);
    if (!out) abort();
    fprintf(out, "<mujoco><compiler angle='radian'/><option gravity='%.17g %.17g %.17g'/><worldbody>\n", m->gravity[0],
            m->gravity[1], m->gravity[2]);
    for (int i = 0; i < (int)m->n_bodies; i++)
        if (m->body[i].tree.parent == DYN_WORLD) write_body(out, m, i);
    fprintf(out, "</worldbody></mujoco>\n");
    if (fclose(out) != 0) abort();
    return text;
}

static mjModel *load(const dyn_model *m)
{
    size_t length = 0;
    char  *text = write_model(m, &length), why[500] = "";
    mjVFS *files = malloc(sizeof *files);
    if (!files) abort();
    mj_defaultVFS(files);
    mj_makeEmptyFileVFS(files, "robot.xml", (int)length);
    memcpy(files->filedata[0], text, length);
    mjModel *model = mj_loadXML("robot.xml", files, why, sizeof why);
    if (!model) fprintf(stderr, "bench: MuJoCo: %s\n", why);
    mj_deleteVFS(files);
    free(files);
    free(text);
    return model;
}

/* Returns true if MuJoCo's coordinates, which are depth first, have the order of the canonical model. */
static bool same_order(const mjModel *model, const dyn_model *m)
{
    for (int v = 0; v < m->nv; v++) {
        char name[16];
        snprintf(name, sizeof name, "%d", v);
        int joint = mj_name2id(model, mjOBJ_JOINT, name);
        if (joint < 0 || model->jnt_dofadr[joint] != v) return false;
    }
    return model->nv == m->nv;
}

static void release(void *robot)
{
    world *w = robot;
    mj_deleteData(w->data);
    mj_deleteModel(w->model);
    free(w->unit);
    free(w->inverse);
    free(w->jacobian);
    free(w);
}

static void *build(const dyn_model *m)
{
    world *w = bodies_plain(m) ? calloc(1, sizeof *w) : NULL;
    if (!w) return NULL;
    w->model = load(m);
    if (w->model && same_order(w->model, m)) w->data = mj_makeData(w->model);
    const size_t nv = (size_t)m->nv;
    w->unit         = calloc(nv * nv, sizeof *w->unit);
    w->inverse      = calloc(nv * nv, sizeof *w->inverse);
    w->jacobian     = calloc(6 * nv, sizeof *w->jacobian);
    for (size_t v = 0; w->unit && v < nv; v++)
        w->unit[v * (nv + 1)] = 1;
    if (w->data && w->unit && w->inverse && w->jacobian) return w;
    release(w);
    return NULL;
}

static void positions(const mjModel *m, mjData *d, const state *s)
{
    memcpy(d->qpos, s->q, (size_t)m->nq * sizeof *d->qpos);
    mj_kinematics(m, d);
    mj_comPos(m, d);
}

static void velocities(const mjModel *m, mjData *d, const state *s)
{
    memcpy(d->qvel, s->qd, (size_t)m->nv * sizeof *d->qvel);
    mj_comVel(m, d);
}

static void inverse_dynamics(const mjModel *m, mjData *d, const state *s)
{
    positions(m, d, s);
    velocities(m, d, s);
    memcpy(d->qacc, s->qdd, (size_t)m->nv * sizeof *d->qacc);
    mj_rne(m, d, 1, d->qfrc_inverse);
}

/* Solves M qdd = tau - bias. */
static void forward_dynamics(const mjModel *m, mjData *d, const state *s)
{
    positions(m, d, s);
    mj_crb(m, d);
    mj_factorM(m, d);
    velocities(m, d, s);
    mj_rne(m, d, 0, d->qfrc_bias);
    for (int v = 0; v < m->nv; v++)
        d->qfrc_smooth[v] = s->tau[v] - d->qfrc_bias[v];
    mj_solveM(m, d, d->qacc_smooth, d->qfrc_smooth, 1);
}

static void bias(const mjModel *m, mjData *d, const state *s)
{
    positions(m, d, s);
    velocities(m, d, s);
    mj_rne(m, d, 0, d->qfrc_bias);
}

/* Solves M X = 1. */
static void inverse_mass_matrix(const world *w, const state *s)
{
    positions(w->model, w->data, s);
    mj_crb(w->model, w->data);
    mj_factorM(w->model, w->data);
    mj_solveM(w->model, w->data, w->inverse, w->unit, w->model->nv);
}

/* Computes the Jacobian, linear rows first, of the frame of the body that the last coordinate moves. */
static void frame_jacobian(const world *w, const state *s)
{
    const int body = w->model->dof_bodyid[w->model->nv - 1];
    positions(w->model, w->data, s);
    mj_jacBody(w->model, w->data, w->jacobian, w->jacobian + 3 * w->model->nv, body);
}

/* Computes an operation and returns its result. */
static const mjtNum *compute(const world *w, operation op, const state *s)
{
    const mjModel *m = w->model;
    mjData        *d = w->data;
    switch (op) {
    case INVERSE_DYNAMICS: return inverse_dynamics(m, d, s), d->qfrc_inverse;
    case FORWARD_DYNAMICS: return forward_dynamics(m, d, s), d->qacc_smooth;
    case BIAS: return bias(m, d, s), d->qfrc_bias;
    case INVERSE_MASS_MATRIX: return inverse_mass_matrix(w, s), w->inverse;
    case JACOBIAN: return frame_jacobian(w, s), w->jacobian;
    case MASS_MATRIX: positions(m, d, s); /* fall through */
    default: return mj_crb(m, d), d->qM;
    }
}

static void evaluate(void *robot, operation op, const state *s, double *result)
{
    const world  *w     = robot;
    const mjtNum *found = compute(w, op, s);
    if (result && found == w->data->qM)
        mj_fullM(w->model, result, w->data->qM);
    else if (result)
        memcpy(result, found, result_entries(op, (size_t)w->model->nv) * sizeof *result);
}

const peer peer_mujoco = {
    .name     = "MuJoCo",
    .version  = mj_versionString,
    .calls    = {[INVERSE_DYNAMICS]     = "mj_kinematics + mj_comPos + mj_comVel + mj_rne",
                 [MASS_MATRIX]          = "mj_kinematics + mj_comPos + mj_crb",
                 [MASS_MATRIX_AT_POSES] = "mj_crb",
                 [INVERSE_MASS_MATRIX]  = "mj_kinematics + mj_comPos + mj_crb + mj_factorM + mj_solveM",
                 [BIAS]                 = "mj_kinematics + mj_comPos + mj_comVel + mj_rne",
                 [JACOBIAN]             = "mj_kinematics + mj_comPos + mj_jacBody",
                 [FORWARD_DYNAMICS] = "mj_kinematics + mj_comPos + mj_crb + mj_factorM + mj_comVel + mj_rne + mj_solveM"},
    .build    = build,
    .evaluate = evaluate,
    .release  = release,
};
