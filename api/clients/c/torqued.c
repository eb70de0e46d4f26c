/* torqued.c - sends requests to a torqued server over libcurl and copies arrays of doubles into and out of CBOR
 * (RFC 8949, typed arrays of RFC 8746). torqued.h is the manual. A program copies this file and torqued.h, or fetches
 * both from a server, so the client is one file, longer than others. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* strtod_l */
#endif
#include "torqued.h"
#include <curl/curl.h>
#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "torqued.c copies little-endian doubles: this machine needs a swap of bytes in put_array and take_doubles"
#endif

enum { MAX_DEPTH = 64, MAX_PATH = 512, MAX_TOKEN = 4096, FIRST_BUFFER = 1 << 14 };

static const size_t ANSWER_LIMIT = (size_t)1 << 30;
static const double TIMEOUT      = 60.0;  /* s */
static const double LONGEST      = 1.0e6; /* s, longest timeout: fits the milliseconds of libcurl in 32 bits */
static const double FIRST_PAUSE  = 0.1;   /* s, before the first repetition if the server does not say; then doubled */
static const int    RETRIES      = 2;

/* A growing array of bytes that keeps its memory. */
typedef struct buffer {
    unsigned char *bytes;
    size_t         length, capacity;
    bool           short_of_memory; /* an append failed; the content is incomplete */
} buffer;

struct torqued_client {
    CURL              *curl;
    struct curl_slist *post_head, *put_json_head, *put_xml_head, *plain_head;
    locale_t           c_locale; /* in which numbers have a point, whatever the program's locale */
    char               base[MAX_PATH], url[2 * MAX_PATH], curl_error[CURL_ERROR_SIZE];
    size_t             answer_limit;
    double             timeout; /* s, of a call with its repetitions */
    int                retries;
    buffer             request, answer, problem_items;
    torqued_problem    problem;
};

/* --- memory for libcurl: freed blocks are kept by size and used again -------------------------------------------- */

enum { SMALLEST = 5, LARGEST = 20, CLASSES = LARGEST - SMALLEST + 1 }; /* blocks of 2^5 to 2^20 bytes */

/* Stands before each block, and keeps the alignment of malloc. */
typedef struct block {
    _Alignas(max_align_t) struct block *next; /* while the block is free */
    size_t size_class;                        /* CLASSES: larger than all classes, not kept */
} block;

static pthread_once_t  once = PTHREAD_ONCE_INIT;
static pthread_mutex_t pool_lock; /* libcurl may free on another thread, such as that of its name resolution */
static block          *pool[CLASSES];
static CURLcode        initialised;

static void *pool_malloc(size_t size)
{
    size_t size_class = 0;
    while (size_class < CLASSES && (size_t)1 << (size_class + SMALLEST) < size)
        size_class++;
    block *found = NULL;
    if (size_class < CLASSES) {
        pthread_mutex_lock(&pool_lock);
        if ((found = pool[size_class])) pool[size_class] = found->next;
        pthread_mutex_unlock(&pool_lock);
        size = (size_t)1 << (size_class + SMALLEST);
    }
    if (!found && (size > SIZE_MAX - sizeof(block) || !(found = malloc(sizeof(block) + size)))) return NULL;
    found->size_class = size_class;
    return found + 1;
}

static void pool_free(void *memory)
{
    if (!memory) return;
    block *freed = (block *)memory - 1;
    if (freed->size_class == CLASSES) {
        free(freed);
        return;
    }
    pthread_mutex_lock(&pool_lock);
    freed->next             = pool[freed->size_class];
    pool[freed->size_class] = freed;
    pthread_mutex_unlock(&pool_lock);
}

static void *pool_realloc(void *memory, size_t size)
{
    if (!memory) return pool_malloc(size);
    block *old = (block *)memory - 1;
    if (old->size_class == CLASSES) {
        block *grown = size > SIZE_MAX - sizeof(block) ? NULL : realloc(old, sizeof(block) + size);
        return grown ? grown + 1 : NULL;
    }
    size_t room = (size_t)1 << (old->size_class + SMALLEST);
    if (size <= room) return memory;
    void *larger = pool_malloc(size);
    if (larger) {
        memcpy(larger, memory, room);
        pool_free(memory);
    }
    return larger;
}

static void *pool_calloc(size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size) return NULL;
    void *memory = pool_malloc(count * size);
    return memory ? memset(memory, 0, count * size) : NULL;
}

static char *pool_strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    char  *copy = pool_malloc(size);
    return copy ? memcpy(copy, text, size) : NULL;
}

/* A thread of high priority must not wait for one of low priority that holds the lock and is not scheduled. */
static void initialise(void)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&pool_lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
    initialised =
        curl_global_init_mem(CURL_GLOBAL_DEFAULT, pool_malloc, pool_free, pool_realloc, pool_strdup, pool_calloc);
}

static bool reserve(buffer *b, size_t more, size_t limit)
{
    if (more > limit || b->length > limit - more) return false;
    if (b->length + more <= b->capacity) return true;
    size_t capacity = b->capacity ? b->capacity : FIRST_BUFFER;
    while (capacity < b->length + more)
        capacity = capacity > SIZE_MAX / 2 ? b->length + more : 2 * capacity;
    unsigned char *grown = realloc(b->bytes, capacity);
    if (!grown) return false;
    b->bytes    = grown;
    b->capacity = capacity;
    return true;
}

static void append(buffer *b, const void *bytes, size_t length)
{
    if (b->short_of_memory || !reserve(b, length, SIZE_MAX)) {
        b->short_of_memory = true;
        return;
    }
    if (length) memcpy(b->bytes + b->length, bytes, length);
    b->length += length;
}

static void append_byte(buffer *b, unsigned value)
{
    unsigned char byte = (unsigned char)value;
    append(b, &byte, 1);
}

/* --- problems ---------------------------------------------------------------------------------------------------- */

static void clear_problem(torqued_problem *problem)
{
    *problem = (torqued_problem){.row = -1, .retry_after = -1.0};
}

