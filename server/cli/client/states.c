/* states.c - see states.h. */
#include "states.h"
#include "npy.h"
#include "server/store/durable_file.h"
#include "zip.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FILE_MOST ((size_t)4 << 30) /* bytes of a file that is read as a whole */

static const struct {
    const char *word;
    cli_format  format;
} formats[] = {{"json", CLI_JSON}, {"jsonl", CLI_JSON_LINES}, {"ndjson", CLI_JSON_LINES},
               {"csv", CLI_CSV},   {"npy", CLI_NPY},          {"npz", CLI_NPZ},
               {"cbor", CLI_CBOR}, {"msgpack", CLI_MSGPACK},  {"mp", CLI_MSGPACK}};

cli_format cli_format_named(const char *word)
{
    for (size_t i = 0; word && i < sizeof formats / sizeof formats[0]; i++)
        if (strcasecmp(word, formats[i].word) == 0) return formats[i].format;
    return CLI_NO_FORMAT;
}

cli_format cli_format_of_file(const char *file)
{
    const char *dot = file ? strrchr(file, '.') : NULL;
    return dot ? cli_format_named(dot + 1) : CLI_NO_FORMAT;
}

const char *cli_format_media_type(cli_format format)
{
    return format == CLI_JSON      ? "application/json"
           : format == CLI_CBOR    ? "application/cbor"
           : format == CLI_MSGPACK ? "application/vnd.msgpack"
                                   : NULL;
}

bool cli_format_is_opaque(cli_format format)
{
    return format == CLI_CBOR || format == CLI_MSGPACK;
}

/* --- files that are read as a whole ------------------------------------------------------------------------------ */

/* Adds an array of NumPy: of one axis it holds for all rows, of more axes the first is that of the rows. */
static bool add_npy(cli_states *s, const char *field, const char *bytes, size_t length, const char *name)
{
    cli_npy npy;
    if (!cli_npy_read(bytes, length, name, &npy)) return false;
    size_t skipped = npy.rank >= 2 ? 1 : 0, rows = skipped ? npy.extent[0] : 1;
    bool   good = true;
    if (skipped && s->whole.rows > 0 && rows != s->whole.rows)
        good = cli_error("%s: %s has %zu rows, and an array before it %zu", s->name, field, rows, s->whole.rows);
    cli_array *array = good ? cli_batch_add(&s->whole, field, npy.rank - skipped, npy.extent + skipped, rows) : NULL;
    if (array) {
        array->constant = !skipped;
        if (npy.count > 0) memcpy(array->values, npy.values, npy.count * sizeof *npy.values);
        if (skipped) s->whole.rows = rows;
    }
    free(npy.values);
    return array != NULL;
}

typedef struct npz_visit {
    cli_states *states;
    const char *fields;
} npz_visit;

static bool visit_npz(void *arg, const cli_zip_entry *entry)
{
    npz_visit *v = arg;
    char       field[128], name[300];
    size_t     length = entry->name_length;
    if (length > 4 && memcmp(entry->name + length - 4, ".npy", 4) == 0) length -= 4;
    snprintf(field, sizeof field, "%.*s", length < sizeof field ? (int)length : (int)sizeof field - 1, entry->name);
    if (!cli_field_is_chosen(v->fields, field)) return true;
    snprintf(name, sizeof name, "%.150s:%s", v->states->name, field);
    if (cli_batch_find(&v->states->whole, field)) return cli_error("%s is there twice", name);
    return add_npy(v->states, field, entry->bytes, entry->length, name);
}

/* Removes the members of an object that are not chosen. */
static void remove_others(json_t *object, const char *fields)
{
    const char *key;
    json_t     *value;
    void       *next;
    json_object_foreach_safe (object, next, key, value)
        if (!cli_field_is_chosen(fields, key)) json_object_del(object, key);
}

/* Moves the states of a JSON object into arrays; the other members stay in `rest`. */
static bool add_json_states(cli_states *s, const char *fields, const char *text, size_t length)
{
    json_error_t error;
    json_t      *object = json_loadb(text, length, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &error);
    if (!json_is_object(object)) {
        if (object) cli_error("%s has no JSON object, such as {\"q\": [[0, 1], [2, 3]]}", s->name);
        if (!object) cli_error("%s line %d, column %d: %s", s->name, error.line, error.column, error.text);
        json_decref(object);
        return false;
    }
    s->whole.rest = object;
    remove_others(object, fields);
    for (size_t i = 0; cli_state_fields[i]; i++) {
        const char *field = cli_state_fields[i];
        json_t     *value = json_object_get(object, field);
        if (!json_is_array(json_array_get(value, 0))) continue;
        size_t rows = json_array_size(value);
        if (s->whole.rows > 0 && rows != s->whole.rows)
            return cli_error("%s: %s has %zu rows, and a field before it %zu", s->name, field, rows, s->whole.rows);
        if (!cli_batch_add_json(&s->whole, field, value, rows))
            return cli_error("%s: %s must have rows of numbers of equal length", s->name, field);
        s->whole.rows = rows;
        json_object_del(object, field);
    }
    return true;
}

