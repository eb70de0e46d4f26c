/* limits.c - limits count ROBOT|limits time [RUNS]: runs the kernels of the target avx2 for limits.py.
 *
 * `count` runs every kernel of one robot once, each inside limits_measured(), so that Valgrind can count its
 * instructions. `time` prints lines of "limit, name, ns of one instruction" for the processor, and of "kernel, robot,
 * number of the robot, kernel, ns per state", the least of RUNS (5) runs. */
#include "passes.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Robots with LARGE coordinates or more are measured with one block of states. */
enum { N_ROBOTS = 7, LANES = 4, LARGE = 100 };
enum { CHAINS = 12, STEPS = 1024 };

static robot robot_at(int i)
{
    static const char *const files[] = {"models/panda.json", "models/ur5.json", "models/solo12.json",
                                        "models/humanoid.json", "models/gait55.json"};
    return i < 5 ? robot_from_file(files[i]) : robot_chain(i == 5 ? 64 : 256);
}

/* Prepares all kernels of one robot. `entries`: the derivatives of a step by parameters are the largest result. */
static void prepare(workload *w, const robot *r)
{
    const size_t nv = (size_t)r->model->nv, entries = (20 * r->model->n_bodies + 6) * nv;
    workload_prepare(w, r, dyn_kernels_find("avx2"), nv < LARGE ? STATES : LANES, entries);
}

static bool applies(const kernel_pass *kernel, const robot *r)
{
    return !kernel->fixed_base || r->model->body[0].joint.kind != DYN_FLOATING;
}

/* --- calls under Valgrind ----------------------------------------------------------------------------------- */

void limits_measured(const kernel_pass *kernel, workload *w);

/* Runs one kernel. limits.py names this function to Valgrind, which counts its instructions from beginning to end. */
__attribute__((noinline, noclone)) void limits_measured(const kernel_pass *kernel, workload *w)
{
    kernel->pass(w);
    __asm__ volatile("" ::: "memory"); /* prevents a tail call: the function must end after the kernel */
}

static void count(int number)
{
    robot    r = robot_at(number);
    workload w;
    prepare(&w, &r);
    for (int i = 0; i < N_KERNELS; i++) {
        if (!applies(&kernel_passes[i], &r)) continue;
        limits_measured(&kernel_passes[i], &w);
        printf("%zu\t%s\n", w.blocks, kernel_passes[i].name);
    }
    workload_release(&w);
    robot_release(&r);
}

/* --- limits of the processor -------------------------------------------------------------------------------- */

/* Defines a pass that executes an instruction STEPS times with each of the registers 0 to CHAINS - 1, named \\r; the
 * chains are independent. %0 is the address of an array of vectors that begins with the number 1. */
#define EACH(instruction) ".irp r,0,1,2,3,4,5,6,7,8,9,10,11\n\t" instruction "\n\t.endr\n\t"
#define STREAM(name, instruction)                                                                                      \
    static void name(void *memory)                                                                                     \
    {                                                                                                                  \
        for (int step = -1; step < STEPS; step++)                                                                      \
            if (step < 0)                                                                                              \
                __asm__ volatile(EACH("vbroadcastsd (%0), %%ymm\\r")::"r"(memory) : CHANGED);                          \
            else                                                                                                       \
                __asm__ volatile(EACH(instruction)::"r"(memory) : CHANGED);                                            \
        __asm__ volatile("vzeroupper");                                                                                \
    }
#define CHANGED                                                                                                        \
    "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm14"
STREAM(multiply_adds, "vfmadd213pd %%ymm\\r, %%ymm\\r, %%ymm\\r")
STREAM(sums_beside, "vfmadd213pd %%ymm\\r, %%ymm\\r, %%ymm\\r\n\tvaddpd %%ymm15, %%ymm15, %%ymm14")
STREAM(quotients, "vdivpd %%ymm\\r, %%ymm\\r, %%ymm\\r")
STREAM(loads, "vmovapd 32*\\r(%0), %%ymm\\r")
STREAM(stores, "vmovapd %%ymm\\r, 32*\\r(%0)")
STREAM(any, "nop")

typedef struct limit {
    const char *name;
    void (*pass)(void *memory);
    int instructions; /* instructions in one step of a chain */
} limit;

static void time_limits(size_t runs)
{
    static const limit         all[]                  = {{"multiply-adds", multiply_adds, 1},
                                                         {"arithmetic", sums_beside, 2},
                                                         {"quotients", quotients, 1},
                                                         {"loads", loads, 1},
                                                         {"stores", stores, 1},
                                                         {"instructions", any, 1}};
    static _Alignas(32) double memory[CHAINS * LANES] = {1};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        double least = INFINITY;
        for (size_t run = 0; run < 4 * runs; run++)
            least = fmin(least, ns_per_state(all[i].pass, memory, (size_t)(CHAINS * STEPS * all[i].instructions)));
        printf("limit\t%s\t%.5f\n", all[i].name, least);
    }
}

static void time_kernels(int number, size_t runs)
{
    robot    r = robot_at(number);
    workload w;
    prepare(&w, &r);
    for (int i = 0; i < N_KERNELS; i++) {
        double least = INFINITY;
        for (size_t run = 0; applies(&kernel_passes[i], &r) && run < runs; run++)
            least = fmin(least, ns_per_state(kernel_passes[i].pass, &w, w.blocks * LANES));
        if (least < INFINITY) printf("kernel\t%s\t%d\t%s\t%.2f\n", r.label, number, kernel_passes[i].name, least);
    }
    workload_release(&w);
    robot_release(&r);
}

int main(int argc, char **argv)
{
    if (!dyn_kernels_find("avx2")) {
        fprintf(stderr, "limits: this processor or this build has no target avx2\n");
        return 1;
    }
    if (argc == 3 && !strcmp(argv[1], "count")) {
        count(atoi(argv[2]));
        return 0;
    }
    if (argc < 2 || strcmp(argv[1], "time") != 0) {
        fprintf(stderr, "usage: limits count ROBOT | limits time [RUNS]\n");
        return 2;
    }
    const size_t runs = runs_asked(argc - 1, argv + 1, 5);
    time_limits(runs);
    for (int number = 0; number < N_ROBOTS; number++)
        time_kernels(number, runs);
    return 0;
}
