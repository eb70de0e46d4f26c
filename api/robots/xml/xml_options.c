/* xml_options.c - see xml_options.h: split a query into parameters, decode them, and find their values. */
#include "xml_options.h"
#include "api/codec/escape.h"
#include "api/codec/number.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { OPTIONS_MAX = 8 };

/* Decodes percent-encoding in [from, end). False for an invalid escape or a NUL character. */
static bool decode(const char *from, const char *end, char to[API_XML_OPTION_TEXT])
{
    size_t n = 0;
    while (from < end && n + 1 < API_XML_OPTION_TEXT) {
        bool escaped = *from == '%';
        int  byte    = escaped ? api_percent_decode(from) : *from;
        if (escaped && byte <= 0) return false;
        to[n++] = (char)byte;
        from += escaped ? 3 : 1;
    }
    to[n] = '\0';
    return true;
}

/* Appends word i of n to a list "a, b or c" with that last connective. */
static void append(char *list, size_t size, const char *word, size_t i, size_t n, const char *last)
{
    size_t      used = strlen(list);
    const char *join = i == 0 ? "" : i + 1 < n ? ", " : last;
    snprintf(list + used, size - used, "%s%s", join, word);
}

static bool fail_name(const char *name, const char *what, const api_xml_option *known, size_t n, api_problem *problem)
{
    char list[120] = "";
    for (size_t i = 0; i < n; i++)
        append(list, sizeof list, known[i].name, i, n, " and ");
    return api_fail(problem, API_UNKNOWN_PARAMETER, NULL, "\"%s\": %s takes the query parameter%s %s, %sonce", name,
                    what, n > 1 ? "s" : "", list, n > 1 ? "each " : "");
}

static bool find_value(const api_xml_option *option, const char *value, int *chosen, api_problem *problem)
{
    char   list[120] = "";
    size_t n         = 0;
    if (option->text) {
        strcpy(option->text, value); /* a value has at most API_XML_OPTION_TEXT bytes */
        return *value || api_fail(problem, API_BAD_VALUE, NULL, "%s is empty: expected a name", option->name);
    }
    if (option->number) {
        size_t length = strlen(value);
        if (api_number_read_decimal(value, length, option->number) == length && length > 0 && *option->number > 0 &&
            isfinite(*option->number))
            return true;
        return api_fail(problem, API_BAD_VALUE, NULL, "%s is a number above 0, given \"%s\"", option->name, value);
    }
    while (n < API_XML_OPTION_VALUES && option->values[n])
        n++;
    for (size_t i = 0; i < n; i++) {
        append(list, sizeof list, option->values[i], i, n, " or ");
        *chosen = (int)i;
        if (strcmp(option->values[i], value) == 0) return true;
    }
    return api_fail(problem, API_BAD_VALUE, NULL, "%s is %s, given \"%s\"", option->name, list, value);
}

bool api_xml_options_read(const char *query, const char *what, const api_xml_option *known, size_t n, int *chosen,
                          api_problem *problem)
{
    bool seen[OPTIONS_MAX] = {false};
    for (const char *part = query ? query : "", *end; *part; part = end + (*end == '&')) {
        char        name[API_XML_OPTION_TEXT], value[API_XML_OPTION_TEXT];
        const char *equals = part + strcspn(part, "=&");
        size_t      i      = 0;
        end                = part + strcspn(part, "&");
        if (!decode(part, equals, name) || !decode(equals + (equals < end), end, value))
            return api_fail(problem, API_BAD_VALUE, NULL, "\"%.*s\" has a bad escape: %% and two hexadecimal digits",
                            end - part < API_XML_OPTION_TEXT ? (int)(end - part) : API_XML_OPTION_TEXT, part);
        while (i < n && strcmp(known[i].name, name) != 0)
            i++;
        if (i == n || seen[i]) return fail_name(name, what, known, n, problem);
        seen[i] = true;
        if (!find_value(&known[i], value, &chosen[i], problem)) return false;
    }
    return true;
}
