/* preconditions.h - evaluate If-Match and If-None-Match (RFC 9110, section 13.1). */
#pragma once
#include "api/codec/negotiate.h"
#include <stdbool.h>

/* If-Match, If-None-Match and Model-Revision of one request; NULL if absent. The strings are borrowed. */
typedef struct api_preconditions {
    const char *if_match, *if_none_match, *revision;
} api_preconditions;

static inline bool api_preconditions_exist(const api_preconditions *conditions)
{
    return conditions->if_match || conditions->if_none_match || conditions->revision;
}

/* Writes the entity tag of a revision in a media type. Each media type has its own tag (RFC 9110, section 8.8.3):
 * the revision for JSON, the revision and a suffix for the others. */
enum { API_TAG_MAX = 48 };
void api_tag_write(const char *revision, api_media media, char tag[API_TAG_MAX]);

/* True if the conditions allow a request that changes a model of this revision; `revision` is NULL if no such model
 * exists. The tag of any media type matches, because the condition is about the revision. A malformed header never
 * holds, so that nothing is overwritten in case of doubt. */
bool api_preconditions_hold(const api_preconditions *conditions, const char *revision);

/* True if a GET may be answered 304: If-None-Match is `*` or contains the tag of this revision in this media type. */
bool api_preconditions_unchanged(const api_preconditions *conditions, const char *revision, api_media media);
