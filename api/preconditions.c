/* preconditions.c - see preconditions.h. */
#include "preconditions.h"
#include <stddef.h>
#include <string.h>

typedef enum match { NO_MATCH, MATCH, MALFORMED } match;

static const char *skip_blank(const char *p)
{
    return p + strspn(p, " \t");
}

/* entity-tag = [ "W/" ] DQUOTE *etagc DQUOTE. Sets the opaque part and returns the byte behind, or NULL. */
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

/* field = "*" / #entity-tag. Ours are strong; the strong comparison of If-Match refuses weak ones. */
static match match_list(const char *field, const char *revision, bool strong)
{
    match       found = NO_MATCH;
    const char *p     = skip_blank(field);
    if (*p == '*' && *skip_blank(p + 1) == '\0') return revision ? MATCH : NO_MATCH;
    for (bool any = false;; any = true) {
        bool        weak;
        const char *opaque;
        size_t      length;
        p = skip_blank(p);
        while (*p == ',') /* empty list elements are legal */
            p = skip_blank(p + 1);
        if (*p == '\0') return any ? found : MALFORMED;
        p = read_tag(p, &weak, &opaque, &length);
        if (!p) return MALFORMED;
        if (revision && !(strong && weak) && strlen(revision) == length && memcmp(revision, opaque, length) == 0)
            found = MATCH;
        p = skip_blank(p);
        if (*p != ',' && *p != '\0') return MALFORMED;
    }
}

bool api_preconditions_hold(const api_preconditions *conditions, const char *revision)
{
    if (conditions->if_match && match_list(conditions->if_match, revision, true) != MATCH) return false;
    return !conditions->if_none_match || match_list(conditions->if_none_match, revision, false) == NO_MATCH;
}

bool api_preconditions_unchanged(const api_preconditions *conditions, const char *revision)
{
    return conditions->if_none_match && match_list(conditions->if_none_match, revision, false) == MATCH;
}
