/* reference.h - finds the reference of a mechanism with loops: the position with closed loops at which the path to
 * every state starts (loop_kernels.h).
 *
 * Actuated joints with a `home` in the document stay there. If all actuated joints have one, the loop error at home
 * shrinks to zero while the passive joints move. Otherwise passive joints and actuated joints without a home move by
 * steps of least norm until the loops are closed. If that fails, all joints may move. In the reference the loops must
 * determine the passive joints.
 *
 * The work is bounded: the path of the passive joints takes at most 1000 evaluations of the loops, and each of the two
 * searches by steps of least norm at most 200 steps. An evaluation or a step takes O(r u^2) operations, with r rows of
 * the loops and u passive or moving coordinates. */
#pragma once
#include "dynamics/loops/loop_kernels.h"

/* Writes mechanism->loops->reference; no other thread may use the mechanism yet. `memory` is for scratch, which may be
 * freed after the call. The position does not depend on gravity and has the same bits on every processor. `deadline` is
 * checked between steps. Returns false if there is no reference, if memory is refused, or if the deadline has passed.
 * *failure then says why the loops stay open; its status is DYN_LOOPS_CLOSED if memory was refused, or if a position
 * with closed loops was found but does not determine the passive joints. */
bool dyn_loop_find_reference(dyn_memory memory, const dyn_mechanism *mechanism, dyn_deadline deadline,
                             dyn_loop_failure *failure);
