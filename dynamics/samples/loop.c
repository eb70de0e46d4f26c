/* loop.c - closes a four-bar linkage at some crank angles, and finds the passive joints and the crank's acceleration.
 */
#include "samples.h"
#include "dynamics/loops/loop_kernels.h"
#include <stdio.h>

enum { STATES = 6, COLUMNS = 6 };

/* Closes one block of crank angles, from the linkage's reference, and prints its states. The linkage has one actuated
 * coordinate, so an array of W numbers is a block of lanes. */
static bool show_block(dyn_loop_workspace *workspace, const dyn_kernels *kernels, const dyn_scene *scene, size_t first)
{
    const size_t               W = (size_t)kernels->lanes, live = STATES - first < W ? STATES - first : W;
    _Alignas(DYN_ALIGN) double q[DYN_MAX_LANES]   = {0}, qd[DYN_MAX_LANES], tau[DYN_MAX_LANES];
    _Alignas(DYN_ALIGN) double qdd[DYN_MAX_LANES] = {0}, torque[DYN_MAX_LANES], singular[DYN_MAX_LANES];
    for (size_t lane = 0; lane < W; lane++) {
        const size_t state = first + (lane < live ? lane : live - 1);
        q[lane]            = 0.4 + 0.25 * (double)state;
        qd[lane]           = 3 - 0.5 * (double)state;
        tau[lane]          = 2;
    }
    if (!dyn_loop_close(workspace, scene, q, NULL, live)) return false; /* dyn_loop_failure_of says why */

    const dyn_forward_dynamics forward = {.q = q, .qd = qd, .tau = tau, .qdd = qdd, .singular = singular};
    const dyn_inverse_dynamics inverse = {.q = q, .qd = qd, .qdd = qdd, .tau = torque};
    kernels->forward_dynamics(scene, workspace, &forward, 1);
    kernels->inverse_dynamics(scene, workspace, &inverse, 1);
    const double *tree_q = dyn_loop_tree_q(workspace);
    for (size_t lane = 0; lane < live; lane++) {
        if (singular[lane] >= 0) return false;
        const double row[COLUMNS] = {q[lane],  tree_q[W + lane], tree_q[2 * W + lane],
                                     qd[lane], qdd[lane],        torque[lane]};
        print_row("four-bar", row, COLUMNS, 1);
    }
    return true;
}

static bool show_states(dyn_memory memory, const four_bar *linkage)
{
    const dyn_kernels  *tree      = dyn_kernels_find(NULL);
    const dyn_kernels   kernels   = dyn_loop_kernels(tree);
    const dyn_scene     scene     = {.model = linkage->tree, .gravity = {0, -9.81, 0}};
    dyn_loop_workspace *workspace = dyn_loop_workspace_open(memory, &linkage->mechanism, tree, (dyn_deadline){0}, 0, 0);
    if (!workspace) return false;
    printf("# four-bar under 2 N m: q of crank, coupler, rocker in rad; qd, qdd of the crank; its torque in N m\n");
    print_row("reference", linkage->loops.reference, FOUR_BAR_LINKS, 1);
    for (size_t first = 0; first < STATES; first += (size_t)tree->lanes)
        if (!show_block(workspace, &kernels, &scene, first)) return false;
    return true;
}

bool show_loop(void)
{
    dyn_arena  arena  = {0};
    dyn_memory memory = dyn_arena_memory(&arena);
    four_bar   linkage;
    const bool shown = build_four_bar(memory, &linkage) && show_states(memory, &linkage);
    dyn_arena_free(&arena);
    dyn_model_free(linkage.tree);
    return shown;
}