__attribute__((format(printf, 3, 4))) static torqued_status fail(torqued_problem *problem, torqued_status status,
                                                                 const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    problem->status = status;
    vsnprintf(problem->detail, sizeof problem->detail, format, arguments);
    va_end(arguments);
    return status;
}

/* --- writing CBOR: arrays of doubles, and JSON text turned into CBOR ------------------------------------------ */

enum { UNSIGNED = 0, NEGATIVE = 1, BYTES = 2, TEXT = 3, ARRAY = 4, MAP = 5, TAG = 6, SIMPLE = 7 };
enum { SHAPED_ARRAY = 40, FLOAT64_ARRAY = 86, OPEN_ARRAY = 0x9f, OPEN_MAP = 0xbf, BREAK = 0xff };
enum { CBOR_FALSE = 0xf4, CBOR_TRUE = 0xf5, CBOR_NULL = 0xf6, CBOR_DOUBLE = 0xfb };

static void put_head(buffer *b, unsigned major, uint64_t value)
{
    unsigned      low     = value < 24            ? (unsigned)value
                            : value <= 0xff       ? 24
                            : value <= 0xffff     ? 25
                            : value <= 0xffffffff ? 26
                                                  : 27;
    unsigned      count   = low < 24 ? 0 : 1u << (low - 24);
    unsigned char head[9] = {(unsigned char)(major << 5 | low)};
    for (unsigned i = 0; i < count; i++)
        head[1 + i] = (unsigned char)(value >> 8 * (count - 1 - i));
    append(b, head, 1 + count);
}

static void put_text(buffer *b, const char *text, size_t length)
{
    put_head(b, TEXT, length);
    append(b, text, length);
}

static void put_double(buffer *b, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    append_byte(b, CBOR_DOUBLE);
    for (int shift = 56; shift >= 0; shift -= 8)
        append_byte(b, (unsigned)(bits >> shift & 0xff));
}

/* The number of dimensions, and in `count` that of the numbers; 0 if the shape is empty or its product overflows. */
static size_t rank_of(const torqued_input *input, size_t *count)
{
    enum { MOST = sizeof input->shape / sizeof input->shape[0] };
    size_t rank = 0;
    *count      = 1;
    for (; rank < MOST && input->shape[rank]; rank++) {
        if (*count > SIZE_MAX / sizeof(double) / input->shape[rank]) return 0;
        *count *= input->shape[rank];
    }
    for (size_t i = rank; i < MOST; i++)
        if (input->shape[i]) return 0;
    return rank;
}

static void put_array(buffer *b, const torqued_input *input)
{
    size_t count, rank = rank_of(input, &count);
    if (rank > 1) {
        put_head(b, TAG, SHAPED_ARRAY);
        put_head(b, ARRAY, 2);
        put_head(b, ARRAY, rank);
        for (size_t i = 0; i < rank; i++)
            put_head(b, UNSIGNED, input->shape[i]);
    }
    put_head(b, TAG, FLOAT64_ARRAY);
    put_head(b, BYTES, count * sizeof(double));
    append(b, input->values, count * sizeof(double));
}

/* JSON text being read. */
typedef struct json {
    const char         *at, *end, *error; /* error: NULL, or what was expected at `at` */
    const torqued_call *call;             /* call with the inputs that $names refer to; NULL: there are none */
    locale_t            locale;
    int                 depth;
} json;

static bool expected(json *text, const char *what)
{
    if (!text->error) text->error = what;
    return false;
}

static void skip_space(json *text)
{
    while (text->at < text->end && *text->at && strchr(" \t\r\n", *text->at))
        text->at++;
}

/* Takes the character, if it comes next after white space. */
static bool take(json *text, char c)
{
    skip_space(text);
    if (text->at == text->end || *text->at != c) return false;
    text->at++;
    return true;
}

static bool take_word(json *text, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(text->end - text->at) < length || memcmp(text->at, word, length) != 0) return false;
    text->at += length;
    return true;
}

