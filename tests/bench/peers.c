/* peers.c - peers [RUNS]: measures torqued's kernels and other libraries on the same robots and states in the same run.
 *
 * The results are compared first. An operation that differs by more than 1e-9 of a state's largest entry, or 1e-3 where
 * the library's derivatives are differences, is reported and not timed. RUNS (101) runs of the remaining figures are
 * interleaved, so that a disturbance affects all of them; the figures are medians. Prints one line per
 * figure:
 *     robot, operation, library, calls, difference, ns per state        (ns: "-" where the numbers differ) */
#include "peer/peer.h"
#include "robots.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_ROBOTS = 3, MAX_PEERS = 2, MAX_FIGURES = N_ROBOTS * N_OPERATIONS * (2 + MAX_PEERS) };

static const double agreement = 1e-9, agreement_of_differences = 1e-3;

static const peer *const peers[MAX_PEERS + 1] = {
#ifdef HAVE_PEER_mujoco
    &peer_mujoco,
#endif
#ifdef HAVE_PEER_kdl
    &peer_kdl,
#endif
    NULL,
};

static const char *const operation_names[N_OPERATIONS] = {
    "inverse dynamics",    "mass matrix", "mass matrix, poses known", "forward dynamics", "inverse mass matrix", "bias",
    "Jacobian of a frame", "sensitivity", "forward sensitivity"};

/* Holds a robot with its states in blocks of each width and, for the width one, in rows as other libraries take
 * them. */
typedef struct subject {
    robot  robot;
    states scalar, wide;
} subject;

typedef struct figure {
    const subject     *subject;
    operation          operation;
    const dyn_kernels *kernels; /* torqued's kernels; NULL: the figure is that of another library */
    const peer        *peer;
    void              *theirs;
    bool               by_differences;
    double             difference, ns[MAX_RUNS];
} figure;

/* --- one pass over the states -------------------------------------------------------------------------------- */

/* Computes the derivatives by q of all states, and, `matrix` numbers after them, the derivatives by qd. */
static void derive_ours(const dyn_kernels *k, const dyn_scene *scene, const states *s, operation op, size_t matrix,
                        double *result)
{
    dyn_sensitivity sensitivity = {
        .q = s->q, .qd = s->qd, .qdd = s->qdd, .dtau_dq = result, .dtau_dqd = result + matrix, .dtau_dqdd = s->out[1]};
    dyn_forward_sensitivity forward = {.q         = s->q,
                                       .qd        = s->qd,
                                       .tau       = s->tau,
                                       .qdd       = s->out[1],
                                       .dqdd_dq   = result,
                                       .dqdd_dqd  = result + matrix,
                                       .dqdd_dtau = s->out[2]};
    const size_t            blocks  = STATES / (size_t)k->lanes;
    if (op == SENSITIVITY)
        k->sensitivity(scene, s->workspace, &sensitivity, blocks);
    else
        k->forward_sensitivity(scene, s->workspace, &forward, blocks);
}

