/* row_scenes.h - surroundings of each row of a batch: gravity, and figures of payloads, that differ from row to row.
 *
 * Each state of such a request is evaluated alone, in a scene of its own: the bits are those of a request for this row,
 * and lanes and windows are not used. */
#pragma once
#include "api/requests/fields/query.h"

struct api_row_scenes {
    const double      *gravity; /* [rows][3] gravity, m/s^2; NULL: q->scene.gravity is that of all rows */
    const char        *bodies;  /* "payload" or "parameters", the first whose numbers have rows; NULL: neither */
    size_t             n;       /* number of payloads; 0: q->scene.model is that of all rows */
    const dyn_payload *payload; /* [n] payloads, of which only the places are read */
    const dyn_inertia *inertia; /* [rows][n] inertias of the payloads in each row */
};

/* Returns the row scenes of the query, which are made for the field if there are none. NULL with a problem, also if an
 * operation does not take them. */
api_row_scenes *api_row_scenes_of(api_query *q, const char *field);

/* Fails the request: `what` cannot be evaluated with gravity, payloads or parameters, as `field` says, that differ from
 * row to row. */
bool api_fail_row_scenes(const api_query *q, const char *field, const char *what) __attribute__((cold));
