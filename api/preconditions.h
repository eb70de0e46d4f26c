/* preconditions.h - If-Match and If-None-Match (RFC 9110, section 13.1). */
#pragma once
#include <stdbool.h>

/* The two headers of one request; NULL where absent. Whoever fills it says who owns the strings. */
typedef struct api_preconditions {
    const char *if_match, *if_none_match;
} api_preconditions;

/* Whether a request that changes something may go on, given the revision it finds (NULL: nothing there).
 * A header that is not a list of entity tags never holds: when in doubt nothing is overwritten. */
bool api_preconditions_hold(const api_preconditions *conditions, const char *revision);

/* Whether a GET may be answered 304: If-None-Match names the revision (or is `*`). */
bool api_preconditions_unchanged(const api_preconditions *conditions, const char *revision);
