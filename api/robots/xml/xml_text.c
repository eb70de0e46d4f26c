/* xml_text.c - see xml_text.h. */
#define _GNU_SOURCE /* memmem */
#include "xml_text.h"
#include "api/robots/document/document.h"
#include <string.h>

enum {
    SHAPE_BYTES = 2000 /* bytes for each visual shape of a file, in addition to those for its elements and attributes */
};

static size_t skip_space(const char *text, size_t length, size_t offset)
{
    while (offset < length && text[offset] && strchr(" \t\r\n", text[offset]))
        offset++;
    return offset;
}

static size_t find_start(const char *text, size_t length)
{
    size_t mark = length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    return skip_space(text, length, mark);
}

bool api_xml_begins(const char *text, size_t length)
{
    size_t offset = find_start(text, length);
    return offset < length && text[offset] == '<';
}

/* Returns the offset after the next `end` at or after `offset`; `length` when there is none. */
static size_t skip_to(const char *text, size_t length, size_t offset, const char *end)
{
    const char *found = memmem(text + offset, length - offset, end, strlen(end));
    return found ? (size_t)(found - text) + strlen(end) : length;
}

static bool begins_comment(const char *text, size_t length, size_t offset)
{
    return length - offset >= 4 && memcmp(text + offset, "<!--", 4) == 0;
}

size_t api_xml_skip_comments(const char *text, size_t length)
{
    size_t offset = find_start(text, length);
    while (begins_comment(text, length, offset))
        offset = skip_space(text, length, skip_to(text, length, offset + 4, "-->"));
    return offset;
}

/* Offset after `<!DOCTYPE name>`; `offset` for any other text. */
static size_t skip_doctype(const char *text, size_t length, size_t offset)
{
    static const char word[] = "<!DOCTYPE";
    if (length - offset < sizeof word || memcmp(text + offset, word, sizeof word - 1) != 0) return offset;
    size_t end = offset;
    while (end < length && text[end] != '[' && text[end] != '>')
        end++;
    return end < length && text[end] == '>' ? end + 1 : offset;
}

const char *api_xml_root_name(const char *text, size_t length, size_t *size)
{
    size_t offset = find_start(text, length);
    while (offset + 1 < length && text[offset] == '<') {
        const char *name   = text + offset + 1;
        size_t      behind = skip_doctype(text, length, offset);
        if (*name == '?') {
            offset = skip_to(text, length, offset, "?>");
        } else if (begins_comment(text, length, offset)) {
            offset = skip_to(text, length, offset + 4, "-->");
        } else if (behind > offset) {
            offset = behind;
        } else {
            size_t n = 0;
            while (offset + 1 + n < length && name[n] && !strchr(" \t\r\n/>", name[n]))
                n++;
            *size = n;
            return *name != '!' && n > 0 ? name : NULL;
        }
        offset = skip_space(text, length, offset);
    }
    return NULL;
}

/* Estimates the memory that libxml2 allocates, including malloc's rounding: 136 bytes per element or text, 112 bytes
 * and the text per attribute; the prepared copy of a text has at most twice its length. The document and the report
 * take about as much per element again. */
/* True at a <visual> of URDF or SDF and at a <geom> of MJCF. */
static bool begins_shape(const char *text, size_t length)
{
    return text[0] == '<' && length > 8 &&
           (memcmp(text, "<visual", 7) == 0 || (memcmp(text, "<geom", 5) == 0 && text[5] != 'e'));
}

size_t api_xml_estimate_memory(const char *text, size_t length)
{
    size_t elements = 1, attributes = 0, shapes = 0;
    for (size_t i = 0; i < length; i++) {
        elements += text[i] == '<' && i + 1 < length && text[i + 1] != '/';
        attributes += text[i] == '=';
        shapes += begins_shape(text + i, length - i);
    }
    shapes = shapes < API_MOST_SHAPES ? shapes : API_MOST_SHAPES;
    return 400 * elements + 300 * attributes + 4 * length + SHAPE_BYTES * shapes;
}
