/* check_config.c - implements `torqued check-config`: prints the settings with their origins, and checks the files,
 * folders and addresses that they name as the start would, without changing anything. */
#include "check_config.h"
#include "server/access/credentials.h"
#include "server/audit/audit_file.h"
#include "server/net/exposure.h"
#include "server/settings.h"
#include "server/store/load_models.h"
#include <dirent.h>
#include <errno.h>
#include <libgen.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    PATH_SIZE = 4200,
    MESSAGE   = 1600,
    SOON      = 14 * 86400 /* s, within which the end of a certificate is a warning */
};

const cli_option cli_check_config_options[] = {
    {"quiet", NULL, CLI_NOTHING, NULL, "print errors and warnings only"},
    {"database", NULL, CLI_NOTHING, NULL, "connect to the database of --store and check its tables"},
    {.name = NULL},
};

typedef struct inspection {
    srv_config config;
    size_t     errors, warnings;
} inspection;

static void report_error(inspection *i, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void report_error(inspection *i, const char *format, ...)
{
    char    message[MESSAGE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    i->errors++;
    cli_error("%s", message);
}

static void report_warning(inspection *i, const char *subject, const char *reason)
{
    i->warnings++;
    fprintf(stderr, "torqued: warning: %s: %s\n", subject, reason);
}

static void warn_of_setting(void *arg, const char *name, const char *reason)
{
    char subject[80];
    snprintf(subject, sizeof subject, "--%s has no effect", name);
    report_warning(arg, subject, reason);
}

static void warn_of_client(void *arg, const char *name, const char *reason)
{
    char subject[200];
    snprintf(subject, sizeof subject, "a line of the client %s in --tokens has no effect", name);
    report_warning(arg, subject, reason);
}

/* --- the settings ------------------------------------------------------------------------------------------------- */

/* Prints the value in force: folders that are not named are determined as at the start. */
static void print_value(const srv_config *config, const srv_setting *s, char *value, size_t size)
{
    char error[MESSAGE];
    srv_setting_print_openly(config, s, value, size);
    if (*value) return;
    if (strcmp(s->name, "models") == 0)
        srv_config_models_folder(config, value, size);
    else if (strcmp(s->name, "store") != 0 || !srv_config_store_folder(config, value, size, error, sizeof error))
        snprintf(value, size, "-");
}

static void print_settings(const srv_config *config)
{
    for (const srv_setting *s = srv_settings; s < srv_settings + srv_n_settings; s++) {
        char     value[PATH_SIZE], variable[64];
        unsigned line = config->line[s - srv_settings];
        srv_setting_variable(s, variable, sizeof variable);
        print_value(config, s, value, sizeof value);
        printf("%-29s %-24s ", variable, value);
        switch (srv_setting_origin(config, s)) {
        case SRV_BY_DEFAULT: puts("default"); break;
        case SRV_BY_ENVIRONMENT: puts("environment"); break;
        case SRV_BY_FILE: printf("%s, line %u\n", config->file, line); break;
        case SRV_BY_FLAG: printf("flag --%s\n", s->name); break;
        }
    }
}

/* Warns of environment variables that the file overrides: users may take them for effective. */
static void warn_of_overridden_variables(inspection *i)
{
    for (const srv_setting *s = srv_settings; s < srv_settings + srv_n_settings; s++) {
        char       variable[64], subject[120], reason[120];
        srv_origin origin = srv_setting_origin(&i->config, s);
        srv_setting_variable(s, variable, sizeof variable);
        const char *text = getenv(variable);
        if (!text || !*text || origin < SRV_BY_FILE) continue;
        snprintf(subject, sizeof subject, "the variable %s of the environment has no effect", variable);
        if (origin == SRV_BY_FILE)
            snprintf(reason, sizeof reason, "line %u of the file overrides it", i->config.line[s - srv_settings]);
        else
            snprintf(reason, sizeof reason, "the flag --%s overrides it", s->name);
        report_warning(i, subject, reason);
    }
}

/* --- files and folders -------------------------------------------------------------------------------------------- */

static void inspect_certificate(inspection *i, const char *setting, const char *path)
{
    time_t end = srv_tls_file_expiry(path), now = time(NULL);
    if (end < 0 || end > now + SOON) return;
    char      subject[300], date[40];
    struct tm utc;
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&end, &utc));
    snprintf(subject, sizeof subject, "the certificate %.200s of %s %s", path, setting,
             end < now ? "has ended" : "ends soon");
    report_warning(i, subject, date);
}

