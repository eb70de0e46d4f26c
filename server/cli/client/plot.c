/* plot.c - implement `torqued plot`: draw the answer of an operation over time, or over the rows of a batch.
 *
 * gnuplot draws, as a program that reads its script from a pipe: it has axes, ticks, legends, SVG and PNG, and is a
 * process of its own. libplplot draws no better and would have to be loaded by dlopen with a hundred functions; cairo
 * has lines and letters alone. So the server depends on nothing, and the command says what to install. */
#define _GNU_SOURCE /* environ, pipe2 */
#include "call.h"
#include "client_commands.h"
#include "output.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WIDTH = 1000, PANEL_HEIGHT = 260, LINES_MOST = 40, PANELS_MOST = 16, NAME_SIZE = 1200 };

const cli_option cli_plot_options[] = {
    {"output", "FILE", CLI_FILE, NULL, "picture to write, FILE.svg or FILE.png (default: SVG to standard output)"},
    {"show", "NAMES", CLI_NOTHING, NULL,
     "arrays of the answer to draw, with commas between, such as q,tau (default: all)"},
    {.name = NULL},
};

/* Units of the arrays that have one for all joints, in the order "rotation or translation". */
static const char *unit_of(const char *name)
{
    static const struct {
        const char *name, *unit;
    } units[] = {{"q", "rad, m"},         {"qd", "rad/s, m/s"},     {"qd_after", "rad/s, m/s"},
                 {"qdd", "rad/s², m/s²"}, {"qddd", "rad/s³, m/s³"}, {"tau", "N m, N"},
                 {"motor_tau", "N m, N"}, {"bias", "N m, N"},       {"gravity", "N m, N"},
                 {"coriolis", "N m, N"},  {"friction", "N m, N"},   {"tau_dot", "N m/s, N/s"},
                 {"kinetic", "J"},        {"potential", "J"},       {"actuator_work", "J"},
                 {"friction_work", "J"},  {"wrench_work", "J"},     {"com", "m"},
                 {"mass", "kg"}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcmp(units[i].name, name) == 0) return units[i].unit;
    return NULL;
}

static bool is_png(const char *file)
{
    const char *dot = strrchr(file, '.');
    return dot && strcasecmp(dot, ".png") == 0;
}

/* --- the script -------------------------------------------------------------------------------------------------- */

/* Prints a text in single quotes of gnuplot, where only the quote itself is special; line breaks become spaces. */
static void print_quoted(FILE *to, const char *text)
{
    putc('\'', to);
    for (; *text; text++) {
        if (*text == '\'') putc('\'', to);
        putc(*text == '\n' || *text == '\r' ? ' ' : *text, to);
    }
    putc('\'', to);
}

static bool is_drawn(const cli_array *array, const char *show)
{
    bool chosen = show ? cli_field_is_chosen(show, array->path) : strcmp(array->path, "times") != 0;
    return chosen && !array->constant && array->entries > 0 && array->entries <= LINES_MOST;
}

static void print_data(FILE *to, const cli_batch *batch, const cli_array *array, const cli_array *times)
{
    fputs("$data << END\n", to);
    for (size_t row = 0; row < batch->rows; row++) {
        if (times)
            fprintf(to, "%.17g", *cli_row(times, row));
        else
            fprintf(to, "%zu", row);
        for (size_t entry = 0; entry < array->entries; entry++)
            fprintf(to, " %.17g", cli_row(array, row)[entry]);
        putc('\n', to);
    }
    fputs("END\n", to);
}

/* Sets the range of the y axis: five percent more than the finite values have, or one more for a constant. */
static void print_range(FILE *to, const cli_batch *batch, const cli_array *array)
{
    double least = INFINITY, most = -INFINITY;
    for (size_t i = 0; i < batch->rows * array->entries; i++) {
        least = fmin(least, isfinite(array->values[i]) ? array->values[i] : INFINITY);
        most  = fmax(most, isfinite(array->values[i]) ? array->values[i] : -INFINITY);
    }
    if (least > most) least = most = 0;
    double margin = most - least > 1e-12 * fmax(fabs(least), fabs(most)) ? 0.05 * (most - least) : 1 + fabs(most) / 100;
    fprintf(to, "set yrange [%.9g:%.9g]\n", least - margin, most + margin);
}

/* Draws one array: a line for each of its entries; points if there is a single row. */
static void print_panel(FILE *to, const cli_call *call, const cli_batch *batch, const cli_array *array,
                        const cli_array *times)
{
    char        name[NAME_SIZE], label[NAME_SIZE + 40];
    cli_array   whole = *array;
    const char *unit  = unit_of(array->path);
    whole.rank        = 0;
    cli_column_name(NULL, &whole, 0, name, sizeof name);
    snprintf(label, sizeof label, "%s%s%s%s", name, unit ? " (" : "", unit ? unit : "", unit ? ")" : "");
    print_data(to, batch, array, times);
    print_range(to, batch, array);
    fputs("set ylabel ", to);
    print_quoted(to, label);
    fputs("\nplot ", to);
    for (size_t entry = 0; entry < array->entries; entry++) {
        const char *short_name;
        cli_column_name(&call->coordinates, array, entry, name, sizeof name);
        short_name = strchr(name, '.') && array->rank > 0 ? strchr(name, '.') + 1 : name;
        fprintf(to, "%s$data using 1:%zu with %s title ", entry > 0 ? ", " : "", entry + 2,
                batch->rows > 1 ? "lines linewidth 1.5" : "points pointtype 7");
        print_quoted(to, short_name);
    }
    putc('\n', to);
}

