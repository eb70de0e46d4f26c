/* preconditions.c - see preconditions.h. */
#include "preconditions.h"
#include <stddef.h>
#include <stdio.h>
#include <string.h>

typedef enum match { NO_MATCH, MATCH, MALFORMED } match;

static const char *skip_blank(const char *p)
{
    return p + strspn(p, " \t");
}

/* Reads entity-tag = [ "W/" ] DQUOTE *etagc DQUOTE. Sets `opaque` and `length` to the text between the quotes. Returns
 * the position after the tag, or NULL if malformed. */
static const char *read_tag(const char *p, bool *weak, const char **opaque, size_t *length)
{
    *weak = strncmp(p, "W/", 2) == 0;
    if (*weak) p += 2;
    if (*p != '"') return NULL;
    const char *end = strchr(p + 1, '"');
    if (!end) return NULL;
    *opaque = p + 1;
    *length = (size_t)(end - *opaque);
    return end + 1;
}

void api_tag_write(const char *revision, api_media media, char tag[API_TAG_MAX])
{
    snprintf(tag, API_TAG_MAX, "\"%s%s\"", revision, api_media_suffix(media));
}

/* True if the text of an entity tag stands for this revision in the media type `media`; API_MEDIA_NONE: in any media
 * type. */
static bool is_tag_of(const char *opaque, size_t length, const char *revision, api_media media)
{
    size_t stem = strlen(revision);
    if (length < stem || memcmp(opaque, revision, stem) != 0) return false;
    for (int i = 0; i < API_MEDIA_COUNT; i++) {
        const char *suffix = api_media_suffix((api_media)i);
        bool        same   = length - stem == strlen(suffix) && memcmp(opaque + stem, suffix, length - stem) == 0;
        if (same) return media == API_MEDIA_NONE || media == (api_media)i;
    }
    return false;
}

/* Matches field = "*" / #entity-tag against a revision. All tags of this server are strong; the strong comparison of
 * If-Match rejects weak tags. */
static match match_list(const char *field, const char *revision, api_media media, bool strong)
{
    match       found = NO_MATCH;
    const char *p     = skip_blank(field);
    if (*p == '*' && *skip_blank(p + 1) == '\0') return revision ? MATCH : NO_MATCH;
    for (bool any = false;; any = true) {
        bool        weak;
        const char *opaque;
        size_t      length;
        p = skip_blank(p);
        while (*p == ',') /* RFC 9110 allows empty list elements */
            p = skip_blank(p + 1);
        if (*p == '\0') return any ? found : MALFORMED;
        p = read_tag(p, &weak, &opaque, &length);
        if (!p) return MALFORMED;
        if (revision && !(strong && weak) && is_tag_of(opaque, length, revision, media)) found = MATCH;
        p = skip_blank(p);
        if (*p != ',' && *p != '\0') return MALFORMED;
    }
}

bool api_preconditions_hold(const api_preconditions *conditions, const char *revision)
{
    if (conditions->if_match && match_list(conditions->if_match, revision, API_MEDIA_NONE, true) != MATCH) return false;
    if (conditions->revision && (!revision || strcmp(conditions->revision, revision) != 0)) return false;
    return !conditions->if_none_match ||
           match_list(conditions->if_none_match, revision, API_MEDIA_NONE, false) == NO_MATCH;
}

bool api_preconditions_unchanged(const api_preconditions *conditions, const char *revision, api_media media)
{
    return conditions->if_none_match && match_list(conditions->if_none_match, revision, media, false) == MATCH;
}
