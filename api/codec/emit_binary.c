/* emit_binary.c - write arrays of numbers from the lanes of the kernels to binary formats: as arrays of floats, and to
 * CBOR also as one typed array (RFC 8746) or as arrays of typed arrays. */
#include "emit_bytes.h"
#include <math.h>

enum { RANK = API_EMIT_RANK + 2, TYPED_HEAD_MAX = 2 + API_HEAD_MAX };

/* --- typed arrays ------------------------------------------------------------------------------------------------- */

void api_emit_typed(api_emit *e, size_t rank, const size_t *extent)
{
    uint64_t numbers = 1;
    if (rank > 1) {
        api_emit_head(e, CBOR_TAG, CBOR_TAG_DIMENSIONS);
        api_emit_head(e, CBOR_ARRAY, 2);
        api_emit_head(e, CBOR_ARRAY, rank);
    }
    for (size_t i = 0; i < rank; i++) {
        if (rank > 1) api_emit_head(e, CBOR_UNSIGNED, extent[i]);
        numbers *= extent[i];
    }
    api_emit_head(e, CBOR_TAG, CBOR_TAG_DOUBLES);
    api_emit_head(e, CBOR_BYTES, numbers * sizeof(double));
}

/* --- heads of nested arrays ------------------------------------------------------------------------------------- */

/* The nested arrays of an answer, outermost first, and the index of the next number in them. The heads of the first
 * `before` dimensions are written before the numbers: that of a batch. All other heads are written among the numbers.
 */
typedef struct nesting {
    size_t            rank, before;
    bool              typed; /* the innermost arrays are typed */
    const api_binary *binary;
    size_t            extent[RANK], size[RANK], index[RANK]; /* size: numbers in one array of this dimension */
    size_t            head_length[RANK];
    unsigned char     head[RANK][TYPED_HEAD_MAX];
} nesting;

static nesting nesting_of(api_media media, const api_lanes *a)
{
    const api_binary *binary = api_binary_of(media);
    nesting           n      = {.typed = media == API_MEDIA_CBOR_TYPED, .binary = binary, .before = a->batched};
    size_t            size   = 1;
    n.rank                   = api_lanes_dimensions(a, n.extent);
    for (size_t d = n.rank; d-- > 0;) {
        bool typed       = n.typed && d + 1 == n.rank;
        n.size[d]        = size *= n.extent[d];
        n.index[d]       = 0;
        n.head_length[d] = typed ? binary->head(n.head[d], CBOR_TAG, CBOR_TAG_DOUBLES) : 0;
        n.head_length[d] += typed ? binary->head(n.head[d] + n.head_length[d], CBOR_BYTES, n.extent[d] * sizeof(double))
                                  : binary->head(n.head[d], CBOR_ARRAY, n.extent[d]);
    }
    return n;
}

/* Sets the indices to those of number `number` of the whole array. */
static void move_to(nesting *n, size_t number)
{
    for (size_t d = n->rank; d-- > 0;) {
        n->index[d] = number % n->extent[d];
        number /= n->extent[d];
    }
}

/* Advances the indices by `numbers` numbers, at most to the end of the innermost array. */
static void move_by(nesting *n, size_t numbers)
{
    size_t d = n->rank - 1;
    n->index[d] += numbers;
    for (; d > 0 && n->index[d] == n->extent[d]; d--) {
        n->index[d] = 0;
        n->index[d - 1]++;
    }
}

/* Writes the heads of the arrays that begin with the next number. */
static unsigned char *write_heads(const nesting *n, unsigned char *to)
{
    size_t d = n->rank;
    while (d > n->before && n->index[d - 1] == 0)
        d--;
    for (; d < n->rank; d++) {
        memcpy(to, n->head[d], n->head_length[d]);
        to += n->head_length[d];
    }
    return to;
}

/* Returns the bytes of the heads that are written with the numbers [begin, end). */
static size_t heads_bytes(const nesting *n, size_t begin, size_t end)
{
    size_t bytes = 0;
    for (size_t d = n->before; d < n->rank; d++)
        bytes += n->head_length[d] * ((end + n->size[d] - 1) / n->size[d] - (begin + n->size[d] - 1) / n->size[d]);
    return bytes;
}

/* --- numbers ---------------------------------------------------------------------------------------------------- */

/* Writes numbers as floats with a first byte, which may begin up to one byte per number before the doubles that they
 * replace. */
static unsigned char *write_floats(unsigned char first, const unsigned char *from, size_t numbers, unsigned char *to)
{
    for (size_t i = 0; i < numbers; i++, to += 1 + sizeof(double)) {
        uint64_t bits;
        memcpy(&bits, from + i * sizeof bits, sizeof bits);
        bits  = __builtin_bswap64(bits);
        to[0] = first;
        memcpy(to + 1, &bits, sizeof bits);
    }
    return to;
}

