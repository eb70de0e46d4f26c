/* successor.c - starts the program anew with the listening sockets, and speaks with it until it accepts connections. */
#define _GNU_SOURCE /* close_range */
#include "successor.h"
#include "server/work/clock.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FIRST = 3, NUMBER_SIZE = 24, GO_WAIT_MS = 60000 };

static const uint64_t longest_start = 300000000000; /* ns; TimeoutStartSec of torqued.service */

static const char LOADED = 'l', GO = 'g', ACCEPTING = 'a';

extern char **environ;

static struct {
    char               path[PATH_MAX];
    char             **arguments;
    int                policy; /* policy of the process at the start; the main thread leaves a real-time policy later */
    struct sched_param priority;
} program;

void srv_successor_remember(char **arguments)
{
    ssize_t length                        = readlink("/proc/self/exe", program.path, sizeof program.path - 1);
    program.path[length > 0 ? length : 0] = '\0';
    program.arguments                     = arguments;
    program.policy                        = sched_getscheduler(0);
    sched_getparam(0, &program.priority);
}

/* --- the environment ---------------------------------------------------------------------------------------------- */

/* True for variables that the successor gets with other values, or not at all: WATCHDOG_PID names this process, and
 * without it the interval of systemd applies to the successor. */
static bool is_of_activation(const char *variable)
{
    static const char *const replaced[] = {"LISTEN_PID=", "LISTEN_FDS=", "LISTEN_FDNAMES=", "WATCHDOG_PID="};
    for (size_t i = 0; i < sizeof replaced / sizeof *replaced; i++)
        if (strncmp(variable, replaced[i], strlen(replaced[i])) == 0) return true;
    return false;
}

/* The environment of the successor. `process` is filled in after fork, which knows the number. */
typedef struct environment {
    char **variables;
    char   process[sizeof "LISTEN_PID=" + NUMBER_SIZE], count[sizeof "LISTEN_FDS=" + NUMBER_SIZE];
    char  *names;
} environment;

static bool make_environment(environment *e, const srv_passed *passed, size_t n)
{
    size_t size, count = 0, kept = 0;
    FILE  *names = open_memstream(&e->names, &size);
    if (!names) return false;
    fputs("LISTEN_FDNAMES=", names);
    for (size_t i = 0; i < n; i++)
        fprintf(names, "%s%s", i > 0 ? ":" : "", passed[i].name);
    if (fclose(names) != 0) return false;
    snprintf(e->process, sizeof e->process, "LISTEN_PID=");
    snprintf(e->count, sizeof e->count, "LISTEN_FDS=%zu", n);
    while (environ[count])
        count++;
    e->variables = calloc(count + 4, sizeof *e->variables);
    for (size_t i = 0; e->variables && i < count; i++)
        if (!is_of_activation(environ[i])) e->variables[kept++] = environ[i];
    if (!e->variables) return false;
    e->variables[kept++] = e->process;
    e->variables[kept++] = e->count;
    e->variables[kept]   = e->names;
    return true;
}

/* --- the new process ---------------------------------------------------------------------------------------------- */

/* Appends the number of this process to LISTEN_PID=, without functions that are not safe after fork. */
static void write_process(char *text)
{
    char   digits[NUMBER_SIZE];
    size_t n   = 0;
    long   pid = (long)getpid();
    text += strlen(text);
    for (; pid > 0; pid /= 10)
        digits[n++] = (char)('0' + pid % 10);
    while (n > 0)
        *text++ = digits[--n];
    *text = '\0';
}

/* Moves the descriptors to FIRST and following, and executes the program. Runs between fork and exec, where only
 * functions that are safe in a signal handler may be called. Does not return. */
static void become_successor(environment *e, srv_passed *passed, size_t n)
{
    int above = FIRST + (int)n;
    for (size_t i = 0; i < n; i++)
        passed[i].fd = fcntl(passed[i].fd, F_DUPFD, above); /* moves the descriptor above all targets of dup2 */
    for (size_t i = 0; i < n; i++)
        if (passed[i].fd < 0 || dup2(passed[i].fd, FIRST + (int)i) < 0) _exit(127);
    close_range((unsigned)above, ~0U, 0);
    write_process(e->process);
    if (program.policy != sched_getscheduler(0) && sched_setscheduler(0, program.policy, &program.priority) != 0)
        _exit(126); /* without its real-time policy the successor would be late */
    execve(program.path, program.arguments, e->variables);
    _exit(127);
}

static void free_environment(environment *e)
{
    free(e->variables);
    free(e->names);
}

/* Adds the other end of the control link to the descriptors, and forks. */
static bool fork_successor(srv_successor *successor, const srv_passed *passed, size_t n, int end)
{
    environment e    = {.variables = NULL};
    srv_passed *all  = calloc(n + 1, sizeof *all);
    bool        made = all != NULL;
    if (all) {
        memcpy(all, passed, n * sizeof *all);
        all[n] = (srv_passed){end, srv_handover_names[SRV_END_CONTROL]};
        made   = make_environment(&e, all, n + 1);
    }
    successor->process = made ? fork() : -1;
    if (successor->process == 0) become_successor(&e, all, n + 1);
    int error = made ? errno : ENOMEM;
    free_environment(&e);
    free(all);
    errno = error;
    return successor->process > 0;
}

bool srv_successor_start(srv_successor *successor, const srv_passed *passed, size_t n)
{
    int ends[2];
    *successor = (srv_successor){.control = -1};
    if (!*program.path || n + 1 > SRV_INHERITED_MOST) {
        errno = *program.path ? EMFILE : ENOENT;
        return false;
    }
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return false;
    successor->control = ends[0];
    successor->end     = srv_now() + longest_start;
    bool started       = fork_successor(successor, passed, n, ends[1]);
    int  error         = errno;
    close(ends[1]);
    if (!started) {
        close(ends[0]);
        *successor = (srv_successor){.control = -1};
    }
    errno = error;
    return started;
}

srv_handover_event srv_successor_look(srv_successor *successor)
{
    char          message  = '\0';
    struct pollfd control  = {.fd = successor->control, .events = POLLIN};
    bool          has_news = poll(&control, 1, 0) > 0;
    bool          received = has_news && read(successor->control, &message, 1) == 1;
    if (received && message == LOADED) return SRV_HANDOVER_LOADED;
    if (received && message == ACCEPTING) return SRV_HANDOVER_ACCEPTING;
    if (!has_news && srv_now() < successor->end) return SRV_HANDOVER_NOTHING;
    srv_successor_stop(successor);
    return SRV_HANDOVER_FAILED;
}

void srv_successor_go(const srv_successor *successor)
{
    (void)!send(successor->control, &GO, 1, MSG_NOSIGNAL);
}

void srv_successor_stop(srv_successor *successor)
{
    if (successor->process <= 0) return;
    kill(successor->process, SIGKILL); /* the process has accepted no connection and changed no model */
    while (waitpid(successor->process, NULL, 0) < 0 && errno == EINTR)
        continue;
    close(successor->control);
    *successor = (srv_successor){.control = -1};
}

/* --- in the successor --------------------------------------------------------------------------------------------- */

bool srv_predecessor_tell_loaded(int control)
{
    char          answer = '\0';
    struct pollfd ready  = {.fd = control, .events = POLLIN};
    return send(control, &LOADED, 1, MSG_NOSIGNAL) == 1 && poll(&ready, 1, GO_WAIT_MS) > 0 &&
           read(control, &answer, 1) == 1 && answer == GO;
}

void srv_predecessor_tell_accepting(int control)
{
    (void)!send(control, &ACCEPTING, 1, MSG_NOSIGNAL);
    close(control);
}
