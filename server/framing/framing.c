/* framing.c - see framing.h: the state machine of a connection, line by line. */
#include "framing.h"
#include "head_lines.h"
#include <stdio.h>
#include <string.h>

enum {
    EMPTY_LINES_MOST = 1,    /* before a request line (RFC 9112, section 2.2) */
    CHUNK_LINE_MOST  = 300,  /* bytes of a chunk's line, its extensions included */
    CHUNK_DIGITS     = 15,   /* hexadecimal digits of a chunk's size: below 2^60 */
    EXTENSIONS_MOST  = 1024, /* bytes of all chunk extensions of a body */
    TRAILERS_MOST    = 4096, /* bytes of all trailers of a body */
    TLS_HANDSHAKE    = 0x16  /* first byte of a connection by TLS (RFC 8446, section 5.1) */
};

/* The bytes of one check. data[0 .. ready) may be passed on, data[ready .. end) is held, and data[next .. last) has not
 * been looked at. next >= end: what is not passed on leaves a gap. */
typedef struct input {
    char  *data;
    size_t ready, end, next, last;
} input;

bool srv_framing_is_midway(const srv_framing *f)
{
    return f->stage != SRV_REQUEST_LINE && f->stage != SRV_MALFORMED;
}

/* Writes the substitute of the malformed message: a request for /livez in place of a head, or the end of a chunked
 * body whose head has been passed on. */
static void substitute(srv_framing *f)
{
    const char *end      = f->stage == SRV_CHUNK_END      ? "\r\n0\r\n\r\n"
                           : f->stage == SRV_TRAILER_LINE ? "\r\n"
                           : f->stage == SRV_CHUNK_LINE   ? "0\r\n\r\n"
                                                          : NULL;
    int         n        = end ? snprintf(f->substitute, sizeof f->substitute, "%s", end)
                               : snprintf(f->substitute, sizeof f->substitute,
                                          "GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%s%s%s\r\n",
                           *f->request_id ? "Request-Id: " : "", f->request_id, *f->request_id ? "\r\n" : "");
    f->substitute_length = (size_t)n;
    f->replaced          = !end;
    if (!end) f->messages++;
    f->stage = SRV_MALFORMED;
}

/* Passes on everything that is held. The next line starts here. */
static void release(srv_framing *f, input *in)
{
    in->ready = in->end;
    f->line   = 0;
}

static void drop_line(const srv_framing *f, input *in)
{
    in->end = in->ready + f->line;
}

/* --- heads ---------------------------------------------------------------------------------------------------- */

static bool end_head(srv_framing *f, input *in)
{
    if (!srv_check_head(f)) return false;
    f->stage = f->codings > 0 ? SRV_CHUNK_LINE : f->lengths > 0 && f->remaining > 0 ? SRV_BODY : SRV_REQUEST_LINE;
    f->messages++;
    f->empty_lines     = 0;
    f->extension_bytes = f->trailer_bytes = 0;
    *f->request_id                        = '\0';
    release(f, in);
    return true;
}

static bool take_request_line(srv_framing *f, input *in, const char *line, size_t length)
{
    if (length == 0) {
        drop_line(f, in);
        return f->empty_lines++ < EMPTY_LINES_MOST ||
               srv_framing_refuse(f, API_BAD_REQUEST, "More than one empty line before a request.");
    }
    f->fields = f->hosts = f->lengths = f->codings = 0;
    if (!srv_check_request_line(f, line, length)) return false;
    f->stage = SRV_FIELD_LINE;
    f->line  = in->end - in->ready;
    return true;
}

/* Removes the blanks at the end of the value: libmicrohttpd would keep them. */
static void trim_line(input *in)
{
    size_t end = in->end - 2;
    while (in->data[end - 1] == ' ' || in->data[end - 1] == '\t')
        end--;
    memcpy(in->data + end, "\r\n", 2);
    in->end = end + 2;
}

static bool take_field_line(srv_framing *f, input *in, const char *line, size_t length)
{
    if (length == 0) return end_head(f, in);
    if (!srv_check_field_line(f, line, length)) return false;
    if (srv_is_dropped_field(line, length))
        drop_line(f, in);
    else
        trim_line(in);
    f->line = in->end - in->ready;
    return true;
}

