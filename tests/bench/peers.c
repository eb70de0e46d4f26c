/* peers.c - peers [RUNS]: our kernels beside other libraries, the same robots and states in the same run.
 *
 * A peer's numbers are compared with ours first: what differs by more than 1e-9 of a state's largest entry is said
 * and not timed. Then RUNS (101) runs go round all that is left, one after the other, so that a disturbance does not
 * fall on one of them; the figures are medians. Prints one line a figure:
 *     robot, operation, who, calls, difference, ns per state        (ns: "-" where the numbers differ) */
#include "peer/peer.h"
#include "robots.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N_ROBOTS = 3, MAX_PEERS = 2, MAX_FIGURES = N_ROBOTS * N_OPERATIONS * (2 + MAX_PEERS) };

static const double agreement = 1e-9;

static const peer *const peers[MAX_PEERS + 1] = {
#ifdef HAVE_PEER_mujoco
    &peer_mujoco,
#endif
#ifdef HAVE_PEER_kdl
    &peer_kdl,
#endif
    NULL,
};

static const char *const operation_names[N_OPERATIONS] = {"inverse dynamics", "mass matrix", "mass matrix, poses known",
                                                          "forward dynamics"};

/* A robot with its states in our blocks of each width and, for the width of one, in rows as peers take them. */
typedef struct subject {
    robot  robot;
    states scalar, wide;
} subject;

typedef struct figure {
    const subject     *subject;
    operation          operation;
    const dyn_kernels *kernels; /* ours, or NULL: */
    const peer        *peer;
    void              *theirs;
    double             difference, ns[MAX_RUNS];
} figure;

/* --- one pass over the states -------------------------------------------------------------------------------- */

static void evaluate_ours(const dyn_kernels *k, const dyn_model *m, const states *s, operation op, double *result)
{
    dyn_scene            scene  = {.model = m, .gravity = {m->gravity[0], m->gravity[1], m->gravity[2]}};
    size_t               blocks = STATES / (size_t)k->lanes;
    dyn_inverse_dynamics id     = {.q = s->q, .qd = s->qd, .qdd = s->qdd, .tau = result};
    dyn_forward_dynamics fd     = {.q = s->q, .qd = s->qd, .tau = s->tau, .qdd = result, .singular = s->out[1]};
    dyn_mass_matrix      mm     = {.q = s->q, .mass_matrix = result};
    switch (op) {
    case INVERSE_DYNAMICS: k->inverse_dynamics(&scene, s->workspace, &id, blocks); break;
    case FORWARD_DYNAMICS: k->forward_dynamics(&scene, s->workspace, &fd, blocks); break;
    default: k->mass_matrix(&scene, s->workspace, &mm, blocks);
    }
}

static state row(const subject *s, size_t i)
{
    size_t at = i * (size_t)s->robot.model->nv;
    return (state){s->scalar.q + at, s->scalar.qd + at, s->scalar.qdd + at, s->scalar.tau + at};
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
        f->peer->evaluate(f->theirs, f->operation, &one, NULL);
    }
}

/* --- the same numbers? --------------------------------------------------------------------------------------- */

/* Greatest difference, as a share of a state's largest entry; NaN counts as infinite. */
static double difference(const figure *f)
{
    const subject *s       = f->subject;
    size_t         nv      = (size_t)s->robot.model->nv;
    bool           matrix  = f->operation == MASS_MATRIX || f->operation == MASS_MATRIX_AT_POSES;
    size_t         entries = matrix ? nv * nv : nv;
    double        *theirs = calloc(entries, sizeof *theirs), worst = 0;
    if (!theirs) abort();
    evaluate_ours(one_lane(), s->robot.model, &s->scalar, f->operation, s->scalar.out[0]);
    for (size_t i = 0; i < STATES; i++) {
        const double *ours = s->scalar.out[0] + i * entries;
        double        most = 0, largest = 0;
        state         one = row(s, i);
        if (f->operation == MASS_MATRIX_AT_POSES) f->peer->evaluate(f->theirs, MASS_MATRIX, &one, NULL);
        f->peer->evaluate(f->theirs, f->operation, &one, theirs);
        for (size_t e = 0; e < entries; e++) {
            double apart = fabs(theirs[e] - ours[e]);
            most         = apart <= most ? most : isnan(apart) ? INFINITY : apart;
            largest      = fmax(largest, fabs(ours[e]));
        }
        worst = fmax(worst, most / largest);
    }
    free(theirs);
    return worst;
}

/* --- all figures ---------------------------------------------------------------------------------------------- */

/* Ours at the least and the greatest width, then every peer that has the operation and can have the robot. */
static size_t add_figures(figure *f, const subject *s, void *const *theirs, operation op)
{
    size_t n = 0;
    if (op != MASS_MATRIX_AT_POSES) {
        f[n++] = (figure){.subject = s, .operation = op, .kernels = one_lane()};
        f[n++] = (figure){.subject = s, .operation = op, .kernels = dyn_kernels_find(NULL)};
    }
    for (size_t p = 0; peers[p]; p++) {
        if (!theirs[p] || !peers[p]->calls[op]) continue;
        f[n]            = (figure){.subject = s, .operation = op, .peer = peers[p], .theirs = theirs[p]};
        f[n].difference = difference(&f[n]);
        n++;
    }
    return n;
}

static void print(figure *f, size_t runs)
{
    printf("%s\t%s\t", f->subject->robot.label, operation_names[f->operation]);
    if (f->kernels)
        printf("%s (W=%d)\tkernel\t", f->kernels->target, f->kernels->lanes);
    else
        printf("%s %s\t%s\t", f->peer->name, f->peer->version(), f->peer->calls[f->operation]);
    if (!(f->difference <= agreement)) {
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
        size_t   entries = (size_t)s->robot.model->nv * (size_t)s->robot.model->nv;
        states_prepare(&s->scalar, s->robot.model, one_lane(), STATES, entries);
        states_prepare(&s->wide, s->robot.model, dyn_kernels_find(NULL), STATES, entries);
        for (size_t p = 0; peers[p]; p++)
            theirs[r][p] = peers[p]->build(s->robot.model);
        for (int op = 0; op < N_OPERATIONS; op++)
            n += add_figures(&figures[n], s, theirs[r], (operation)op);
    }
    for (size_t run = 0; run < runs; run++)
        for (size_t i = 0; i < n; i++)
            if (figures[i].difference <= agreement) figures[i].ns[run] = ns_per_state(pass, &figures[i], STATES);
    for (size_t i = 0; i < n; i++)
        print(&figures[i], runs);
    for (int r = 0; r < N_ROBOTS; r++)
        release(&subjects[r], theirs[r]);
    return 0;
}
