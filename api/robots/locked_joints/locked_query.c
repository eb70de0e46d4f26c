/* locked_query.c - see locked_query.h. Reads the value of the query parameter `locked`: percent-decodes it, then splits
 * it at commas. In an entry the numbers are the last fields, so that a joint's name may contain colons, as names of
 * nested models in SDF do. A joint whose name has a comma can only be locked by the field "locked" of a document.
 */
#include "locked_query.h"
#include "api/codec/escape.h"
#include "api/codec/number.h"
#include "api/robots/document/document.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char parameter[] = "locked=";

static bool no_memory_for_query(api_problem *problem)
{
    return api_fail(problem, API_MEMORY_FULL, NULL, "no memory for the query");
}

static bool fail_query(const char *joint, api_problem *problem)
{
    return api_fail(
        problem, API_BAD_VALUE, NULL,
        "locked: \"%.80s\" given, expected the name of a joint and its position, elbow:1.57, or all numbers "
        "of a joint with several coordinates, ball:0:0:0:1",
        joint);
}

/* Copies [from, end) and percent-decodes the copy. NULL with a problem; the caller frees the text. */
static char *decode_list(const char *from, const char *end, api_problem *problem)
{
    char *text = calloc((size_t)(end - from) + 1, 1), *to = text;
    if (!text) {
        no_memory_for_query(problem);
        return NULL;
    }
    while (from < end) {
        const int byte = *from == '%' ? api_percent_decode(from) : *from;
        if (byte == 0 || (*from == '%' && byte < 0)) {
            free(text);
            api_fail(problem, API_BAD_VALUE, NULL, "locked has a bad escape: %% and two hexadecimal digits");
            return NULL;
        }
        from += *from == '%' ? 3 : 1;
        *to++ = (char)byte;
    }
    return text;
}

/* Removes the last field and its colon from the text if the field is a finite number. */
static bool cut_number(char *text, double *value)
{
    char        *colon  = strrchr(text, ':');
    const size_t length = colon ? strlen(colon + 1) : 0;
    if (length == 0 || api_number_read_decimal(colon + 1, length, value) != length || !isfinite(*value)) return false;
    *colon = '\0';
    return true;
}

/* Adds one joint to `locked`. */
static bool add_locked(char *joint, json_t *locked, api_problem *problem)
{
    double       value[API_LOCK_VALUES]; /* in reverse order: the last number of the text first */
    size_t       n     = 0;
    const size_t whole = strlen(joint);
    while (n < API_LOCK_VALUES && cut_number(joint, &value[n]))
        n++;
    if (n == 0 || *joint == '\0') return fail_query(whole > 0 ? joint : "", problem);
    if (json_object_get(locked, joint))
        return api_fail(problem, API_BAD_VALUE, NULL, "locked: the joint \"%.64s\" is given twice", joint);
    json_t *position = n == 1 ? json_real(value[0]) : json_array();
    for (size_t i = n; position && n > 1 && i-- > 0;)
        if (json_array_append_new(position, json_real(value[i]))) {
            json_decref(position);
            return no_memory_for_query(problem);
        }
    return json_object_set_new(locked, joint, position) == 0 || no_memory_for_query(problem);
}

static bool read_locked(char *list, json_t *locked, api_problem *problem)
{
    for (char *next = list; next; list = next) {
        next = strchr(list, ',');
        if (next) *next++ = '\0';
        if (!add_locked(list, locked, problem)) return false;
    }
    return true;
}

/* Reads the value of the parameter, [from, end), into split->locked. */
static bool read_parameter(const char *from, const char *end, api_locked_query *split, api_problem *problem)
{
    char *list    = decode_list(from, end, problem);
    split->locked = list ? json_object() : NULL;
    bool read = list && (split->locked || no_memory_for_query(problem)) && read_locked(list, split->locked, problem);
    free(list);
    return read;
}

bool api_locked_query_read(const char *query, api_locked_query *split, api_problem *problem)
{
    const size_t skip   = sizeof parameter - 1;
    size_t       others = 0;
    *split              = (api_locked_query){.rest = calloc(strlen(query ? query : "") + 1, 1)};
    if (!split->rest) return no_memory_for_query(problem);
    for (const char *part = query ? query : "", *end; part; part = *end ? end + 1 : NULL) {
        end = part + strcspn(part, "&");
        if (strncmp(part, parameter, skip) != 0) {
            if (others++ > 0) strcat(split->rest, "&");
            strncat(split->rest, part, (size_t)(end - part));
        } else if (split->locked) {
            return api_fail(problem, API_UNKNOWN_PARAMETER, NULL,
                            "locked is given twice: separate joints by commas, locked=elbow:1.57,wrist:0");
        } else if (!read_parameter(part + skip, end, split, problem)) {
            return false;
        }
    }
    return true;
}

void api_locked_query_free(api_locked_query *split)
{
    json_decref(split->locked);
    free(split->rest);
}
