/* top.c - implement `torqued top`: read /metrics and /readyz again and again, and draw what has happened meanwhile. */
#include "top.h"
#include "screen.h"
#include "server/cli/client/client_commands.h"
#include "server/cli/client/connection.h"
#include <jansson.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

const cli_option cli_top_options[] = {
    {"once", NULL, CLI_NOTHING, NULL,
     "print the figures since the start of the server once, as if standard output were no terminal"},
    {"interval", "SECONDS", CLI_NOTHING, NULL, "time between two readings (default: 1)"},
    {.name = NULL},
};

typedef struct top {
    cli_connection  connection;
    double          interval; /* s */
    cli_top_reading before, now;
    bool            has_before;
    char           *reasons;
    char            state[200];
} top;

/* --- asking ------------------------------------------------------------------------------------------------------- */

static double clock_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Reads the state and the reasons of /readyz, a JSON object or a problem with `reasons`. */
static void read_readiness(top *t)
{
    cli_text reasons = {0};
    json_t  *answer  = json_loads(t->connection.body.bytes, 0, NULL), *reason;
    size_t   i;
    bool     ready = t->connection.status == 200;
    json_array_foreach (json_object_get(answer, "reasons"), i, reason)
        if (ready && json_string_value(reason)) cli_text_print(&reasons, "%s\n", json_string_value(reason));
    const char *detail = json_string_value(json_object_get(answer, "detail"));
    snprintf(t->state, sizeof t->state, "%s", ready ? "ready" : detail ? detail : "not ready");
    free(t->reasons);
    t->reasons = reasons.bytes;
    json_decref(answer);
}

/* Reads all figures. False after printing an error. */
static bool read_metrics(top *t)
{
    cli_connection *c = &t->connection;
    if (!cli_connection_send(c, &(cli_request){.method = "GET", .path = "/readyz"})) return false;
    read_readiness(t);
    if (!cli_connection_ask(c, &(cli_request){.method = "GET", .path = "/metrics", .accept = "text/plain"}))
        return false;
    cli_top_read(&t->now, c->body.bytes, clock_now());
    return true;
}

/* --- drawing ------------------------------------------------------------------------------------------------------ */

/* Draws the figures since the last reading, or since the start of the server if there was none. */
static bool draw_rise(top *t, cli_text *text, cli_top_view *view)
{
    char            interval[64];
    cli_top_reading rises  = t->now;
    double          passed = t->now.time - (t->has_before ? t->before.time : t->now.figures.started);
    time_t          second = (time_t)t->now.time;
    struct tm       local;
    if (t->has_before) cli_top_subtract(&rises, &t->before);
    cli_top_sort(&rises);
    localtime_r(&second, &local);
    snprintf(interval, sizeof interval, "%02d:%02d:%02d%s", local.tm_hour, local.tm_min, local.tm_sec,
             t->has_before ? "" : ", since the start");
    bool by_path   = strncmp(t->connection.listen, "unix:", strlen("unix:")) == 0;
    view->address  = by_path ? t->connection.listen : t->connection.base;
    view->state    = t->state;
    view->reasons  = t->reasons ? t->reasons : "";
    view->seconds  = fmax(passed, 1e-3);
    view->interval = interval;
    cli_top_draw(text, &rises, view);
    return !text->failed;
}

static int print_once(top *t)
{
    cli_text     text = {0};
    cli_top_view view = {0};
    if (!read_metrics(t)) return 1;
    bool done = draw_rise(t, &text, &view);
    if (done) fwrite(text.bytes, 1, text.length, stdout);
    cli_text_free(&text);
    return done ? 0 : cli_fail(1, "out of memory");
}

/* --- the terminal ------------------------------------------------------------------------------------------------- */

static struct termios        before; /* the terminal as it was */
static volatile sig_atomic_t ended;

static void note_signal(int number)
{
    (void)number;
    ended = 1;
}

