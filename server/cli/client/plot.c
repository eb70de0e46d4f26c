/* plot.c - implement `torqued plot`: draw the answer of an operation over time, or over the rows of a batch.
 *
 * gnuplot draws, as a program that reads its script from a pipe: it has axes, ticks, SVG and PNG, and is a process of
 * its own. libplplot draws no better and would have to be loaded by dlopen with a hundred functions; cairo has lines
 * and letters alone. So the server depends on nothing, and the command says what to install. gnuplot writes the picture
 * to a file in memory, since it reports no error of writing; the command writes it to the disk. */
#define _GNU_SOURCE /* environ, memfd_create, pipe2 */
#include "client_commands.h"
#include "output.h"
#include "plot_script.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BLOCK = 65536 };

const cli_option cli_plot_options[] = {
    {"output", "FILE", CLI_FILE, NULL,
     "picture to write, FILE.svg or FILE.png (default: SVG to standard output). FILE keeps its earlier content until "
     "the "
     "picture is complete, and if the command fails or is interrupted"},
    {"show", "NAMES", CLI_NOTHING, NULL,
     "arrays of the answer to draw, with commas between, such as q,tau (default: all)"},
    {.name = NULL},
};

static bool ends_in(const char *file, const char *extension)
{
    const char *dot = strrchr(file, '.');
    return dot && strcasecmp(dot, extension) == 0;
}

/* --- the program ------------------------------------------------------------------------------------------------- */

/* Starts gnuplot with `picture` as its standard output; *script is the stream that it reads. Returns its process id, or
 * -1 after printing an error. */
static pid_t start_gnuplot(int picture, FILE **script)
{
    char                      *argv[] = {(char *)(uintptr_t) "gnuplot", (char *)(uintptr_t) "-", NULL};
    posix_spawn_file_actions_t actions;
    int                        ends[2], code;
    pid_t                      process;
    if (pipe2(ends, O_CLOEXEC) != 0) return cli_fail(-1, "cannot make a pipe: %s", strerror(errno));
    setenv("LC_ALL", "C.UTF-8", 1); /* gnuplot converts its own signs from the encoding of the locale */
    code = posix_spawn_file_actions_init(&actions);
    if (code == 0) code = posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
    if (code == 0) code = posix_spawn_file_actions_adddup2(&actions, picture, STDOUT_FILENO);
    if (code == 0) code = posix_spawnp(&process, "gnuplot", &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[0]);
    if (code == 0) *script = fdopen(ends[1], "w");
    if (code == 0 && *script) return process;
    close(ends[1]);
    if (code == ENOENT) return cli_fail(-1, "plot needs the program gnuplot; on Debian: apt-get install gnuplot-nox");
    return cli_fail(-1, "cannot start gnuplot: %s", strerror(code));
}

/* Lets gnuplot draw the picture into the file. False after printing an error. */
static bool draw(const cli_plot_script *plot, int picture)
{
    FILE *script  = NULL;
    int   status  = 0;
    pid_t gnuplot = start_gnuplot(picture, &script);
    if (gnuplot < 0) return false;
    cli_plot_print(plot, script);
    bool written = fclose(script) == 0;
    while (waitpid(gnuplot, &status, 0) < 0 && errno == EINTR)
        ;
    return (written && WIFEXITED(status) && WEXITSTATUS(status) == 0) || cli_error("gnuplot failed");
}

/* Copies the picture to the output. False after printing an error. */
static bool copy(int picture, const cli_output_file *output)
{
    char    block[BLOCK];
    ssize_t length = -1;
    off_t   offset = 0;
    while ((length = pread(picture, block, sizeof block, offset)) > 0) {
        fwrite(block, 1, (size_t)length, output->stream);
        if (!cli_output_file_check(output)) return false;
        offset += length;
    }
    if (length < 0) return cli_error("cannot read the picture of gnuplot: %s", strerror(errno));
    return offset > 0 || cli_error("gnuplot has drawn nothing");
}

/* --- the command ------------------------------------------------------------------------------------------------- */

