/* archive_commands.c - implement `torqued export` and `torqued import`: all models as one file, for backup and
 * migration.
 *
 * An archive contains the models that a server with these settings would serve, bundled ones included, so that an
 * import gives the same models everywhere. It also marks deleted bundled models. Both commands lock the store and
 * fail while a server uses it. */
#include "commands.h"
#include "server/store/durable_file.h"
#include "command_session.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ARCHIVE_MAX = 1 << 30 };

/* Opens a session and loads the models. Returns 0, or the exit status after printing the error. */
static int open_loaded(srv_session *s, const cli_arguments *arguments)
{
    int status = srv_session_open(s, arguments->n_settings, arguments->settings);
    if (status != 0 || srv_session_load(s)) return status;
    srv_session_close(s);
    return 1;
}

/* --- export ---------------------------------------------------------------------------------------------------- */

static bool write_archive(api *service, char *error, size_t size)
{
    size_t length;
    char  *archive = api_export(service, &length);
    bool   made    = archive != NULL;
    if (made) fwrite(archive, 1, length, stdout); /* cli_close_stdout reports a failure */
    if (!made) snprintf(error, size, "no memory for the archive");
    free(archive);
    return made;
}

int srv_export(const cli_arguments *arguments)
{
    srv_session s;
    char        error[600];
    int         status = open_loaded(&s, arguments);
    if (status != 0) return status;
    bool whole = s.models.stored.bad == 0;
    if (!whole)
        snprintf(error, sizeof error,
                 "%zu models of the store %.300s cannot be read or are beyond --model-memory; an archive without them "
                 "would not be whole, so none is written",
                 s.models.stored.bad, s.models.folder);
    bool done = whole && write_archive(s.api, error, sizeof error);
    srv_session_close(&s);
    return done ? 0 : cli_fail(1, "%s", error);
}

/* --- import ---------------------------------------------------------------------------------------------------- */

static bool read_archive(api *service, const char *text, size_t length, char *error, size_t size)
{
    api_problem       problem;
    api_import_counts done;
    api_problem_clear(&problem);
    bool good = api_import(service, text, length, &done, &problem);
    if (!good) snprintf(error, size, "%s%s%s", problem.detail, *problem.pointer ? " at " : "", problem.pointer);
    if (good || done.created + done.replaced + done.deleted > 0)
        fprintf(stderr, "torqued: %zu created, %zu replaced, %zu deleted, %zu unchanged\n", done.created, done.replaced,
                done.deleted, done.unchanged);
    return good;
}

static char *read_input(const char *name, size_t *length, char *error, size_t size)
{
    char *text = srv_input_read(name, ARCHIVE_MAX, length);
    if (!text) snprintf(error, size, "cannot read %.300s: %s", name, strerror(errno));
    return text;
}

int srv_import(const cli_arguments *arguments)
{
    srv_session s;
    char        error[900];
    size_t      length;
    char       *archive = read_input(arguments->operands[0], &length, error, sizeof error);
    if (!archive) return cli_fail(1, "%s", error);
    int status = open_loaded(&s, arguments);
    if (status == 0) {
        bool done = read_archive(s.api, archive, length, error, sizeof error);
        srv_session_close(&s);
        status = done ? 0 : cli_fail(1, "%s", error);
    }
    free(archive);
    return status;
}
