/* head_lines.c - see head_lines.h. The grammar is that of RFC 9112, sections 3, 5 and 6, and RFC 9110, section 5. */
#include "head_lines.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { METHOD_MOST = 32, PARAMETERS_MOST = 32, LENGTH_DIGITS = 18 /* digits of Content-Length: lengths below 2^60 */ };

/* Classes of bytes: characters of a token (RFC 9110, section 5.6.2), of a target (RFC 3986, and the few printable ones
 * that browsers send unescaped), and of a field value (section 5.5). */
enum { TOKEN = 1, TARGET = 2, VALUE = 4 };
static const unsigned char class_of[256] = {
    ['\t']         = VALUE,
    [' ']          = VALUE,
    ['!']          = TOKEN | TARGET | VALUE,
    ['"']          = TARGET | VALUE,
    ['#']          = TOKEN | VALUE,
    ['$' ... '\''] = TOKEN | TARGET | VALUE,
    ['(' ... ')']  = TARGET | VALUE,
    ['*' ... '+']  = TOKEN | TARGET | VALUE,
    [',']          = TARGET | VALUE,
    ['-' ... '.']  = TOKEN | TARGET | VALUE,
    ['/']          = TARGET | VALUE,
    ['0' ... '9']  = TOKEN | TARGET | VALUE,
    [':' ... '@']  = TARGET | VALUE,
    ['A' ... 'Z']  = TOKEN | TARGET | VALUE,
    ['[' ... ']']  = TARGET | VALUE,
    ['^' ... 'z']  = TOKEN | TARGET | VALUE,
    ['{']          = TARGET | VALUE,
    ['|']          = TOKEN | TARGET | VALUE,
    ['}']          = TARGET | VALUE,
    ['~']          = TOKEN | TARGET | VALUE,
    [128 ... 255]  = VALUE,
};

/* Number of bytes at the start of `text` that all have the class. */
static size_t span(const char *text, size_t length, unsigned char class)
{
    size_t n = 0;
    while (n < length && class_of[(unsigned char)text[n]] & class)
        n++;
    return n;
}

bool srv_framing_refuse(srv_framing *f, api_code code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    f->code = code;
    vsnprintf(f->detail, sizeof f->detail, format, args);
    va_end(args);
    return false;
}

static bool refuse_byte(srv_framing *f, const char *where, char byte)
{
    return srv_framing_refuse(f, API_BAD_REQUEST, "The %s has the byte 0x%02x, which is not allowed there.", where,
                              (unsigned char)byte);
}

/* --- request line --------------------------------------------------------------------------------------------- */

static bool starts_with(const char *text, size_t length, const char *prefix)
{
    size_t n = strlen(prefix);
    return length >= n && strncasecmp(text, prefix, n) == 0;
}

/* Checks the form of a target (RFC 9112, section 3.2): a path, an absolute URI, * for OPTIONS, an authority for
 * CONNECT. */
static bool check_form(srv_framing *f, const char *method, size_t method_length, const char *target, size_t length)
{
    bool options = method_length == 7 && memcmp(method, "OPTIONS", 7) == 0;
    bool connect = method_length == 7 && memcmp(method, "CONNECT", 7) == 0;
    bool good    = *target == '/' || (options && length == 1 && *target == '*');
    if (connect) good = srv_is_authority(target, length);
    size_t scheme = starts_with(target, length, "http://") ? 7 : starts_with(target, length, "https://") ? 8 : 0;
    if (scheme > 0 && !connect) {
        size_t n = scheme;
        while (n < length && target[n] != '/' && target[n] != '?')
            n++;
        good = srv_is_authority(target + scheme, n - scheme);
    }
    if (good) return true;
    return srv_framing_refuse(f, API_BAD_REQUEST, "The target \"%.*s\" is neither a path nor an http or https URI.",
                              (int)(length < 60 ? length : 60), target);
}