static void print_script(FILE *to, const cli_call *call, const cli_batch *batch, const char *file, const char *show)
{
    const cli_array *times  = cli_batch_find(batch, "times");
    size_t           panels = 0;
    char             title[300];
    if (times && (times->rank > 0 || times->constant)) times = NULL;
    for (size_t i = 0; i < batch->n_arrays; i++)
        panels += is_drawn(&batch->arrays[i], show);
    if (panels > PANELS_MOST) panels = PANELS_MOST;
    fprintf(to, "set terminal %s size %d,%zu noenhanced font 'sans,11' background rgb 'white'\n",
            file && is_png(file) ? "pngcairo" : "svg", WIDTH, panels * PANEL_HEIGHT + 40);
    if (file) fputs("set output ", to);
    if (file) print_quoted(to, file);
    snprintf(title, sizeof title, "%.80s: %.80s", call->model, call->operation);
    fprintf(to, "\nset multiplot layout %zu,1 title ", panels);
    print_quoted(to, title);
    fputs("\nset grid\nset key outside right top\nset lmargin 12\nset rmargin 24\nset datafile missing 'nan'\nset "
          "xlabel ",
          to);
    print_quoted(to, times ? "time (s)" : "row");
    putc('\n', to);
    for (size_t i = 0; i < batch->n_arrays && panels > 0; i++)
        if (is_drawn(&batch->arrays[i], show)) {
            print_panel(to, call, batch, &batch->arrays[i], times);
            panels--;
        }
    fputs("unset multiplot\nset output\n", to);
}

/* --- the program ------------------------------------------------------------------------------------------------- */

/* Starts gnuplot; *script is the stream that it reads. Returns its process id, or -1 after printing an error. */
static pid_t start_gnuplot(FILE **script)
{
    char                      *argv[] = {(char *)(uintptr_t) "gnuplot", (char *)(uintptr_t) "-", NULL};
    posix_spawn_file_actions_t actions;
    int                        ends[2], code;
    pid_t                      process;
    if (pipe2(ends, O_CLOEXEC) != 0) return cli_fail(-1, "cannot make a pipe: %s", strerror(errno));
    code = posix_spawn_file_actions_init(&actions);
    if (code == 0) code = posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
    if (code == 0) code = posix_spawnp(&process, "gnuplot", &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[0]);
    if (code == 0) *script = fdopen(ends[1], "w");
    if (code == 0 && *script) return process;
    close(ends[1]);
    if (code == ENOENT) return cli_fail(-1, "plot needs the program gnuplot; on Debian: apt-get install gnuplot-nox");
    return cli_fail(-1, "cannot start gnuplot: %s", strerror(code));
}

static bool draw(const cli_call *call, const cli_batch *batch, const char *file, const char *show)
{
    FILE *script  = NULL;
    int   status  = 0;
    pid_t gnuplot = start_gnuplot(&script);
    if (gnuplot < 0) return false;
    print_script(script, call, batch, file, show);
    bool written = fclose(script) == 0;
    while (waitpid(gnuplot, &status, 0) < 0 && errno == EINTR)
        ;
    if (written && WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
    if (file) unlink(file);
    return cli_error("gnuplot failed");
}

/* Checks that the answer has something to draw, and notes what is left out. */
static bool check(const cli_batch *batch, const char *show)
{
    size_t drawn = 0;
    for (size_t i = 0; i < batch->n_arrays; i++) {
        const cli_array *a = &batch->arrays[i];
        drawn += is_drawn(a, show);
        if (!is_drawn(a, show) && a->entries > LINES_MOST && (!show || cli_field_is_chosen(show, a->path)))
            fprintf(stderr, "torqued: note: %s has %zu entries in a row and is not drawn; at most %d are\n", a->path,
                    a->entries, LINES_MOST);
    }
    if (drawn > 0) return true;
    fputs("torqued: the answer has nothing to draw; its arrays are", stderr);
    for (size_t i = 0; i < batch->n_arrays; i++)
        fprintf(stderr, " %s", batch->arrays[i].path);
    fputc('\n', stderr);
    return false;
}

/* --- the command ------------------------------------------------------------------------------------------------- */

static bool add_part(void *arg, const cli_batch *part)
{
    cli_report_rest(part, ((cli_batch *)arg)->rows);
    return cli_batch_append(arg, part);
}

int cli_plot(const cli_arguments *arguments)
{
    cli_call    call;
    cli_batch   all  = {0};
    const char *file = cli_value(arguments, "output"), *dot = file ? strrchr(file, '.') : NULL;
    if (file && !(dot && (strcasecmp(dot, ".svg") == 0 || strcasecmp(dot, ".png") == 0)))
        return cli_fail(2, "--output is \"%.200s\"; expected FILE.svg or FILE.png", file);
    if (!file && isatty(STDOUT_FILENO))
        return cli_fail(2, "a picture is not for a terminal; name a file with --output");
    signal(SIGPIPE, SIG_IGN); /* if gnuplot ends early, writing fails */
    cli_sink    sink = {.arg = &all, .add = add_part};
    bool        good = cli_call_open(&call, arguments) && cli_call_coordinates(&call) && cli_call_run(&call, &sink);
    const char *show = cli_value(arguments, "show");
    good             = good && check(&all, show) && draw(&call, &all, file, show);
    cli_batch_free(&all);
    cli_call_close(&call);
    return good ? 0 : 1;
}
