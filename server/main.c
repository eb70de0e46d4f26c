/* main.c - run the server: read the configuration, start the threads, load the models, wait for a signal to stop.
 *
 * Threads: the main thread, which loads the models and then waits for signals; one or more loops; the workers; the
 * writer of the log. The server listens before it loads, so that /readyz can answer "loading". Exit status: 0
 * stopped by a signal or handed over to a new process, 1 could not start, 2 invalid arguments. */
#include "server/cli/commands.h"
#include "server/cli/help.h"
#include "server/memory/disposal.h"
#include "server/operating/build_id.h"
#include "server/operating/memory_needs.h"
#include "server/process/service.h"
#include "server/work/cores.h"
#include "server/work/priority.h"
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* OTHER_DESCRIPTORS: also those of the connections for probes. */
enum { LOOP_DESCRIPTORS = 9 + SRV_LISTEN_MOST, OTHER_DESCRIPTORS = 160 };

/* Raises the soft limit of descriptors, usually 1024, as far as the hard limit allows: every connection needs one. */
static void raise_descriptors(srv_service *s)
{
    struct rlimit limit;
    rlim_t        needed = s->config.connections + s->config.loops * LOOP_DESCRIPTORS + OTHER_DESCRIPTORS;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed) return;
    limit.rlim_cur = limit.rlim_max < needed ? limit.rlim_max : needed;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur >= needed) return;
    size_t others = (size_t)needed - s->config.connections;
    size_t room   = limit.rlim_cur > others ? (size_t)limit.rlim_cur - others : 1;
    srv_log_message(&s->log, SRV_WARNING, "descriptors",
                    "the limit of %llu descriptors leaves %zu connections, not %zu", (unsigned long long)limit.rlim_cur,
                    room, s->config.connections);
    s->config.connections = room;
}

static void lock_memory(srv_service *s)
{
    if (srv_lock_memory()) return;
    srv_log_message(&s->log, SRV_WARNING, "memory",
                    "the memory of this real-time process is not locked: %s; it needs LimitMEMLOCK=infinity",
                    strerror(errno));
}

/* Derives the numbers of threads that are not set. A loop answers tens of thousands of light requests per second, a
 * worker a few heavy ones, so most cores go to workers. Loops and workers together do not exceed the cores:
 * otherwise light requests wait for the scheduler. */
static void share_cores(srv_config *config, size_t cores)
{
    if (config->loops == 0) config->loops = cores / 4 > 0 ? cores / 4 : 1;
    if (config->loops > SRV_LOOPS_MOST) config->loops = SRV_LOOPS_MOST;
    if (config->workers == 0) config->workers = cores > config->loops ? cores - config->loops : 1;
}

/* Configures malloc to keep freed memory, up to SRV_KEPT_BYTES per arena, for later requests: a page fresh from the
 * kernel costs more than processing its numbers. Only blocks of at least SRV_MAPPED_BYTES, glibc's maximum, are
 * mapped separately. Each loop has an arena: with a shared one, every twentieth light request waited for its lock. */
static void keep_memory(size_t arenas)
{
    mallopt(M_ARENA_MAX, (int)arenas);
    mallopt(M_MMAP_THRESHOLD, SRV_MAPPED_BYTES);
    mallopt(M_TRIM_THRESHOLD, SRV_KEPT_BYTES);
}

/* Opens the standard descriptors that the caller has closed, so that no file of ours becomes standard output: writing
 * to it then fails, as it would have. */
static void occupy_standard_descriptors(void)
{
    for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; descriptor++)
        if (fcntl(descriptor, F_GETFD) < 0)
            (void)!open("/dev/null",
                        descriptor == STDIN_FILENO
                            ? O_WRONLY
                            : O_RDONLY); /* open() returns the lowest free descriptor, which is `descriptor` */
}

int main(int argc, char **argv)
{
    static srv_service s;
    char               error[1200];
    int                status;
    occupy_standard_descriptors();
    srv_successor_remember(argv);
    if (cli_run(argc, argv, &status)) return status;
    if (argc > 1 && cli_command_named(argv[1])) { /* skips the command `serve`, which is also the default */
        argc--;
        argv++;
    }
    switch (srv_config_read(&s.config, argc, argv, error, sizeof error)) {
    case SRV_HELP: cli_help_overview(stdout); return cli_close_stdout(0);
    case SRV_VERSION: printf("torqued %s (build %s)\n", TORQUED_VERSION, srv_build_id()); return cli_close_stdout(0);
    case SRV_SETTINGS_TABLE: srv_config_table(stdout); return cli_close_stdout(0);
    case SRV_MISUSE: fprintf(stderr, "torqued: %s\n", error); return 2;
    case SRV_SERVE: break;
    }
    if (!srv_inherited_read(&s.inherited, error, sizeof error)) {
        fprintf(stderr, "torqued: %s\n", error);
        return 1;
    }
    s.reloader = (srv_reloader){.argc = argc, .argv = argv, .accepted = s.config};
    share_cores(&s.config, srv_usable_cores());
    keep_memory(s.config.loops);
    if (!srv_log_open(&s.log, &s.config, STDERR_FILENO)) {
        fputs("torqued: no memory or no thread for the log\n", stderr);
        return 1;
    }
    srv_service_log_start(&s);
    raise_descriptors(&s);
    if (s.config.client_connections == 0) s.config.client_connections = s.config.connections - s.config.connections / 4;
    api_metric_add(API_METRIC_CONNECTIONS_LIMIT, API_NO_LABELS, (int64_t)s.config.connections);
    srv_memory_needs_report(&s.config, &s.log);
    lock_memory(&s);
    return srv_service_run(&s);
}
