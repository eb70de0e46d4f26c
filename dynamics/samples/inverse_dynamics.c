/* inverse_dynamics.c - computes the torques of an arm in one state, and in a batch of states. */
#include "samples.h"
#include <stdio.h>
#include <string.h>

enum { STATES = 10, Q = 0, QD, QDD, QUANTITIES };

/* A state of the arm: its q, qd and qdd. */
typedef struct arm_state {
    double value[QUANTITIES][ARM_LINKS];
} arm_state;

static arm_state state_of(size_t number)
{
    const double t = 0.1 * (double)number;
    return (arm_state){{{0.3 + t, -0.7 + 0.5 * t, 1.1 - t}, {1.2, 0.45 - t, -0.8}, {2 - t, 0.5, -1.5}}};
}

/* Returns q, qd or qdd (`quantity`) of the first n states, in lanes. Unused lanes of the last block repeat the last
 * state. Returns NULL if there is no memory. */
static double *lanes_of(dyn_memory memory, const dyn_kernels *kernels, int quantity, size_t n, size_t blocks)
{
    const size_t states = blocks * (size_t)kernels->lanes, bytes = states * ARM_LINKS * sizeof(double);
    double      *rows = dyn_take(memory, bytes), *lanes = dyn_take(memory, bytes);
    if (!rows || !lanes) return NULL;
    for (size_t i = 0; i < states; i++) {
        const arm_state state = state_of(i < n ? i : n - 1);
        memcpy(rows + i * ARM_LINKS, state.value[quantity], sizeof state.value[quantity]);
    }
    const dyn_rows from = {.begin = rows, .end = rows + states * ARM_LINKS, .n = ARM_LINKS};
    return kernels->from_rows(&from, lanes, ARM_LINKS, blocks) ? lanes : NULL;
}

/* Writes the torques of the first n states, one row each, to `tau`. */
static bool find_torques(dyn_memory memory, const dyn_scene *scene, const dyn_kernels *kernels, size_t n, double *tau)
{
    const size_t               W = (size_t)kernels->lanes, blocks = (n + W - 1) / W;
    void                      *workspace = dyn_take(memory, kernels->workspace_size(scene->model));
    const dyn_inverse_dynamics io        = {.q   = lanes_of(memory, kernels, Q, n, blocks),
                                            .qd  = lanes_of(memory, kernels, QD, n, blocks),
                                            .qdd = lanes_of(memory, kernels, QDD, n, blocks),
                                            .tau = dyn_take(memory, blocks * W * ARM_LINKS * sizeof(double))};
    if (!workspace || !io.q || !io.qd || !io.qdd || !io.tau) return false;
    kernels->inverse_dynamics(scene, workspace, &io, blocks);
    return kernels->to_rows(io.tau, ARM_LINKS, ARM_LINKS, NULL, tau, n); /* false: a torque is not finite */
}

static bool show_torques(dyn_memory memory, const dyn_model *arm)
{
    const dyn_kernels *wide  = dyn_kernels_find(NULL);
    dyn_scene          scene = {.model = arm, .terms = DYN_FRICTION};
    double             one[ARM_LINKS], batch[STATES][ARM_LINKS];
    memcpy(scene.gravity, arm->gravity, sizeof scene.gravity);
    if (!find_torques(memory, &scene, dyn_kernels_for_one_state(wide), 1, one) ||
        !find_torques(memory, &scene, wide, STATES, batch[0]))
        return false;
    printf("# inverse dynamics of the arm: joint torques in N m\n");
    print_row("one", one, ARM_LINKS, 1);
    for (size_t i = 0; i < STATES; i++)
        print_row("batch", batch[i], ARM_LINKS, 1);
    return memcmp(one, batch[0], sizeof one) == 0; /* a state has the same bits alone and in a batch */
}

bool show_inverse_dynamics(void)
{
    dyn_link        links[ARM_LINKS];
    dyn_description description = describe_arm(links);
    dyn_model      *arm         = NULL;
    dyn_arena       arena       = {0};
    const bool      shown =
        dyn_model_build(&description, &arm, NULL) == DYN_OK && show_torques(dyn_arena_memory(&arena), arm);
    dyn_arena_free(&arena);
    dyn_model_free(arm);
    return shown;
}
