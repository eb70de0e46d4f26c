/* shown_parameters.h - tell which parameters measured rows show, and which any motion would show.
 *
 * A parameter is shown alone, or in a combination with others, or not at all. The columns of the base parameters over
 * the rows are examined like those of the model's regressor (base_parameters.h): inertias of a body first, its mass
 * last. */
#pragma once
#include "dynamics/identification/estimate.h"

typedef enum api_shown {
    API_NOT_SOUGHT,
    API_NOT_SHOWN,
    API_SHOWN_COMBINED,
    API_SHOWN_ALONE,
    API_SHOWN_KINDS
} api_shown;
extern const char *const api_shown_names[API_SHOWN_KINDS]; /* NULL, "none", "combined", "alone" */

/* The base parameters that rows determine, in the request's memory. */
typedef struct api_shown_base {
    api_base base; /* combinations of the parameters of t->base */
    bool    *kept; /* [n] which of the base parameters of the estimate are kept */
} api_shown_base;

/* Finds the combinations among the columns of t->R, after api_estimate_examine or api_estimate_examine_rows returned
 * DYN_DEFICIENT. Returns false with a problem if the deadline has passed or there is no memory. */
bool api_shown_base_find(const api_query *q, const api_estimate *t, api_shown_base *shown);

/* Writes how a base shows its parameters into shown[parameter], an api_shown. Other parameters keep their value. */
void api_base_shows(const api_base *base, unsigned char *shown);