static bool check_target(srv_framing *f, const char *target, size_t length)
{
    size_t parameters = 0, good = span(target, length, TARGET);
    if (length > SRV_TARGET_MOST)
        return srv_framing_refuse(f, API_URI_TOO_LONG, "The target is longer than %d bytes.", SRV_TARGET_MOST);
    if (length == 0) return srv_framing_refuse(f, API_BAD_REQUEST, "The request line has no target.");
    if (good < length) return refuse_byte(f, "target", target[good]);
    for (size_t i = 0; i < length; i++)
        parameters += target[i] == '&';
    if (parameters < PARAMETERS_MOST) return true;
    return srv_framing_refuse(f, API_URI_TOO_LONG, "The query has more than %d parameters.", PARAMETERS_MOST);
}

static bool check_version(srv_framing *f, const char *version, size_t length)
{
    bool known  = length == 8 && memcmp(version, "HTTP/1.", 7) == 0 && (version[7] == '0' || version[7] == '1');
    f->http_1_0 = known && version[7] == '0';
    if (known) return true;
    bool other = length == 8 && memcmp(version, "HTTP/", 5) == 0 && version[6] == '.' && version[5] >= '0' &&
                 version[5] <= '9' && version[7] >= '0' && version[7] <= '9';
    if (other)
        return srv_framing_refuse(f, API_VERSION_NOT_SUPPORTED, "The version is %.8s; expected HTTP/1.1 or HTTP/1.0.",
                                  version);
    return srv_framing_refuse(f, API_BAD_REQUEST, "The request line does not end with a blank and HTTP/1.1.");
}

/* True for the first line of an HTTP/2 connection that begins without negotiation (RFC 9113, section 3.4). */
static bool is_http_2_preface(const char *line, size_t length)
{
    return length == 14 && memcmp(line, "PRI * HTTP/2.0", 14) == 0;
}

bool srv_check_request_line(srv_framing *f, const char *line, size_t length)
{
    if (is_http_2_preface(line, length))
        return srv_framing_refuse(f, API_VERSION_NOT_SUPPORTED,
                                  "HTTP/2 is not spoken here: send HTTP/1.1 (curl without --http2-prior-knowledge).");
    size_t method = span(line, length, TOKEN);
    if (method == 0 || method == length || line[method] != ' ')
        return method < length && line[method] != ' '
                   ? refuse_byte(f, "method", line[method])
                   : srv_framing_refuse(f, API_BAD_REQUEST,
                                        "The request line is not a method, a target and a version.");
    if (method > METHOD_MOST)
        return srv_framing_refuse(f, API_METHOD_UNKNOWN, "no resource here has the method %.32s...", line);
    const char *target = line + method + 1, *end = line + length;
    const char *blank = memchr(target, ' ', (size_t)(end - target));
    size_t      n     = (size_t)((blank ? blank : end) - target);
    return check_target(f, target, n) && check_form(f, line, method, target, n) &&
           check_version(f, blank ? blank + 1 : end, blank ? (size_t)(end - blank - 1) : 0);
}

/* --- fields --------------------------------------------------------------------------------------------------- */

/* A field's name and value, the blanks around the value left out. */
typedef struct header {
    const char *name, *value;
    size_t      name_length, value_length;
} header;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool read_field(srv_framing *f, const char *line, size_t length, header *field)
{
    size_t name = span(line, length, TOKEN), end = length;
    if (is_blank(*line))
        return srv_framing_refuse(f, API_BAD_REQUEST, "A header is continued on a second line (obsolete folding).");
    if (name == length || line[name] != ':')
        return srv_framing_refuse(f, API_BAD_REQUEST, "Invalid header name \"%.*s\"; expected a token and a colon.",
                                  (int)(name < 60 ? name : 60), line);
    if (name == 0) return srv_framing_refuse(f, API_BAD_REQUEST, "A header has an empty name.");
    size_t start = name + 1, good = start + span(line + start, length - start, VALUE);
    if (good < length) return refuse_byte(f, "value of a header", line[good]);
    while (start < end && is_blank(line[start]))
        start++;
    while (end > start && is_blank(line[end - 1]))
        end--;
    *field = (header){line, line + start, name, end - start};
    return true;
}

static bool is_named(const header *field, const char *name)
{
    return strncasecmp(field->name, name, field->name_length) == 0;
}

