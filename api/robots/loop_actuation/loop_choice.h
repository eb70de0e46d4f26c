/* loop_choice.h - choose as many joints of the loops as the loops have freedoms: those are coordinates of the
 * mechanism, and the others follow from them. */
#pragma once
#include "loop_tree.h"

/* Sets `driven` of each joint that moves the loops and follows no other. Given drives stay if they determine the loops,
 * and at a singular position of the loops. Reports which joint is driven although it was not, or follows although it
 * was driven, in the words of the tree. False with a problem of memory. */
bool api_loop_choose(api_loop_tree *t);
