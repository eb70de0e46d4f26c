/* shortage.h - remember on each thread that an allocation has failed, so that the request is answered 503.
 *
 * Libraries report a failed allocation like an error of the input, or drop a member silently. Therefore jansson and
 * libxml2 allocate by functions that note a failure, LAPACKE reports its own, and so do the allocators of this folder.
 * A caller checks for a shortage before the result of a library takes effect. */
#pragma once
#include "api/problem.h"
#include <stdbool.h>
#include <stddef.h>

void api_shortage_forget(void); /* call at the start of a request */
void api_shortage_note(void);   /* an allocation has failed on this thread */

/* True if an allocation has failed on this thread since api_shortage_forget. Then the problem is `memory-full`,
 * whatever it was before. */
bool api_shortage_check(api_problem *problem);

/* Makes jansson and libxml2 allocate by functions that note a shortage. Call before threads start. */
void api_shortage_watch_libraries(void);
