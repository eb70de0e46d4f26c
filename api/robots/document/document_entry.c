/* document_entry.c - see document_entry.h: read fields, and report problems with their pointers. */
#include "document_entry.h"
#include "api/codec/pointer.h"
#include "api/codec/number.h"
#include "dynamics/dynamics.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_BYTES = 256, TEXT_MAX_BYTES = 65536, SHOWN_BYTES = 64, DEEPEST = 8 };

/* --- where in the document ---------------------------------------------------------------------------------------- */

/* Returns the JSON pointer to field `key` of the entry (NULL: to the entry itself), followed by `rank` array
 * indices. */
static api_pointer pointer_to(const api_entry *entry, const char *key, size_t rank, const size_t *indices)
{
    const api_entry *path[DEEPEST];
    size_t           depth = 0;
    for (; entry->parent && depth < DEEPEST; entry = entry->parent)
        path[depth++] = entry;

    api_pointer pointer = api_pointer_root();
    while (depth-- > 0) {
        pointer = api_pointer_key(&pointer, path[depth]->key);
        if (path[depth]->index != API_NO_INDEX) pointer = api_pointer_index(&pointer, path[depth]->index);
    }
    if (key) pointer = api_pointer_key(&pointer, key);
    for (size_t i = 0; i < rank; i++)
        pointer = api_pointer_index(&pointer, indices[i]);
    return pointer;
}

bool api_entry_fail(const api_entry *entry, const char *key, api_code code, const char *format, ...)
{
    api_pointer pointer = pointer_to(entry, key, 0, NULL);
    va_list     args;
    va_start(args, format);
    api_failv(entry->reader->problem, code, api_pointer_text(&pointer), format, args);
    va_end(args);
    return false;
}

/* State of reading a field that contains nested arrays of numbers. */
typedef struct nested_field {
    const api_entry *entry;
    const char      *key;
    size_t           rank;
    const size_t    *shape;      /* [rank] required lengths of the arrays */
    size_t           indices[4]; /* [rank] indices of the value that is being read */
    double          *next;       /* where the next number is written */
} nested_field;

