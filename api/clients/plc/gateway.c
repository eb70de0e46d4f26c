/* gateway.c - answers the cyclic UDP telegrams of a programmable controller with torques of a torqued server.
 * Usage: gateway ADDRESS:PORT MODEL URL [TIMEOUT]; TIMEOUT in s; a bearer token is taken from the file that
 * TORQUED_TOKEN_FILE names. README.md beside this file has the telegrams. cc gateway.c ../c/torqued.c -lcurl -lpthread
 */
#include "../c/torqued.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { MAX_JOINTS = 64, HEAD = 16, LREAL = 8, MAX_REQUEST = HEAD + 3 * MAX_JOINTS * LREAL, MOST_QUEUED = 1000 };
enum { OK, MALFORMED, REFUSED, UNREACHABLE, OTHER }; /* status of an answer */

static const uint32_t MAGIC   = 0x54514431; /* "TQD1" read as a big-endian number */
static const double   TIMEOUT = 0.1;        /* s; the controller has long gone on without the answer then */

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
    (void)signal;
    stopped = 1;
}

/* A telegram being read or written, in the byte order of its sender. */
typedef struct telegram {
    unsigned char bytes[MAX_REQUEST];
    size_t        length;
    bool          is_big_endian;
} telegram;

static uint64_t read_number(const telegram *t, size_t at, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value = value << 8 | t->bytes[at + (t->is_big_endian ? i : size - 1 - i)];
    return value;
}

static void write_number(telegram *t, size_t at, size_t size, uint64_t value)
{
    for (size_t i = 0; i < size; i++)
        t->bytes[at + i] = (unsigned char)(value >> 8 * (t->is_big_endian ? size - 1 - i : i));
}