static bool add_part(void *arg, const cli_batch *part)
{
    cli_report_rest(part, ((cli_batch *)arg)->rows);
    return cli_batch_append(arg, part);
}

/* Returns the first word of --show that is no array of the answer; NULL: each is one. */
static const char *missing_word(const cli_plot_script *plot)
{
    for (const char *word = plot->show; word; word = word[strcspn(word, ",")] ? strchr(word, ',') + 1 : NULL) {
        const size_t length = strcspn(word, ",");
        bool         found  = false;
        for (size_t i = 0; i < plot->batch->n_arrays; i++) {
            const char *path = plot->batch->arrays[i].path;
            found |= strlen(path) == length && memcmp(path, word, length) == 0;
        }
        if (!found) return word;
    }
    return NULL;
}

/* Checks that the answer has all that is asked for and something to draw, and notes what is left out. */
static bool check_plot(const cli_plot_script *plot)
{
    const cli_batch *batch = plot->batch;
    size_t           drawn = 0;
    for (size_t i = 0; i < batch->n_arrays; i++) {
        const cli_array *a = &batch->arrays[i];
        drawn += cli_plot_draws(plot, a);
        if (a->entries > CLI_LINES_MOST && (!plot->show || cli_field_is_chosen(plot->show, a->path)))
            fprintf(stderr, "torqued: note: %s has %zu entries in a row and is not drawn; at most %d are\n", a->path,
                    a->entries, CLI_LINES_MOST);
    }
    const char *missing = missing_word(plot);
    if (drawn > 0 && !missing) return true;
    if (missing)
        fprintf(stderr, "torqued: --show names \"%.*s\", which the answer does not have; its arrays are",
                (int)strcspn(missing, ","), missing);
    else
        fputs("torqued: the answer has nothing to draw; its arrays are", stderr);
    for (size_t i = 0; i < batch->n_arrays; i++)
        fprintf(stderr, " %s", batch->arrays[i].path);
    fputc('\n', stderr);
    return false;
}

/* Evaluates the operation, and draws its answer into the output. False after printing an error. */
static bool draw_answer(cli_call *call, const char *file, const cli_output_file *output)
{
    cli_batch       all  = {0};
    cli_sink        sink = {.arg = &all, .takes = CLI_NO_FORMAT, .add = add_part};
    char            title[300];
    cli_plot_script plot = {.title       = title,
                            .batch       = &all,
                            .coordinates = &call->coordinates,
                            .show        = cli_value(call->arguments, "show"),
                            .png         = file && ends_in(file, ".png")};
    snprintf(title, sizeof title, "%.80s: %.80s", call->model, call->operation);
    bool good    = cli_call_coordinates(call) && cli_call_run(call, &sink) && check_plot(&plot);
    int  picture = good ? memfd_create("picture", MFD_CLOEXEC) : -1;
    if (good && picture < 0) good = cli_error("no memory for the picture: %s", strerror(errno));
    good = good && draw(&plot, picture) && copy(picture, output);
    if (picture >= 0) close(picture);
    cli_batch_free(&all);
    return good;
}

int cli_plot(const cli_arguments *arguments)
{
    cli_call        call;
    cli_output_file output = {0};
    const char     *file   = cli_value(arguments, "output");
    if (file && !ends_in(file, ".svg") && !ends_in(file, ".png"))
        return cli_fail(2, "--output is \"%.200s\"; expected FILE.svg or FILE.png", file);
    if (!file && isatty(STDOUT_FILENO))
        return cli_fail(2, "a picture is not for a terminal; name a file with --output");
    signal(SIGPIPE, SIG_IGN); /* if gnuplot ends early, writing fails */
    int status = cli_call_open(&call, arguments);
    if (status == 0) {
        bool good =
            cli_output_file_open(&output, file) && draw_answer(&call, file, &output) && cli_output_file_keep(&output);
        status = good ? 0 : 1;
    }
    cli_output_file_discard(&output);
    cli_call_close(&call);
    return status;
}
