/* scaling.c - scaling [RUNS]: measures ns per state of chains of 7 to 256 joints, at the least and the greatest width.
 *
 * Every width and length uses one block of eight states, so that only the robot grows. The figures are the least and
 * the median of RUNS (20) interleaved runs. Prints one line per figure: joints, kernel, target, lanes, least, median */
#include "passes.h"
#include <stdio.h>

enum { N_LENGTHS = 7, N_WIDTHS = 2, BLOCK = 8 };

static const int lengths[N_LENGTHS] = {7, 15, 31, 63, 127, 191, 256};

static double ns[N_LENGTHS][N_KERNELS][N_WIDTHS][MAX_RUNS];

static void measure(workload work[N_LENGTHS][N_WIDTHS], size_t run)
{
    for (int k = 0; k < N_KERNELS; k++)
        for (int l = 0; l < N_LENGTHS && kernel_passes[k].per_joint; l++)
            for (int w = 0; w < N_WIDTHS; w++)
                ns[l][k][w][run] = ns_per_state(kernel_passes[k].pass, &work[l][w], BLOCK);
}

int main(int argc, char **argv)
{
    static workload work[N_LENGTHS][N_WIDTHS];
    robot           robots[N_LENGTHS];
    size_t          runs = runs_asked(argc, argv, 20);
    for (int l = 0; l < N_LENGTHS; l++) {
        robots[l] = robot_chain(lengths[l]);
        for (int w = 0; w < N_WIDTHS; w++)
            workload_prepare(&work[l][w], &robots[l], w ? dyn_kernels_find(NULL) : one_lane(), BLOCK,
                             (size_t)lengths[l]);
    }
    for (size_t run = 0; run < runs; run++)
        measure(work, run);
    for (int l = 0; l < N_LENGTHS; l++) {
        for (int k = 0; k < N_KERNELS; k++)
            for (int w = 0; w < N_WIDTHS && kernel_passes[k].per_joint; w++) {
                sort_runs(ns[l][k][w], runs);
                printf("%d\t%s\t%s\t%d\t%.2f\t%.2f\n", lengths[l], kernel_passes[k].name, work[l][w].kernels->target,
                       work[l][w].kernels->lanes, ns[l][k][w][0], ns[l][k][w][runs / 2]);
            }
        for (int w = 0; w < N_WIDTHS; w++)
            workload_release(&work[l][w]);
        robot_release(&robots[l]);
    }
    return 0;
}
