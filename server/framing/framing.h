/* framing.h - check where each request of a connection begins and ends, before libmicrohttpd reads it.
 *
 * If two programs on the way of a request disagree about its length, an attacker can hide a second request in the first
 * one (request smuggling). The check therefore accepts exactly the messages of RFC 9112 (HTTP/1.1), and passes them on
 * in one canonical form: a head only when it is complete, chunks without extensions, no trailers, no blanks behind a
 * value, no Cookie (the server reads none). The first violation ends the connection: the check passes on a harmless
 * request instead of the malformed one, or the end of its body, and the server answers that request with the problem.
 *
 * The state machine is pure: it knows no sockets and allocates nothing. The messages that it accepts and the bytes that
 * it passes on depend on the bytes alone, never on how the network has cut them. */
#pragma once
#include "api/problem.h"
#include <stdint.h>

enum {
    SRV_HEAD_MOST       = 12288, /* bytes of a head; libmicrohttpd stores it in 24 KB with its own tables */
    SRV_TARGET_MOST     = 8000,  /* bytes of a target (RFC 9112, section 3, asks for at least 8000 of a request line) */
    SRV_FIELDS_MOST     = 100,   /* header fields of a head, each of which takes 56 bytes of libmicrohttpd's memory */
    SRV_SUBSTITUTE_MOST = 256    /* bytes of the request that replaces a malformed one */
};

typedef enum srv_framing_stage {
    SRV_REQUEST_LINE,
    SRV_FIELD_LINE,
    SRV_BODY,
    SRV_CHUNK_LINE,
    SRV_CHUNK_DATA,
    SRV_CHUNK_END, /* the line end behind the data of a chunk */
    SRV_TRAILER_LINE,
    SRV_MALFORMED /* a message was refused: all further bytes are dropped */
} srv_framing_stage;

typedef struct srv_framing {
    srv_framing_stage stage;
    size_t            line;      /* offset of the current line in the bytes that are held back */
    uint64_t          remaining; /* bytes until the end of the body or chunk */
    uint64_t          messages;  /* number of requests whose head was passed on, the substitute included */
    unsigned          empty_lines, fields, hosts, lengths, codings;
    bool              http_1_0;
    size_t            extension_bytes, trailer_bytes; /* received in this body */
    char              request_id[129];                /* Request-Id of the current head; "": none */
    api_code          code;                           /* the problem of the last message; API_NO_PROBLEM: none */
    bool              replaced;                       /* true: the substitute stands in place of the whole request */
    char              detail[160];
    char              substitute[SRV_SUBSTITUTE_MOST]; /* passed on after the ready bytes when a message is refused */
    size_t            substitute_length;
} srv_framing;

/* Parts of the bytes at `data` after a check: `ready` bytes to pass on, then `held` bytes of an incomplete line or
 * head. */
typedef struct srv_framed {
    size_t ready, held;
} srv_framed;

/* Checks `fresh` bytes at data[held]. data[0 .. held) are the bytes that the previous check held back. Works in place.
 * If a message is refused, `code` is set, nothing of the message is held, and the caller passes on `substitute` after
 * the ready bytes. A zeroed srv_framing is the state at the start of a connection. */
srv_framed srv_framing_check(srv_framing *f, char *data, size_t held, size_t fresh);

/* True while the end of the current request has not been seen. */
bool srv_framing_is_midway(const srv_framing *f);

/* True if `text` is a host with an optional port (RFC 9110, section 7.2): a name of letters, digits, "-", "_", "~" in
 * labels, an IPv4 address, or an IPv6 address in brackets. */
bool srv_is_authority(const char *text, size_t length);
