/* other_format.c - see other_format.h: a table of formats, each recognised by its first bytes. Requests are objects: no
 * body that begins as one of these is an object in the format that was expected. */
#include "other_format.h"
#include <string.h>

enum { NAME_MOST = 31 /* most letters of a field's name whose length fits the first byte of its head */ };

/* True if `n` bytes at body[offset] are a name of letters, digits and underscores. */
static bool body_has_name(const unsigned char *body, size_t length, size_t offset, size_t n)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    bool              named     = n > 0 && n <= NAME_MOST && offset + n <= length;
    for (size_t i = 0; named && i < n; i++)
        named = body[offset + i] && strchr(letters, body[offset + i]);
    return named;
}

static bool byte_is_within(unsigned char byte, unsigned least, unsigned most)
{
    return byte >= least && byte <= most;
}

/* True if a text that is a name begins at body[offset]. The first byte of a text is its length plus `empty`, the first
 * byte of an empty text. */
static bool body_has_key(const unsigned char *body, size_t length, size_t offset, unsigned empty)
{
    return offset < length && body[offset] > empty && body_has_name(body, length, offset + 1, body[offset] - empty);
}

/* True for a map of CBOR whose first key is a name, and for the tag of CBOR itself. */
static bool begins_as_cbor(const unsigned char *body, size_t length)
{
    enum { FEWEST = 0xA1, MOST = 0xB7, MAP8 = 0xB8, MAP16 = 0xB9, OPEN_MAP = 0xBF, EMPTY_TEXT = 0x60 };
    if (length >= 3 && memcmp(body, "\xD9\xD9\xF7", 3) == 0) return true;
    if (length == 0) return false;
    if (byte_is_within(*body, FEWEST, MOST) || *body == OPEN_MAP) return body_has_key(body, length, 1, EMPTY_TEXT);
    return (*body == MAP8 && body_has_key(body, length, 2, EMPTY_TEXT)) ||
           (*body == MAP16 && body_has_key(body, length, 3, EMPTY_TEXT));
}

/* True for a map of MessagePack whose first key is a name. */
static bool begins_as_msgpack(const unsigned char *body, size_t length)
{
    enum { FEWEST = 0x81, MOST = 0x8F, MAP16 = 0xDE, MAP32 = 0xDF, EMPTY_TEXT = 0xA0 };
    if (length == 0) return false;
    if (byte_is_within(*body, FEWEST, MOST)) return body_has_key(body, length, 1, EMPTY_TEXT);
    return (*body == MAP16 && body_has_key(body, length, 3, EMPTY_TEXT)) ||
           (*body == MAP32 && body_has_key(body, length, 5, EMPTY_TEXT));
}

/* True for a byte order mark and blanks, then a bracket. */
static bool begins_as_json(const unsigned char *body, size_t length)
{
    size_t i = length >= 3 && memcmp(body, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    while (i < length && body[i] && strchr(" \t\r\n", body[i]))
        i++;
    return i + 1 < length && (body[i] == '{' || body[i] == '[') && body[i + 1] >= '\t';
}

/* A zip archive whose first file is NAME.npy: numpy.savez. */
static bool begins_as_npz(const unsigned char *body, size_t length)
{
    enum { NAME_LENGTH = 26, NAME = 30 };
    if (length < NAME || memcmp(body, "PK\x03\x04", 4) != 0) return false;
    size_t n = body[NAME_LENGTH] + ((size_t)body[NAME_LENGTH + 1] << 8);
    return n > 4 && n <= length - NAME && memcmp(body + NAME + n - 4, ".npy", 4) == 0;
}

/* True for binary data that was decoded as text: bytes above 0x7F became characters of UTF-8, or U+FFFD. */
static bool begins_as_text_of_bytes(const unsigned char *body, size_t length)
{
    if (length >= 4 && memcmp(body, "\xEF\xBF\xBD", 3) == 0)
        return body[3] == 0xEF || byte_is_within(body[3], 0x61, 0x77);
    return length >= 3 && *body == 0xC2 &&
           ((byte_is_within(body[1], 0xA1, 0xB7) && byte_is_within(body[2], 0x61, 0x77)) ||
            (byte_is_within(body[1], 0x81, 0x8F) && body[2] == 0xC2));
}

/* True for one short word with the ending of a robot's or a request's file. */
static bool body_is_path(const unsigned char *body, size_t length)
{
    enum { MOST = 512 /* bytes of a path */ };
    static const char *const endings[] = {".urdf", ".xacro", ".xml", ".sdf", ".json", ".csv", ".cbor"};
    if (length > MOST || length == 0 || strchr("{[\"", *body)) return false;
    for (size_t i = 0; i < length; i++)
        if (body[i] <= ' ' || body[i] == '"') return false;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const size_t n = strlen(endings[i]);
        if (length > n && memcmp(body + length - n, endings[i], n) == 0) return true;
    }
    return false;
}

