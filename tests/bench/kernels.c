/* kernels.c - kernels [RUNS]: measures ns per state of each kernel, robot and vector width, with all data in cache.
 *
 * Each kernel evaluates a few blocks of random states again and again. RUNS (20) runs are interleaved over kernels,
 * widths and robots, so that a disturbance affects all of them. Prints one line per figure: robot, kernel, target,
 * lanes, least, median */
#include "passes.h"
#include <stdio.h>

enum { MAX_TARGETS = 8, N_ROBOTS = 8 };

typedef struct figure {
    const kernel_pass *kernel; /* NULL: this kernel is not measured for this robot */
    double             ns[MAX_RUNS];
} figure;

static void print(figure *f, const robot *r, const dyn_kernels *k, size_t runs)
{
    if (!f->kernel) return;
    sort_runs(f->ns, runs);
    printf("%s\t%s\t%s\t%d\t%.2f\t%.2f\n", r->label, f->kernel->name, k->target, k->lanes, f->ns[0], f->ns[runs / 2]);
}

/* Returns the entries per state of the largest result: the derivatives of a step by parameters, followed by the state
 * after the step. */
static size_t most_entries(const dyn_model *m)
{
    return (20 * m->n_bodies + 6) * (size_t)m->nv;
}

int main(int argc, char **argv)
{
    static figure   figures[N_ROBOTS][N_KERNELS][MAX_TARGETS];
    static workload work[N_ROBOTS][MAX_TARGETS];
    robot           robots[N_ROBOTS] = {robot_from_file("models/panda.json"),
                                        robot_general_arm(),
                                        robot_from_file("models/ur5.json"),
                                        robot_from_file("models/stanford.json"), /* a robot with a prismatic joint */
                                        robot_humanoid(),
                                        robot_general_tree(),
                                        robot_from_file("models/solo12.json"),
                                        robot_from_file("models/humanoid.json")};
    size_t          targets          = 0;
    size_t          runs             = runs_asked(argc, argv, 20);
    while (targets < MAX_TARGETS && dyn_kernels_at(targets))
        targets++;

    for (int r = 0; r < N_ROBOTS; r++)
        for (size_t t = 0; t < targets; t++) {
            const dyn_model *m = robots[r].model;
            workload_prepare(&work[r][t], &robots[r], dyn_kernels_at(t), STATES, most_entries(m));
            for (int i = 0; i < N_KERNELS; i++)
                if (!kernel_passes[i].fixed_base || m->body[0].joint.kind != DYN_FLOATING)
                    figures[r][i][t].kernel = &kernel_passes[i];
        }
    for (size_t run = 0; run < runs; run++)
        for (int i = 0; i < N_KERNELS; i++)
            for (int r = 0; r < N_ROBOTS; r++)
                for (size_t t = 0; t < targets; t++)
                    if (figures[r][i][t].kernel)
                        figures[r][i][t].ns[run] = ns_per_state(kernel_passes[i].pass, &work[r][t], STATES);
    for (int r = 0; r < N_ROBOTS; r++)
        for (int i = 0; i < N_KERNELS; i++)
            for (size_t t = 0; t < targets; t++)
                print(&figures[r][i][t], &robots[r], dyn_kernels_at(t), runs);

    for (int r = 0; r < N_ROBOTS; r++) {
        for (size_t t = 0; t < targets; t++)
            workload_release(&work[r][t]);
        robot_release(&robots[r]);
    }
    return 0;
}