static double read_lreal(const telegram *t, size_t at)
{
    uint64_t bits = read_number(t, at, LREAL);
    double   value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void write_lreal(telegram *t, size_t at, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    write_number(t, at, LREAL, bits);
}

/* Finds the byte order by the magic number. False if the bytes are no telegram at all: they get no answer. */
static bool is_telegram(telegram *t)
{
    if (t->length < HEAD) return false;
    t->is_big_endian = true;
    if (read_number(t, 0, 4) == MAGIC) return true;
    t->is_big_endian = false;
    return read_number(t, 0, 4) == MAGIC;
}

/* Evaluates the telegram; `tau` gets the torques. The result is a status of the answer. */
static int evaluate(torqued_client *client, const char *model, const telegram *t, size_t joints, double *tau)
{
    double state[3][MAX_JOINTS];
    if (joints == 0 || joints > MAX_JOINTS || read_number(t, 10, 2) != 1 || t->length != HEAD + 3 * joints * LREAL)
        return MALFORMED;
    for (size_t i = 0; i < 3 * joints; i++)
        state[i / joints][i % joints] = read_lreal(t, HEAD + i * LREAL);
    torqued_input  in[] = {{"q", state[0], {joints}}, {"qd", state[1], {joints}}, {"qdd", state[2], {joints}}};
    torqued_output out  = {"tau", tau, joints};
    torqued_call   call = {model, "inverse-dynamics", NULL, in, 3, &out, 1};
    switch (torqued_evaluate(client, &call)) {
    case TORQUED_OK: return OK;
    case TORQUED_REFUSED: return REFUSED;
    case TORQUED_UNREACHABLE: return UNREACHABLE;
    case TORQUED_BAD_ANSWER:
    case TORQUED_BAD_ARGUMENT:
    case TORQUED_NO_MEMORY: break;
    }
    return OTHER;
}

/* Turns the request into its answer. `last_status` is that of the answer before. */
static void answer(torqued_client *client, const char *model, telegram *t, int *last_status)
{
    double          tau[MAX_JOINTS] = {0};
    struct timespec start, end;
    size_t          joints = (size_t)read_number(t, 8, 2);
    clock_gettime(CLOCK_MONOTONIC, &start);
    int status = evaluate(client, model, t, joints, tau);
    clock_gettime(CLOCK_MONOTONIC, &end);
    if (status != *last_status) /* once, not in every cycle */
        fprintf(stderr, "gateway: status %d %s\n", status,
                status == MALFORMED ? "" : torqued_last_problem(client)->detail);
    *last_status     = status;
    int64_t duration = (end.tv_sec - start.tv_sec) * 1000000 + (end.tv_nsec - start.tv_nsec) / 1000;
    size_t  sent     = status == OK ? joints : 0;
    write_number(t, 10, 2, (uint64_t)status);
    write_number(t, 12, 4, (uint64_t)duration);
    for (size_t i = 0; i < sent; i++)
        write_lreal(t, HEAD + i * LREAL, tau[i]);
    t->length = HEAD + sent * LREAL;
}

/* Receives the newest of the telegrams that have come: an answer to an older one would be late. False at the end. */
static bool receive(int from, telegram *t, struct sockaddr_in *sender)
{
    int  flags    = MSG_TRUNC; /* the length is that of the whole datagram */
    bool has_come = false;
    for (int queued = 0; !stopped && (!has_come || queued < MOST_QUEUED); queued++) {
        telegram           next;
        struct sockaddr_in address;
        socklen_t          size = sizeof address;
        ssize_t length = recvfrom(from, next.bytes, sizeof next.bytes, flags, (struct sockaddr *)&address, &size);
        if (length < 0 && flags & MSG_DONTWAIT) break;
        if (length < 0 && errno != EINTR && errno != EAGAIN) return false;
        next.length = length < 0 ? 0 : (size_t)length;
        if (!is_telegram(&next)) continue;
        *t       = next;
        *sender  = address;
        has_come = true;
        flags |= MSG_DONTWAIT;
    }
    return has_come && !stopped;
}

static int open_socket(const char *text)
{
    char               host[64];
    struct sockaddr_in address = {.sin_family = AF_INET};
    const char        *colon   = strrchr(text, ':');
    long               port    = colon ? strtol(colon + 1, NULL, 10) : -1;
    if (!colon || (size_t)(colon - text) >= sizeof host || port < 0 || port > 65535) return -1;
    memcpy(host, text, (size_t)(colon - text));
    host[colon - text] = '\0';
    address.sin_port   = htons((uint16_t)port);
    if (inet_pton(AF_INET, host, &address.sin_addr) != 1) return -1;
    int       opened = socket(AF_INET, SOCK_DGRAM, 0);
    socklen_t size   = sizeof address;
    /* A signal that comes just before the wait is seen at its end. */
    if (opened >= 0)
        setsockopt(opened, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){.tv_usec = 300000}, sizeof(struct timeval));
    if (opened < 0 || bind(opened, (struct sockaddr *)&address, size) != 0) {
        if (opened >= 0) close(opened);
        return -1;
    }
    getsockname(opened, (struct sockaddr *)&address, &size);
    printf("gateway: listening on port %d\n", ntohs(address.sin_port));
    fflush(stdout);
    return opened;
}

int main(int count, char **arguments)
{
    if (count != 4 && count != 5) {
        fprintf(stderr, "usage: gateway ADDRESS:PORT MODEL URL [TIMEOUT]\n");
        return 2;
    }
    torqued_problem problem;
    torqued_server  server = {.url        = arguments[3],
                              .token_file = getenv("TORQUED_TOKEN_FILE"),
                              .timeout    = count > 4 ? strtod(arguments[4], NULL) : TIMEOUT};
    torqued_client *client = torqued_open(&server, &problem);
    if (!client) {
        fprintf(stderr, "gateway: %s\n", problem.detail);
        return 2;
    }
    struct sigaction end = {.sa_handler = stop}; /* without SA_RESTART: recvfrom returns */
    sigaction(SIGTERM, &end, NULL);
    sigaction(SIGINT, &end, NULL);
    int opened = open_socket(arguments[1]);
    if (opened < 0) {
        fprintf(stderr, "gateway: cannot listen on %s\n", arguments[1]);
        torqued_close(client);
        return 2;
    }
    telegram           t;
    struct sockaddr_in sender;
    int                last_status = OK;
    while (!stopped && receive(opened, &t, &sender)) {
        answer(client, arguments[2], &t, &last_status);
        if (sendto(opened, t.bytes, t.length, 0, (struct sockaddr *)&sender, sizeof sender) < 0)
            fprintf(stderr, "gateway: the answer cannot be sent: %s\n", strerror(errno));
    }
    close(opened);
    torqued_close(client);
}
