/* test_compress.c - checks content codings: zlib and zstd decode an answer to the original bytes, the accepted coding
 * is chosen (RFC 9110), and coding claims its memory from the budget. */
#include "tests/api/support/door.h"
#include "api/service/http/call.h"
#include "api/codec/coding/expand.h"
#include "api/codec/compress.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <cmocka.h>

/* Decodes with the one-call functions of the libraries; the caller frees the result. */
static char *decoded(api_coding coding, const char *bytes, size_t length, size_t expected)
{
    char *back = malloc(expected + 1);
    if (coding == API_CODING_ZSTD) {
        assert_int_equal(ZSTD_decompress(back, expected + 1, bytes, length), expected);
        return back;
    }
    z_stream z = {.next_in   = (z_const Bytef *)bytes,
                  .avail_in  = (uInt)length,
                  .next_out  = (Bytef *)back,
                  .avail_out = (uInt)expected + 1};
    assert_int_equal(inflateInit2(&z, 16 + MAX_WBITS), Z_OK); /* 16 + MAX_WBITS: accepts the gzip format only */
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    assert_int_equal(z.total_out, expected);
    assert_int_equal(z.avail_in, 0);
    inflateEnd(&z);
    return back;
}

static void round_trip(api_coding coding, const char *bytes, size_t length)
{
    api_problem problem;
    api_buffer  b;
    api_problem_clear(&problem);
    api_buffer_init(&b, api_compress_bound(coding, length));
    if (!api_compress(coding, bytes, length, NULL, &b, &problem)) fail_msg("%zu bytes: %s", length, problem.detail);
    char *back = decoded(coding, b.data, b.length, length);
    assert_memory_equal(back, bytes, length);
    free(back);
    const api_coded coded = {.coding = coding, .bytes = b.data, .length = b.length};
    if (coding == API_CODING_GZIP && length > b.length && length < API_EXPAND_SMALL) /* gzip's trailer contains the
                                                                                        length of the content */
        assert_int_equal(api_expand_guess(&coded, SIZE_MAX), length);
    api_buffer_free(&b);
}

/* Codes digits, random bytes (which grow), and one byte repeated; decoding must return the original. */
static void decoding_returns_the_original(void **state)
{
    static const size_t lengths[] = {1,      2, 1000, 1023, 1024, 1025, 65536, (1 << 18) - 1, 1 << 18, (1 << 18) + 1,
                                     3000000};
    uint64_t            z         = 1;
    char               *bytes     = malloc(3000000);
    for (int kind = 0; kind < 3; kind++)
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            for (size_t k = 0; k < lengths[i]; k++) {
                z        = z * 6364136223846793005u + 1442695040888963407u;
                bytes[k] = kind == 0 ? "0123456789.,[]-e"[z >> 60] : kind == 1 ? (char)(z >> 56) : 'x';
            }
            round_trip(API_CODING_GZIP, bytes, lengths[i]);
            round_trip(API_CODING_ZSTD, bytes, lengths[i]);
        }
    free(bytes);
}

static void stops_when_the_client_has_gone(void **state)
{
    static char  bytes[1 << 20];
    api_deadline deadline = {.cancelled = true, .time = UINT64_MAX};
    for (api_coding coding = API_CODING_ZSTD; coding < API_CODING_COUNT; coding++) {
        api_problem problem;
        api_buffer  b;
        api_problem_clear(&problem);
        api_buffer_init(&b, api_compress_bound(coding, sizeof bytes));
        assert_false(api_compress(coding, bytes, sizeof bytes, &deadline, &b, &problem));
        assert_int_equal(problem.code, API_REQUEST_TIMEOUT);
        api_buffer_free(&b);
    }
}

