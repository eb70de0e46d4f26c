/* simulation.c - lets a four-bar linkage swing freely, by steps of the classical Runge-Kutta method. Without friction
 * and motor torque the sum of kinetic and potential energy is constant. */
#include "samples.h"
#include "dynamics/loops/loop_step.h"
#include <stdio.h>
#include <string.h>

enum { STEPS = 1000, SHOWN_EVERY = 200 };
#define STEP 1e-3 /* s */

/* The linkage and the arrays of its step, for one state: with one lane an array in lanes is that of the state. */
typedef struct swing {
    const four_bar        *linkage;
    dyn_kernels            kernels; /* of the linkage */
    dyn_scene              scene;
    dyn_loop_workspace    *workspace;
    dyn_loop_stepper       stepper;
    dyn_loop_step_failures failures;
    double                *q, *qd, *q_after, *qd_after, *passive, *work, *singular, *unsolved, *energy;
} swing;

static bool prepare(dyn_memory memory, const four_bar *linkage, swing *s)
{
    const dyn_kernels   *tree = dyn_kernels_for_one_state(dyn_kernels_find(NULL));
    const dyn_mechanism *m    = &linkage->mechanism;
    const dyn_model     *joints;
    bool                 succeeded = true;

    *s           = (swing){.linkage = linkage, .kernels = dyn_loop_kernels(tree)};
    s->scene     = (dyn_scene){.model = linkage->tree, .gravity = {0, -9.81, 0}};
    s->workspace = dyn_loop_workspace_open(memory, m, tree, (dyn_deadline){0}, 0, 0);
    joints       = dyn_loop_step_joints(memory, m);
    if (!s->workspace || !joints) return false;
    const dyn_scene of_joints = {.model = joints};
    const size_t    work      = dyn_step_work(joints, DYN_RK4, dyn_step_inputs(&of_joints, false, false));

    s->q        = dyn_take_zeroed(memory, m->nq, &succeeded);
    s->q_after  = dyn_take_zeroed(memory, m->nq, &succeeded);
    s->qd       = dyn_take_zeroed(memory, m->nv, &succeeded);
    s->qd_after = dyn_take_zeroed(memory, m->nv, &succeeded);
    s->passive  = dyn_take_zeroed(memory, linkage->loops.n_passive_q, &succeeded);
    s->work     = dyn_take_zeroed(memory, work, &succeeded);
    s->singular = dyn_take_zeroed(memory, 1, &succeeded);
    s->unsolved = dyn_take_zeroed(memory, 1, &succeeded);
    s->energy   = dyn_take_zeroed(memory, 2, &succeeded);
    s->stepper  = (dyn_loop_stepper){.closed   = s->workspace,
                                     .scene    = &s->scene,
                                     .joints   = joints,
                                     .scratch  = dyn_take_zeroed(memory, dyn_loop_step_entries(m), &succeeded),
                                     .failures = &s->failures};
    return succeeded;
}

/* Prints time, q and qd of the crank, and the energy, at the position where the loops are closed. */
static void show(const swing *s, size_t step)
{
    const dyn_energy io = {.q = s->q, .qd = s->qd, .kinetic = s->energy, .potential = s->energy + 1};
    s->kernels.energy(&s->scene, s->workspace, &io, 1);
    const double row[] = {STEP * (double)step, s->q[0], s->qd[0], s->energy[0] + s->energy[1]};
    print_row("swing", row, sizeof row / sizeof *row, 1);
}

/* Takes a step, and closes the loops at its end along a straight line from its start. */
static bool advance(swing *s)
{
    const dyn_loops *loops = &s->linkage->loops;
    const dyn_step   step  = {.q        = s->q,
                              .qd       = s->qd,
                              .method   = DYN_RK4,
                              .h        = STEP,
                              .q_after  = s->q_after,
                              .qd_after = s->qd_after,
                              .work     = s->work,
                              .singular = s->singular,
                              .unsolved = s->unsolved};
    dyn_loop_step(&s->stepper, &step);
    if (s->failures.lane[0].status != DYN_LOOPS_CLOSED || s->singular[0] >= 0) return false;
    for (size_t i = 0; i < loops->n_passive_q; i++)
        s->passive[i] = dyn_loop_tree_q(s->workspace)[loops->passive_q[i]];
    const dyn_approach start = {.q = s->q, .passive = s->passive};
    if (!dyn_loop_close(s->workspace, &s->scene, s->q_after, &start, 1)) return false;
    memcpy(s->q, s->q_after, s->linkage->mechanism.nq * sizeof *s->q);
    memcpy(s->qd, s->qd_after, s->linkage->mechanism.nv * sizeof *s->qd);
    return true;
}

static bool show_swing(dyn_memory memory, const four_bar *linkage)
{
    swing s;
    if (!prepare(memory, linkage, &s)) return false;
    s.q[0]  = 0.9;
    s.qd[0] = 6;
    if (!dyn_loop_close(s.workspace, &s.scene, s.q, NULL, 1)) return false;
    printf("# four-bar in free motion: time in s; q, qd of the crank; energy in J\n");
    show(&s, 0);
    for (size_t step = 1; step <= STEPS; step++) {
        if (!advance(&s)) return false;
        if (step % SHOWN_EVERY == 0) show(&s, step);
    }
    return true;
}

bool show_simulation(void)
{
    dyn_arena  arena  = {0};
    dyn_memory memory = dyn_arena_memory(&arena);
    four_bar   linkage;
    const bool shown = build_four_bar(memory, &linkage) && show_swing(memory, &linkage);
    dyn_arena_free(&arena);
    dyn_model_free(linkage.tree);
    return shown;
}
