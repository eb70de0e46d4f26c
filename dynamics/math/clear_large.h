/* clear_large.h - clears results of large models part by part and checks a deadline between the parts, since clearing a
 * hundred megabytes of fresh memory takes a tenth of a second. */
#pragma once
#include "dynamics/memory/memory.h"
#include "lane.h"

/* Sets the n lanes of M to zero; stops early if the deadline passes. Does nothing if M is NULL. */
static inline void clear_large(dyn_deadline deadline, lane *M, size_t n)
{
    enum { PART = 8192 /* lanes */ };
    for (size_t e = 0; M && e < n; e++) {
        if (e % PART == 0 && n > PART && !dyn_may_continue(deadline)) return;
        M[e] = lane_of(0);
    }
}