/* Switches to the alternate screen of the terminal without a cursor, and receives keys without waiting for a line end.
 * The shell's screen comes back at the end. */
static void enter_screen(void)
{
    struct sigaction action = {.sa_handler = note_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    if (tcgetattr(STDIN_FILENO, &before) == 0) {
        struct termios keys = before;
        keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        tcsetattr(STDIN_FILENO, TCSANOW, &keys);
    }
    fputs("\033[?1049h\033[?25l", stdout);
}

static void leave_screen(void)
{
    fputs("\033[?25h\033[?1049l", stdout);
    fflush(stdout);
    tcsetattr(STDIN_FILENO, TCSANOW, &before);
}

/* Waits until the next reading. False: the user ends the command by `q` or a signal. */
static bool wait_for_interval(double seconds)
{
    struct pollfd keys = {.fd = STDIN_FILENO, .events = POLLIN};
    char          key  = 0;
    for (double end = clock_now() + seconds, left; !ended && (left = end - clock_now()) > 0;) {
        if (poll(&keys, 1, (int)ceil(fmin(left, seconds) * 1e3)) <= 0) continue;
        if (read(STDIN_FILENO, &key, 1) != 1) keys.fd = -1; /* no more keys: only signals end the command */
        if (key == 'q') return false;
    }
    return !ended;
}

static cli_top_view view_of_terminal(void)
{
    struct winsize size;
    cli_top_view   view = {.colours = true, .columns = 80, .rows = 24};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return view;
    view.columns = size.ws_col;
    view.rows    = size.ws_row;
    return view;
}

/* Draws one screen in one write. Without an answer the last figures stay, below a line that says so. */
static bool redraw(top *t, bool answered)
{
    cli_text     text = {0};
    cli_top_view view = view_of_terminal();
    view.rows--; /* the cursor stands below the last line */
    cli_text_print(&text, "\033[H");
    if (!answered) snprintf(t->state, sizeof t->state, "no answer: the figures below are old; asking again");
    bool done = draw_rise(t, &text, &view);
    cli_text_print(&text, "\033[J");
    if (done) fwrite(text.bytes, 1, text.length, stdout);
    fflush(stdout);
    cli_text_free(&text);
    return done;
}

static int follow_server(top *t)
{
    if (!read_metrics(t)) return 1; /* a wrong address or token is an error of the command, not of the server */
    t->connection.quiet = true;
    enter_screen();
    bool drawn = true, answered = true;
    do {
        drawn = redraw(t, answered);
        if (answered) t->before = t->now;
        t->has_before = true;
    } while (drawn && wait_for_interval(t->interval) && ((answered = read_metrics(t)), true));
    leave_screen();
    return drawn ? 0 : cli_fail(1, "out of memory");
}

/* Makes the operand the value of --url. */
static void take_url(cli_arguments *arguments, const char *url)
{
    for (size_t list = 0; list < CLI_OPTION_LISTS && arguments->command->options[list]; list++)
        for (size_t i = 0; arguments->command->options[list][i].name; i++)
            if (strcmp(arguments->command->options[list][i].name, "url") == 0) arguments->values[list][i] = url;
}

int cli_top(const cli_arguments *arguments)
{
    static top    t; /* too large for the stack */
    cli_arguments completed = *arguments;
    const char   *url = cli_operand_at(arguments, 0), *terminal = getenv("TERM");
    bool live = !cli_value(arguments, "once") && isatty(STDOUT_FILENO) && terminal && strcmp(terminal, "dumb") != 0;
    if (url) take_url(&completed, url);
    if (!cli_number(arguments, "interval", 0.1, 3600, 1, &t.interval)) return 2;
    int status = cli_connection_open(&t.connection, &completed);
    if (status != 0) return status;
    status = live ? follow_server(&t) : print_once(&t);
    free(t.reasons);
    cli_connection_close(&t.connection);
    return status;
}
