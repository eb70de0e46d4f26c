/* loops_build.h - builds the loops of a mechanism (loops.h) from a tree and the joints that close it.
 *
 * Order of calls: dyn_model_build gives the tree, with all loops cut; dyn_loops_build the loops; dyn_mechanism_of
 * (mechanism.h) the mechanism; dyn_loop_find_reference (dynamics/loop_reference/reference.h) the position at which all
 * paths start. Then the mechanism is ready for loop_kernels.h, and threads may share it. */
#pragma once
#include "dynamics/memory/memory.h"
#include "loops.h"

/* The properties of a link's joint on which loops depend. All zero: the joint is actuated. */
typedef struct dyn_loop_joint {
    bool passive; /* true: the joint has no actuator, the loops move it. Not read for a mimic */
    /* Position near which closed loops are sought, with the entries that the joint has in q of the tree; a motor
     * coordinate of an elastic joint takes the same. NULL: zeros and no rotation, and the search for the reference may
     * move the joint. */
    const double *home;
} dyn_loop_joint;

typedef enum dyn_loops_result {
    DYN_LOOPS_BUILT,
    DYN_LOOPS_NO_MEMORY,
    DYN_LOOPS_ONE_BODY,     /* both frames of loop `where` are on one body */
    DYN_LOOPS_ALL_ACTUATED, /* no joint is passive, so the loops determine no coordinate */
    DYN_LOOPS_ALL_PASSIVE,  /* no coordinate of the mechanism would be left */
    DYN_LOOPS_UNDETERMINED  /* the joint of body `where` of the tree is passive, but in no loop */
} dyn_loops_result;

/* Builds *loops. Before the call the caller sets in it
 *     n, loop [n] and pair [n]   of each loop its kind; its unit axis u, in axes of frame a; of a helical joint the
 *                                pitch; of a universal joint u_b; names if wanted (the mechanics read none)
 * and everything else to zero. `joint` has one entry for each link of the tree's description, tree->n_links. Afterwards
 * all members are set but the texts, `loaded`, and the contents of `reference`. The arrays are in `memory`, beside
 * `loop` and `pair` of the caller, and must outlive every mechanism of these loops; `joint` and its homes are copied.
 *
 * The tree must have no load coefficients (dyn_friction.load): a caller with such friction sets `loaded` itself.
 * On failure *where (if not NULL) is the index that dyn_loops_result names. */
dyn_loops_result dyn_loops_build(dyn_memory memory, const dyn_model *tree, const dyn_loop_joint *joint,
                                 dyn_loops *loops, size_t *where);
