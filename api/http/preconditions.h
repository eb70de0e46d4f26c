/* preconditions.h - If-Match and If-None-Match (RFC 9110, section 13.1). */
#pragma once
#include "negotiate.h"
#include <stdbool.h>

/* The two headers of one request; NULL where absent. Whoever fills it says who owns the strings. */
typedef struct api_preconditions {
    const char *if_match, *if_none_match;
} api_preconditions;

/* The entity tag of a revision in an encoding. Each has its own (RFC 9110, section 8.8.3): the revision, in JSON, and
 * the revision with a suffix. */
enum { API_TAG_MAX = 48 };
void api_tag_write(const char *revision, api_media form, char tag[API_TAG_MAX]);

/* Whether a request that changes something may go on, given the revision it finds (NULL: nothing there).
 * Any form's tag will do: it is
 * the revision that matters. A header that is not a list of entity tags never holds: when in doubt nothing is
 * overwritten. */
bool api_preconditions_hold(const api_preconditions *conditions, const char *revision);

/* Whether a GET may be answered 304: If-None-Match names the revision in that form (or is `*`). */
bool api_preconditions_unchanged(const api_preconditions *conditions, const char *revision, api_media form);