/* True if an array has an axis of rows. */
static bool has_rows(const cli_batch *batch)
{
    for (size_t i = 0; i < batch->n_arrays; i++)
        if (!batch->arrays[i].constant) return true;
    return false;
}

static bool read_whole(cli_states *s, const cli_states_options *o)
{
    size_t length;
    char  *bytes = srv_input_read(o->file, FILE_MOST, &length);
    bool   good  = bytes != NULL;
    if (!good) cli_error("cannot read %s: %s", s->name, strerror(errno));
    if (good && s->format == CLI_JSON) good = add_json_states(s, o->fields, bytes, length);
    if (good && s->format == CLI_NPY) good = add_npy(s, o->field, bytes, length, s->name);
    if (good && s->format == CLI_NPZ)
        good =
            cli_zip_read(bytes, length, s->name, FILE_MOST, visit_npz, &(npz_visit){.states = s, .fields = o->fields});
    if (cli_format_media_type(s->format)) {
        s->text        = bytes;
        s->text_length = length;
    } else {
        free(bytes);
    }
    if (good && s->whole.rows == 0 && s->whole.n_arrays > 0 && has_rows(&s->whole))
        good = cli_error("%s has no rows", s->name);
    if (good && s->whole.n_arrays == 0 && !cli_format_media_type(s->format))
        good = cli_error("%s has no array to send", s->name);
    return good;
}

/* --- open, read, close -------------------------------------------------------------------------------------------- */

cli_format cli_states_sniff(const char *file)
{
    if (strcmp(file, "-") != 0) return CLI_NO_FORMAT;
    int c = getc(stdin);
    if (c != EOF) ungetc(c, stdin);
    return c == '{' ? CLI_JSON : c == 'P' ? CLI_NPZ : c == 0x93 ? CLI_NPY : CLI_CSV;
}

bool cli_states_open(cli_states *states, const cli_states_options *options)
{
    bool        from_stdin = strcmp(options->file, "-") == 0;
    struct stat status;
    *states = (cli_states){.format = options->format, .name = from_stdin ? "standard input" : options->file};
    if (states->format != CLI_CSV && states->format != CLI_JSON_LINES) return read_whole(states, options);
    states->file = from_stdin ? stdin : fopen(options->file, "re");
    if (!states->file) return cli_error("cannot read %s: %s", options->file, strerror(errno));
    if (fstat(fileno(states->file), &status) == 0 && S_ISREG(status.st_mode)) states->size = (double)status.st_size;
    states->csv = (cli_csv){
        .file = states->file, .name = states->name, .coordinates = options->coordinates, .fields = options->fields};
    states->lines = (cli_json_lines){.file = states->file, .name = states->name, .fields = options->fields};
    return states->format != CLI_CSV || cli_csv_open(&states->csv);
}

bool cli_states_read(cli_states *states, size_t most, cli_batch *batch)
{
    *batch = (cli_batch){0};
    if (states->format == CLI_CSV) return cli_csv_read(&states->csv, most, batch);
    if (states->format == CLI_JSON_LINES) return cli_json_lines_read(&states->lines, most, batch);
    size_t left = states->whole.rows - states->next, rows = left < most ? left : most;
    if (!cli_batch_slice(&states->whole, states->next, rows, batch)) return false;
    states->next += rows;
    return true;
}

void cli_states_release(const cli_states *states, cli_batch *batch)
{
    if (states->file)
        cli_batch_free(batch);
    else
        free(batch->arrays);
    *batch = (cli_batch){0};
}

double cli_states_fraction(const cli_states *states)
{
    if (!states->file) return states->whole.rows > 0 ? (double)states->next / (double)states->whole.rows : -1;
    return states->size > 0 ? (double)ftello(states->file) / states->size : -1;
}

void cli_states_close(cli_states *states)
{
    cli_csv_close(&states->csv);
    cli_json_lines_close(&states->lines);
    cli_batch_free(&states->whole);
    free(states->text);
    states->text = NULL;
    if (states->file && states->file != stdin) fclose(states->file);
    states->file = NULL;
}
