/* clear_large.h - clears results of large models part by part, while a deadline is watched: a hundred megabytes of
 * fresh memory take a tenth of a second. */
#pragma once
#include "dynamics/memory/memory.h"
#include "lane.h"

/* Sets n lanes to zero, or only some of them if the deadline passes; nothing happens if the array is NULL. */
static inline void clear_large(dyn_deadline deadline, lane *M, size_t n)
{
    enum { PART = 8192 /* lanes */ };
    for (size_t e = 0; M && e < n; e++) {
        if (e % PART == 0 && n > PART && !dyn_may_continue(deadline)) return;
        M[e] = lane_of(0);
    }
}