/* --- chunked bodies ------------------------------------------------------------------------------------------- */

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Checks extensions: blanks, then a semicolon and text (RFC 9112, section 7.1.1). The meaning of extensions is ignored.
 */
static bool check_extensions(srv_framing *f, const char *text, size_t length)
{
    size_t blanks = 0;
    while (blanks < length && (text[blanks] == ' ' || text[blanks] == '\t'))
        blanks++;
    bool good = length == 0 || (blanks < length && text[blanks] == ';');
    for (size_t i = 0; i < length; i++)
        good &= text[i] == '\t' || ((unsigned char)text[i] >= ' ' && text[i] != 0x7F);
    if (!good)
        return srv_framing_refuse(f, API_BAD_REQUEST, "A chunk's size is followed by neither \";\" nor a line end.");
    f->extension_bytes += length;
    if (f->extension_bytes <= EXTENSIONS_MOST) return true;
    return srv_framing_refuse(f, API_BAD_REQUEST, "The chunk extensions are longer than %d bytes.", EXTENSIONS_MOST);
}

/* Reads the size of a chunk and writes the line again without extensions. */
static bool take_chunk_line(srv_framing *f, input *in, const char *line, size_t length)
{
    size_t   digits = 0;
    uint64_t size   = 0;
    for (; digits < length && hex_digit(line[digits]) >= 0; digits++) {
        if (digits == CHUNK_DIGITS)
            return srv_framing_refuse(f, API_BODY_TOO_LARGE, "A chunk's size has more than %d digits.", CHUNK_DIGITS);
        size = size << 4 | (uint64_t)hex_digit(line[digits]);
    }
    if (digits == 0)
        return srv_framing_refuse(f, API_BAD_REQUEST, "A chunk does not start with its size in hexadecimal.");
    if (!check_extensions(f, line + digits, length - digits)) return false;
    char text[24];
    int  n = snprintf(text, sizeof text, "%llx\r\n", (unsigned long long)size);
    memcpy(in->data + in->ready, text, (size_t)n);
    in->end      = in->ready + (size_t)n;
    f->remaining = size;
    f->stage     = size > 0 ? SRV_CHUNK_DATA : SRV_TRAILER_LINE;
    release(f, in);
    return true;
}

static bool take_chunk_end(srv_framing *f, input *in, size_t length)
{
    if (length > 0) return srv_framing_refuse(f, API_BAD_REQUEST, "A chunk is longer than its size.");
    f->stage = SRV_CHUNK_LINE;
    release(f, in);
    return true;
}

static bool take_trailer_line(srv_framing *f, input *in, const char *line, size_t length)
{
    if (length == 0) {
        f->stage = SRV_REQUEST_LINE;
        release(f, in);
        return true;
    }
    f->trailer_bytes += length;
    if (f->trailer_bytes > TRAILERS_MOST)
        return srv_framing_refuse(f, API_HEADERS_TOO_LARGE, "The trailers are longer than %d bytes.", TRAILERS_MOST);
    if (!srv_check_trailer_line(f, line, length)) return false;
    drop_line(f, in);
    return true;
}

/* --- lines ---------------------------------------------------------------------------------------------------- */

/* Checks a complete line, held from f->line on. */
static bool take_line(srv_framing *f, input *in)
{
    const char *line   = in->data + in->ready + f->line;
    size_t      length = (size_t)(in->data + in->end - line);
    if (length < 2 || line[length - 2] != '\r')
        return srv_framing_refuse(f, API_BAD_REQUEST, "A line ends with LF without CR.");
    length -= 2;
    switch (f->stage) {
    case SRV_REQUEST_LINE: return take_request_line(f, in, line, length);
    case SRV_FIELD_LINE: return take_field_line(f, in, line, length);
    case SRV_CHUNK_LINE: return take_chunk_line(f, in, line, length);
    case SRV_CHUNK_END: return take_chunk_end(f, in, length);
    case SRV_TRAILER_LINE: return take_trailer_line(f, in, line, length);
    case SRV_BODY: /* no lines in this stage and the next two */
    case SRV_CHUNK_DATA:
    case SRV_MALFORMED: break;
    }
    return false;
}