/* Writes `numbers` numbers from `from` with the heads of the arrays that begin among them. `from` lies after `to` in
 * the same memory, far enough that no number is overwritten before it is read. Returns the end. */
static unsigned char *write_nested(nesting *n, const unsigned char *from, size_t numbers, unsigned char *to)
{
    const unsigned char *end = from + numbers * sizeof(double);
    for (size_t run; from < end; from += run * sizeof(double)) {
        size_t left = (size_t)(end - from) / sizeof(double);
        run         = n->rank > 0 ? n->extent[n->rank - 1] - n->index[n->rank - 1] : 1;
        if (run > left) run = left;
        to = write_heads(n, to);
        if (n->typed && n->rank > 0)
            to = (unsigned char *)memmove(to, from, run * sizeof(double)) + run * sizeof(double);
        else
            to = write_floats(n->binary->number, from, run, to);
        if (n->rank > 0) move_by(n, run);
    }
    return to;
}

/* Writes states as nested arrays of floats. A failed state is written as null; if states form groups, a group whose
 * states have failed is written as one null. */
static unsigned char *write_states_or_null(const api_lanes *a, nesting *n, const unsigned char *from, size_t first,
                                           size_t states, unsigned char *to)
{
    size_t numbers = api_lanes_count(a);
    for (size_t state = first; state < first + states; state++, from += numbers * sizeof(double)) {
        if (!a->failed[state]) {
            to = write_nested(n, from, numbers, to);
            continue;
        }
        if (a->group == 0 || state % a->group == 0) *to++ = n->binary->null;
        if (n->rank > 0) move_to(n, (state + 1) * numbers);
    }
    return to;
}

/* --- ranges of states ------------------------------------------------------------------------------------------- */

static size_t number_bytes(api_media media, const api_lanes *a)
{
    bool single = !a->batched && a->rank == 0;
    return (api_media_has_null(media) || single) + sizeof(double);
}

void api_binary_lanes_begin(api_emit *e, const api_lanes *a)
{
    nesting n = nesting_of(e->media, a);
    if (e->media == API_MEDIA_CBOR_MULTIDIMENSIONAL && n.rank > 0) api_emit_typed(e, n.rank, n.extent);
    if (e->media != API_MEDIA_CBOR_MULTIDIMENSIONAL && n.before > 0) api_emit_put(e, n.head[0], n.head_length[0]);
}

size_t api_binary_lanes_room(api_media media, const api_lanes *a, size_t first, size_t states)
{
    size_t count = api_lanes_count(a), bytes = states * count * number_bytes(media, a);
    if (media == API_MEDIA_CBOR_MULTIDIMENSIONAL) return bytes;
    nesting n = nesting_of(media, a);
    return bytes + heads_bytes(&n, first * count, (first + states) * count);
}

/* Replaces the numbers of failed states by NaN. */
static void spoil_failed(const api_lanes *a, unsigned char *rows, size_t first, size_t states)
{
    size_t count = api_lanes_count(a);
    for (size_t state = first; a->failed && state < first + states; state++)
        for (size_t i = 0; a->failed[state] && i < count; i++)
            memcpy(rows + ((state - first) * count + i) * sizeof(double), &(double){NAN}, sizeof(double));
}

/* Converts the numbers to rows at the end of the reserved space, then moves each row forward after its heads. */
bool api_binary_lanes_states(api_emit *e, const api_lanes *a, size_t first, size_t states)
{
    size_t         count = api_lanes_count(a), room = api_binary_lanes_room(e->media, a, first, states);
    unsigned char *to = (unsigned char *)api_buffer_room(e->buffer, room);
    if (!to) return true;
    unsigned char *rows = to + room - states * count * sizeof(double), *end = to + room;
    const double  *lanes  = a->values + (first - a->first) * a->entries;
    bool           finite = a->kernels->to_rows(lanes, a->entries, count, a->order, rows, states);
    if (!finite && (!a->failed || api_emit_lanes_find_non_finite(a, first, states, &(size_t){0}))) return false;
    if (!api_media_has_null(e->media)) spoil_failed(a, rows, first, states);
    if (rows > to) {
        nesting n = nesting_of(e->media, a);
        move_to(&n, first * count);
        end = api_media_has_null(e->media) && a->failed ? write_states_or_null(a, &n, rows, first, states, to)
                                                        : write_nested(&n, rows, states * count, to);
    }
    e->buffer->length += (size_t)(end - to);
    return true;
}
