/* call.c - see call.h. */
#include "call.h"
#include "cbor.h"
#include "client_commands.h"
#include "progress.h"
#include "server/store/durable_file.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_CHUNK = 4096, PATH_SIZE = 400 };
#define BODY_MAX    ((size_t)4 << 30)
#define CBOR_ARRAYS "application/cbor; arrays=multidimensional"
#define CBOR_PLAIN  "application/cbor; arrays=plain"

const cli_option cli_call_options[] = {
    {"from", CLI_FORMATS, CLI_WORDS, NULL,
     "format of FILE (default: by the end of its name; for standard input by its first byte: { is json, else csv)"},
    {"field", "NAME", CLI_NOTHING, NULL, "name of the array of an .npy file (default: q)"},
    {"fields", "NAMES", CLI_NOTHING, NULL,
     "fields of FILE to send, with commas between; others are ignored (default: all)"},
    {"chunk", "N", CLI_NOTHING, NULL, "most rows of one request; less if the server asks for it (default: 4096)"},
    {.name = NULL},
};

/* --- arguments ------------------------------------------------------------------------------------------------- */

/* Length of the name in "name=..."; 0 if the text does not begin so. */
static size_t field_length(const char *text)
{
    size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz_");
    return text[length] == '=' ? length : 0;
}

/* Adds "name=value" to the options: as JSON, or as a text if it is none. */
static bool add_option(json_t *options, const char *text, size_t length)
{
    char        name[64];
    const char *value = text + length + 1;
    json_t     *json  = json_loads(value, JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL | JSON_REJECT_DUPLICATES, NULL);
    if (!json && strpbrk(value, "[]{}\""))
        return cli_error("%.80s is no JSON; with blanks in it, it needs quotes: '%.*s=[0, 0.5]'", text, (int)length,
                         text);
    if (!json) json = json_string(value);
    snprintf(name, sizeof name, "%.*s", length < sizeof name ? (int)length : 0, text);
    return json_object_set_new(options, name, json) == 0 || cli_error("%.80s is no FIELD=JSON", text);
}

static bool read_operands(cli_call *call)
{
    const cli_arguments *a = call->arguments;
    for (size_t i = 2; i < a->n_operands; i++) {
        const char *text   = a->operands[i];
        size_t      length = field_length(text);
        if (length > 0) {
            if (!add_option(call->options, text, length)) return false;
        } else if (call->file) {
            return cli_error("there are two files, %s and %s; one call reads one", call->file, text);
        } else {
            call->file = text;
        }
    }
    bool reads = json_object_size(call->options) == 0 || cli_value(a, "from");
    if (!call->file && reads) call->file = "-";
    return true;
}

int cli_call_open(cli_call *call, const cli_arguments *arguments)
{
    double      chunk;
    const char *from = cli_value(arguments, "from");
    *call            = (cli_call){.arguments = arguments,
                                  .model     = cli_operand_at(arguments, 0),
                                  .operation = cli_operand_at(arguments, 1),
                                  .options   = json_object()};
    if (!call->options) return cli_fail(1, "out of memory");
    if (!read_operands(call) || !cli_number(arguments, "chunk", 1, 1e9, DEFAULT_CHUNK, &chunk)) return 2;
    call->chunk  = (size_t)chunk;
    call->format = from ? cli_format_named(from) : call->file ? cli_format_of_file(call->file) : CLI_JSON;
    if (call->format == CLI_NO_FORMAT && strcmp(call->file, "-") != 0)
        return cli_fail(2, "the name of %s does not tell its format; give it with --from " CLI_FORMATS, call->file);
    return cli_connection_open(&call->connection, arguments);
}

void cli_call_close(cli_call *call)
{
    cli_coordinates_free(&call->coordinates);
    if (call->connection.handle) cli_connection_close(&call->connection);
    json_decref(call->options);
    call->options = NULL;
}

/* Makes all later requests require this revision of the model; "" or NULL: any revision. */
static void pin(cli_call *call, const char *revision)
{
    char *pinned = call->connection.pinned;
    if (revision && strlen(revision) < CLI_REVISION_SIZE) strcpy(pinned, revision);
}

bool cli_call_coordinates(cli_call *call)
{
    if (call->coordinates.model) return true;
    if (!cli_coordinates_ask(&call->connection, call->model, &call->coordinates)) return false;
    pin(call, json_string_value(json_object_get(call->coordinates.model, "revision")));
    return true;
}

/* --- requests ---------------------------------------------------------------------------------------------------- */

bool cli_call_answers_once(const cli_call *call)
{
    return strcmp(call->operation, "identify") == 0;
}

static bool is_motion(const char *operation)
{
    return strcmp(operation, "trajectory") == 0 || strcmp(operation, "simulate") == 0;
}