static void evaluate_ours(const dyn_kernels *k, const dyn_model *m, const states *s, operation op, double *result)
{
    dyn_scene            scene  = {.model = m, .gravity = {m->gravity[0], m->gravity[1], m->gravity[2]}};
    size_t               blocks = STATES / (size_t)k->lanes, nv = (size_t)m->nv;
    dyn_frame            last = {.body = (int)m->n_bodies - 1, .X_bf = {.R = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
    dyn_inverse_dynamics id   = {.q = s->q, .qd = s->qd, .qdd = s->qdd, .tau = result};
    dyn_forward_dynamics fd   = {.q = s->q, .qd = s->qd, .tau = s->tau, .qdd = result, .singular = s->out[1]};
    dyn_mass_matrix      mm   = {.q = s->q, .mass_matrix = result};
    dyn_bias             bias = {.q = s->q, .qd = s->qd, .bias = result};
    dyn_kinematics       jac  = {.q = s->q, .frame = &last, .jacobian = result};
    if (op == INVERSE_MASS_MATRIX) mm = (dyn_mass_matrix){.q = s->q, .mass_matrix = s->out[1], .inverse = result};
    switch (op) {
    case INVERSE_DYNAMICS: k->inverse_dynamics(&scene, s->workspace, &id, blocks); break;
    case FORWARD_DYNAMICS: k->forward_dynamics(&scene, s->workspace, &fd, blocks); break;
    case BIAS: k->bias(&scene, s->workspace, &bias, blocks); break;
    case JACOBIAN: k->kinematics(&scene, s->workspace, &jac, blocks); break;
    case SENSITIVITY:
    case FORWARD_SENSITIVITY: derive_ours(k, &scene, s, op, nv * nv * STATES, result); break;
    default: k->mass_matrix(&scene, s->workspace, &mm, blocks);
    }
}

static state row(const subject *s, size_t i)
{
    size_t offset = i * (size_t)s->robot.model->nv;
    return (state){s->scalar.q + offset, s->scalar.qd + offset, s->scalar.qdd + offset, s->scalar.tau + offset};
}

/* Computes one-sided differences of a peer's inverse or forward dynamics: 2 nv + 1 evaluations. The transposes of the
 * two matrices are stored, one row for each coordinate that is shifted; with `result` NULL nothing is stored. */
static void evaluate_differences(const figure *f, const state *s, double *result)
{
    const double    step      = 1e-7;
    const size_t    nv        = (size_t)f->subject->robot.model->nv;
    const operation evaluated = f->operation == SENSITIVITY ? INVERSE_DYNAMICS : FORWARD_DYNAMICS;
    double          shifted[2][DYN_MAX_DOF], base[DYN_MAX_DOF], near[DYN_MAX_DOF];
    const state     beside = {shifted[0], shifted[1], s->qdd, s->tau};
    memcpy(shifted[0], s->q, nv * sizeof *s->q);
    memcpy(shifted[1], s->qd, nv * sizeof *s->qd);
    f->peer->evaluate(f->theirs, evaluated, s, base);
    for (size_t k = 0; k < 2 * nv; k++) {
        double *shifted_entry = &shifted[k / nv][k % nv], was = *shifted_entry;
        *shifted_entry = was + step;
        f->peer->evaluate(f->theirs, evaluated, &beside, near);
        for (size_t v = 0; v < nv; v++)
            near[v] = (near[v] - base[v]) / (*shifted_entry - was);
        *shifted_entry = was;
        if (result) memcpy(result + k * nv, near, nv * sizeof *result);
    }
}

static void evaluate_theirs(const figure *f, const state *s, double *result)
{
    if (f->by_differences)
        evaluate_differences(f, s, result);
    else
        f->peer->evaluate(f->theirs, f->operation, s, result);
}

static void pass(void *what)
{
    const figure  *f = what;
    const subject *s = f->subject;
    if (f->kernels) {
        const states *in = f->kernels->lanes == 1 ? &s->scalar : &s->wide;
        evaluate_ours(f->kernels, s->robot.model, in, f->operation, in->out[0]);
        return;
    }
    for (size_t i = 0; i < STATES; i++) {
        state one = row(s, i);
        evaluate_theirs(f, &one, NULL);
    }
}

/* --- comparison of results ---------------------------------------------------------------------------------- */

/* Returns torqued's number for entry e of the peer's result for state i. The two matrices of derivatives are one after
 * the other, and the peer's are transposed. */
static double our_entry(const figure *f, size_t i, size_t e)
{
    const double *out = f->subject->scalar.out[0];
    const size_t  nv = (size_t)f->subject->robot.model->nv, n = nv * nv;
    if (!f->by_differences) return out[i * result_entries(f->operation, nv) + e];
    return out[(e / n) * n * STATES + i * n + e % nv * nv + e % n / nv];
}

/* Returns the greatest difference relative to a state's largest entry; NaN counts as infinite. */
static double difference(const figure *f)
{
    const subject *s       = f->subject;
    size_t         nv      = (size_t)s->robot.model->nv;
    size_t         entries = result_entries(f->operation, nv);
    double        *theirs = calloc(entries, sizeof *theirs), worst = 0;
    if (!theirs) abort();
    evaluate_ours(one_lane(), s->robot.model, &s->scalar, f->operation, s->scalar.out[0]);
    for (size_t i = 0; i < STATES; i++) {
        double most = 0, largest = 0;
        state  one = row(s, i);
        if (f->operation == MASS_MATRIX_AT_POSES) f->peer->evaluate(f->theirs, MASS_MATRIX, &one, NULL);
        evaluate_theirs(f, &one, theirs);
        for (size_t e = 0; e < entries; e++) {
            double ours = our_entry(f, i, e), apart = fabs(theirs[e] - ours);
            most    = apart <= most ? most : isnan(apart) ? INFINITY : apart;
            largest = fmax(largest, fabs(ours));
        }
        worst = fmax(worst, most / largest);
    }
    free(theirs);
    return worst;
}

/* --- measurements --------------------------------------------------------------------------------------------- */

/* Adds torqued's figures at the least and the greatest width, then those of every peer that has the operation and the
 * robot. */
static size_t add_figures(figure *f, const subject *s, void *const *theirs, operation op)
{
    size_t n = 0;
    if (op != MASS_MATRIX_AT_POSES) {
        f[n++] = (figure){.subject = s, .operation = op, .kernels = one_lane()};
        f[n++] = (figure){.subject = s, .operation = op, .kernels = dyn_kernels_find(NULL)};
    }
    for (size_t p = 0; peers[p]; p++) {
        const bool derivative = op == SENSITIVITY || op == FORWARD_SENSITIVITY;
        if (!theirs[p] || !(derivative || peers[p]->calls[op])) continue;
        f[n] = (figure){
            .subject = s, .operation = op, .peer = peers[p], .theirs = theirs[p], .by_differences = derivative};
        f[n].difference = difference(&f[n]);
        n++;
    }
    return n;
}

static bool agrees(const figure *f)
{
    return f->difference <= (f->by_differences ? agreement_of_differences : agreement);
}

static const char *calls_of(const figure *f)
{
    if (!f->by_differences) return f->peer->calls[f->operation];
    return f->operation == SENSITIVITY ? "differences of inverse dynamics" : "differences of forward dynamics";
}

static void print(figure *f, size_t runs)
{
    printf("%s\t%s\t", f->subject->robot.label, operation_names[f->operation]);
    if (f->kernels)
        printf("%s (W=%d)\tkernel\t", f->kernels->target, f->kernels->lanes);
    else
        printf("%s %s\t%s\t", f->peer->name, f->peer->version(), calls_of(f));
    if (!agrees(f)) {
        printf("%.1e\t-\n", f->difference);
        return;
    }
    sort_runs(f->ns, runs);
    printf("%.1e\t%.1f\n", f->difference, f->ns[runs / 2]);
}

static void release(subject *s, void *const *theirs)
{
    for (size_t p = 0; peers[p]; p++)
        if (theirs[p]) peers[p]->release(theirs[p]);
    states_release(&s->scalar);
    states_release(&s->wide);
    robot_release(&s->robot);
}

int main(int argc, char **argv)
{
    static figure figures[MAX_FIGURES];
    subject       subjects[N_ROBOTS]              = {{.robot = robot_from_file("models/ur5.json")},
                                                     {.robot = robot_from_file("models/panda.json")},
                                                     {.robot = robot_humanoid()}};
    void         *theirs[N_ROBOTS][MAX_PEERS + 1] = {0};
    size_t        n                               = 0;
    size_t        runs                            = runs_asked(argc, argv, 101);
    for (int r = 0; r < N_ROBOTS; r++) {
        subject *s       = &subjects[r];
        size_t   entries = result_entries(SENSITIVITY, (size_t)s->robot.model->nv);
        states_prepare(&s->scalar, s->robot.model, one_lane(), STATES, entries);
        states_prepare(&s->wide, s->robot.model, dyn_kernels_find(NULL), STATES, entries);
        for (size_t p = 0; peers[p]; p++)
            theirs[r][p] = peers[p]->build(s->robot.model);
        for (int op = 0; op < N_OPERATIONS; op++)
            n += add_figures(&figures[n], s, theirs[r], (operation)op);
    }
    for (size_t run = 0; run < runs; run++)
        for (size_t i = 0; i < n; i++)
            if (agrees(&figures[i])) figures[i].ns[run] = ns_per_state(pass, &figures[i], STATES);
    for (size_t i = 0; i < n; i++)
        print(&figures[i], runs);
    for (int r = 0; r < N_ROBOTS; r++)
        release(&subjects[r], theirs[r]);
    return 0;
}