/* Reads the four digits of \uXXXX. */
static bool take_code_unit(json *text, unsigned *unit)
{
    *unit = 0;
    for (int i = 0; i < 4; i++, text->at++) {
        if (text->at == text->end || !isxdigit((unsigned char)*text->at))
            return expected(text, "four hexadecimal digits");
        int c = tolower((unsigned char)*text->at);
        *unit = *unit << 4 | (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return true;
}

static bool append_code_point(json *text, buffer *b)
{
    unsigned code, low;
    if (!take_code_unit(text, &code)) return false;
    if (code >= 0xd800 && code < 0xdc00) {
        if (!take_word(text, "\\u") || !take_code_unit(text, &low) || low < 0xdc00 || low > 0xdfff)
            return expected(text, "the second half of a surrogate pair");
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    } else if (code >= 0xdc00 && code < 0xe000) {
        return expected(text, "the first half of a surrogate pair");
    }
    if (code < 0x80) {
        append_byte(b, code);
        return true;
    }
    int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    append_byte(b, (0xff00u >> (more + 1) & 0xff) | code >> 6 * more);
    while (more-- > 0)
        append_byte(b, 0x80 | (code >> 6 * more & 0x3f));
    return true;
}

/* After the opening quote. The length of a text comes first in CBOR: it is filled in at the end. */
static bool put_json_text(json *text, buffer *b)
{
    size_t start = b->length;
    append(b, "\x7a\0\0\0\0", 5);
    for (;;) {
        if (text->at == text->end || (unsigned char)*text->at < 0x20) return expected(text, "the closing \"");
        char c = *text->at++;
        if (c == '"') break;
        if (c != '\\') {
            append_byte(b, (unsigned char)c);
            continue;
        }
        static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
        const char       *letter = text->at < text->end && *text->at ? strchr(letters, *text->at) : NULL;
        if (letter) {
            append_byte(b, (unsigned char)meanings[letter - letters]);
            text->at++;
        } else if (!take_word(text, "u")) {
            return expected(text, "an escape such as \\n or \\u00e9");
        } else if (!append_code_point(text, b)) {
            return false;
        }
    }
    if (b->short_of_memory) return true;
    size_t length = b->length - start - 5;
    for (size_t i = 0; i < 4; i++)
        b->bytes[start + 1 + i] = (unsigned char)(length >> 8 * (3 - i));
    return true;
}

/* Whole numbers stay whole: the server asks for integers where it counts. */
static bool put_json_number(json *text, buffer *b)
{
    char        digits[400];
    size_t      length = 0;
    const char *start  = text->at;
    while (text->at < text->end && length + 1 < sizeof digits && *text->at && strchr("+-.0123456789eE", *text->at))
        digits[length++] = *text->at++;
    digits[length]    = '\0';
    bool        whole = !strpbrk(digits, ".eE");
    const char *first = digits + (digits[0] == '-');
    char       *end   = digits;
    double      value = strtod_l(digits, &end, text->locale);
    if (!isdigit((unsigned char)*first) || *end || (first[0] == '0' && isdigit((unsigned char)first[1])) ||
        !isfinite(value)) {
        text->at = start;
        return expected(text, "a value");
    }
    if (whole && fabs(value) < 9007199254740992.0 && !(value == 0.0 && digits[0] == '-'))
        put_head(b, value < 0 ? NEGATIVE : UNSIGNED, (uint64_t)(value < 0 ? -1 - value : value));
    else
        put_double(b, value);
    return true;
}

static bool put_named_input(json *text, buffer *b)
{
    const char *start = text->at;
    text->at++;
    while (text->at < text->end && (isalnum((unsigned char)*text->at) || *text->at == '_'))
        text->at++;
    size_t length = (size_t)(text->at - start);
    for (size_t i = 0; text->call && i < text->call->input_count; i++) {
        const torqued_input *input = &text->call->inputs[i];
        if (strlen(input->name) == length && memcmp(input->name, start, length) == 0) {
            put_array(b, input);
            return true;
        }
    }
    text->at = start;
    return expected(text, "the name of an input");
}

static bool put_json_value(json *text, buffer *b);

/* The members of an object after its brace, without the head that opens the map. */
static bool put_json_members(json *text, buffer *b)
{
    if (take(text, '}')) return true;
    do {
        if (!take(text, '"')) return expected(text, "a name in quotes");
        if (!put_json_text(text, b)) return false;
        if (!take(text, ':')) return expected(text, "a colon");
        if (!put_json_value(text, b)) return false;
    } while (take(text, ','));
    return take(text, '}') || expected(text, "a comma or }");
}

static bool put_json_entries(json *text, buffer *b)
{
    if (take(text, ']')) return true;
    do {
        if (!put_json_value(text, b)) return false;
    } while (take(text, ','));
    return take(text, ']') || expected(text, "a comma or ]");
}

static bool put_json_value(json *text, buffer *b)
{
    if (text->depth >= MAX_DEPTH) return expected(text, "fewer nested arrays and objects");
    bool is_map = take(text, '{');
    if (is_map || take(text, '[')) {
        append_byte(b, is_map ? OPEN_MAP : OPEN_ARRAY);
        text->depth++;
        bool done = is_map ? put_json_members(text, b) : put_json_entries(text, b);
        text->depth--;
        append_byte(b, BREAK);
        return done;
    }
    if (take(text, '"')) return put_json_text(text, b);
    if (text->at < text->end && *text->at == '$') return put_named_input(text, b);
    static const struct {
        const char *word;
        unsigned    byte;
    } words[] = {{"true", CBOR_TRUE}, {"false", CBOR_FALSE}, {"null", CBOR_NULL}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (take_word(text, words[i].word)) {
            append_byte(b, words[i].byte);
            return true;
        }
    return put_json_number(text, b);
}

static bool ends(json *text)
{
    skip_space(text);
    return text->at == text->end || expected(text, "nothing more");
}

/* --- reading CBOR --------------------------------------------------------------------------------------------- */

/* Bytes of an answer from `at`. Every read checks `end`: the answer may be damaged. */
typedef struct cursor {
    const unsigned char *at, *end;
} cursor;

typedef struct item_head {
    unsigned major, low;
    uint64_t value;   /* length, number of entries, tag, or the bits of a number */
    bool     is_open; /* an array or map that a BREAK ends */
} item_head;

static bool take_head(cursor *c, item_head *head)
{
    if (c->at == c->end) return false;
    unsigned first = *c->at++, low = first & 31;
    *head = (item_head){first >> 5, low, low, false};
    if (low < 24) return true;
    if (low == 31 && (head->major == ARRAY || head->major == MAP)) {
        head->is_open = true;
        return true;
    }
    if (low > 27 || c->end - c->at < 1 << (low - 24)) return false;
    head->value = 0;
    for (int i = 0; i < 1 << (low - 24); i++)
        head->value = head->value << 8 | *c->at++;
    return true;
}

/* True when no entry is left. */
static bool has_ended(cursor *c, const item_head *head, uint64_t done)
{
    if (!head->is_open) return done == head->value;
    if (c->at == c->end || *c->at != BREAK) return false;
    c->at++;
    return true;
}

static bool take_bytes(cursor *c, const item_head *head, const unsigned char **bytes)
{
    if (head->value > (uint64_t)(c->end - c->at)) return false;
    *bytes = c->at;
    c->at += head->value;
    return true;
}

static bool skip(cursor *c, int depth)
{
    item_head            head;
    const unsigned char *bytes;
    if (depth > MAX_DEPTH || !take_head(c, &head)) return false;
    switch (head.major) {
    case BYTES:
    case TEXT: return take_bytes(c, &head, &bytes);
    case TAG: return skip(c, depth + 1);
    case ARRAY:
    case MAP:
        for (uint64_t i = 0; !has_ended(c, &head, i); i++)
            if (!skip(c, depth + 1) || (head.major == MAP && !skip(c, depth + 1))) return false;
        return true;
    default: return true;
    }
}

/* True if a member's name equals the part of a path up to `end`, in which ~1 stands for / and ~0 for ~. */
static bool equals(const unsigned char *name, uint64_t length, const char *part, const char *end)
{
    for (uint64_t i = 0; i < length; i++, part++) {
        char c = part < end ? *part : '\0';
        if (c == '~' && part + 1 < end && (part[1] == '0' || part[1] == '1')) c = *++part == '0' ? '~' : '/';
        if (part >= end || (char)name[i] != c) return false;
    }
    return part == end;
}

/* Moves from a map or array to the member or entry that the part names. */
static bool enter(cursor *c, const char *part, const char *end)
{
    item_head head, name;
    if (!take_head(c, &head) || (head.major != MAP && head.major != ARRAY)) return false;
    char              *last;
    unsigned long long index     = strtoull(part, &last, 10);
    bool               is_number = isdigit((unsigned char)*part) && last == end;
    for (uint64_t i = 0; !has_ended(c, &head, i); i++) {
        if (head.major == ARRAY) {
            if (is_number && i == index) return true;
        } else {
            const unsigned char *bytes;
            if (!take_head(c, &name) || name.major != TEXT || !take_bytes(c, &name, &bytes)) return false;
            if (equals(bytes, name.value, part, end)) return true;
        }
        if (!skip(c, 0)) return false;
    }
    return false;
}

static bool find(cursor *c, const char *path)
{
    while (*path) {
        const char *end = path + strcspn(path, "/");
        if (!enter(c, path, end)) return false;
        path = *end ? end + 1 : end;
    }
    return c->at < c->end;
}

/* Where numbers go: the first `capacity` are stored, all are counted. */
typedef struct sink {
    double *values;
    size_t  capacity, count;
} sink;

static void store(sink *to, double value)
{
    if (to->count < to->capacity) to->values[to->count] = value;
    to->count++;
}

static bool take_doubles(cursor *c, sink *to)
{
    item_head            head;
    const unsigned char *bytes;
    if (!take_head(c, &head) || head.major != BYTES || !take_bytes(c, &head, &bytes) ||
        head.value % sizeof(double) != 0)
        return false;
    size_t count  = (size_t)head.value / sizeof(double),
           room   = to->capacity - (to->count < to->capacity ? to->count : to->capacity);
    size_t copied = count < room ? count : room;
    if (copied) memcpy(to->values + to->count, bytes, copied * sizeof(double));
    to->count += count;
    return true;
}

static bool take_numbers(cursor *c, sink *to, int depth)
{
    item_head head;
    if (depth > MAX_DEPTH || !take_head(c, &head)) return false;
    switch (head.major) {
    case UNSIGNED: store(to, (double)head.value); return true;
    case NEGATIVE: store(to, -1.0 - (double)head.value); return true;
    case SIMPLE: {
        double value;
        if (head.low != 27) return false;
        memcpy(&value, &head.value, sizeof value);
        store(to, value);
        return true;
    }
    case TAG: {
        item_head pair;
        if (head.value == FLOAT64_ARRAY) return take_doubles(c, to);
        return head.value == SHAPED_ARRAY && take_head(c, &pair) && pair.major == ARRAY && pair.value == 2 &&
               !pair.is_open && skip(c, 0) && take_numbers(c, to, depth + 1);
    }
    case ARRAY:
        for (uint64_t i = 0; !has_ended(c, &head, i); i++)
            if (!take_numbers(c, to, depth + 1)) return false;
        return true;
    default: return false;
    }
}

static bool numbers_at(const buffer *b, const char *path, sink *to)
{
    cursor c = {b->bytes, b->bytes + b->length};
    return b->length && find(&c, path) && take_numbers(&c, to, 0);
}

/* Copies what fits of a text; false if there is none. `length` gets its whole length. */
static bool text_at(const buffer *b, const char *path, char *text, size_t size, size_t *length)
{
    cursor               c = {b->bytes, b->bytes + b->length};
    item_head            head;
    const unsigned char *bytes;
    if (!b->length || !find(&c, path) || !take_head(&c, &head) || head.major != TEXT || !take_bytes(&c, &head, &bytes))
        return false;
    *length       = (size_t)head.value;
    size_t copied = *length < size ? *length : size - 1;
    memcpy(text, bytes, copied);
    text[copied] = '\0';
    return true;
}

/* --- HTTP ----------------------------------------------------------------------------------------------------- */

static size_t receive_body(char *bytes, size_t size, size_t count, void *argument)
{
    torqued_client *client = argument;
    if (!reserve(&client->answer, size * count, client->answer_limit)) {
        client->answer.short_of_memory = true;
        return 0; /* libcurl ends the transfer */
    }
    append(&client->answer, bytes, size * count);
    return size * count;
}

/* Copies the value of a header field of the given name; false if the line is another. */
static bool is_field(const char *line, size_t length, const char *name, char *value, size_t size)
{
    size_t start = strlen(name);
    if (length <= start || strncasecmp(line, name, start) != 0 || line[start] != ':') return false;
    for (start++; start < length && (line[start] == ' ' || line[start] == '\t');)
        start++;
    while (length > start && isspace((unsigned char)line[length - 1]))
        length--;
    size_t copied = length - start < size ? length - start : size - 1;
    memcpy(value, line + start, copied);
    value[copied] = '\0';
    return true;
}

/* The first line of every head. libcurl sends no field without a value; the number of the last change of this client in
 * a shared store takes the place of the blanks. */
#define CHANGE_FIELD "Model-Change:"
static const char no_change[] = CHANGE_FIELD "                    ";

/* Makes the next requests name a change, so that they see it at every server that shares the store. */
static void note_change(torqued_client *client, const char *number)
{
    struct curl_slist *const heads[] = {client->plain_head, client->post_head, client->put_json_head,
                                        client->put_xml_head};
    size_t                   digits  = strspn(number, "0123456789");
    if (digits == 0 || digits > 18 || number[digits]) return;
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        if (heads[i]) snprintf(heads[i]->data, sizeof no_change, CHANGE_FIELD " %.18s", number);
}

static size_t receive_head(char *line, size_t size, size_t count, void *argument)
{
    torqued_client *client = argument;
    char            seconds[32], change[32];
    if (is_field(line, size * count, "Model-Change", change, sizeof change)) note_change(client, change);
    is_field(line, size * count, "Request-Id", client->problem.request_id, sizeof client->problem.request_id);
    if (is_field(line, size * count, "Retry-After", seconds, sizeof seconds) && isdigit((unsigned char)seconds[0]))
        client->problem.retry_after = strtod_l(seconds, NULL, client->c_locale);
    return size * count;
}

/* Fills the problem from the server's document, which is JSON: it is turned into CBOR and read as such. */
static torqued_status refused(torqued_client *client)
{
    torqued_problem *problem = &client->problem;
    buffer          *items   = &client->problem_items;
    const char      *start   = (const char *)client->answer.bytes;
    json             text    = {.at = start, .end = start + client->answer.length, .locale = client->c_locale};
    double           row     = -1;
    size_t           length;
    problem->status        = TORQUED_REFUSED;
    items->length          = 0;
    items->short_of_memory = false;
    snprintf(problem->detail, sizeof problem->detail, "HTTP status %d without a problem document", problem->http);
    if (client->answer.length && put_json_value(&text, items) && !items->short_of_memory) {
        text_at(items, "code", problem->code, sizeof problem->code, &length);
        text_at(items, "pointer", problem->pointer, sizeof problem->pointer, &length);
        text_at(items, "detail", problem->detail, sizeof problem->detail, &length);
        numbers_at(items, "row", &(sink){&row, 1, 0});
        problem->row = row >= 0 && row < 2147483648.0 ? (long)row : -1;
    }
    client->answer.length = 0;
    return TORQUED_REFUSED;
}

/* Sends the request that the options of the handle describe, within `timeout` s. The answer stays in client->answer. */
static torqued_status exchange(torqued_client *client, const char *path, const struct curl_slist *head, double timeout)
{
    char url[sizeof client->url];
    if ((size_t)snprintf(url, sizeof url, "%s%s", client->base, path) >= sizeof url)
        return fail(&client->problem, TORQUED_BAD_ARGUMENT, "the address is longer than %zu bytes", sizeof url - 1);
    CURLcode code = CURLE_OK;
    if (strcmp(url, client->url) != 0) {
        code = curl_easy_setopt(client->curl, CURLOPT_URL, url);
        memcpy(client->url, url, sizeof url);
    }
    client->answer.length = 0, client->answer.short_of_memory = false;
    client->curl_error[0] = '\0';
    if (code == CURLE_OK) code = curl_easy_setopt(client->curl, CURLOPT_HTTPHEADER, head);
    if (code == CURLE_OK)
        code = curl_easy_setopt(client->curl, CURLOPT_TIMEOUT_MS, timeout > 0.0 ? (long)(timeout * 1e3) + 1 : 1L);
    if (code == CURLE_OK) code = curl_easy_perform(client->curl);
    if (code != CURLE_OK) {
        client->answer.length = 0;
        if (client->answer.short_of_memory)
            return fail(&client->problem, TORQUED_NO_MEMORY, "the answer exceeds the memory or the limit of %zu bytes",
                        client->answer_limit);
        return fail(&client->problem, code == CURLE_OUT_OF_MEMORY ? TORQUED_NO_MEMORY : TORQUED_UNREACHABLE, "%s%s%s",
                    curl_easy_strerror(code), client->curl_error[0] ? ": " : "", client->curl_error);
    }
    long http = 0;
    curl_easy_getinfo(client->curl, CURLINFO_RESPONSE_CODE, &http);
    client->problem.http = (int)http;
    if (http < 200 || http > 299) return refused(client);
    clear_problem(&client->problem);
    return TORQUED_OK;
}

static double monotonic_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void pause_for(double seconds)
{
    struct timespec left = {.tv_sec = (time_t)seconds, .tv_nsec = (long)(1e9 * (seconds - floor(seconds)))};
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
}

/* Sends the request until the server is not busy, at most 1 + retries times and within the timeout of the call. A
 * `method` that is not NULL changes a model, and is sent once. */
static torqued_status perform(torqued_client *client, const char *method, const char *path,
                              const struct curl_slist *head)
{
    double now = monotonic_seconds(), deadline = now + client->timeout, pause = FIRST_PAUSE;
    for (int left = method ? 0 : client->retries;; left--, pause *= 2.0) {
        torqued_status         status  = exchange(client, path, head, deadline - now);
        const torqued_problem *problem = &client->problem;
        bool                   is_busy = status == TORQUED_REFUSED && (problem->http == 429 || problem->http == 503);
        if (!is_busy || left <= 0) return status;
        double wait = problem->retry_after >= 0.0 ? problem->retry_after : pause;
        now         = monotonic_seconds();
        if (!(now + wait < deadline)) return status;
        pause_for(wait);
        clear_problem(&client->problem);
        now = monotonic_seconds();
    }
}

/* Appends a name to a path, percent-encoded where it is not a letter, digit or one of "-._~". False if it does not fit.
 */
static bool append_name(char *path, size_t *at, const char *name)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    if (!name || !*name) return false;
    for (; *name; name++) {
        if (*at + 4 > MAX_PATH) return false;
        *at +=
            (size_t)snprintf(path + *at, MAX_PATH - *at, strchr(plain, *name) ? "%c" : "%%%02X", (unsigned char)*name);
    }
    return true;
}

/* "/v1/models/MODEL", followed by "/OPERATION" unless that is NULL. */
static bool write_path(torqued_client *client, char *path, const char *model, const char *operation)
{
    size_t at = (size_t)snprintf(path, MAX_PATH, "/v1/models/");
    if (append_name(path, &at, model)) {
        if (!operation) return true;
        path[at++] = '/';
        if (append_name(path, &at, operation)) return true;
    }
    fail(&client->problem, TORQUED_BAD_ARGUMENT, "the name of the model or of the operation is empty or too long");
    return false;
}

/* `method` NULL: POST. The body is read during the request only. */
static torqued_status send_body(torqued_client *client, const char *method, const char *path,
                                const struct curl_slist *head, const void *body, size_t length)
{
    CURLcode code = curl_easy_setopt(client->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)length);
    if (code == CURLE_OK) code = curl_easy_setopt(client->curl, CURLOPT_POSTFIELDS, length ? body : "");
    if (code == CURLE_OK) code = curl_easy_setopt(client->curl, CURLOPT_CUSTOMREQUEST, method);
    return code == CURLE_OK ? perform(client, method, path, head)
                            : fail(&client->problem, TORQUED_NO_MEMORY, "%s", curl_easy_strerror(code));
}

/* `method` NULL: GET. */
static torqued_status send_head(torqued_client *client, const char *method, const char *path)
{
    CURLcode code = curl_easy_setopt(client->curl, CURLOPT_HTTPGET, 1L);
    if (code == CURLE_OK) code = curl_easy_setopt(client->curl, CURLOPT_CUSTOMREQUEST, method);
    return code == CURLE_OK ? perform(client, method, path, client->plain_head)
                            : fail(&client->problem, TORQUED_NO_MEMORY, "%s", curl_easy_strerror(code));
}

/* --- evaluation ----------------------------------------------------------------------------------------------- */

static torqued_status write_options(torqued_client *client, const torqued_call *call)
{
    json text = {call->options, call->options + strlen(call->options), NULL, call, client->c_locale, 0};
    bool done = (take(&text, '{') || expected(&text, "{")) && put_json_members(&text, &client->request) && ends(&text);
    if (done) return TORQUED_OK;
    return fail(&client->problem, TORQUED_BAD_ARGUMENT, "options: expected %s at byte %td", text.error,
                text.at - call->options);
}

static torqued_status write_request(torqued_client *client, const torqued_call *call)
{
    buffer *b = &client->request;
    b->length = 0, b->short_of_memory = false;
    append_byte(b, OPEN_MAP);
    for (size_t i = 0; i < call->input_count; i++) {
        const torqued_input *input = &call->inputs[i];
        size_t               count;
        if (!input->name || !*input->name || !input->values || !rank_of(input, &count))
            return fail(&client->problem, TORQUED_BAD_ARGUMENT,
                        "input %zu needs a name, values and a shape without zeros", i);
        if (input->name[0] == '$') continue; /* where the options say */
        put_text(b, input->name, strlen(input->name));
        put_array(b, input);
    }
    torqued_status status = call->options ? write_options(client, call) : TORQUED_OK;
    append_byte(b, BREAK);
    if (status == TORQUED_OK && b->short_of_memory)
        return fail(&client->problem, TORQUED_NO_MEMORY, "no memory for a request of %zu bytes", b->length);
    return status;
}

static torqued_status copy_outputs(torqued_client *client, const torqued_call *call)
{
    for (size_t i = 0; i < call->output_count; i++) {
        const torqued_output *output  = &call->outputs[i];
        sink                  counter = {NULL, 0, 0};
        if (!numbers_at(&client->answer, output->name, &counter))
            return fail(&client->problem, TORQUED_BAD_ANSWER, "the answer has no numbers \"%s\"", output->name);
        if (counter.count != output->count)
            return fail(&client->problem, TORQUED_BAD_ANSWER, "\"%s\" has %zu numbers, and the caller's array %zu",
                        output->name, counter.count, output->count);
    }
    for (size_t i = 0; i < call->output_count; i++)
        numbers_at(&client->answer, call->outputs[i].name, &(sink){call->outputs[i].values, call->outputs[i].count, 0});
    return TORQUED_OK;
}

torqued_status torqued_evaluate(torqued_client *client, const torqued_call *call)
{
    char path[MAX_PATH];
    if (!client) return TORQUED_BAD_ARGUMENT;
    clear_problem(&client->problem);
    if (!call || (call->input_count && !call->inputs) || (call->output_count && !call->outputs) || !call->operation)
        return fail(&client->problem, TORQUED_BAD_ARGUMENT, "the call, its operation or one of its arrays is NULL");
    for (size_t i = 0; i < call->output_count; i++)
        if (!call->outputs[i].name || (!call->outputs[i].values && call->outputs[i].count))
            return fail(&client->problem, TORQUED_BAD_ARGUMENT, "output %zu needs a name and values", i);
    if (!write_path(client, path, call->model, call->operation)) return client->problem.status;
    torqued_status status = write_request(client, call);
    if (status == TORQUED_OK)
        status = send_body(client, NULL, path, client->post_head, client->request.bytes, client->request.length);
    return status == TORQUED_OK ? copy_outputs(client, call) : status;
}

/* --- models and other answers ------------------------------------------------------------------------------------ */

static torqued_status read_model(torqued_client *client, torqued_model *model)
{
    double nq, nv;
    size_t length;
    if (!model) return TORQUED_OK;
    *model = (torqued_model){0};
    if (!numbers_at(&client->answer, "nq", &(sink){&nq, 1, 0}) ||
        !numbers_at(&client->answer, "nv", &(sink){&nv, 1, 0}) || !(nq >= 0 && nq < 1e9 && nv >= 0 && nv < 1e9) ||
        !text_at(&client->answer, "revision", model->revision, sizeof model->revision, &length))
        return fail(&client->problem, TORQUED_BAD_ANSWER, "the answer lacks nq, nv or revision");
    model->nq = (size_t)nq;
    model->nv = (size_t)nv;
    return TORQUED_OK;
}

torqued_status torqued_describe(torqued_client *client, const char *name, torqued_model *model)
{
    char path[MAX_PATH];
    if (!client) return TORQUED_BAD_ARGUMENT;
    clear_problem(&client->problem);
    if (!write_path(client, path, name, NULL)) return client->problem.status;
    torqued_status status = send_head(client, NULL, path);
    return status == TORQUED_OK ? read_model(client, model) : status;
}

torqued_status torqued_put_model(torqued_client *client, const char *name, const char *text, size_t length,
                                 torqued_model *model)
{
    char path[MAX_PATH];
    if (!client) return TORQUED_BAD_ARGUMENT;
    clear_problem(&client->problem);
    if (!text) return fail(&client->problem, TORQUED_BAD_ARGUMENT, "the text of the model is NULL");
    if (!write_path(client, path, name, NULL)) return client->problem.status;
    size_t first = 0;
    while (first < length && isspace((unsigned char)text[first]))
        first++;
    bool           is_xml = first < length && text[first] == '<';
    torqued_status status =
        send_body(client, "PUT", path, is_xml ? client->put_xml_head : client->put_json_head, text, length);
    return status == TORQUED_OK ? read_model(client, model) : status;
}

torqued_status torqued_delete_model(torqued_client *client, const char *name)
{
    char path[MAX_PATH];
    if (!client) return TORQUED_BAD_ARGUMENT;
    clear_problem(&client->problem);
    return write_path(client, path, name, NULL) ? send_head(client, "DELETE", path) : client->problem.status;
}

torqued_status torqued_get(torqued_client *client, const char *path)
{
    if (!client) return TORQUED_BAD_ARGUMENT;
    clear_problem(&client->problem);
    if (!path || *path != '/') return fail(&client->problem, TORQUED_BAD_ARGUMENT, "a path starts with /");
    return send_head(client, NULL, path);
}

torqued_status torqued_numbers(torqued_client *client, const char *path, double *values, size_t capacity, size_t *count)
{
    sink to = {values, values ? capacity : 0, 0};
    if (!client || !path || !count) return TORQUED_BAD_ARGUMENT;
    clear_problem(&client->problem);
    if (!numbers_at(&client->answer, path, &to))
        return fail(&client->problem, TORQUED_BAD_ANSWER, "the answer has no numbers \"%s\"", path);
    *count = to.count;
    return TORQUED_OK;
}

torqued_status torqued_text(torqued_client *client, const char *path, char *text, size_t size)
{
    size_t length;
    if (!client || !path || !text || !size) return TORQUED_BAD_ARGUMENT;
    clear_problem(&client->problem);
    if (!text_at(&client->answer, path, text, size, &length))
        return fail(&client->problem, TORQUED_BAD_ANSWER, "the answer has no text \"%s\"", path);
    if (length >= size) return fail(&client->problem, TORQUED_BAD_ARGUMENT, "\"%s\" has %zu bytes", path, length);
    return TORQUED_OK;
}

/* The number of entries of the array or map at the cursor. */
static bool count_entries(cursor *c, size_t *length)
{
    item_head head, pair;
    if (!take_head(c, &head)) return false;
    if (head.major == TAG && head.value == SHAPED_ARRAY) {
        if (!take_head(c, &pair) || pair.major != ARRAY || !take_head(c, &pair) || pair.major != ARRAY ||
            !take_head(c, &head))
            return false;
        *length = (size_t)head.value;
        return head.major == UNSIGNED;
    }
    if (head.major == TAG && head.value == FLOAT64_ARRAY) {
        if (!take_head(c, &head) || head.major != BYTES) return false;
        *length = (size_t)head.value / sizeof(double);
        return true;
    }
    *length = (size_t)head.value;
    return (head.major == ARRAY || head.major == MAP) && !head.is_open; /* the server states every length */
}

torqued_status torqued_length(torqued_client *client, const char *path, size_t *length)
{
    if (!client || !path || !length) return TORQUED_BAD_ARGUMENT;
    cursor c = {client->answer.bytes, client->answer.bytes + client->answer.length};
    clear_problem(&client->problem);
    if (!client->answer.length || !find(&c, path) || !count_entries(&c, length))
        return fail(&client->problem, TORQUED_BAD_ANSWER, "the answer has no array or object \"%s\"", path);
    return TORQUED_OK;
}

const torqued_problem *torqued_last_problem(const torqued_client *client)
{
    static const torqued_problem no_client = {
        .status = TORQUED_BAD_ARGUMENT, .row = -1, .retry_after = -1.0, .detail = "there is no client"};
    return client ? &client->problem : &no_client;
}

/* --- opening and closing -------------------------------------------------------------------------------------- */

/* Copies the address without the "/" at its end. Credentials belong into the head: URLs end in logs. */
static bool copy_address(torqued_client *client, const char *url)
{
    size_t length = strlen(url);
    while (length && url[length - 1] == '/')
        length--;
    bool has_scheme = strncasecmp(url, "http://", 7) == 0 || strncasecmp(url, "https://", 8) == 0;
    if (!has_scheme || strpbrk(url, "@?# ") || length >= sizeof client->base) {
        fail(&client->problem, TORQUED_BAD_ARGUMENT,
             "the URL must be http://HOST:PORT or https://HOST:PORT, without user, "
             "query and fragment, in less than %d bytes",
             MAX_PATH);
        return false;
    }
    memcpy(client->base, url, length);
    return true;
}

/* Writes "Authorization: Bearer TOKEN", or nothing without a token. `line` has MAX_TOKEN bytes. */
static bool read_token(torqued_client *client, const torqued_server *server, char *line)
{
    size_t at = 0, prefix = sizeof "Authorization: Bearer " - 1;
    line[0] = '\0';
    if (!server->token && !server->token_file) return true;
    memcpy(line, "Authorization: Bearer ", prefix);
    if (server->token) {
        at = prefix + strlen(server->token);
        if (at < MAX_TOKEN) memcpy(line + prefix, server->token, at - prefix + 1);
    } else {
        FILE *file = fopen(server->token_file, "re");
        if (!file) {
            fail(&client->problem, TORQUED_BAD_ARGUMENT, "%.200s: the token file cannot be read", server->token_file);
            return false;
        }
        at = prefix + fread(line + prefix, 1, MAX_TOKEN - prefix, file);
        fclose(file);
        while (at > prefix && isspace((unsigned char)line[at - 1]))
            at--;
    }
    bool is_valid = at > prefix && at < MAX_TOKEN;
    for (size_t i = prefix; is_valid && i < at; i++)
        is_valid = line[i] > ' ' && line[i] < 0x7f;
    line[is_valid ? at : 0] = '\0';
    if (!is_valid)
        fail(&client->problem, TORQUED_BAD_ARGUMENT, "a token has 1 to %zu printable characters",
             MAX_TOKEN - prefix - 1);
    return is_valid;
}

/* The header fields of one kind of request. NULL if memory is short. */
static struct curl_slist *make_head(const char *authorization, const char *content_type)
{
    const char *lines[]     = {no_change, "Accept: application/cbor; arrays=multidimensional", "Expect:", content_type,
                               authorization};
    struct curl_slist *head = NULL;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct curl_slist *longer = lines[i] && lines[i][0] ? curl_slist_append(head, lines[i]) : head;
        if (!longer) {
            curl_slist_free_all(head);
            return NULL;
        }
        head = longer;
    }
    return head;
}

