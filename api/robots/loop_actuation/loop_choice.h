/* loop_choice.h - choose as many joints of the loops as the loops have freedoms: those are coordinates of the
 * mechanism, and the others follow from them. */
#pragma once
#include "loop_tree.h"

/* Sets `driven` of each joint that moves the loops and follows no other joint. The choice of the caller stays if it
 * determines the loops, and where the reference position of the loops is singular. Reports each joint whose `driven`
 * has changed, with the clauses of t->words. False with a problem of memory. */
bool api_loop_choose(api_loop_tree *t);