/* True for a path, or a name after @, in the notation of curl for files. */
static bool begins_as_file_name(const unsigned char *body, size_t length)
{
    if (body_is_path(body, length)) return true;
    return length > 1 && *body == '@' && (body_has_name(body, length, 1, 1) || body[1] == '.' || body[1] == '/');
}

/* True for the text into which JavaScript, Lua, Perl, Go, Ruby or PHP converts an object. */
static bool begins_as_text_of_object(const unsigned char *body, size_t length)
{
    static const char *const begins[] = {"[object ", "table: 0x", "HASH(0x", "ARRAY(0x", "map[",
                                         "&map[",    "{:",        "#<",      "array (",  "Array\n"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (length >= strlen(begins[i]) && memcmp(body, begins[i], strlen(begins[i])) == 0) return true;
    return false;
}

/* True for the first bytes of a serialisation that belongs to one language. */
static bool begins_as_serialised(const unsigned char *body, size_t length)
{
    static const struct {
        size_t      n;
        const char *bytes;
    } begins[] = {
        {2, "\x80\x02"},       {2, "\x80\x03"}, {3, "\x80\x04\x95"}, {3, "\x80\x05\x95"}, {5, "(dp0\n"}, /* pickle */
        {4, "\xAC\xED\0\x05"},                                                                           /* Java */
        {5, "X\n\0\0\0"},      {4, "A\n2\n"},   {4, "A\n3\n"},                                           /* R */
        {2, "\x04\x08"},       {4, "pst0"},     {4, "\x83t\0\0"},    {3, "7JL"}, /* Ruby, Perl, Erlang, Julia */
    };
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (length > begins[i].n && memcmp(body, begins[i].bytes, begins[i].n) == 0) return true;
    /* PHP: a:1:{ or O:8:" */
    return length > 2 && (*body == 'a' || *body == 'O') && body[1] == ':' && byte_is_within(body[2], '0', '9');
}

/* A file of numbers of another program. */
static bool begins_as_data_file(const unsigned char *body, size_t length)
{
    static const char *const begins[] = {"MATLAB 5.0", "\x89HDF\r\n", "PAR1", "ARROW1", "Obj\x01", "bplist00"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (length >= strlen(begins[i]) && memcmp(body, begins[i], strlen(begins[i])) == 0) return true;
    return false;
}

/* True for the line --- that begins a document of YAML, or for a name followed by the characters that YAML or TOML
 * write after it. */
static bool begins_as_yaml(const unsigned char *body, size_t length)
{
    size_t n = 0;
    if (length > 3 && memcmp(body, "---", 3) == 0) return strchr(" \r\n", body[3]) != NULL;
    while (body_has_name(body, length, n, 1))
        n++;
    return n > 0 && n + 1 < length &&
           ((body[n] == ':' && strchr(" \r\n", body[n + 1])) || (length - n > 3 && memcmp(body + n, " = ", 3) == 0));
}

/* Names or numbers in columns: a line with a comma and no bracket. */
static bool begins_as_table(const unsigned char *body, size_t length)
{
    enum { SEEN = 200 };
    size_t i = 0, commas = 0;
    if (!body_has_name(body, length, 0, 1) && !(length > 0 && *body && strchr("+-.\"", *body))) return false;
    while (i < length && i < SEEN && (body_has_name(body, length, i, 1) || (body[i] && strchr("+-.,; \t\"", body[i]))))
        commas += strchr(",;\t", body[i++]) != NULL;
    return commas > 0 && (i == length || i == SEEN || body[i] == '\r' || body[i] == '\n');
}

/* True if all characters are of base64, which includes hexadecimal digits. */
static bool begins_as_base64(const unsigned char *body, size_t length)
{
    enum { FEWEST = 8, SEEN = 64 };
    size_t i = 0;
    while (i < length && i < SEEN && (body_has_name(body, length, i, 1) || (body[i] && strchr("+/-=\r\n", body[i]))))
        i++;
    return length >= FEWEST && (i == length || i == SEEN);
}

/* True for a byte that begins a map or a tag of CBOR, and no JSON text. */
static bool begins_as_cbor_may(const unsigned char *body, size_t length)
{
    return length > 0 && (byte_is_within(*body, 0xA0, 0xBF) || *body == 0xD9);
}

enum {
    JSON    = 1 << API_BODY_JSON,
    CBOR    = 1 << API_BODY_CBOR,
    MSGPACK = 1 << API_BODY_MSGPACK,
    XML     = 1 << API_BODY_XML,
    BINARY  = CBOR | MSGPACK,
    ALL     = JSON | BINARY
};

/* The first row that fits counts. */
static const struct {
    unsigned    expected; /* set of the expected formats for which this row is checked */
    const char *begin;    /* first bytes, `n` of them; NULL: the function `fits` decides */
    size_t      n;
    bool (*fits)(const unsigned char *body, size_t length);
    const char *name;
} formats[] = {
    {BINARY | XML, NULL, 0, begins_as_json, "JSON: send the header Content-Type: application/json"},
    {ALL, "<", 1, NULL, "XML: send the header Content-Type: application/xml"},
    {ALL, NULL, 0, begins_as_serialised,
     "an object as its language serialises it: send its JSON (json.dumps, json_encode, toJSON)"},
    {ALL, NULL, 0, begins_as_data_file, "a file of data: read it, and send its numbers as JSON or CBOR"},
    {JSON, NULL, 0, begins_as_cbor_may, "CBOR: send the header Content-Type: application/cbor"},
    {MSGPACK, NULL, 0, begins_as_cbor, "CBOR: send the header Content-Type: application/cbor"},
    {JSON | CBOR, NULL, 0, begins_as_msgpack, "MessagePack: send the header Content-Type: application/vnd.msgpack"},
    {ALL, "\x1F\x8B", 2, NULL, "gzip: send the header Content-Encoding: gzip"},
    {ALL, "\x28\xB5\x2F\xFD", 4, NULL, "zstd: send the header Content-Encoding: zstd"},
    {JSON, "\xFF\xFE", 2, NULL, "UTF-16: JSON is in UTF-8"},
    {JSON, "\xFE\xFF", 2, NULL, "UTF-16: JSON is in UTF-8"},
    {JSON, "{\0", 2, NULL, "UTF-16: JSON is in UTF-8"},
    {JSON, "\0", 1, NULL, "UTF-16, UTF-32 or the bytes of numbers: JSON is a text in UTF-8"},
    {ALL, NULL, 0, begins_as_npz,
     "NumPy's .npz: send the numbers as JSON or CBOR (q.tolist()), or the file by torqued call"},
    {ALL, "\x93NUMPY", 6, NULL,
     "NumPy's .npy: send the numbers as JSON or CBOR (q.tolist()), or the file by torqued call"},
    {ALL, "PK\x03\x04", 4, NULL,
     "zip: send the archive of a robot by PUT with the header Content-Type: application/zip"},
    {ALL, NULL, 0, begins_as_text_of_bytes,
     "binary data that went through a text: send the bytes, not a string of them"},
    {JSON, NULL, 0, begins_as_text_of_object,
     "the text of an object: send its JSON (JSON.stringify, json.dumps, to_json)"},
    {ALL | XML, NULL, 0, begins_as_yaml, "YAML or TOML: send the same values as JSON"},
    {ALL, NULL, 0, begins_as_table, "a table: send its columns as JSON, or the file by torqued call (--help)"},
    {JSON, "%7B", 3, NULL, "a percent-encoded text: send the JSON itself"},
    {XML, "%3C", 3, NULL, "a percent-encoded text: send the XML itself"},
    {XML, "&lt;", 4, NULL, "XML whose characters were escaped: send the text of the file"},
    {JSON, "--", 2, NULL, "a form (multipart/form-data): send the JSON itself (curl --json)"},
    {BINARY | XML, "--", 2, NULL, "a form (multipart/form-data): send the body itself (curl --data-binary @FILE)"},
    {JSON, NULL, 0, begins_as_file_name,
     "the name of a file: curl reads it from --json @FILE, other clients open it themselves"},
    {BINARY | XML, NULL, 0, begins_as_file_name,
     "the name of a file: curl reads it from --data-binary @FILE, other clients open it themselves"},
    {BINARY | XML, NULL, 0, begins_as_base64, "hexadecimal digits or base64: send the bytes themselves"},
};

/* Returns the name of the format that the first bytes show; NULL: the body may be in the one expected, or shows none.
 */
static const char *find_other_format(api_body_format expected, const char *body, size_t length)
{
    const unsigned char *bytes = (const unsigned char *)body;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (!(formats[i].expected >> expected & 1)) continue;
        if (formats[i].begin ? length >= formats[i].n && memcmp(body, formats[i].begin, formats[i].n) == 0
                             : formats[i].fits(bytes, length))
            return formats[i].name;
    }
    return NULL;
}

bool api_check_format(api_body_format expected, const char *body, size_t length, api_problem *problem)
{
    static const struct {
        const char *name;
        api_code    code; /* problem code of a malformed body */
    } expectations[]    = {[API_BODY_JSON]    = {"JSON", API_BAD_JSON},
                           [API_BODY_CBOR]    = {"CBOR", API_BAD_CBOR},
                           [API_BODY_MSGPACK] = {"MessagePack", API_BAD_MSGPACK},
                           [API_BODY_XML]     = {"XML", API_BAD_XML}};
    const api_code code = expectations[expected].code;
    if (problem->code != API_NO_PROBLEM && problem->code != code && problem->code != API_WRONG_TYPE) return true;
    const char *other = find_other_format(expected, body, length);
    if (!other) return true;
    api_problem_clear(problem);
    api_fail(problem, code, NULL, "the body is not %s but looks like %s", expectations[expected].name, other);
    problem->offset = 0;
    return false;
}
