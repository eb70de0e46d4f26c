/* margin_limits.h - reads the kinds of limits that a request names, lists the limits of these kinds that the joints of
 * a model and the motors of its coupled transmissions have, and writes this list. */
#pragma once
#include "api/wire/emit.h"
#include "query.h"

typedef enum api_margin_kind {
    API_MARGIN_POSITION,
    API_MARGIN_VELOCITY,
    API_MARGIN_EFFORT,
    API_MARGIN_EFFORT_RATE,
    API_MARGIN_KINDS
} api_margin_kind;

extern const char *const api_margin_names[API_MARGIN_KINDS];

/* A limit of the sum of weight times the entries `entry` of q for positions, of qd, tau or the rate of tau otherwise. A
 * joint has one entry with the weight 1, an elastic joint the effort of its motor. The motor of a coupled transmission
 * has an entry for each joint that it drives. */
typedef struct api_margin_limit {
    const char     *name; /* of the joint or motor */
    api_margin_kind kind;
    size_t          n, v; /* v: the velocity coordinate of a position */
    size_t          entry[DYN_MAX_DRIVEN];
    double          weight[DYN_MAX_DRIVEN];
    double          lower, upper;
} api_margin_limit;

typedef struct api_margin_limits {
    size_t            n;
    api_margin_limit *limit; /* [n], in the order of the joints, then of the motors of transmissions */
} api_margin_limits;

/* Lists the limits of the kinds in `kinds`, which is at `at`; NULL: all kinds. False with a problem, also if there are
 * no such limits. */
bool api_margin_limits_list(api_query *q, const api_node *kinds, const api_place *at, api_margin_limits *limits);

/* Writes [{"joint", "kind", "lower", "upper"}...]. */
void api_margin_limits_emit(const api_margin_limits *limits, api_emit *to);

/* Returns the limited quantity in a lane of W: x are the lanes of q, qd, tau or its rate; NULL: zero. */
double api_margin_quantity(const api_margin_limit *limit, const double *x, size_t W, size_t lane);