/* Refuses a line or head that has grown too long without a line end. */
static bool check_room(srv_framing *f, const input *in)
{
    size_t held = in->end - in->ready;
    switch (f->stage) {
    case SRV_REQUEST_LINE:
        if (held <= SRV_TARGET_MOST + 60) return true;
        return srv_framing_refuse(f, API_URI_TOO_LONG, "The request line is longer than %d bytes.",
                                  SRV_TARGET_MOST + 60);
    case SRV_FIELD_LINE:
        if (held <= SRV_HEAD_MOST) return true;
        return srv_framing_refuse(f, API_HEADERS_TOO_LARGE, "The head is longer than %d bytes.", SRV_HEAD_MOST);
    case SRV_CHUNK_LINE:
        if (held <= CHUNK_LINE_MOST) return true;
        return srv_framing_refuse(f, API_BAD_REQUEST, "A chunk's line is longer than %d bytes.", CHUNK_LINE_MOST);
    case SRV_CHUNK_END:
        if (held == 0 || (held <= 2 && in->data[in->ready] == '\r')) return true;
        return srv_framing_refuse(f, API_BAD_REQUEST, "A chunk is longer than its size.");
    case SRV_TRAILER_LINE:
        if (held <= TRAILERS_MOST) return true;
        return srv_framing_refuse(f, API_HEADERS_TOO_LARGE, "The trailers are longer than %d bytes.", TRAILERS_MOST);
    case SRV_BODY: /* no lines in this stage and the next two */
    case SRV_CHUNK_DATA:
    case SRV_MALFORMED: break;
    }
    return true;
}

/* Refuses the start of a line as soon as it cannot become a good one, so that a client of another protocol is answered
 * at once: a CR that no LF follows, or a request that starts with no token. */
static bool check_start(srv_framing *f, const input *in, size_t fresh)
{
    size_t      line = in->ready + f->line, from = in->end - fresh;
    const char *data = in->data;
    if (from > line) from--;
    if (in->end - from > 1 && memchr(data + from, '\r', in->end - from - 1))
        return srv_framing_refuse(f, API_BAD_REQUEST, "A line has a CR that no LF follows.");
    bool first = f->stage == SRV_REQUEST_LINE && in->end > line;
    if (!first || (data[line] > ' ' && data[line] != 0x7F) || data[line] == '\r') return true;
    return srv_framing_refuse(
        f, API_BAD_REQUEST, "The connection does not speak HTTP/1.1: the first byte is 0x%02x%s.",
        (unsigned char)data[line],
        data[line] == TLS_HANDSHAKE ? ", as TLS begins: use http:// here, or start with --tls-certificate" : "");
}

/* Consumes the rest of a line, or all bytes if its end has not come. */
static bool take_text(srv_framing *f, input *in)
{
    char  *from  = in->data + in->next;
    char  *lf    = memchr(from, '\n', in->last - in->next);
    size_t fresh = lf ? (size_t)(lf - from) + 1 : in->last - in->next;
    if (in->end != in->next) memmove(in->data + in->end, from, fresh);
    in->end += fresh;
    in->next += fresh;
    return check_room(f, in) && (lf ? take_line(f, in) : check_start(f, in, fresh));
}

/* Passes on bytes of a body or a chunk. */
static void take_data(srv_framing *f, input *in)
{
    size_t n = in->last - in->next;
    if (n > f->remaining) n = (size_t)f->remaining;
    if (in->end != in->next) memmove(in->data + in->end, in->data + in->next, n);
    in->end += n;
    in->next += n;
    f->remaining -= n;
    release(f, in);
    if (f->remaining == 0) f->stage = f->stage == SRV_BODY ? SRV_REQUEST_LINE : SRV_CHUNK_END;
}

srv_framed srv_framing_check(srv_framing *f, char *data, size_t held, size_t fresh)
{
    input in = {.data = data, .end = held, .next = held, .last = held + fresh};
    while (in.next < in.last && f->stage != SRV_MALFORMED) {
        bool body = f->stage == SRV_BODY || f->stage == SRV_CHUNK_DATA;
        if (body)
            take_data(f, &in);
        else if (!take_text(f, &in))
            substitute(f);
    }
    if (f->stage == SRV_MALFORMED) in.end = in.ready;
    return (srv_framed){in.ready, in.end - in.ready};
}