/* Makes the samples of one motion the rows of the batch. */
static void rows_from_samples(cli_batch *batch)
{
    const cli_array *times   = cli_batch_find(batch, "times");
    size_t           samples = times && times->rank == 1 ? times->extent[0] : 0;
    if (samples == 0) return;
    for (size_t i = 0; i < batch->n_arrays; i++) {
        cli_array *a = &batch->arrays[i];
        a->constant  = a->rank == 0 || a->extent[0] != samples;
        if (a->constant) continue;
        a->rank--;
        memmove(a->extent, a->extent + 1, a->rank * sizeof *a->extent);
        a->entries /= samples;
    }
    batch->rows   = samples;
    batch->single = false;
}

typedef struct sending {
    cli_call       *call;
    const cli_sink *sink;
    const char     *name; /* name of the file, for messages */
    char            path[PATH_SIZE];
    size_t          rows;  /* answered so far */
    bool            whole; /* the rows depend on each other: all of them are sent in one request */
} sending;

static bool post(sending *s, const char *type, const char *accept, const char *body, size_t length)
{
    return cli_connection_send(&s->call->connection, &(cli_request){.method       = "POST",
                                                                    .path         = s->path,
                                                                    .content_type = type,
                                                                    .accept       = accept,
                                                                    .body         = body,
                                                                    .length       = length,
                                                                    .waits        = true});
}

/* Returns the media types in which the sink can store an answer without conversion. An answer in CBOR is requested in
 * the form that every library reads. */
static const char *accept_of(const cli_sink *sink)
{
    return sink->takes == CLI_CBOR ? CBOR_PLAIN : cli_format_media_type(sink->takes);
}

static bool pass_raw(sending *s)
{
    return s->sink->raw(s->sink->arg, s->call->connection.body.bytes, s->call->connection.body.length);
}

/* Passes on the answer in CBOR to a request of that many rows; 0: one state or motion. */
static bool pass_answer(sending *s, size_t rows)
{
    cli_batch       answer;
    const cli_text *body = &s->call->connection.body;
    if (cli_call_answers_once(s->call)) rows = 0;
    if (!cli_cbor_read(body->bytes, body->length, rows, &answer)) return false;
    if (rows == 0 && is_motion(s->call->operation)) rows_from_samples(&answer);
    bool good = s->sink->add(s->sink->arg, &answer);
    s->rows += answer.rows;
    cli_batch_free(&answer);
    return good;
}

/* Sends one part; the halves of it if it is too large for the server, unless the answer is passed on as it comes. */
static bool send_part(sending *s, const cli_batch *part)
{
    cli_text        body   = {0};
    cli_connection *c      = &s->call->connection;
    bool            opaque = cli_format_is_opaque(s->sink->takes);
    cli_batch       half;
    if (part->rows > 0 && (cli_asks_for_sums(s->call->options) || cli_asks_for_sums(part->rest)))
        return cli_error(
            "outputs sum_... are of all rows, and the answer has a line for each: POST the request, see GET /docs");
    bool good = cli_cbor_write(&body, part, s->call->options) &&
                post(s, "application/cbor", opaque ? accept_of(s->sink) : CBOR_ARRAYS, body.bytes, body.length);
    cli_text_free(&body);
    if (!good) return false;
    if (c->status < 400 && !*c->pinned) pin(s->call, c->revision);
    if (c->status < 400) return opaque ? pass_raw(s) : pass_answer(s, part->rows);
    if (c->status != 413 || opaque || part->rows < 2 || s->whole) {
        cli_connection_report(
            c, &(cli_origin){.file = s->name, .first_row = s->rows, .lines = part->lines, .rows = part->rows});
        return false;
    }
    for (size_t first = 0, rows = part->rows / 2; good && first < part->rows;
         first += rows, rows    = part->rows - first) {
        good = cli_batch_slice(part, first, rows, &half) && send_part(s, &half);
        free(half.arrays);
    }
    return good;
}

static bool send_all_parts(sending *s, cli_states *states)
{
    cli_progress progress;
    cli_batch    part;
    bool         good = true;
    size_t       rows;
    char         what[200];
    snprintf(what, sizeof what, "%.80s %.80s", s->call->model, s->call->operation);
    cli_progress_start(&progress);
    do {
        good = cli_states_read(states, s->call->chunk, &part);
        rows = good ? part.rows : 0;
        if (rows > 0) good = send_part(s, &part);
        cli_states_release(states, &part);
        if (rows > 0) cli_progress_show(&progress, what, s->rows, cli_states_fraction(states));
    } while (rows > 0 && good);
    cli_progress_end(&progress);
    return good && (s->rows > 0 || cli_error("%s has no rows", states->name));
}

/* Reads all rows of a file and sends them in one request. */
static bool send_whole(sending *s, cli_states *states)
{
    cli_batch all = {0}, part;
    bool      good;
    size_t    rows;
    do {
        good = cli_states_read(states, s->call->chunk, &part);
        rows = good ? part.rows : 0;
        if (rows > 0) good = cli_batch_append(&all, &part);
        cli_states_release(states, &part);
    } while (rows > 0 && good);
    if (good) good = all.rows > 0 ? send_part(s, &all) : cli_error("%s has no rows", states->name);
    cli_batch_free(&all);
    return good;
}