/* Sets a problem that points at the array or number with the first `depth` of field->indices. Returns NULL. */
static json_t *fail_nested(const nested_field *field, size_t depth, api_code code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static json_t *fail_nested(const nested_field *field, size_t depth, api_code code, const char *format, ...)
{
    api_pointer pointer = pointer_to(field->entry, field->key, depth, field->indices);
    va_list     args;
    va_start(args, format);
    api_failv(field->entry->reader->problem, code, api_pointer_text(&pointer), format, args);
    va_end(args);
    return NULL;
}

bool api_reader_no_memory(api_reader *reader)
{
    api_fail(reader->problem, API_MEMORY_FULL, NULL, "no memory to read the model document");
    return false;
}

/* --- the report --------------------------------------------------------------------------------------------------- */

/* Length of the longest prefix of at most `most` bytes that ends between characters: continuation bytes are
 * 10xxxxxx. */
static size_t whole_characters(const char *text, size_t most)
{
    size_t end = strnlen(text, most + 1);
    if (end <= most) return end;
    for (end = most; end > 0 && ((unsigned char)text[end] & 0xC0) == 0x80; end--)
        ;
    return end;
}

int api_text_shown(const char *text)
{
    return (int)whole_characters(text, SHOWN_BYTES);
}

__attribute__((format(printf, 5, 0))) static bool reportv(api_reader *reader, const char *where, const char *severity,
                                                          const char *code, const char *format, va_list args)
{
    char text[512];
    vsnprintf(text, sizeof text, format, args);
    size_t  end   = whole_characters(text, sizeof text - 2); /* jansson refuses an incomplete character */
    json_t *entry = json_pack("{ss ss ss ss%}", "severity", severity, "code", code, "where", where, "text", text, end);
    if (!entry || json_array_append_new(reader->report, entry)) return api_reader_no_memory(reader);
    return true;
}

bool api_reader_report(api_reader *reader, const char *where, const char *severity, const char *code,
                       const char *format, ...)
{
    va_list args;
    va_start(args, format);
    bool ok = reportv(reader, where, severity, code, format, args);
    va_end(args);
    return ok;
}

bool api_entry_report(const api_entry *entry, const char *key, const char *severity, const char *code,
                      const char *format, ...)
{
    va_list     args;
    api_pointer where = pointer_to(entry, key, 0, NULL); /* all keys are in the schema and short, so the pointer fits */
    va_start(args, format);
    bool ok = reportv(entry->reader, where.text, severity, code, format, args);
    va_end(args);
    return ok;
}

/* --- objects and lists -------------------------------------------------------------------------------------------- */

static bool check_fields(const api_entry *entry, const char *const *fields)
{
    const char *key;
    json_t     *value;
    if (!json_is_object(entry->input))
        return api_entry_fail(entry, NULL, API_WRONG_TYPE, "expected an object, given %s", api_json_kind(entry->input));
    json_object_foreach ((json_t *)(uintptr_t)entry->input, key,
                         value) { /* the macro of jansson takes no const object */
        size_t i = 0;
        while (fields[i] && strcmp(fields[i], key) != 0)
            i++;
        if (fields[i]) continue;
        api_buffer known;
        api_buffer_init(&known, 256);
        for (i = 0; fields[i]; i++)
            api_buffer_format(&known, "%s%s", i ? ", " : "", fields[i]);
        char *list = api_buffer_take(&known);
        api_entry_fail(entry, key, API_UNKNOWN_FIELD, "unknown field \"%.*s\"; known here: %s", api_text_shown(key),
                       key, list ? list : "");
        free(list);
        return false;
    }
    return true;
}

bool api_entry_root(api_entry *entry, api_reader *reader, const json_t *input, json_t *canonical,
                    const char *const *fields)
{
    *entry = (api_entry){.reader = reader, .key = "", .index = API_NO_INDEX, .input = input, .canonical = canonical};
    return check_fields(entry, fields);
}

bool api_entry_open(api_entry *entry, const api_entry *parent, const char *key, const char *const *fields)
{
    *entry           = (api_entry){.reader = parent->reader, .parent = parent, .key = key, .index = API_NO_INDEX};
    entry->input     = json_object_get(parent->input, key);
    entry->canonical = json_object();
    if (!api_entry_set_canonical(parent, key, entry->canonical)) return false;
    return check_fields(entry, fields);
}

bool api_entry_item(api_entry *entry, const api_entry *parent, const char *key, size_t index, const char *const *fields)
{
    *entry           = (api_entry){.reader = parent->reader, .parent = parent, .key = key, .index = index};
    entry->input     = json_array_get(json_object_get(parent->input, key), index);
    entry->canonical = json_object();
    if (json_array_append_new(json_object_get(parent->canonical, key), entry->canonical))
        return api_reader_no_memory(parent->reader);
    return check_fields(entry, fields);
}

void api_entry_close(api_entry *entry, bool keep)
{
    if (!keep && json_object_size(entry->canonical) == 0) json_object_del(entry->parent->canonical, entry->key);
}

api_entry api_entry_location(const api_entry *parent, const char *key, size_t index)
{
    return (api_entry){.reader = parent->reader, .parent = parent, .key = key, .index = index};
}

bool api_entry_has(const api_entry *entry, const char *key)
{
    return json_object_get(entry->input, key) != NULL;
}

/* Sets *value to the field, NULL when it is absent and optional. */
static bool find(const api_entry *entry, const char *key, int need, const json_t **value)
{
    *value = json_object_get(entry->input, key);
    if (*value || need != API_REQUIRED) return true;
    return api_entry_fail(entry, key, API_MISSING_FIELD, "\"%s\" is needed here but missing", key);
}

bool api_entry_list(const api_entry *entry, const char *key, int need, size_t *count)
{
    const json_t *list;
    *count = 0;
    if (!find(entry, key, need, &list)) return false;
    if (!list) return true;
    if (!json_is_array(list))
        return api_entry_fail(entry, key, API_WRONG_TYPE, "expected an array of objects, given %s",
                              api_json_kind(list));
    *count = json_array_size(list);
    if (*count == 0 && need != API_REQUIRED) return true;
    return api_entry_set_canonical(entry, key, json_array());
}

bool api_entry_set_canonical(const api_entry *entry, const char *key, json_t *value)
{
    if (!value || json_object_set_new(entry->canonical, key, value)) return api_reader_no_memory(entry->reader);
    return true;
}

/* --- fields ------------------------------------------------------------------------------------------------------- */

/* Reads `in`, the number or array at nesting level `depth` of the field. Returns its canonical value, or NULL after
 * a problem or if there is no memory. */
static json_t *read_nested(nested_field *field, const json_t *in, size_t depth)
{
    if (depth == field->rank) {
        if (!json_is_number(in))
            return fail_nested(field, depth, API_WRONG_TYPE, "expected a number, given %s", api_json_kind(in));
        *field->next++ = json_number_value(in);
        return json_real(json_number_value(in));
    }
    size_t n = field->shape[depth];
    if (!json_is_array(in))
        return fail_nested(field, depth, API_WRONG_TYPE, "expected an array of %zu %s, given %s", n,
                           depth + 1 == field->rank ? "numbers" : "arrays", api_json_kind(in));
    if (json_array_size(in) != n)
        return fail_nested(field, depth, API_WRONG_SHAPE, "expected %zu entries, given %zu", n, json_array_size(in));
    json_t *out = json_array();
    for (size_t i = 0; out && i < n; i++) {
        field->indices[depth] = i;
        json_t *part          = read_nested(field, json_array_get(in, i), depth + 1);
        if (!part || json_array_append_new(out, part)) {
            json_decref(out);
            return NULL;
        }
    }
    return out;
}

bool api_entry_numbers(const api_entry *entry, const char *key, int need, double *v, size_t rank, const size_t *shape)
{
    size_t        count = 1;
    nested_field  field = {.entry = entry, .key = key, .rank = rank, .shape = shape, .next = v};
    const json_t *in;
    if (!find(entry, key, need, &in)) return false;
    if (!in) return true;
    for (size_t i = 0; i < rank; i++)
        count *= shape[i];
    double *absent = api_arena_take(entry->reader->arena, count, sizeof *v);
    if (!absent) return api_reader_no_memory(entry->reader);
    memcpy(absent, v, count * sizeof *v);

    json_t *canonical = read_nested(&field, in, 0);
    if (!canonical) return api_reader_no_memory(entry->reader); /* keeps the problem that read_nested has set */
    if (need == API_REQUIRED || memcmp(absent, v, count * sizeof *v) != 0)
        return api_entry_set_canonical(entry, key, canonical);
    json_decref(canonical);
    return true;
}

bool api_entry_number(const api_entry *entry, const char *key, int need, double *v)
{
    return api_entry_numbers(entry, key, need, v, 0, NULL);
}

bool api_entry_vector(const api_entry *entry, const char *key, int need, double *v, size_t n)
{
    return api_entry_numbers(entry, key, need, v, 1, &n);
}

bool api_entry_not_negative(const api_entry *entry, const char *key, int need, double *v)
{
    if (!api_entry_number(entry, key, need, v)) return false;
    if (*v >= 0) return true;
    return api_entry_fail(entry, key, API_BAD_VALUE, "\"%s\" must not be negative, given %s", key, API_NUMBER_TEXT(*v));
}

bool api_entry_check_angle(const api_entry *entry, const char *key, size_t index, double angle)
{
    api_entry place = api_entry_location(entry, key, index);
    return fabs(angle) <= DYN_MAX_ANGLE ||
           api_entry_fail(&place, NULL, API_ANGLE_TOO_LARGE, "an angle of %s; angles are limited to %g rad",
                          API_NUMBER_TEXT(angle), DYN_MAX_ANGLE);
}

/* Reports an angle of more than one revolution: such values are usually degrees. */
static bool review_angle(const api_entry *entry, const char *key, size_t index, double angle)
{
    api_entry place = api_entry_location(entry, key, index);
    return !(fabs(angle) > API_SUSPICIOUS_ANGLE) ||
           api_entry_report(&place, NULL, "warning", "suspicious", "%s rad is more than a turn: angles are in radians",
                            API_NUMBER_TEXT(angle));
}

bool api_entry_angle(const api_entry *entry, const char *key, double *angle)
{
    return api_entry_number(entry, key, API_OPTIONAL, angle) &&
           api_entry_check_angle(entry, key, API_NO_INDEX, *angle) && review_angle(entry, key, API_NO_INDEX, *angle);
}

bool api_entry_rpy(const api_entry *entry, double rpy[3])
{
    if (!api_entry_vector(entry, "rpy", API_OPTIONAL, rpy, 3)) return false;
    for (size_t i = 0; i < 3; i++)
        if (!api_entry_check_angle(entry, "rpy", i, rpy[i]) || !review_angle(entry, "rpy", i, rpy[i])) return false;
    return true;
}

bool api_entry_flag(const api_entry *entry, const char *key, bool *flag)
{
    const json_t *in = json_object_get(entry->input, key);
    if (!in) return true;
    if (!json_is_boolean(in))
        return api_entry_fail(entry, key, API_WRONG_TYPE, "expected true or false, given %s", api_json_kind(in));
    bool absent = *flag;
    *flag       = json_is_true(in);
    return *flag == absent || api_entry_set_canonical(entry, key, json_boolean(*flag));
}

bool api_entry_text(const api_entry *entry, const char *key, int need, const char **text)
{
    const json_t *in;
    if (!find(entry, key, need, &in)) return false;
    if (!in) return true;
    if (!json_is_string(in))
        return api_entry_fail(entry, key, API_WRONG_TYPE, "expected a string, given %s", api_json_kind(in));
    if (json_string_length(in) > TEXT_MAX_BYTES)
        return api_entry_fail(entry, key, API_MODEL_TOO_LARGE, "a text has at most %d bytes, given %zu", TEXT_MAX_BYTES,
                              json_string_length(in));
    *text = api_arena_text(entry->reader->arena, json_string_value(in));
    if (!*text) return api_reader_no_memory(entry->reader);
    return api_entry_set_canonical(entry, key, json_string(*text));
}

/* True for a text with a control character: U+0000 to U+001F, U+007F, or U+0080 to U+009F (C2 80 to C2 9F in UTF-8). */
static bool has_control(const char *text)
{
    for (const unsigned char *p = (const unsigned char *)text; *p; p++)
        if (*p < 0x20 || *p == 0x7F || (p[0] == 0xC2 && p[1] >= 0x80 && p[1] < 0xA0)) return true;
    return false;
}

bool api_entry_is_name(const char *text)
{
    size_t length = strlen(text);
    return length > 0 && length <= NAME_MAX_BYTES && !has_control(text);
}

bool api_entry_name(const api_entry *entry, const char *key, int need, const char **name)
{
    if (!api_entry_text(entry, key, need, name)) return false;
    if (!api_entry_has(entry, key)) return true;
    size_t length = strlen(*name);
    if (length == 0) return api_entry_fail(entry, key, API_BAD_NAME, "a name must not be empty");
    if (length > NAME_MAX_BYTES)
        return api_entry_fail(entry, key, API_BAD_NAME, "a name has at most %d bytes, given %zu", NAME_MAX_BYTES,
                              length);
    if (has_control(*name))
        return api_entry_fail(entry, key, API_BAD_NAME, "a name must not contain control characters");
    return true;
}
