/* document_entry.h - reading a JSON object of a model document field by field, strictly, and keeping its canonical
 * twin: the same fields in a fixed order, without those that say what their absence says.
 *
 *     entry open: unknown fields are refused here -> api_entry_* reads fields -> api_entry_close
 *
 * Every function returns false after filling the reader's problem, with a pointer to the field. A entry lives on the
 * stack while its object is read; a child's entry must not outlive its parent's. The twin belongs to the
 * root's `out`, which is the caller's, so that giving up halfway leaks nothing. */
#pragma once
#include "api/memory/arena.h"
#include "api/wire/json.h"

typedef struct api_reader {
    api_arena   *arena; /* of what the reading hands out */
    api_problem *problem;
    json_t      *report; /* [{"severity","code","where","text"}...] */
} api_reader;

#define API_NO_INDEX ((size_t)-1)

typedef struct api_entry {
    api_reader             *reader;
    const struct api_entry *parent; /* NULL: the root */
    const char             *key;    /* in `up` */
    size_t                  index;  /* in the array at `key`, or API_NO_INDEX */
    const json_t           *input;
    json_t                 *canonical;
} api_entry;

enum { API_OPTIONAL = 0, API_REQUIRED = 1 };

/* `fields` ends with NULL. */
bool api_entry_root(api_entry *entry, api_reader *reader, const json_t *input, json_t *canonical,
                    const char *const *fields);
bool api_entry_open(api_entry *entry, const api_entry *parent, const char *key, const char *const *fields);
bool api_entry_item(api_entry *entry, const api_entry *parent, const char *key, size_t index,
                    const char *const *fields);
/* An empty twin is dropped from its parent unless `keep`. Not for items. */
void api_entry_close(api_entry *entry, bool keep);

bool api_entry_has(const api_entry *entry, const char *key);

/* Stands for the value at `key` (and `index`) in failures and reports; nothing is read through it. */
api_entry api_entry_location(const api_entry *parent, const char *key, size_t index);

/* The length of the array of objects at `key`, 0 when absent; its twin becomes an array for api_entry_item. */
bool api_entry_list(const api_entry *entry, const char *key, int need, size_t *count);

/* Numbers: an array of arrays of ... of the given shape; rank 0 is a single number. When absent and optional `v`
 * stays as it is, and what is given but equals it bit for bit is left out of the twin. */
bool api_entry_numbers(const api_entry *entry, const char *key, int need, double *v, size_t rank, const size_t *shape);
bool api_entry_number(const api_entry *entry, const char *key, int need, double *v);
bool api_entry_vector(const api_entry *entry, const char *key, int need, double *v, size_t n);
bool api_entry_not_negative(const api_entry *entry, const char *key, int need, double *v); /* a number >= 0 */

/* Angles in rad, optional, and no larger than those of states; such as may be degrees are reported. */
bool api_entry_angle(const api_entry *entry, const char *key, double *angle);
bool api_entry_rpy(const api_entry *entry, double rpy[3]); /* at "rpy" */
bool api_entry_check_angle(const api_entry *entry, const char *key, size_t index, double angle);

bool api_entry_flag(const api_entry *entry, const char *key, bool *flag);
/* Any text of at most 64 KiB; a copy in the reader's arena. */
bool api_entry_text(const api_entry *entry, const char *key, int need, const char **text);
/* A name: 1 to 256 bytes without control characters. */
bool api_entry_name(const api_entry *entry, const char *key, int need, const char **name);

/* Puts a field into the twin; takes over the reference to `value`, which may be NULL when memory is short. */
bool api_entry_set_canonical(const api_entry *entry, const char *key, json_t *value);

/* For "%.*s": at most 64 bytes of a text that a client sent, cut between characters. */
int api_text_shown(const char *text);

/* Fill the reader's problem and return false. `key` may be NULL: the entry itself. */
bool api_entry_fail(const api_entry *entry, const char *key, api_code code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
bool api_reader_no_memory(api_reader *reader);

/* Adds an entry to the report: severity "info" or "warning"; `where` is a pointer into the document. */
bool api_entry_report(const api_entry *entry, const char *key, const char *severity, const char *code,
                      const char *format, ...) __attribute__((format(printf, 5, 6)));
bool api_reader_report(api_reader *reader, const char *where, const char *severity, const char *code,
                       const char *format, ...) __attribute__((format(printf, 5, 6)));
