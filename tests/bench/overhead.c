/* overhead.c - overhead [RUNS]: measures the processor time of the server's fixed work per request, without evaluation.
 *
 * Checks of server/framing: the same request again and again, as on a kept connection. The request is copied first,
 * because the check works in place; the time of the copy alone is subtracted. A relay: the system calls with which a
 * program in front of libmicrohttpd would forward a light request and its answer through a socket pair. Metrics: the
 * counters that a light request updates. Prints one line each, medians of RUNS (21) runs of 20 ms. */
#include "api/metrics.h"
#include "server/framing/framing.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

enum { ROOM = 1 << 21, RUN_NS = 20000000, MOST_RUNS = 1000 };

static char   text[ROOM], data[ROOM];
static size_t runs = 21;

/* Returns the processor time of the calling thread in ns. */
static double processor_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* A function whose duration is measured. */
typedef void piece(size_t length);

/* Returns the ns of one call. */
static double one_run(piece *call, size_t length)
{
    double began = processor_time(), passed = 0;
    size_t n = 0;
    while (passed < RUN_NS) {
        for (int i = 0; i < 100; i++, n++)
            call(length);
        passed = processor_time() - began;
    }
    return passed / (double)n;
}

static void copy(size_t length)
{
    memcpy(data, text, length);
    __asm__ volatile("" : : "r"(data) : "memory"); /* the copy must not be optimised away */
}

static void copy_and_check(size_t length)
{
    static srv_framing framing;
    copy(length);
    srv_framed framed = srv_framing_check(&framing, data, 0, length);
    if (framing.stage != SRV_REQUEST_LINE || framed.held > 0) exit(1);
}

static void nothing(size_t length)
{
    (void)length;
}

static int pair[2];

/* Forwards a request, and an answer of the same size. */
static void relay(size_t length)
{
    for (int i = 0; i < 2; i++)
        if (send(pair[i], text, length, 0) != (ssize_t)length || recv(pair[1 - i], data, length, 0) != (ssize_t)length)
            exit(1);
}

/* Updates the metrics of a light request that runs on the event loop, as api.c, cost.c, exchange_run.c and response.c
 * do. */
static void count(size_t length)
{
    const api_label_values operation = {{5}}, ended = {{5, api_status_label(200)}};
    api_metric_observe(API_METRIC_DECODE_SECONDS, operation, 1200);
    api_metric_observe(API_METRIC_EVALUATE_SECONDS, operation, 900);
    api_metric_observe(API_METRIC_ENCODE_SECONDS, operation, 700);
    api_metric_add(API_METRIC_STATES, operation, 1);
    api_metric_observe(API_METRIC_ESTIMATE_RATIO, API_NO_LABELS, 1100);
    api_metric_add(API_METRIC_RUNS, (api_label_values){{API_THREAD_LOOP}}, 1);
    api_metric_add(API_METRIC_REQUESTS, ended, 1);
    api_metric_observe(API_METRIC_REQUEST_SECONDS, operation, 9000);
    api_metric_add(API_METRIC_RECEIVED_BYTES, API_NO_LABELS, (int64_t)length);
    api_metric_add(API_METRIC_SENT_BYTES, API_NO_LABELS, (int64_t)length);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Prints the time of `call` minus the time of `without`, a function that does the same except for the measured part. */
static void measure(const char *name, piece *call, piece *without, size_t length)
{
    double times[MOST_RUNS];
    for (size_t i = 0; i < runs; i++) {
        double other = one_run(without, length);
        times[i]     = one_run(call, length) - other;
    }
    qsort(times, runs, sizeof *times, compare);
    printf("%-40s %8zu bytes %10.1f ns\n", name, length, times[runs / 2]);
}

static void check(const char *name, size_t length)
{
    measure(name, copy_and_check, copy, length);
}

/* Appends `size` bytes of body in chunks of `chunk` bytes. */
static size_t append_chunks(size_t length, size_t size, size_t chunk)
{
    for (size_t sent = 0; sent < size; sent += chunk) {
        length += (size_t)sprintf(text + length, "%zx\r\n", chunk);
        memset(text + length, '1', chunk);
        length += chunk;
        length += (size_t)sprintf(text + length, "\r\n");
    }
    return length + (size_t)sprintf(text + length, "0\r\n\r\n");
}

#define POST                                                                                                           \
    "POST /v1/models/panda/inverse-dynamics HTTP/1.1\r\nHost: localhost:8080\r\nContent-Type: application/json\r\n"
#define BROWSER                                                                                                        \
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0\r\nAccept: */*\r\n"            \
    "Accept-Language: en-US,en;q=0.5\r\nAccept-Encoding: gzip, deflate, br, zstd\r\nOrigin: http://localhost:8080\r\n" \
    "Referer: http://localhost:8080/\r\nConnection: keep-alive\r\nSec-Fetch-Dest: empty\r\nSec-Fetch-Mode: cors\r\n"   \
    "Sec-Fetch-Site: same-origin\r\nPriority: u=0\r\nAuthorization: Bearer torqued_"                                   \
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\r\n"                                             \
    "traceparent: 00-0123456789abcdef0123456789abcdef-0123456789abcdef-01\r\n"

/* Writes a request with a Content-Length and a body of `size` bytes. */
static size_t write_post(const char *fields, size_t size)
{
    size_t length = (size_t)sprintf(text, POST "%sContent-Length: %zu\r\n\r\n", fields, size);
    memset(text + length, '1', size);
    return length + size;
}

int main(int argc, char **argv)
{
    if (argc > 1) runs = strtoul(argv[1], NULL, 10);
    if (runs < 1 || runs > MOST_RUNS || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) return 2;
    check("check GET without fields", (size_t)sprintf(text, "GET /v1 HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    size_t light = write_post("", 100);
    check("check POST of one state", light);
    measure("relay it and an answer of its size", relay, nothing, light);
    measure("count it in the metrics", count, nothing, light);
    check("check POST of one state by a browser", write_post(BROWSER, 100));
    check("check POST of 1 MB", write_post("", 1000000));
    size_t head = (size_t)sprintf(text, POST "Transfer-Encoding: chunked\r\n\r\n");
    check("check POST of 1 MB in chunks of 1 kB", append_chunks(head, 1000000, 1000));
    return 0;
}