static bool make_heads(torqued_client *client, const char *authorization)
{
    client->plain_head    = make_head(authorization, NULL);
    client->post_head     = make_head(authorization, "Content-Type: application/cbor");
    client->put_json_head = make_head(authorization, "Content-Type: application/json");
    client->put_xml_head  = make_head(authorization, "Content-Type: application/xml");
    return client->plain_head && client->post_head && client->put_json_head && client->put_xml_head;
}

static CURLcode set_text(CURL *curl, CURLoption option, const char *text)
{
    return text ? curl_easy_setopt(curl, option, text) : CURLE_OK;
}

static CURLcode set_options(torqued_client *client, const torqued_server *server)
{
    CURL          *curl    = client->curl;
    const CURLcode codes[] = {
        curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, client->curl_error),
        curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, receive_body),
        curl_easy_setopt(curl, CURLOPT_WRITEDATA, client),
        curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, receive_head),
        curl_easy_setopt(curl, CURLOPT_HEADERDATA, client),
        curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L), /* no SIGALRM in programs with threads */
        curl_easy_setopt(curl, CURLOPT_TCP_KEEPALIVE, 1L),
        curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L),
        curl_easy_setopt(curl, CURLOPT_NOPROXY, "*"),
        curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https"),
        curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1),
        curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2),
        curl_easy_setopt(curl, CURLOPT_BUFFERSIZE, 1L << 18),
        set_text(curl, CURLOPT_UNIX_SOCKET_PATH, server->unix_socket),
        set_text(curl, CURLOPT_CAINFO, server->ca_file),
        set_text(curl, CURLOPT_SSLCERT, server->certificate_file),
        set_text(curl, CURLOPT_SSLKEY, server->key_file),
    };
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        if (codes[i] != CURLE_OK) return codes[i];
    return CURLE_OK;
}

