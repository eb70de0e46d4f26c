/* peek.c - see peek.h. */
#include "peek.h"
#include "api/codec/nodes/format.h"
#include "api/service/http/call.h"
#include "dynamics/loops/loops.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* END: bytes that are searched at each end of a long body; long arrays of numbers are usually in the middle. */
enum { END = 512 };

/* Returns the first place of `text` in a memory block, or NULL. memchr for the first letter is faster than memmem here:
 * letters are rare among numbers, and memmem first builds a table. */
static const unsigned char *search_bytes(const char *in, size_t length, const char *text, size_t n)
{
    const char *last = in + length - n;
    for (const char *p = in; length >= n && p <= last; p++) {
        p = memchr(p, *text, (size_t)(last - p) + 1);
        if (!p) break;
        if (memcmp(p, text, n) == 0) return (const unsigned char *)p;
    }
    return NULL;
}

/* Finds a text in the body; NULL if absent. Of a body longer than 2 END bytes, only the ends
 * are searched. */
static const unsigned char *find_text(const api_input *input, const char *text, size_t n)
{
    size_t length = input->length;
    if (!input->body) return NULL;
    const unsigned char *p = search_bytes(input->body, length <= 2 * END ? length : END, text, n);
    return p || length <= 2 * END ? p : search_bytes(input->body + length - END, END, text, n);
}

bool api_body_mentions(const api_input *input, const char *name)
{
    return find_text(input, name, strlen(name)) != NULL;
}

/* Returns the first byte after the field's name (JSON: after its closing quote); NULL if the field is absent. */
static const unsigned char *find_value(const api_call *call, const api_input *input, api_field field)
{
    char        key[64];
    const char *name = api_field_names[field];
    int         text = api_format_of(call->content)->text;
    snprintf(key, sizeof key, text ? "%c%s" : "%c%s\"", text ? text + (int)strlen(name) : '"', name);
    const unsigned char *p = find_text(input, key, strlen(key));
    return p ? p + strlen(key) : NULL;
}

double api_peek_number(const api_call *call, const api_input *input, api_field field)
{
    const unsigned char *p = find_value(call, input, field);
    if (!p) return 0;
    const unsigned char *end    = (const unsigned char *)input->body + input->length;
    double               number = api_format_of(call->content)->number(p, end);
    return isfinite(number) && number > 0 ? number : 0;
}

double api_peek_largest(const api_call *call, const api_input *input, api_field field, size_t count)
{
    const unsigned char *p = find_value(call, input, field);
    if (!p) return 0;
    const unsigned char *end     = (const unsigned char *)input->body + input->length;
    double               largest = api_format_of(call->content)->largest(p, end, count);
    return isfinite(largest) ? largest : 0;
}

double api_peek_positions(const api_call *call, const api_input *input)
{
    double bytes = api_format_of(call->content)->number_bytes;
    return (double)input->length / (bytes * (double)(call->model->nq + 1));
}

/* Returns the seconds of one iteration, which factors the Jacobian of the loop equations with respect to the passive
 * coordinates in scalar code: O(rows passive (rows + passive)). */
double api_closing_step_seconds(const api_model *m)
{
    const double begun = 2e-6, product = 1.5e-9;
    if (!m->loops) return 0;
    double rows = (double)m->loops->rows, passive = (double)m->loops->n_passive;
    return begun + product * rows * passive * (rows + passive);
}