/* --- requests in one piece --------------------------------------------------------------------------------------- */

/* Depth of nested arrays. */
static unsigned depth_of(const json_t *value)
{
    unsigned depth = 0;
    for (; json_is_array(value); value = json_array_get(value, 0))
        depth++;
    return depth;
}

/* Rows of a JSON request that has no rows of states: of control points of several motions, or of poses of a platform.
 */
static size_t rows_of_fields(const json_t *request)
{
    const json_t *points   = json_object_get(request, "control_points");
    const json_t *position = json_object_get(json_object_get(request, "platform"), "position");
    if (depth_of(points) == 3) return json_array_size(points);
    return depth_of(position) == 2 ? json_array_size(position) : 0;
}

/* True if the file is sent in one piece: a single state, or a JSON request that is small, or whose other fields may
 * have rows too. */
static bool is_one_piece(const sending *s, const cli_states *states)
{
    const json_t *rest = states->whole.rest;
    if (states->whole.rows == 0) return true;
    return states->format == CLI_JSON &&
           (s->whole || states->whole.rows <= s->call->chunk || json_object_get(rest, "wrenches") ||
            json_object_get(rest, "platform") || json_object_get(rest, "guess"));
}

/* Returns how many rows the answer to a request in one piece has; 0: one state or motion. */
static size_t rows_of_request(const cli_call *call, const cli_states *states)
{
    size_t rows = states->whole.rows;
    for (size_t i = 0; cli_state_fields[i]; i++) {
        const json_t *given = json_object_get(call->options, cli_state_fields[i]);
        if (depth_of(given) == 2) rows = json_array_size(given);
    }
    if (rows == 0) rows = rows_of_fields(states->whole.rest);
    return rows > 0 ? rows : rows_of_fields(call->options);
}

/* Sends the fields of a JSON file, as they are, or those of the command line, in one request. */
static bool send_request(sending *s, const cli_states *states)
{
    cli_call   *call   = s->call;
    bool        raw    = s->sink->takes != CLI_NO_FORMAT;
    const char *accept = raw ? accept_of(s->sink) : CBOR_ARRAYS;
    bool        as_is  = states->text && json_object_size(call->options) == 0 && !cli_value(call->arguments, "fields");
    cli_text    body   = {0};
    bool        good   = as_is || cli_cbor_write(&body, &states->whole, call->options);
    good = good && (as_is ? post(s, cli_format_media_type(states->format), accept, states->text, states->text_length)
                          : post(s, "application/cbor", accept, body.bytes, body.length));
    cli_text_free(&body);
    if (!good) return false;
    if (call->connection.status >= 400) {
        cli_connection_report(&call->connection, NULL);
        return false;
    }
    return raw ? pass_raw(s) : pass_answer(s, rows_of_request(call, states));
}

/* Checks that a file whose rows are not read (CBOR, MessagePack) can be sent unchanged, and that its answer is written
 * unchanged, too. */
static bool check_opaque(const cli_call *call, const cli_sink *sink, cli_format format)
{
    if (!cli_format_is_opaque(format)) return true;
    if (json_object_size(call->options) > 0 || cli_value(call->arguments, "fields"))
        return cli_error("%s is sent as it is: leave out FIELD=JSON and --fields", call->file);
    return sink->takes != CLI_NO_FORMAT ||
           cli_error("%s is sent as it is, and its rows are not counted: use call with --to json, cbor or msgpack",
                     call->file);
}

bool cli_call_run(cli_call *call, const cli_sink *sink)
{
    cli_states         states = {.format = CLI_JSON};
    sending            s      = {.call = call, .sink = sink};
    char               rest[200];
    const char        *field   = cli_value(call->arguments, "field");
    cli_states_options options = {.file        = call->file,
                                  .format      = call->format,
                                  .field       = field ? field : "q",
                                  .fields      = cli_value(call->arguments, "fields"),
                                  .coordinates = &call->coordinates};
    snprintf(rest, sizeof rest, "/%.100s", call->operation);
    if (!cli_model_path(&call->connection, call->model, rest, s.path, sizeof s.path)) return false;
    if (call->file && options.format == CLI_NO_FORMAT) options.format = cli_states_sniff(call->file);
    if (options.format == CLI_CSV && !cli_call_coordinates(call)) return false;
    if (call->file && !check_opaque(call, sink, options.format)) return false;
    bool good = !call->file || cli_states_open(&states, &options);
    s.name    = states.name;
    s.whole   = cli_rows_depend(call->operation, call->options) || cli_rows_depend(call->operation, states.whole.rest);
    if (good && !states.file && is_one_piece(&s, &states))
        good = send_request(&s, &states);
    else if (good && (s.whole || cli_format_is_opaque(sink->takes)))
        good = send_whole(&s, &states);
    else if (good)
        good = send_all_parts(&s, &states);
    cli_states_close(&states);
    return good;
}
