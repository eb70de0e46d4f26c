/* trace_context.c - a middleware (middleware.h): take part in a distributed trace (W3C Trace Context, Recommendation of
 * 2021-11-23).
 *
 * A request may carry `traceparent: 00-TRACE-SPAN-FLAGS`, in hexadecimal, where SPAN is the span of the client. The
 * answer carries the same header with a new SPAN, that of this request; the log has all three. A malformed header is
 * ignored, as the recommendation asks (section 4.2). */
#include "middleware.h"
#include <string.h>

enum { VERSION = 2, TRACE = 32, SPAN = 16, FLAGS = 2, LENGTH = VERSION + 1 + TRACE + 1 + SPAN + 1 + FLAGS };

/* True for `length` lower-case hexadecimal digits. */
static bool is_hex(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!((text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'f'))) return false;
    return true;
}

/* True for an identifier that is not zero, which means "none". */
static bool is_identifier(const char *text, size_t length)
{
    return is_hex(text, length) && strspn(text, "0") < length;
}

/* Checks version 00. A later version may have more fields after these (section 3.2.4); ff is no version. */
static bool is_valid(const char *text)
{
    const char *trace = text + VERSION + 1, *span = trace + TRACE + 1, *flags = span + SPAN + 1;
    if (strnlen(text, LENGTH) < LENGTH || trace[-1] != '-' || span[-1] != '-' || flags[-1] != '-') return false;
    bool first = strncmp(text, "00", VERSION) == 0, longer = text[LENGTH] != '\0';
    if (longer && (first || text[LENGTH] != '-')) return false;
    return is_hex(text, VERSION) && strncmp(text, "ff", VERSION) != 0 && is_identifier(trace, TRACE) &&
           is_identifier(span, SPAN) && is_hex(flags, FLAGS);
}

bool api_join_trace(api_call *call, const api_request *request, api_problem *problem)
{
    (void)problem;
    const char *given = request->traceparent;
    char        made[LENGTH + 1];
    if (!given || !is_valid(given)) return true;
    memcpy(call->trace, given + VERSION + 1, TRACE);
    memcpy(call->parent_span, given + VERSION + 1 + TRACE + 1, SPAN);
    api_make_id(call->api, call->span);
    memcpy(made, given, LENGTH);
    memcpy(made, "00", VERSION);
    memcpy(made + VERSION + 1 + TRACE + 1, call->span, SPAN);
    made[LENGTH] = '\0';
    api_reply_header(call, "traceparent", made);
    return true;
}
