/* feedforward.c - asks for the torques of a planned motion 1000 times a second, and prints how punctual they were.
 * cc feedforward.c torqued.c -lcurl -lpthread -lm
 *
 *     feedforward [-u URL] [-s SOCKET] [-a CERTIFICATES] [-k TOKEN_FILE]
 *                 [-t SECONDS] [-r HERTZ] [-p PRIORITY] [-c CPU] [-n]
 *
 * At every tick the program sends position, velocity and acceleration of a Panda and waits for the torques. -p makes it
 * a real-time thread (SCHED_FIFO), -c binds it to one CPU. With -n it sends nothing: its lateness is then that of the
 * machine's timers alone. deploy/REALTIME.md says what to expect. */
#define _GNU_SOURCE /* CPU_SET */
#include "torqued.h"
#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { JOINTS = 7, WARM_UP = 100, FAILURES_MOST = 10 };

typedef struct settings {
    torqued_server server;
    double         seconds, rate; /* s, Hz */
    int            priority, cpu; /* 0: default scheduling; -1: any CPU */
    bool           sleep_only;
} settings;

typedef struct loop {
    torqued_client *client;        /* NULL: sleeps only */
    double          tau[JOINTS];   /* N m, of the last answer in time */
    uint64_t        period, *late; /* ns; `late`[samples]: from the tick to its torques */
    long            ticks, samples, missed, failures;
} loop;

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void wait_until(uint64_t ns)
{
    struct timespec t = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) != 0)
        ;
}

/* The torques that the motion needs at the time `t`, s. False if the server did not give them. */
static bool torques(torqued_client *client, double t, double *tau)
{
    static const double rest[JOINTS] = {0, -0.5, 0, -2, 0, 1.5, 0.5}, w = 3.141592653589793; /* rad, rad/s */
    double              q[JOINTS], qd[JOINTS], qdd[JOINTS];
    for (int j = 0; j < JOINTS; j++) {
        q[j]   = rest[j] + 0.2 * (1 - cos(w * t));
        qd[j]  = 0.2 * w * sin(w * t);
        qdd[j] = 0.2 * w * w * cos(w * t);
    }
    torqued_input  in[] = {{"q", q, {JOINTS}}, {"qd", qd, {JOINTS}}, {"qdd", qdd, {JOINTS}}};
    torqued_output out  = {"tau", tau, JOINTS};
    torqued_call   call = {"panda", "inverse-dynamics", NULL, in, 3, &out, 1};
    return torqued_evaluate(client, &call) == TORQUED_OK;
}

/* One tick at the time `start` + n periods. Returns the number of ticks until the next one: more than one if the answer
 * came too late, and then the drives have kept their torques. */
static long run_tick(loop *l, uint64_t start, long n)
{
    uint64_t due = start + (uint64_t)n * l->period;
    double   tau[JOINTS];
    wait_until(due);
    bool     ok     = !l->client || torques(l->client, (double)n * (double)l->period * 1e-9, tau);
    uint64_t took   = now() - due;
    long     passed = (long)(took / l->period);
    if (l->client && ok && passed == 0) memcpy(l->tau, tau, sizeof tau); /* here the drives get their torques */
    l->failures           = ok ? 0 : l->failures + 1;
    l->late[l->samples++] = took;
    l->missed += ok ? passed : passed + 1;
    return 1 + passed;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* us below which the share `part` of the sorted samples lies */
static double percentile(const loop *l, double part)
{
    long rank = (long)ceil(part * (double)l->samples) - 1;
    return (double)l->late[rank < 0 ? 0 : rank] / 1000;
}

static void report(loop *l)
{
    qsort(l->late, (size_t)l->samples, sizeof *l->late, compare);
    printf("ticks=%ld missed=%ld p50=%.1f p99=%.1f p99.9=%.1f max=%.1f\n", l->ticks, l->missed, percentile(l, 0.5),
           percentile(l, 0.99), percentile(l, 0.999), percentile(l, 1));
    if (!l->client) return;
    printf("tau");
    for (int j = 0; j < JOINTS; j++)
        printf(" %.17g", l->tau[j]);
    putchar('\n');
}

/* Real-time scheduling, one CPU, no page faults. False with a message of what the system refused. */
static bool prepare(const settings *s)
{
    struct sched_param parameter = {.sched_priority = s->priority};
    cpu_set_t          set;
    CPU_ZERO(&set);
    if (s->cpu >= 0) CPU_SET((size_t)s->cpu, &set);
    const char *refused = NULL;
    if (s->cpu >= 0 && sched_setaffinity(0, sizeof set, &set) != 0) refused = "sched_setaffinity";
    if (s->priority > 0 && sched_setscheduler(0, SCHED_FIFO, &parameter) != 0) refused = "sched_setscheduler";
    if (s->priority > 0 && mlockall(MCL_CURRENT | MCL_FUTURE) != 0) refused = "mlockall";
    if (refused) perror(refused);
    return !refused;
}

static bool read_settings(settings *s, int count, char **arguments)
{
    for (int option; (option = getopt(count, arguments, "u:s:a:k:t:r:p:c:n")) != -1;)
        switch (option) {
        case 'u': s->server.url = optarg; break;
        case 's': s->server.unix_socket = optarg; break;
        case 'a': s->server.ca_file = optarg; break;
        case 'k': s->server.token_file = optarg; break;
        case 't': s->seconds = atof(optarg); break;
        case 'r': s->rate = atof(optarg); break;
        case 'p': s->priority = atoi(optarg); break;
        case 'c': s->cpu = atoi(optarg); break;
        case 'n': s->sleep_only = true; break;
        default: return false;
        }
    return optind == count && s->rate >= 1 && s->rate <= 1e5 && s->seconds * s->rate >= 1 && s->seconds <= 86400 &&
           s->priority >= 0 && s->cpu < CPU_SETSIZE;
}

int main(int count, char **arguments)
{
    settings s = {.server = {.timeout = 0.1}, .seconds = 10, .rate = 1000, .cpu = -1};
    if (!read_settings(&s, count, arguments)) {
        fputs("usage: feedforward [-u URL] [-s SOCKET] [-a CERTIFICATES] [-k TOKEN_FILE]\n"
              "                   [-t SECONDS] [-r HERTZ] [-p PRIORITY] [-c CPU] [-n]\n",
              stderr);
        return 2;
    }
    loop l   = {.period = (uint64_t)(1e9 / s.rate), .ticks = (long)(s.seconds * s.rate)};
    l.late   = calloc((size_t)l.ticks, sizeof *l.late);
    l.client = s.sleep_only ? NULL : torqued_open(&s.server, NULL);
    if (!l.late || (!l.client && !s.sleep_only) || !prepare(&s)) {
        torqued_close(l.client);
        free(l.late);
        return 1;
    }

    bool connected = true; /* the first calls connect and allocate */
    for (int i = 0; l.client && connected && i < WARM_UP; i++)
        connected = torques(l.client, 0, l.tau);
    uint64_t start = now() + l.period;
    for (long n = 0; connected && n < l.ticks && l.failures < FAILURES_MOST;)
        n += run_tick(&l, start, n);
    if (!connected || l.failures > 0)
        fprintf(stderr, "the last call failed: %s\n", torqued_last_problem(l.client)->detail);
    if (l.samples > 0) report(&l);
    torqued_close(l.client);
    free(l.late);
    return l.samples > 0 && l.failures < FAILURES_MOST ? 0 : 1;
}