/* Compares the choice with RFC 9110, section 12.5.3. */
static void accepted_codings(void **state)
{
    static const struct {
        const char *accept;
        api_coding  coding;
    } each[] = {
        {NULL, API_CODING_NONE},
        {"", API_CODING_NONE},
        {"gzip", API_CODING_GZIP},
        {"x-gzip", API_CODING_GZIP},
        {"GZip", API_CODING_GZIP},
        {"zstd", API_CODING_ZSTD},
        {"gzip, deflate, br, zstd", API_CODING_ZSTD},
        {"deflate, gzip, br", API_CODING_GZIP},
        {"gzip;q=1.0, zstd;q=0.9", API_CODING_GZIP},
        {"gzip;q=0.1, zstd; q=0.9", API_CODING_ZSTD},
        {"identity, gzip;q=0.5", API_CODING_NONE},
        {"identity;q=0.5, gzip;q=0.5", API_CODING_NONE},
        {"identity;q=0.5, gzip", API_CODING_GZIP},
        {"gzip;q=0", API_CODING_NONE},
        {"gzip;q=0, *", API_CODING_NONE},
        {"identity;q=0, *", API_CODING_ZSTD},
        {"identity;q=0.1, *;q=0.5, zstd;q=0", API_CODING_GZIP},
        {"identity;q=0", API_CODING_NONE},
        {"*;q=0", API_CODING_NONE},
        {"br, deflate", API_CODING_NONE},
        {"gzip;q=nonsense", API_CODING_NONE},
        {"gzip zstd", API_CODING_NONE},
        {",, gzip ,", API_CODING_GZIP},
    };
    for (size_t i = 0; i < sizeof each / sizeof *each; i++)
        if (api_coding_by_accept(each[i].accept) != each[i].coding) fail_msg("%s", each[i].accept);
}

/* Requests a long answer with GET; HEAD must state the same length. */
static void long_answers_are_coded(void **state)
{
    size_t        plain = ask("GET", "/openapi.json", NULL)->length;
    api_request   head  = {.method = "GET", .target = "/openapi.json", .accept_encoding = "gzip"};
    const answer *a     = ask_with(&head, NULL, 0, NULL);
    assert_int_equal(a->status, 200);
    assert_string_equal(header_of(a, "Content-Encoding"), "gzip");
    assert_string_equal(header_of(a, "Vary"), "Accept-Encoding");
    assert_in_range(a->length, 1000, plain / 2);
    free(decoded(API_CODING_GZIP, a->text, a->length, plain));
    size_t length = a->length;
    head.method   = "HEAD";
    assert_int_equal(ask_with(&head, NULL, 0, NULL)->length, length);
}

/* An evaluation must have the same text with and without a coding. */
static void evaluations_are_coded(void **state)
{
    char        body[8000], *end = body;
    api_request head = {.method = "POST", .target = "/v1/models/arm/mass-matrix", .has_body = true};
    end += sprintf(end, "{\"q\":[");
    for (int i = 0; i < 100; i++)
        end += sprintf(end, "%s[0.%d,0.2,0.3,-0.%d]", i > 0 ? "," : "", i + 1, i + 1);
    end += sprintf(end, "]}");
    char  *plain  = strdup(ask_with(&head, body, (size_t)(end - body), NULL)->text);
    size_t length = strlen(plain);
    for (api_coding coding = API_CODING_ZSTD; coding < API_CODING_COUNT; coding++) {
        head.accept_encoding = api_coding_name(coding);
        const answer *a      = ask_with(&head, body, (size_t)(end - body), NULL);
        assert_string_equal(header_of(a, "Content-Encoding"), api_coding_name(coding));
        assert_string_equal(header_of(a, "Vary"), "Accept, Accept-Encoding");
        char *back = decoded(coding, a->text, a->length, length);
        assert_memory_equal(back, plain, length);
        free(back);
    }
    free(plain);
}

/* Short answers, those with an entity tag, CBOR and problems must not be coded. */
static void other_answers_are_not_coded(void **state)
{
    static const api_request each[] = {
        {.method = "GET", .target = "/livez", .accept_encoding = "gzip"},
        {.method = "GET", .target = "/v1/models/arm", .accept_encoding = "gzip"},
        {.method = "GET", .target = "/v1", .accept_encoding = "gzip", .accept = "application/cbor"},
        {.method = "GET", .target = "/nowhere", .accept_encoding = "gzip"},
        {.method = "GET", .target = "/openapi.json"},
    };
    for (size_t i = 0; i < sizeof each / sizeof *each; i++)
        assert_null(header_of(ask_with(&each[i], NULL, 0, NULL), "Content-Encoding"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decoding_returns_the_original),
        cmocka_unit_test(stops_when_the_client_has_gone),
        cmocka_unit_test(accepted_codings),
        cmocka_unit_test(long_answers_are_coded),
        cmocka_unit_test(evaluations_are_coded),
        cmocka_unit_test(other_answers_are_not_coded),
    };
    return cmocka_run_group_tests(tests, door_setup, door_teardown);
}
