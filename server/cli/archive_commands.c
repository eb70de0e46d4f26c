/* archive_commands.c - implement `torqued backup`, `torqued restore` and `torqued verify`: all models as one file with
 * checksums.
 *
 * A backup contains the models that a server with these settings would serve, bundled ones included, so that restoring
 * it gives the same models everywhere. Deleted bundled models are marked in it. `backup` and `verify` read the store
 * while servers use it; `restore` changes it, and fails while a server uses its folder. */
#include "commands.h"
#include "server/store/durable_file.h"
#include "server/cli/client/output_file.h"
#include "server/cli/client/progress.h"
#include "command_session.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ARCHIVE_MAX = 1 << 30 };

const cli_option cli_archive_options[] = {
    {"unverified", NULL, CLI_NOTHING, NULL, "also take an archive without a manifest, whose bytes nothing can verify"},
    {.name = NULL},
};

static void show_count(void *arg, size_t done, size_t all)
{
    cli_progress *progress = arg;
    cli_progress_show(progress, "torqued", done, all > 0 ? (double)done / (double)all : -1);
}

static void name_damaged(void *arg, const char *name, const char *problem)
{
    cli_progress_end(arg);
    cli_error("%s is damaged: %s", name, problem);
}

static void start_progress(cli_progress *progress)
{
    cli_progress_start(progress);
    progress->unit = "models";
}

/* Opens a session and reads a snapshot of the store. Returns 0, or the exit status after printing the error.
 */
static int open_snapshot(srv_session *s, const cli_arguments *arguments)
{
    char         error[600];
    cli_progress progress;
    int          status = srv_session_open(s, arguments->n_settings, arguments->settings);
    if (status != 0) return status;
    start_progress(&progress);
    s->models.watch = (srv_read_watch){.show = show_count, .damaged = name_damaged, .arg = &progress};
    bool read       = srv_load_snapshot(&s->config, &s->log, s->api, &s->models, error, sizeof error);
    cli_progress_end(&progress);
    if (read) return 0;
    srv_session_close(s);
    return cli_fail(1, "%s", error);
}

static bool print_problem(const api_problem *problem)
{
    return cli_error("%s%s%s", problem->detail, *problem->pointer ? " at " : "", problem->pointer);
}

/* Prints the problem of an archive, with the name of its file. */
static bool print_archive_problem(const char *name, const api_problem *problem)
{
    if (problem->code == API_BAD_JSON)
        return cli_error("%.300s is no backup of torqued, or is cut off: %s", name, problem->detail);
    return cli_error("%.300s: %s%s%s", name, problem->detail, *problem->pointer ? " at " : "", problem->pointer);
}

/* --- backup ----------------------------------------------------------------------------------------------------- */

