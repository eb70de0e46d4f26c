/* framing.c - framing [RUNS]: time that server/framing takes to check one request.
 *
 * A run checks the same request again and again for 20 ms of processor time, as on a kept connection. The request is
 * copied first, because the check works in place; the time of the copy alone is subtracted. Prints one line a request:
 *     request, bytes, ns per request, ns per byte                                           (medians of RUNS, 21) */
#include "server/framing/framing.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROOM = 1 << 21, RUN_NS = 20000000, MOST_RUNS = 1000 };

static char text[ROOM], data[ROOM];

/* Processor time of the calling thread, ns. */
static double processor_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* ns that one copy of the request takes, with its check or without. Ends the program if the request is refused. */
static double one_run(size_t length, bool check)
{
    srv_framing framing = {0};
    double      began = processor_time(), passed = 0;
    size_t      n = 0;
    while (passed < RUN_NS) {
        for (int i = 0; i < 100; i++, n++) {
            memcpy(data, text, length);
            __asm__ volatile("" : : "r"(data) : "memory"); /* the copy must not be optimised away */
            if (!check) continue;
            srv_framed framed = srv_framing_check(&framing, data, 0, length);
            if (framing.stage != SRV_REQUEST_LINE || framed.held > 0) exit(1);
        }
        passed = processor_time() - began;
    }
    return passed / (double)n;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(const char *name, size_t length, size_t runs)
{
    double times[MOST_RUNS];
    for (size_t i = 0; i < runs; i++) {
        double copy = one_run(length, false);
        times[i]    = one_run(length, true) - copy;
    }
    qsort(times, runs, sizeof *times, compare);
    printf("%-32s %8zu bytes %10.1f ns a request %7.3f ns a byte\n", name, length, times[runs / 2],
           times[runs / 2] / (double)length);
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

/* A request with a body of `size` bytes, whose length is announced. */
static size_t write_post(const char *fields, size_t size)
{
    size_t length = (size_t)sprintf(text, POST "%sContent-Length: %zu\r\n\r\n", fields, size);
    memset(text + length, '1', size);
    return length + size;
}

int main(int argc, char **argv)
{
    size_t runs = argc > 1 ? strtoul(argv[1], NULL, 10) : 21;
    if (runs < 1 || runs > MOST_RUNS) return 2;
    measure("GET without fields", (size_t)sprintf(text, "GET /v1 HTTP/1.1\r\nHost: localhost\r\n\r\n"), runs);
    measure("POST of one state", write_post("", 100), runs);
    measure("POST of one state, browser", write_post(BROWSER, 100), runs);
    measure("POST of 1 MB", write_post("", 1000000), runs);
    size_t head = (size_t)sprintf(text, POST "Transfer-Encoding: chunked\r\n\r\n");
    measure("POST of 1 MB in chunks of 1 kB", append_chunks(head, 1000000, 1000), runs);
    return 0;
}