static bool refuse_second(srv_framing *f, const header *field)
{
    return srv_framing_refuse(f, API_BAD_REQUEST, "More than one header \"%.*s\".", (int)field->name_length,
                              field->name);
}

static bool read_length(srv_framing *f, const header *field)
{
    size_t digits = 0;
    if (f->lengths++ > 0) return refuse_second(f, field);
    f->remaining = 0;
    while (digits < field->value_length && field->value[digits] >= '0' && field->value[digits] <= '9')
        digits++;
    if (digits == 0 || digits < field->value_length)
        return srv_framing_refuse(f, API_BAD_REQUEST, "Content-Length is \"%.*s\"; expected one decimal number.",
                                  (int)(field->value_length < 60 ? field->value_length : 60), field->value);
    if (digits > LENGTH_DIGITS)
        return srv_framing_refuse(f, API_BODY_TOO_LARGE, "Content-Length has more than %d digits.", LENGTH_DIGITS);
    for (size_t i = 0; i < digits; i++)
        f->remaining = 10 * f->remaining + (uint64_t)(field->value[i] - '0');
    return true;
}

static bool read_coding(srv_framing *f, const header *field)
{
    if (f->codings++ > 0) return refuse_second(f, field);
    if (field->value_length == 7 && strncasecmp(field->value, "chunked", 7) == 0) return true;
    return srv_framing_refuse(f, API_BAD_REQUEST, "The only transfer coding is chunked, not \"%.*s\".",
                              (int)(field->value_length < 60 ? field->value_length : 60), field->value);
}

static bool read_host(srv_framing *f, const header *field)
{
    if (f->hosts++ > 0) return refuse_second(f, field);
    if (srv_is_authority(field->value, field->value_length)) return true;
    return srv_framing_refuse(f, API_BAD_REQUEST, "Host is \"%.*s\"; expected a name or address, and a port if any.",
                              (int)(field->value_length < 60 ? field->value_length : 60), field->value);
}

/* Keeps Request-Id for the problem document of a refusal, if it may stand in a header (visible ASCII). */
static void keep_request_id(srv_framing *f, const header *field)
{
    size_t length = field->value_length, good = 0;
    while (good < length && field->value[good] > ' ' && field->value[good] < 0x7F)
        good++;
    if (length >= sizeof f->request_id || good < length) length = 0;
    memcpy(f->request_id, field->value, length);
    f->request_id[length] = '\0';
}

bool srv_check_field_line(srv_framing *f, const char *line, size_t length)
{
    header field;
    if (!read_field(f, line, length, &field)) return false;
    if (f->fields++ == SRV_FIELDS_MOST)
        return srv_framing_refuse(f, API_HEADERS_TOO_LARGE, "The head has more than %d headers.", SRV_FIELDS_MOST);
    switch (field.name_length) {
    case 4: return !is_named(&field, "Host") || read_host(f, &field);
    case 10:
        if (is_named(&field, "Request-Id")) keep_request_id(f, &field);
        return true;
    case 14: return !is_named(&field, "Content-Length") || read_length(f, &field);
    case 17: return !is_named(&field, "Transfer-Encoding") || read_coding(f, &field);
    default: return true;
    }
}

bool srv_check_trailer_line(srv_framing *f, const char *line, size_t length)
{
    header field;
    return read_field(f, line, length, &field);
}

bool srv_is_dropped_field(const char *line, size_t length)
{
    return length > 6 && line[6] == ':' && strncasecmp(line, "Cookie", 6) == 0;
}

bool srv_check_head(srv_framing *f)
{
    if (f->hosts == 0 && !f->http_1_0) return srv_framing_refuse(f, API_BAD_REQUEST, "Missing header \"Host\".");
    if (f->codings > 0 && f->lengths > 0)
        return srv_framing_refuse(f, API_BAD_REQUEST, "Transfer-Encoding together with Content-Length.");
    if (f->codings > 0 && f->http_1_0) return srv_framing_refuse(f, API_BAD_REQUEST, "Transfer-Encoding in HTTP/1.0.");
    return true;
}
