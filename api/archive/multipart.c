/* multipart.c - reads the files of a form; see multipart.h. */
#define _GNU_SOURCE /* memmem */
#include "multipart.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { HYPHENS = 2, BOUNDARY_MOST = 70 /* RFC 2046, section 5.1.1 */ };

static bool fail_form(api_problem *problem, const char *text)
{
    return api_fail(problem, API_BAD_ARCHIVE, NULL, "the multipart body %s", text);
}

bool api_multipart_begins(const char *bytes, size_t length)
{
    const char *end = length > HYPHENS && memcmp(bytes, "--", HYPHENS) == 0 ? memmem(bytes, length, "\r\n", 2) : NULL;
    size_t      n   = end ? (size_t)(end - bytes) : 0;
    return n > HYPHENS && n <= HYPHENS + BOUNDARY_MOST && !memchr(bytes, '<', n);
}

bool api_multipart_open(api_multipart *m, const char *bytes, size_t length, api_problem *problem)
{
    if (!api_multipart_begins(bytes, length)) return fail_form(problem, "does not begin with its boundary");
    size_t n = (size_t)((const char *)memmem(bytes, length, "\r\n", 2) - bytes);
    *m       = (api_multipart){.bytes = bytes, .length = length, .offset = n, .delimiter_length = n + 2};
    memcpy(m->delimiter, "\r\n", 2);
    memcpy(m->delimiter + 2, bytes, n);
    return true;
}

/* Finds a parameter of Content-Disposition, `key="value"`, in [text, end) and copies its value. curl writes a
 * quote as \". False if there is none, or it is too long. */
static bool find_parameter(const char *text, const char *end, const char *key, char value[API_MULTIPART_NAME])
{
    size_t n = strlen(key), length = 0;
    for (; text < end && (size_t)(end - text) > n + 2; text++) {
        bool starts = text[-1] == ' ' || text[-1] == ';';
        if (starts && strncasecmp(text, key, n) == 0 && text[n] == '=' && text[n + 1] == '"') break;
    }
    if ((size_t)(end - text) <= n + 2) return false;
    for (text += n + 2; text < end && *text != '"' && length + 1 < API_MULTIPART_NAME; text++) {
        if (*text == '\\' && text + 1 < end && text[1] == '"') text++;
        value[length++] = *text;
    }
    value[length] = '\0';
    return text < end && *text == '"' && length > 0;
}

/* Reads the name of a part from its headers, [text, end). */
static bool read_part_name(const char *text, const char *end, api_multipart_part *part, api_problem *problem)
{
    static const char key[] = "content-disposition:";
    char              file[API_MULTIPART_NAME];
    for (const char *line = text, *stop; line < end; line = stop + 2) {
        stop = memmem(line, (size_t)(end - line), "\r\n", 2);
        if (!stop) stop = end;
        if ((size_t)(stop - line) <= sizeof key || strncasecmp(line, key, sizeof key - 1) != 0) continue;
        bool has_name = find_parameter(line + sizeof key, stop, "name", part->name);
        bool has_file = find_parameter(line + sizeof key, stop, "filename", file);
        if (!has_file)
            return api_fail(problem, API_BAD_ARCHIVE, NULL, "the part \"%.80s\" has no filename: each part is a file",
                            has_name ? part->name : "");
        if (!has_name || !strchr(part->name, '/') || strchr(file, '/'))
            snprintf(part->name, sizeof part->name, "%s", file);
        return true;
    }
    return fail_form(problem, "has a part without Content-Disposition");
}

bool api_multipart_next(api_multipart *m, api_multipart_part *part, bool *more, api_problem *problem)
{
    const char *here = m->bytes + m->offset, *end = m->bytes + m->length;
    *more = end - here < 2 || memcmp(here, "--", 2) != 0;
    if (!*more) return true;
    if (end - here < 2 || memcmp(here, "\r\n", 2) != 0) return fail_form(problem, "is damaged behind a boundary");
    const char *headers = here + 2, *blank = memmem(here, (size_t)(end - here), "\r\n\r\n", 4);
    if (!blank) return fail_form(problem, "is cut off in the headers of a part");
    if (!read_part_name(headers, blank, part, problem)) return false;
    part->bytes      = blank + 4;
    const char *stop = memmem(blank + 2, (size_t)(end - blank - 2), m->delimiter, m->delimiter_length);
    if (!stop) return fail_form(problem, "is cut off: its last boundary is missing");
    part->length = stop > part->bytes ? (size_t)(stop - part->bytes) : 0;
    m->offset    = (size_t)(stop - m->bytes) + m->delimiter_length;
    return true;
}
