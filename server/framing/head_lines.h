/* head_lines.h - check single lines of a request's head and trailers. Private to server/framing. */
#pragma once
#include "framing.h"

/* Notes a violation: the connection ends with this problem. Returns false. */
bool srv_framing_refuse(srv_framing *f, api_code code, const char *format, ...)
    __attribute__((cold, format(printf, 3, 4)));

/* Each checks one line of `length` bytes, its line end left out. False: the message is refused. */
bool srv_check_request_line(srv_framing *f, const char *line, size_t length);
bool srv_check_field_line(srv_framing *f, const char *line, size_t length);
bool srv_check_trailer_line(srv_framing *f, const char *line, size_t length);

/* Checks the fields of a complete head against each other. */
bool srv_check_head(srv_framing *f);

/* True if the field is one that is not passed on. */
bool srv_is_dropped_field(const char *line, size_t length);