static void check_credentials(inspection *i)
{
    char              error[MESSAGE];
    const srv_config *c    = &i->config;
    srv_credentials  *read = srv_credentials_read(c, error, sizeof error);
    if (!read) {
        report_error(i, "%s", error);
        return;
    }
    srv_address addresses[SRV_LISTEN_MOST];
    size_t      n     = srv_addresses_parse(c->listen, addresses);
    bool        users = false;
    for (size_t k = 0; k < n; k++)
        users |= *addresses[k].path != '\0';
    if (read->clients)
        srv_clients_visit_idle(read->clients, time(NULL), users, read->takes_certificates, warn_of_client, i);
    if (c->tls_certificate) inspect_certificate(i, "--tls-certificate", c->tls_certificate);
    if (c->tls_client_ca) inspect_certificate(i, "--tls-client-ca", c->tls_client_ca);
    srv_credentials_release(read);
}

static void check_models(inspection *i)
{
    char folder[PATH_SIZE];
    srv_config_models_folder(&i->config, folder, sizeof folder);
    DIR *opened = opendir(folder);
    if (!opened)
        report_error(i, "cannot read the folder %.400s of --models: %s; name another one with --models DIR", folder,
                     strerror(errno));
    else
        closedir(opened);
}

/* Checks that the folder of the store can be written, or made in the nearest folder that is there. */
static void check_store_folder(inspection *i)
{
    char        folder[PATH_SIZE], error[MESSAGE], *place = folder;
    struct stat status;
    if (!srv_config_store_folder(&i->config, folder, sizeof folder, error, sizeof error)) {
        report_error(i, "%s", error);
        return;
    }
    bool exists = stat(folder, &status) == 0;
    while (!exists && errno == ENOENT && strcmp(place, "/") != 0 && strcmp(place, ".") != 0) {
        place = dirname(place);
        if (stat(place, &status) == 0) break;
    }
    bool good = stat(place, &status) == 0 && S_ISDIR(status.st_mode) && access(place, W_OK | X_OK) == 0;
    if (good) return;
    int reason = errno;
    srv_config_store_folder(&i->config, folder, sizeof folder, error, sizeof error);
    report_error(i, "cannot write the folder %.400s of --store: %s; name another one with --store DIR", folder,
                 S_ISDIR(status.st_mode) ? strerror(reason) : "it is no folder");
}

static void check_database(inspection *i, bool connects)
{
    char          error[MESSAGE];
    srv_postgres *database;
    if (connects) {
        if (!srv_postgres_check(i->config.store, error, sizeof error)) report_error(i, "%s", error);
    } else if ((database = srv_postgres_open(i->config.store, NULL, error, sizeof error))) {
        srv_postgres_close(database);
    } else {
        report_error(i, "%s", error);
    }
}

static void check_store(inspection *i, bool connects)
{
    switch (srv_store_kind_of(i->config.store)) {
    case SRV_STORE_FOLDER: check_store_folder(i); return;
    case SRV_STORE_DATABASE: check_database(i, connects); return;
    }
}

/* --- the server --------------------------------------------------------------------------------------------------- */

/* Checks the addresses as the start does, without listening. */
static void check_exposure(inspection *i)
{
    char          error[MESSAGE];
    srv_address   addresses[SRV_LISTEN_MOST];
    srv_listeners listeners = {.has_certificate = i->config.tls_certificate != NULL};
    listeners.n             = srv_addresses_parse(i->config.listen, addresses);
    for (size_t k = 0; k < listeners.n; k++) {
        listeners.listener[k].address = addresses[k];
        listeners.listener[k].setting = "--listen";
        if (srv_listener_resolve(&listeners.listener[k], error, sizeof error)) continue;
        report_error(i, "%s", error);
        return;
    }
    if (!srv_exposure_check(&i->config, &listeners, error, sizeof error)) report_error(i, "%s", error);
}

static void check_kernels(inspection *i)
{
    char             error[MESSAGE];
    const api_config config  = srv_config_api(&i->config);
    api             *service = api_open(&config, error, sizeof error);
    if (!service) report_error(i, "--target: %s", error);
    if (service) api_close(service);
}

int srv_check_config(const cli_arguments *arguments)
{
    static inspection i;
    char              error[MESSAGE] = "";
    srv_action action = srv_config_read(&i.config, arguments->n_settings, arguments->settings, error, sizeof error);
    if (action != SRV_SERVE) {
        srv_config_free(&i.config);
        return cli_fail(action == SRV_MISUSE ? 1 : 2, "%s",
                        *error ? error : "this command takes no --version or --settings-table");
    }
    bool quiet = cli_value(arguments, "quiet") != NULL;
    if (!quiet) print_settings(&i.config);
    warn_of_overridden_variables(&i);
    srv_config_visit_idle(&i.config, warn_of_setting, &i);
    check_credentials(&i);
    check_models(&i);
    check_store(&i, cli_value(arguments, "database") != NULL);
    if (i.config.audit_log && !srv_audit_file_check(i.config.audit_log, error, sizeof error))
        report_error(&i, "%s", error);
    check_exposure(&i);
    check_kernels(&i);
    if (!quiet) printf("\n%zu errors, %zu warnings\n", i.errors, i.warnings);
    srv_config_free(&i.config);
    return i.errors > 0;
}
