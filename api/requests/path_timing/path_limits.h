/* path_limits.h - read the limits of a path's timing, and write them as rows in the derivatives of s
 * (dynamics/path_timing).
 *
 * The limits are those of the model, of the kinds that the request lists. "joint_limits" replaces them, for each kind
 * that it names, by one limit for each coordinate. Behind them are the limits of frames (path_frames.h) and of contacts
 * (path_contacts.h). With held frames the limits of efforts are among the rows of the contacts. */
#pragma once
#include "api/requests/fields/limit_kinds.h"
#include "api/requests/lanes/evaluation.h"
#include "dynamics/path_timing/smooth_timing.h"
#include "path_contacts.h"
#include "path_frames.h"

typedef struct api_path_limits {
    api_limit_list     list;     /* the limits of joints and motors */
    api_path_frames    frames;   /* limits of frames, which have the numbers from list.n on */
    api_path_contacts *contacts; /* limits of contacts, with the numbers after those of frames; NULL: no held frames */
    size_t rows;    /* rows of a place without the third derivative of s (timing.h): those of joints, of frames, of
                        contacts */
    size_t *owner;  /* [rows + accelerations of frames] number of the limit of each row and norm */
    bool    smooth; /* true: a limit contains the third derivative of s */
    size_t  second, third; /* rows of a place without and with it, if `smooth`; of `second`, those of frames last */
    size_t *smooth_owner;  /* [second + third + accelerations of frames] number of the limit of each row and norm */
    double *replacing[DYN_LIMIT_KINDS]; /* [nv] bounds in joint_limits, in the order of the request; NULL: none */
} api_path_limits;

/* Inputs for the rows of a block, nv entries in lanes: q and its derivatives along the path, the coefficients of the
 * torques and their derivatives. */
typedef struct api_path_lanes {
    const double *q, *dq, *d2q, *d3q;
    const double *a, *b, *c, *d;
    const double *da, *db, *dc, *dd; /* NULL: not needed */
    const double *frames;            /* lanes that api_path_frames_evaluate has written */
} api_path_lanes;

/* Reads "kinds", "joint_limits" and "frame_limits" of the request and lists the limits, with those of `contacts` (NULL:
 * none); the bounds of joint_limits are set by api_path_limits_order. Returns false with a problem. */
bool api_path_limits_read(api_query *q, const api_node *fields, api_path_contacts *contacts, api_path_limits *limits);

/* Sets the bounds of joint_limits, once the order of "joints" is read. */
void api_path_limits_order(const api_query *q, api_path_limits *limits);

/* Returns the limit of position that a lane violates; NULL: none. */
const dyn_limit *api_path_position_violated(const api_path_limits *limits, const api_path_lanes *p, size_t W,
                                            size_t lane);

/* Number of limits of a path. */
static inline size_t api_path_limits_count(const api_path_limits *limits)
{
    return limits->list.n + limits->frames.n_limits + (limits->contacts ? limits->contacts->n_limits : 0);
}

/* Number of the first row of the contacts at a place. */
static inline size_t api_path_limits_contact_row(const api_path_limits *limits)
{
    return limits->rows - (limits->contacts ? DYN_POLYGON_EDGES : 0);
}

/* Returns the number of the limit of a row or norm of a state, without limits of the third order. */
static inline size_t api_path_limits_owner_at(const api_path_limits *limits, size_t state, size_t row)
{
    const size_t first = api_path_limits_contact_row(limits);
    return row < first || row >= limits->rows ? limits->owner[row]
                                              : limits->contacts->owner[state * DYN_POLYGON_EDGES + row - first];
}

/* Returns the kind of a limit, and the name of the joint, motor or frame that has it. */
const char *api_path_limit_kind(const api_path_limits *limits, size_t number);
const char *api_path_limit_owner(const api_path_limits *limits, size_t number);

/* Writes the list of the limits. */
void api_path_limits_emit(const api_path_limits *limits, api_emit *to);

/* Returns the derivative of the bound of a row or norm with respect to its limit, 1 / unit of the limit. `smooth`:
 * the row of a smooth timing, in which speeds are bounded by their squares. */
double api_path_limit_scale(const api_path_limits *limits, size_t number, bool smooth);

/* Writes the rows and norms of a lane. */
void api_path_limits_rows(const api_path_limits *limits, const api_path_lanes *p, size_t W, size_t lane,
                          dyn_timing_row *rows, dyn_timing_norm *norms);

/* Writes the rows and norms of a smooth timing of a lane whose place is `where`. */
void api_path_limits_smooth_rows(const api_path_limits *limits, const api_path_lanes *p, size_t W, size_t lane,
                                 const dyn_grading *where, api_smooth_limits to);
