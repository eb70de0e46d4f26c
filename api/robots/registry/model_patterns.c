/* model_patterns.c - matches names of models with the patterns to which a client is limited (api/api.h). */
#include "api/api.h"
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

enum { PATTERN_MAX = 128 /* bytes; a longer pattern matches no name */ };

bool api_patterns_match(const char *patterns, const char *name)
{
    for (const char *p = patterns;; p++) {
        char   one[PATTERN_MAX];
        size_t length = strcspn(p, ",");
        snprintf(one, sizeof one, "%.*s", (int)length, p);
        if (length < sizeof one && fnmatch(one, name, 0) == 0) return true;
        p += length;
        if (!*p) return false;
    }
}