static bool set_up(torqued_client *client, const torqued_server *server)
{
    char   authorization[MAX_TOKEN];
    double timeout = server->timeout == 0.0 ? TIMEOUT : server->timeout;
    if (!(timeout > 0.0 && timeout <= LONGEST)) {
        fail(&client->problem, TORQUED_BAD_ARGUMENT, "the timeout must be positive and at most %g s", LONGEST);
        return false;
    }
    client->timeout      = timeout;
    client->retries      = server->retries ? server->retries : RETRIES;
    client->answer_limit = server->answer_limit ? server->answer_limit : ANSWER_LIMIT;
    if (!copy_address(client, server->url ? server->url : "http://127.0.0.1:8088") ||
        !read_token(client, server, authorization))
        return false;
    bool made = make_heads(client, authorization);
    explicit_bzero(authorization, sizeof authorization);
    client->c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    client->curl     = initialised == CURLE_OK ? curl_easy_init() : NULL;
    CURLcode code    = made && client->c_locale && client->curl ? set_options(client, server) : CURLE_OUT_OF_MEMORY;
    if (code != CURLE_OK)
        fail(&client->problem, code == CURLE_OUT_OF_MEMORY ? TORQUED_NO_MEMORY : TORQUED_BAD_ARGUMENT, "libcurl: %s",
             curl_easy_strerror(code));
    return code == CURLE_OK;
}

