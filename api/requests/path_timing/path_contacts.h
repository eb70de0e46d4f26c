/* path_contacts.h - read the held frames of a path and the limits of their wrenches, and write these limits, with those
 * of efforts, as rows in the derivatives of s (dynamics/path_timing).
 *
 * The wrenches on the held frames are unknown: at each place the limits allow a polygon of (sdd, sd^2)
 * (dynamics/path_timing/contact_polytope.h), whose edges are rows. An edge follows from several limits; its limit is
 * the one with the largest multiplier. */
#pragma once
#include "api/codec/emit.h"
#include "api/requests/held/held_efforts.h"
#include "api/requests/fields/limit_kinds.h"
#include "dynamics/path_timing/contact_polytope.h"
#include "dynamics/path_timing/polygon.h"
#include "dynamics/path_timing/timing.h"

typedef struct api_path_contacts {
    api_held_efforts   *held;
    size_t              n_limits;
    api_contact_limit  *limit;  /* [n_limits] the limits of contacts, those of a frame together */
    size_t             *number; /* [rows, then cones of held->choice, then efforts] number in the list of all limits */
    dyn_polytope_limits limits; /* set by api_path_contacts_prepare */
    size_t              W;      /* lanes */
    size_t             *owner;  /* [states][DYN_POLYGON_EDGES] number in the list of all limits of each row */
    double             *scale;  /* [states] dyn_polytope_scale */
} api_path_contacts;

struct api_path_limits;

/* The place at which a block of a path is evaluated, nv entries in lanes. */
typedef struct api_path_forces {
    const double *q, *dq, *d2q; /* derivatives with respect to s */
    const double *a, *b, *c;    /* efforts without contacts, a sdd + b sd^2 + c */
} api_path_forces;

/* Reads "held" with the limits of the contacts; `output` is contact_wrenches. *found stays NULL without held frames.
 * Returns false with a problem. */
bool api_path_contacts_read(api_query *q, api_selection *selected, size_t output, const api_node *fields,
                            api_path_contacts **found);

/* Prepares the held frames, when all fields are read. The limits of contacts are numbered from `first` on, those of
 * efforts are in `list`. Returns false with a problem. */
bool api_path_contacts_prepare(const api_plan *plan, api_path_contacts *contacts, const api_limit_list *list,
                               size_t first);

/* Writes "frame", "kind" and the bound of each limit of contacts, an object each. */
void api_path_contacts_emit(const api_path_contacts *contacts, api_emit *to);

/* Estimates the seconds of the search for the polygons of all states, before api_path_contacts_prepare. */
double api_path_contacts_seconds(const api_query *q, const api_path_contacts *contacts, const api_limit_list *list);

/* Returns the scratch entries of a state for the two functions below. */
size_t api_path_contacts_entries(const api_model *model, const api_path_contacts *contacts);

/* Writes DYN_POLYGON_EDGES rows of each state of a block, with limits->contacts: row 0 of state n is rows[n stride].
 * Returns false with a problem. */
bool api_path_contacts_rows(const api_evaluation *e, const struct api_path_limits *limits, size_t block,
                            const api_path_forces *forces, dyn_timing_row *rows, size_t stride);

/* Chooses the wrenches of all states that have not failed, and subtracts their efforts from tau (nv in lanes, of all
 * states), the efforts without contacts. `wrenches` (frames x 6 in lanes, of all states) NULL: not wanted. Returns
 * false with a problem. */
bool api_path_contacts_choose(const api_evaluation *e, const api_path_contacts *contacts, double *tau,
                              double *wrenches);