static void print_time(char *text, size_t size)
{
    struct tm utc;
    time_t    now = time(NULL);
    strftime(text, size, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
}

static bool write_file(const char *name, const char *archive, size_t length)
{
    cli_output_file file;
    if (!cli_output_file_open(&file, name)) return false;
    fwrite(archive, 1, length, file.stream);
    bool kept = cli_output_file_check(&file) && cli_output_file_keep(&file);
    cli_output_file_discard(&file);
    return kept;
}

static bool write_backup(api *service, const char *name)
{
    char        made[40];
    size_t      length = 0;
    api_problem problem;
    api_problem_clear(&problem);
    print_time(made, sizeof made);
    char *archive = api_check_served(service, &problem) ? api_export(service, made, &length, &problem) : NULL;
    bool  written = archive ? write_file(name, archive, length) : print_problem(&problem);
    free(archive);
    return written;
}

int srv_backup(const cli_arguments *arguments)
{
    srv_session s;
    int         status = open_snapshot(&s, arguments);
    if (status != 0) return status;
    status = write_backup(s.api, arguments->operands[0]) ? 0 : 1;
    srv_session_close(&s);
    return status;
}

/* --- verify ----------------------------------------------------------------------------------------------------- */

static char *read_input(const char *name, size_t *length)
{
    char *text = srv_input_read(name, ARCHIVE_MAX, length);
    if (!text) cli_error("cannot read %.300s: %s", name, strerror(errno));
    return text;
}

static int verify_store(const cli_arguments *arguments)
{
    srv_session s;
    int         status = open_snapshot(&s, arguments);
    if (status != 0) return status;
    if (s.models.stored.bad == 0) printf("%s: all %zu records are whole\n", s.models.folder, s.models.stored.good);
    if (s.models.stored.bad > 0)
        cli_error("%s: %zu of %zu records are damaged", s.models.folder, s.models.stored.bad,
                  s.models.stored.bad + s.models.stored.good);
    status = s.models.stored.bad == 0 ? 0 : 1;
    srv_session_close(&s);
    return status;
}

static bool report_archive(const char *name, const api_archive_facts *facts, bool unverified)
{
    if (facts->has_manifest)
        printf("%s: all %zu models are whole; written by torqued %s at %s\n", name, facts->models, facts->version,
               facts->made);
    else if (unverified)
        printf("%s: %zu models can be read; without a manifest nothing tells whether their bytes were changed\n", name,
               facts->models);
    else
        cli_error(
            "%s: %zu models can be read, but there is no manifest that tells whether their bytes were changed: the "
            "archive was written by hand or by an earlier torqued, or is damaged; --unverified takes it all the same",
            name, facts->models);
    return facts->has_manifest || unverified;
}

static int verify_archive(const cli_arguments *arguments, const char *name)
{
    srv_session       s;
    size_t            length;
    api_archive_facts facts;
    api_problem       problem;
    cli_progress      progress;
    int               status = srv_session_open(&s, arguments->n_settings, arguments->settings);
    if (status != 0) return status;
    char                   *archive = read_input(name, &length);
    const api_archive_watch watch   = {show_count, &progress};
    api_problem_clear(&problem);
    start_progress(&progress);
    bool whole = archive && api_verify(s.api, archive, length, &watch, &facts, &problem);
    cli_progress_end(&progress);
    if (archive && !whole) print_archive_problem(name, &problem);
    whole = whole && report_archive(name, &facts, cli_value(arguments, "unverified") != NULL);
    free(archive);
    srv_session_close(&s);
    return whole ? 0 : 1;
}

int srv_verify(const cli_arguments *arguments)
{
    const char *archive = cli_operand_at(arguments, 0);
    return archive ? verify_archive(arguments, archive) : verify_store(arguments);
}

/* --- restore ---------------------------------------------------------------------------------------------------- */

static bool put_back(api *service, const char *name, const char *text, size_t length, bool unverified)
{
    api_problem       problem;
    api_import_counts done;
    cli_progress      progress;
    start_progress(&progress);
    const api_archive_watch  watch   = {show_count, &progress};
    const api_import_options options = {.unverified = unverified, .watch = &watch};
    api_problem_clear(&problem);
    bool good = api_import(service, text, length, &options, &done, &problem);
    cli_progress_end(&progress);
    if (!good) print_archive_problem(name, &problem);
    if (good || done.created + done.replaced + done.deleted > 0)
        fprintf(stderr, "torqued: %zu created, %zu replaced, %zu deleted, %zu unchanged\n", done.created, done.replaced,
                done.deleted, done.unchanged);
    return good;
}

int srv_restore(const cli_arguments *arguments)
{
    srv_session s;
    size_t      length;
    char       *archive = read_input(arguments->operands[0], &length);
    if (!archive) return 1;
    int status = srv_session_open(&s, arguments->n_settings, arguments->settings);
    if (status == 0) {
        bool unverified = cli_value(arguments, "unverified") != NULL;
        status = srv_session_load(&s) && put_back(s.api, arguments->operands[0], archive, length, unverified) ? 0 : 1;
        srv_session_close(&s);
    }
    free(archive);
    return status;
}
