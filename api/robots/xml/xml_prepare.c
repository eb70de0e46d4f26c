/* xml_prepare.c - see xml_prepare.h. */
#define _GNU_SOURCE /* memmem, strncasecmp */
#include "xml_prepare.h"
#include "api/codec/utf8.h"
#include "xml_text.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Overwrites [from, to) with spaces, but for ends of lines. */
static void blank(char *text, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (text[i] != '\n' && text[i] != '\r') text[i] = ' ';
}

static bool begins(const char *text, size_t length, size_t offset, const char *word)
{
    size_t n = strlen(word);
    return length - offset >= n && memcmp(text + offset, word, n) == 0;
}

/* Offset after the next `end` at or after `offset`; `length` when there is none. */
static size_t skip_to(const char *text, size_t length, size_t offset, const char *end)
{
    const char *found = memmem(text + offset, length - offset, end, strlen(end));
    return found ? (size_t)(found - text) + strlen(end) : length;
}

/* Offset after the ">" of a tag; ">" in quotes does not end it. */
static size_t skip_tag(const char *text, size_t length, size_t offset)
{
    char quote = '\0';
    for (; offset < length; offset++) {
        char c = text[offset];
        if (quote != '\0')
            quote = c == quote ? '\0' : quote;
        else if (c == '"' || c == '\'')
            quote = c;
        else if (c == '>')
            return offset + 1;
    }
    return length;
}

/* Offset after the markup that begins with the "<" at `offset`: a comment, CDATA, an instruction or a tag. */
static size_t skip_markup(const char *text, size_t length, size_t offset)
{
    if (begins(text, length, offset, "<!--")) return skip_to(text, length, offset + 4, "-->");
    if (begins(text, length, offset, "<![CDATA[")) return skip_to(text, length, offset, "]]>");
    if (begins(text, length, offset, "<?")) return skip_to(text, length, offset, "?>");
    return skip_tag(text, length, offset);
}

/* Blanks the content of all comments that end. */
static void blank_comments(char *text, size_t length)
{
    for (size_t i = 0; i < length;) {
        const char *next = memchr(text + i, '<', length - i);
        if (!next) return;
        i          = (size_t)(next - text);
        size_t end = skip_markup(text, length, i);
        if (begins(text, length, i, "<!--") && begins(text, end, end - 3, "-->")) blank(text, i + 4, end - 3);
        i = end;
    }
}

static bool begins_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':' || (unsigned char)c >= 0x80;
}

/* Copies a tag, and inserts a space between an attribute's value and a name that follows it directly. If `to` is NULL,
 * nothing is copied. Returns the length of the copy. */
static size_t separate_tag(const char *tag, size_t length, char *to)
{
    char   quote = '\0';
    size_t n     = 0;
    for (size_t i = 0; i < length; i++) {
        char c = tag[i];
        if (to) to[n] = c;
        n++;
        if (quote == '\0' && (c == '"' || c == '\'')) {
            quote = c;
        } else if (quote != '\0' && c == quote) {
            quote = '\0';
            if (i + 1 == length || !begins_name(tag[i + 1])) continue;
            if (to) to[n] = ' ';
            n++;
        }
    }
    return n;
}

/* Copies a text with spaces between all attributes; counts only if `to` is NULL. Returns the length of the copy. */
static size_t separate_attributes(const char *text, size_t length, char *to)
{
    size_t n = 0;
    for (size_t i = 0, end; i < length; i = end) {
        const char *next = memchr(text + i, '<', length - i);
        bool markup = next == text + i, tag = markup && i + 1 < length && text[i + 1] != '!' && text[i + 1] != '?';
        end = markup ? skip_markup(text, length, i) : next ? (size_t)(next - text) : length;
        if (tag) {
            n += separate_tag(text + i, end - i, to ? to + n : NULL);
        } else {
            if (to) memcpy(to + n, text + i, end - i);
            n += end - i;
        }
    }
    return n;
}

/* Finds the XML declaration after white space and comments. */
static bool find_declaration(const char *text, size_t length, size_t *from, size_t *to)
{
    *from = api_xml_skip_comments(text, length);
    if (!begins(text, length, *from, "<?xml") || length - *from < 6 || !strchr(" \t\r\n", text[*from + 5]))
        return false;
    *to = skip_to(text, length, *from, "?>");
    return true;
}

/* True if a declaration states encoding ISO-8859-1. */
static bool declares_latin1(const char *declaration, size_t length)
{
    static const char *const names[] = {"ISO-8859-1", "ISO8859-1", "latin1", "latin-1"};
    const char              *found   = memmem(declaration, length, "encoding", 8);
    const char              *end     = declaration + length;
    if (!found) return false;
    for (found += 8; found < end && strchr(" \t\r\n=\"'", *found);)
        found++;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t n = strlen(names[i]);
        if ((size_t)(end - found) > n && strncasecmp(found, names[i], n) == 0 && strchr("\"'", found[n])) return true;
    }
    return false;
}

/* Each byte from 0x80 on becomes two. Returns the length. */
static size_t convert_latin1(const char *text, size_t length, char *to)
{
    size_t n = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c >= 0x80) to[n++] = (char)(0xC0 | c >> 6);
        to[n++] = (char)(c >= 0x80 ? 0x80 | (c & 0x3F) : c);
    }
    return n;
}

char *api_xml_prepare(const char *text, size_t length, size_t *prepared)
{
    size_t from = 0, to = 0;
    bool   declared = find_declaration(text, length, &from, &to);
    bool   latin1   = declared && declares_latin1(text + from, to - from) && api_utf8_prefix(text, length) < length;
    char  *copy     = malloc((latin1 ? 2 : 1) * length + 1);
    if (!copy) return NULL;
    *prepared = length;
    if (latin1)
        *prepared = convert_latin1(text, length, copy);
    else if (length > 0) /* an empty body has no memory */
        memcpy(copy, text, length);
    if (find_declaration(copy, *prepared, &from, &to)) blank(copy, from, to);
    blank_comments(copy, *prepared);
    copy[*prepared] = '\0';
    size_t separate = separate_attributes(copy, *prepared, NULL);
    if (separate == *prepared) return copy;
    char *longer = malloc(separate + 1);
    if (longer) {
        separate_attributes(copy, *prepared, longer);
        longer[separate] = '\0';
        *prepared        = separate;
    }
    free(copy);
    return longer;
}
