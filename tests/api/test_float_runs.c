/* test_float_runs.c - reads random arrays of numbers in CBOR and MessagePack, once with 64-bit floats, which the reader
 * copies in long runs over several rows, and once with 32-bit floats, which it reads one by one. The numbers are exact
 * in both, so the nodes and the problems must be the same. */
#include "tests/api/support/door.h"
#include "tests/api/support/draws.h"
#include "tests/api/support/nodes.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DRAWS = 3000, ROOM = 1 << 20, EXACT = 256 };

/* A body while it is written. The random numbers of `seed` determine everything except the width of floats. */
typedef struct written {
    bool          cbor, wide;
    uint64_t      seed;
    size_t        length;
    unsigned char bytes[ROOM];
} written;

static size_t draw_below(written *w, size_t n)
{
    return (size_t)((draw(&w->seed) + 1) / 2 * (double)n);
}

static void put_bytes(written *w, unsigned first, size_t bytes, uint64_t argument)
{
    assert_true(w->length + 9 < ROOM);
    w->bytes[w->length++] = (unsigned char)first;
    while (bytes-- > 0)
        w->bytes[w->length++] = (unsigned char)(argument >> 8 * bytes);
}

static void put_a_float(written *w, double number)
{
    float    single = (float)number;
    uint32_t half;
    uint64_t bits;
    memcpy(&half, &single, sizeof half);
    memcpy(&bits, &number, sizeof bits);
    put_bytes(w, w->wide ? (w->cbor ? 0xFB : 0xCB) : w->cbor ? 0xFA : 0xCA, w->wide ? 8 : 4, w->wide ? bits : half);
}

/* Writes the head of an array in one of its forms. Returns true if it is indefinite. */
static bool put_array_head(written *w, size_t n, size_t form)
{
    if (w->cbor && form == 3) return put_bytes(w, 0x9F, 0, 0), true;
    if (form == 0 && n < 16)
        put_bytes(w, (unsigned)((w->cbor ? 0x80 : 0x90) + n), 0, 0);
    else if (form <= 1)
        put_bytes(w, w->cbor ? 0x99 : 0xDC, 2, n);
    else
        put_bytes(w, w->cbor ? 0x9A : 0xDD, 4, n);
    return false;
}

/* Writes one number: mostly a float, sometimes a whole number, rarely one that is not finite, null or an array, which
 * may begin as the next row does. */
static void put_random_number(written *w, bool strange, size_t width)
{
    size_t kind = strange ? draw_below(w, 200) : 99;
    if (kind == 0) {
        put_a_float(w, draw_below(w, 2) ? (double)INFINITY : -(double)INFINITY);
    } else if (kind == 1) {
        put_a_float(w, NAN);
    } else if (kind == 2) {
        put_bytes(w, w->cbor ? 0xF6 : 0xC0, 0, 0);
    } else if (kind == 3) {
        put_array_head(w, width, width < 16 ? 0 : 1);
        for (size_t i = 0; i < width; i++)
            put_a_float(w, 0.5);
    } else if (kind < 10) {
        put_bytes(w, (unsigned)draw_below(w, 24), 0, 0);
    } else {
        put_a_float(w, floor(draw(&w->seed) * EXACT * EXACT) / EXACT);
    }
}

/* Writes an array of rows, which are mostly of one width and have one form of heads. */
static void put_random_rows(written *w, size_t depth)
{
    static const size_t widths[] = {1, 2, 7, 7, 7, 15, 16, 40};
    size_t              form     = draw_below(w, 4),
           n                     = depth > 0           ? draw_below(w, 4)
                                   : draw_below(w, 20) ? draw_below(w, 40)
                                                       : 300,
           width = widths[draw_below(w, 8)], ragged = draw_below(w, 4);
    bool strange = draw_below(w, 3) == 0, open = put_array_head(w, n, draw_below(w, 4));
    for (size_t i = 0; i < n; i++) {
        if (depth > 0) {
            put_random_rows(w, depth - 1);
            continue;
        }
        size_t this_width = ragged || draw_below(w, 50) ? width : draw_below(w, 9);
        bool   this_open  = put_array_head(w, this_width, draw_below(w, 60) ? form : draw_below(w, 4));
        for (size_t k = 0; k < this_width; k++)
            put_random_number(w, strange, this_width);
        if (this_open) put_bytes(w, 0xFF, 0, 0);
    }
    if (open) put_bytes(w, 0xFF, 0, 0);
}

/* Writes a map of three fields, as requests have them. */
static void put_random_body(written *w, bool cbor, bool wide, uint64_t seed)
{
    w->cbor   = cbor;
    w->wide   = wide;
    w->seed   = seed;
    w->length = 0;
    put_bytes(w, cbor ? 0xA3 : 0x83, 0, 0);
    for (unsigned key = 'a'; key < 'd'; key++) {
        put_bytes(w, cbor ? 0x61 : 0xA1, 1, key);
        if (draw_below(w, 8) == 0)
            put_random_number(w, true, 0);
        else
            put_random_rows(w, key == 'b' && draw_below(w, 4) == 0);
    }
}

/* Returns the nodes as text, or the problem's code and pointer. */
static const char *text_of_reading(const written *w, char problem[200])
{
    const api_node *node = nodes_read(w->cbor ? NODES_CBOR : NODES_MSGPACK, w->bytes, w->length);
    if (node) return nodes_text(node);
    snprintf(problem, 200, "%d %.150s", nodes_problem()->code, nodes_problem()->pointer);
    return problem;
}

/* Returns the length of the longest common beginning. */
static size_t common_length(const char *a, const char *b)
{
    size_t n = 0;
    while (a[n] && a[n] == b[n])
        n++;
    return n;
}

static void runs_give_the_nodes_of_single_numbers(void **state)
{
    static written wide, narrow;
    size_t         read = 0, refused = 0;
    for (uint64_t seed = 1; seed <= DRAWS; seed++) {
        bool cbor = seed % 2;
        char problems[2][200];
        put_random_body(&wide, cbor, true, seed);
        put_random_body(&narrow, cbor, false, seed);
        const char *expected = text_of_reading(&narrow, problems[0]), *found = text_of_reading(&wide, problems[1]);
        size_t      same = common_length(expected, found);
        if (expected[same] || found[same])
            fail_msg("seed %zu: byte %zu is %.300s\nexpected %.300s", (size_t)seed, same, found + same,
                     expected + same);
        if (*found == '{')
            read++;
        else
            refused++;
    }
    assert_true(read > DRAWS / 4 && refused > DRAWS / 20);
}

/* A body that ends early is refused wherever it ends, also where the next row would begin. */
static void a_cut_body_is_refused(void **state)
{
    static written w;
    for (uint64_t seed = 1; seed <= 2; seed++) {
        put_random_body(&w, seed % 2, true, 40 + seed);
        size_t whole = w.length < 3000 ? w.length : 3000;
        for (w.length = 0; w.length < whole; w.length++) {
            char        problem[200];
            const char *found = text_of_reading(&w, problem);
            if (found != problem) fail_msg("seed %zu is read at %zu bytes", (size_t)seed, w.length);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_give_the_nodes_of_single_numbers),
        cmocka_unit_test(a_cut_body_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, nodes_teardown);
}
