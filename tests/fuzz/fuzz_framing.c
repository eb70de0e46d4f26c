/* fuzz_framing.c - checks arbitrary bytes of a connection with server/framing, cut in three ways: not at all, after
 * every byte, and into pieces whose lengths the data begins with.
 *
 * At every cut, the state, the bytes passed on and the number of messages must be those of the same input cut after
 * every byte. Only the problem of a refused message may depend on the cuts: a line can break two rules, and the check
 * reports the rule that it notices first. */
#include "server/framing/framing.h"
#include "drive.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Holds a connection whose input is checked piece by piece. */
typedef struct feeder {
    srv_framing framing;
    char       *buffer; /* `capacity` bytes; a piece is checked at its end, so that the sanitizer sees a read past it */
    char       *passed; /* the bytes passed on to the HTTP library, with the substitute that ends a malformed message */
    size_t      capacity;              /* length of the whole input */
    size_t start, held, length, taken; /* `held` bytes that are not checked yet lie at buffer[start]; `taken` bytes of
                                          the input have been checked */
} feeder;

static feeder feeder_open(size_t capacity)
{
    feeder f = {.capacity = capacity, .buffer = malloc(capacity), .passed = malloc(capacity + SRV_SUBSTITUTE_MOST)};
    drive_expect(f.buffer && f.passed, "memory");
    return f;
}

static void feeder_close(feeder *f)
{
    free(f->buffer);
    free(f->passed);
}

/* Checks how one call has changed the state. */
static void check_step(const feeder *f, const srv_framing *before, srv_framed framed)
{
    const srv_framing *after = &f->framing;
    bool               in_head =
        before->stage == SRV_REQUEST_LINE || before->stage == SRV_FIELD_LINE || before->stage == SRV_MALFORMED;
    if (in_head &&
        (before->messages == after->messages || (after->replaced && before->messages + 1 == after->messages)))
        drive_expect(framed.ready == 0, "no bytes are passed on before a head is accepted");
    if (before->stage == SRV_MALFORMED) {
        drive_expect(framed.held == 0, "no bytes are held after a refusal");
        drive_expect(memcmp(before, after, sizeof *after) == 0, "a refusal is final");
    }
    if (after->stage != SRV_MALFORMED) return;
    drive_expect(framed.held == 0, "no bytes of a refused message are held");
    drive_expect(after->code != API_NO_PROBLEM && after->detail[0], "a refusal has a problem");
    drive_expect(after->substitute_length > 0 && after->substitute_length < SRV_SUBSTITUTE_MOST,
                 "a refusal has a substitute of limited length");
}

/* Checks the next `fresh` bytes of the input. */
static void feed(feeder *f, const char *input, size_t fresh)
{
    srv_framing before = f->framing;
    size_t      start  = f->capacity - f->held - fresh;
    memmove(f->buffer + start, f->buffer + f->start, f->held);
    memcpy(f->buffer + start + f->held, input + f->taken, fresh);
    srv_framed framed = srv_framing_check(&f->framing, f->buffer + start, f->held, fresh);
    drive_expect(framed.ready + framed.held <= f->held + fresh, "no more bytes are passed on or held than arrived");
    check_step(f, &before, framed);
    memcpy(f->passed + f->length, f->buffer + start, framed.ready);
    f->length += framed.ready;
    f->start = start + framed.ready;
    f->held  = framed.held;
    f->taken += fresh;
    if (f->framing.stage != SRV_MALFORMED || before.stage == SRV_MALFORMED) return;
    memcpy(f->passed + f->length, f->framing.substitute, f->framing.substitute_length);
    f->length += f->framing.substitute_length;
}

static void expect_same(const feeder *a, const feeder *b)
{
    drive_expect(a->framing.stage == b->framing.stage, "the stage does not depend on the cuts");
    drive_expect(a->framing.messages == b->framing.messages, "the number of messages does not depend on the cuts");
    drive_expect(a->framing.replaced == b->framing.replaced, "the kind of substitute does not depend on the cuts");
    drive_expect(a->length == b->length && memcmp(a->passed, b->passed, a->length) == 0,
                 "the bytes passed on do not depend on the cuts");
    drive_expect(a->held == b->held && memcmp(a->buffer + a->start, b->buffer + b->start, a->held) == 0,
                 "the held bytes do not depend on the cuts");
}

/* Feeds single bytes up to the cut of the other feeder and compares the two. */
static void catch_up(feeder *single, const feeder *other, const char *input)
{
    while (single->taken < other->taken)
        feed(single, input, 1);
    expect_same(single, other);
}

/* The bytes passed on must pass the check again unchanged, and the substitute must end the last of their requests. */
static void check_passed(const feeder *f)
{
    feeder again = feeder_open(f->length);
    feed(&again, f->passed, f->length);
    drive_expect(again.framing.stage != SRV_MALFORMED && again.held == 0, "bytes that were passed on pass again");
    drive_expect(again.length == f->length && memcmp(again.passed, f->passed, f->length) == 0,
                 "bytes that were passed on pass unchanged");
    drive_expect(again.framing.messages == f->framing.messages, "bytes that were passed on have as many messages");
    if (f->framing.stage == SRV_MALFORMED)
        drive_expect(again.framing.stage == SRV_REQUEST_LINE, "the substitute ends a request");
    feeder_close(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t lengths = size > 0 ? 1 + data[0] % 7u : 0;
    if (size < lengths + 2) return 0;
    const char *input = (const char *)data + 1 + lengths;
    size_t      n     = size - 1 - lengths;
    feeder      whole = feeder_open(n), single = feeder_open(n), pieces = feeder_open(n);
    for (size_t i = 0; pieces.taken < n; i++) {
        size_t piece = 1 + (size_t)data[1 + i % lengths];
        feed(&pieces, input, piece < n - pieces.taken ? piece : n - pieces.taken);
        catch_up(&single, &pieces, input);
    }
    feed(&whole, input, n);
    expect_same(&single, &whole);
    check_passed(&whole);
    feeder_close(&whole);
    feeder_close(&single);
    feeder_close(&pieces);
    return 0;
}