torqued_client *torqued_open(const torqued_server *server, torqued_problem *problem)
{
    static const torqued_server local  = {0};
    torqued_problem             unused = {0};
    pthread_once(&once, initialise);
    problem = problem ? problem : &unused;
    clear_problem(problem);
    torqued_client *client = calloc(1, sizeof *client);
    if (!client) {
        fail(problem, TORQUED_NO_MEMORY, "no memory for a client");
        return NULL;
    }
    clear_problem(&client->problem);
    if (set_up(client, server ? server : &local)) return client;
    *problem = client->problem;
    torqued_close(client);
    return NULL;
}

/* Overwrites the fields, which may hold a token, before their memory is used again. */
static void free_head(struct curl_slist *head)
{
    for (struct curl_slist *line = head; line; line = line->next)
        explicit_bzero(line->data, strlen(line->data));
    curl_slist_free_all(head);
}

void torqued_close(torqued_client *client)
{
    if (!client) return;
    curl_easy_cleanup(client->curl);
    free_head(client->plain_head);
    free_head(client->post_head);
    free_head(client->put_json_head);
    free_head(client->put_xml_head);
    if (client->c_locale) freelocale(client->c_locale);
    free(client->request.bytes);
    free(client->answer.bytes);
    free(client->problem_items.bytes);
    free(client);
}
