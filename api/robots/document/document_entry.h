/* document_entry.h - read a JSON object of a model document field by field, and write its canonical form: the same
 * fields in a fixed order, without those that equal their default.
 *
 *     api_entry_open: refuses unknown fields -> api_entry_* read fields -> api_entry_close
 *
 * Every function returns false after setting the reader's problem, with a pointer to the field. An entry lives on
 * the stack while its object is read; a child's entry must not outlive its parent's. The canonical form belongs to
 * the root's `canonical`, which the caller owns, so an early return leaks nothing. */
#pragma once
#include "api/base/memory/arena.h"
#include "api/codec/json.h"

#define API_SUSPICIOUS_ANGLE   7.0   /* rad, more than one revolution: the value is probably in degrees */
#define API_SUSPICIOUS_GRAVITY 100.0 /* m/s^2, beyond that of any planet: usually mm/s^2 */

typedef struct api_reader {
    api_arena   *arena; /* owns the texts and arrays that reading returns */
    api_problem *problem;
    json_t      *report;   /* [{"severity","code","where","text"}...] */
    size_t       n_shapes; /* shapes of links that were read or written so far */
} api_reader;

#define API_NO_INDEX ((size_t)-1)

typedef struct api_entry {
    api_reader             *reader;
    const struct api_entry *parent; /* NULL: this is the root */
    const char             *key;    /* key of this object in the parent object */
    size_t                  index;  /* index in the array at `key`, or API_NO_INDEX */
    const json_t           *input;
    json_t                 *canonical;
} api_entry;

enum { API_OPTIONAL = 0, API_REQUIRED = 1 };

/* Begin an entry: the root, the object at `key`, or item `index` of the array at `key`. `fields` lists the known
 * fields and ends with NULL; any other field is refused. */
bool api_entry_root(api_entry *entry, api_reader *reader, const json_t *input, json_t *canonical,
                    const char *const *fields);
bool api_entry_open(api_entry *entry, const api_entry *parent, const char *key, const char *const *fields);
bool api_entry_item(api_entry *entry, const api_entry *parent, const char *key, size_t index,
                    const char *const *fields);
/* Ends an entry. An empty canonical object is removed from its parent unless `keep`. Not for array items. */
void api_entry_close(api_entry *entry, bool keep);

bool api_entry_has(const api_entry *entry, const char *key);

/* An entry that only locates the value at `key` (and `index`) in problems and reports; nothing is read through it. */
api_entry api_entry_location(const api_entry *parent, const char *key, size_t index);

/* Sets *count to the length of the array of objects at `key`, 0 when it is absent, and adds an empty canonical array
 * for api_entry_item. */
bool api_entry_list(const api_entry *entry, const char *key, int need, size_t *count);

/* Read numbers: nested arrays of the given shape; rank 0 is a single number. When the field is absent and optional,
 * `v` is unchanged. An optional value that equals `v` bit for bit is left out of the canonical form. */
bool api_entry_numbers(const api_entry *entry, const char *key, int need, double *v, size_t rank, const size_t *shape);
bool api_entry_number(const api_entry *entry, const char *key, int need, double *v);
bool api_entry_vector(const api_entry *entry, const char *key, int need, double *v, size_t n);
bool api_entry_not_negative(const api_entry *entry, const char *key, int need, double *v); /* a number >= 0 */

/* Read optional angles in rad and check that they do not exceed DYN_MAX_ANGLE, the limit for angles of states. An angle
 * of more than one revolution is reported, because it may be meant in degrees. */
bool api_entry_angle(const api_entry *entry, const char *key, double *angle);
bool api_entry_rpy(const api_entry *entry, double rpy[3]); /* reads "rpy": roll, pitch, yaw in rad */
bool api_entry_check_angle(const api_entry *entry, const char *key, size_t index, double angle);

bool api_entry_flag(const api_entry *entry, const char *key, bool *flag);
/* Reads a text of at most 64 KiB; the copy is in the reader's arena. */
bool api_entry_text(const api_entry *entry, const char *key, int need, const char **text);
/* Reads a name: 1 to 256 bytes without control characters. */
bool api_entry_name(const api_entry *entry, const char *key, int need, const char **name);
bool api_entry_is_name(const char *text); /* true for a text that api_entry_name accepts */

/* Sets a field of the canonical object. Takes over the reference to `value`, which may be NULL when memory is short. */
bool api_entry_set_canonical(const api_entry *entry, const char *key, json_t *value);

/* Length for "%.*s" that shows at most 64 bytes of a client's text, cut between characters. */
int api_text_shown(const char *text);

/* Set the reader's problem and return false. The problem points at field `key`, or with NULL at the entry itself. */
bool api_entry_fail(const api_entry *entry, const char *key, api_code code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
bool api_reader_no_memory(api_reader *reader);

/* Add an entry to the report. Severity is "info" or "warning"; `where` is a pointer into the document. */
bool api_entry_report(const api_entry *entry, const char *key, const char *severity, const char *code,
                      const char *format, ...) __attribute__((format(printf, 5, 6)));
bool api_reader_report(api_reader *reader, const char *where, const char *severity, const char *code,
                       const char *format, ...) __attribute__((format(printf, 5, 6)));
