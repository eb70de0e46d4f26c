/* margin_limits.h - reads the kinds of limits that a request names, lists the limits of these kinds that the joints of
 * a model have, and writes this list. */
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

/* A limit of the coordinate `entry` of q for positions, of qd, tau or the rate of tau otherwise. An elastic joint has
 * the effort of its motor. */
typedef struct api_margin_limit {
    const char     *joint;
    api_margin_kind kind;
    size_t          entry, v; /* v: the velocity coordinate of the entry */
    double          lower, upper;
} api_margin_limit;

typedef struct api_margin_limits {
    size_t            n;
    api_margin_limit *limit; /* [n], in the order of the joints */
} api_margin_limits;

/* Lists the limits of the kinds in `kinds`, which is at `at`; NULL: all kinds. False with a problem, also if there are
 * no such limits. */
bool api_margin_limits_list(api_query *q, const api_node *kinds, const api_place *at, api_margin_limits *limits);

/* Writes [{"joint", "kind", "lower", "upper"}...]. */
void api_margin_limits_emit(const api_margin_limits *limits, api_emit *to);
