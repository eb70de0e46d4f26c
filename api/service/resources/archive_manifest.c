/* archive_manifest.c - writes archives of models with their checksums, and finds the models whose bytes differ from
 * them. archive_manifest.h has the form of an archive. */
#include "archive_manifest.h"
#include "api/robots/registry/registry.h"
#include <nettle/sha2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MANIFEST "},\"manifest\":{" /* the line after the records begins with it */
#define END      "}},\"sha256\":\"" /* the last line begins with it */

enum { HEX = 2 * SHA256_DIGEST_SIZE, NAMES_SHOWN = 3 };

static void hash_bytes(const char *bytes, size_t length, char hex[HEX + 1])
{
    struct sha256_ctx sha;
    uint8_t           digest[SHA256_DIGEST_SIZE];
    sha256_init(&sha);
    sha256_update(&sha, length, (const uint8_t *)bytes);
    sha256_digest(&sha, sizeof digest, digest);
    for (size_t i = 0; i < sizeof digest; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
}

/* --- writing ------------------------------------------------------------------------------------------------------ */

void api_archive_begin(api_archive *a)
{
    *a = (api_archive){.count = 0};
    api_buffer_init(&a->text, API_ARCHIVE_MAX);
    api_buffer_init(&a->list, API_ARCHIVE_MAX);
    api_buffer_format(&a->text, "{\"format\":\"torqued-archive\",\"version\":%d,\"models\":{\n", API_ARCHIVE_VERSION);
}

void api_archive_add(api_archive *a, const char *name, const api_buffer *record)
{
    char        hex[HEX + 1];
    const char *separator = a->count++ > 0 ? ",\n" : "";
    hash_bytes(record->data, record->length, hex);
    api_buffer_format(&a->text, "%s\"%s\":", separator, name);
    api_buffer_put(&a->text, record->data, record->length);
    api_buffer_format(&a->list, "%s\"%s\":\"%s\"", separator, name, hex);
}

char *api_archive_end(api_archive *a, const char *version, const char *made, size_t *length)
{
    static const char end[] = "}}"; /* the part of END that the checksum covers */
    char              hex[HEX + 1];
    const char       *line = a->count > 0 ? "\n" : "";
    api_buffer_format(&a->text, "%s" MANIFEST "\"torqued\":\"%s\",\"made\":\"%s\",\"count\":%zu,\"sha256\":{\n", line,
                      version, made, a->count);
    if (a->list.length > 0) api_buffer_put(&a->text, a->list.data, a->list.length);
    api_buffer_format(&a->text, "%s%s", line, end);
    a->text.failed = a->text.failed || a->list.failed;
    if (!a->text.failed) hash_bytes(a->text.data, a->text.length, hex);
    if (!a->text.failed) api_buffer_format(&a->text, "%s%s\"}\n", &END[strlen(end)], hex);
    api_buffer_free(&a->list);
    *length = a->text.length;
    return api_buffer_take(&a->text);
}

/* --- checking ----------------------------------------------------------------------------------------------------- */

/* A line "NAME":VALUE of the records or of the manifest, without a comma at its end. */
typedef struct line {
    const char *name, *value;
    size_t      name_length, length; /* bytes of the name and of the value */
} line;

typedef struct lines {
    line  *line; /* [n], sorted by name */
    size_t n, capacity;
} lines;

typedef struct span {
    const char *begin, *end;
} span;

static bool span_begins_with(span text, const char *prefix)
{
    size_t length = strlen(prefix);
    return (size_t)(text.end - text.begin) >= length && memcmp(text.begin, prefix, length) == 0;
}

/* Takes the first line from the text, without its newline. */
static span take_manifest_line(span *text)
{
    const char *newline = memchr(text->begin, '\n', (size_t)(text->end - text->begin));
    span        first   = {text->begin, newline ? newline : text->end};
    text->begin         = newline ? newline + 1 : text->end;
    return first;
}

/* Splits a line at the colon after the name. A line of another form has the whole line as its name, so that it is
 * named. */
static line split_line(span s)
{
    if (s.end > s.begin && s.end[-1] == ',') s.end--;
    size_t      length = (size_t)(s.end - s.begin);
    const char *quote  = length > 1 && *s.begin == '"' ? memchr(s.begin + 1, '"', length - 1) : NULL;
    if (!quote || s.end - quote < 2 || quote[1] != ':') return (line){s.begin, s.end, length, 0};
    return (line){s.begin + 1, quote + 2, (size_t)(quote - s.begin) - 1, (size_t)(s.end - quote) - 2};
}

static int compare_names(const void *a, const void *b)
{
    const line *x = a, *y = b;
    size_t      shorter = x->name_length < y->name_length ? x->name_length : y->name_length;
    int         order   = memcmp(x->name, y->name, shorter);
    return order ? order : (x->name_length > y->name_length) - (x->name_length < y->name_length);
}

/* Reads lines up to the one that begins with `end`, which stays in the text. False: no memory. */
static bool read_lines(span *text, const char *end, lines *l)
{
    *l = (lines){0};
    while (text->begin < text->end && !span_begins_with(*text, end)) {
        if (l->n == l->capacity) {
            size_t more   = l->capacity ? 2 * l->capacity : 64;
            line  *larger = reallocarray(l->line, more, sizeof *larger);
            if (!larger) return false;
            l->line     = larger;
            l->capacity = more;
        }
        l->line[l->n++] = split_line(take_manifest_line(text));
    }
    if (l->n > 0) qsort(l->line, l->n, sizeof *l->line, compare_names);
    return true;
}

/* Differences between records and manifest, as a text. */
typedef struct differences {
    size_t n;
    char   text[400], first[API_NAME_MAX + 1];
} differences;

static void note_difference(differences *d, const line *l, const char *what)
{
    size_t length = strlen(d->text);
    int    shown  = (int)(l->name_length < API_NAME_MAX ? l->name_length : API_NAME_MAX);
    char   name[API_NAME_MAX + 1];
    snprintf(name, sizeof name, "%.*s", shown, l->name);
    for (char *c = name; *c; c++)
        if (*c < ' ' || *c > '~') *c = '?'; /* damaged bytes may be those that control a terminal */
    if (d->n == 0) memcpy(d->first, name, sizeof name);
    if (d->n++ < NAMES_SHOWN)
        snprintf(d->text + length, sizeof d->text - length, "%s%s %s", length > 0 ? "; " : "", name, what);
}

static bool has_hash(const line *record, const line *listed)
{
    char hex[HEX + 1];
    hash_bytes(record->value, record->length, hex);
    return listed->length == HEX + 2 && memcmp(listed->value + 1, hex, HEX) == 0;
}

/* Compares two sorted lists of lines. */
static void compare_lines(const lines *records, const lines *listed, differences *d)
{
    for (size_t i = 0, k = 0; i < records->n || k < listed->n;) {
        int order = i == records->n ? 1 : k == listed->n ? -1 : compare_names(&records->line[i], &listed->line[k]);
        if (order < 0)
            note_difference(d, &records->line[i++], "is not in the manifest");
        else if (order > 0)
            note_difference(d, &listed->line[k++], "is missing");
        else if (!has_hash(&records->line[i++], &listed->line[k++]))
            note_difference(d, &records->line[i - 1], "is damaged: its bytes differ from its checksum");
    }
}

/* True if the last line has the hash of everything before it. */
static bool has_seal(span text)
{
    static const char tail[]     = ",\"sha256\":\"";
    const size_t      length     = sizeof tail - 1 + HEX + sizeof "\"}\n" - 1;
    size_t            whole      = (size_t)(text.end - text.begin);
    const char       *sealed_end = whole >= length ? text.end - length : NULL;
    char              hex[HEX + 1];
    if (!sealed_end || memcmp(sealed_end, tail, sizeof tail - 1) != 0 || memcmp(text.end - 3, "\"}\n", 3) != 0)
        return false;
    hash_bytes(text.begin, whole - length, hex);
    return memcmp(sealed_end + sizeof tail - 1, hex, HEX) == 0;
}

static bool report_differences(const differences *d, bool sealed, api_problem *problem)
{
    char pointer[API_NAME_MAX + sizeof "/models/"], more[40] = "";
    if (d->n == 0 && sealed) return true;
    if (d->n == 0)
        return api_fail(problem, API_BAD_VALUE, "/manifest",
                        "the archive is damaged outside its models: its bytes differ from its checksum");
    if (d->n > NAMES_SHOWN) snprintf(more, sizeof more, "; and %zu more", d->n - NAMES_SHOWN);
    snprintf(pointer, sizeof pointer, "/models/%s", d->first);
    return api_fail(problem, API_BAD_VALUE, pointer, "the archive is damaged: %s%s", d->text, more);
}

bool api_manifest_check(const char *text, size_t length, bool *has_manifest, api_problem *problem)
{
    span        left = {text, text + length}, whole = left;
    lines       records = {0}, listed = {0};
    differences d      = {.n = 0};
    bool        sealed = has_seal(whole);
    take_manifest_line(&left); /* the head of the archive */
    bool room     = read_lines(&left, MANIFEST, &records);
    *has_manifest = sealed || left.begin < left.end;
    if (room && *has_manifest) {
        take_manifest_line(&left); /* the head of the manifest */
        room = read_lines(&left, END, &listed);
    }
    if (room && *has_manifest) compare_lines(&records, &listed, &d);
    free(records.line);
    free(listed.line);
    if (!room) return api_fail(problem, API_MEMORY_FULL, NULL, "no memory to check the archive");
    return !*has_manifest || report_differences(&d, sealed, problem);
}
