/* shown_parameters.h - tells which parameters the measured rows determine ("show"), and which ones any motion would
 * determine.
 *
 * A parameter is shown alone, or in a combination with others, or not at all. The columns of the base parameters over
 * the rows are examined like those of the model's regressor (base_parameters.h): inertias of a body first, its mass
 * last. */
#pragma once
#include "estimate.h"

typedef enum dyn_shown {
    DYN_NOT_SOUGHT,
    DYN_NOT_SHOWN,
    DYN_SHOWN_COMBINED,
    DYN_SHOWN_ALONE,
    DYN_SHOWN_KINDS
} dyn_shown;

/* The base parameters that rows determine, in memory of the caller. */
typedef struct dyn_shown_base {
    dyn_base base; /* combinations of the parameters of t->base */
    bool    *kept; /* [n] which of the base parameters of the estimate are kept */
} dyn_shown_base;

/* Finds the combinations among the columns of t->R, after dyn_estimate_examine or dyn_estimate_examine_rows returned
 * DYN_DEFICIENT. Returns false if the deadline has passed or memory is refused. */
bool dyn_shown_base_find(dyn_memory memory, const dyn_estimate *t, dyn_shown_base *shown);

/* Writes into shown[parameter], a dyn_shown, whether base parameters determine a parameter: alone, in a combination or
 * not at all. Parameters that are no candidates of the base keep their value. */
void dyn_base_shows(const dyn_base *base, unsigned char *shown);
