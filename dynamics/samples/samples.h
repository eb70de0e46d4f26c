/* samples.h - the four samples of the program sample.c, the robots that they share, and how they print. */
#pragma once
#include "dynamics/dynamics.h"
#include "dynamics/loops/mechanism.h"
#include "dynamics/memory/arena.h"

/* Each function prints a table and returns false if a computation failed. */
bool show_inverse_dynamics(void);
bool show_loop(void);
bool show_simulation(void);
bool show_identification(void);

/* --- robots.c ---------------------------------------------------------------------------------------------------- */

enum { ARM_LINKS = 3, FOUR_BAR_LINKS = 3 };

/* Describes an arm: a joint about the vertical z axis carries two joints about y. The description refers to `links`. */
dyn_description describe_arm(dyn_link links[ARM_LINKS]);

/* Describes the tree of a four-bar linkage in the x-y plane, with gravity along -y: crank and coupler in series, and
 * the rocker on the base. The joint between coupler and rocker, which closes the loop, is not part of the tree. */
dyn_description describe_four_bar(dyn_link links[FOUR_BAR_LINKS]);

/* A four-bar linkage that is ready for loop_kernels.h. `tree` is from malloc, the loops are in the arena. */
typedef struct four_bar {
    dyn_model    *tree;
    dyn_loops     loops;
    dyn_mechanism mechanism;
} four_bar;

/* Builds the linkage, with `memory` for its loops. Returns false if that fails; the caller frees to->tree in any case.
 */
bool build_four_bar(dyn_memory memory, four_bar *to);

/* --- print.c ----------------------------------------------------------------------------------------------------- */

/* Prints `name` and n numbers, which are `stride` apart, with all their digits. */
void print_row(const char *name, const double *numbers, size_t n, size_t stride);
