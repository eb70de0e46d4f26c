/* config.h - read the settings of the server: flag, environment variable, kind, range, default and help of each.
 *
 * The table in settings.c is the source of --help, of server/SETTINGS.md (--settings-table), of the checks, and of the
 * log line with the configuration. A flag overrides the line of the file of --config, the line overrides the variable,
 * and the variable overrides the default: a line that is changed has an effect at the next SIGHUP, whatever environment
 * the process was started with. The last occurrence of a repeated flag counts. */
#pragma once
#include "api/api.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef enum srv_log_format { SRV_LOG_AUTO, SRV_LOG_TEXT, SRV_LOG_JSON } srv_log_format;
/* SRV_AUDIT is below all levels that can be set, so these lines are always written. */
typedef enum srv_level { SRV_AUDIT = -1, SRV_ERROR, SRV_WARNING, SRV_INFO, SRV_DEBUG } srv_level;

/* The source of a value, in the order in which they override each other. */
typedef enum srv_origin { SRV_BY_DEFAULT, SRV_BY_ENVIRONMENT, SRV_BY_FILE, SRV_BY_FLAG } srv_origin;

enum { SRV_SETTINGS_MOST = 128 };

/* The strings belong to argv, the environment or the program, which live as long as the process, or to `file_text`. */
typedef struct srv_config {
    const char *file;          /* path of --config; NULL: none */
    char       *file_text;     /* text of that file, owned; NULL: none */
    const char *listen;        /* HOST:PORT or unix:PATH, separated by commas */
    const char *health_listen; /* addresses for probes and metrics, separated by commas; NULL: none */
    const char *models;        /* folder; NULL: srv_config_models_folder determines it */
    const char *store;         /* folder or postgresql:// URL; NULL: srv_config_store_folder determines it */
    /* Names that Host may have, separated by commas; NULL: see api/service/http/host_and_origin.c. */
    const char *hosts;
    const char *origins; /* web origins that may read answers, separated by commas, or "*"; NULL: none */
    const char *tokens;  /* file of the clients, see server/access/clients.h; NULL: no access control */
    const char *tls_certificate, *tls_key; /* files; NULL: no TLS */
    const char *tls_client_ca;             /* file; NULL: no client certificates */
    const char *trusted_proxies;           /* networks, separated by commas; NULL: none */
    const char *target;                    /* vector instructions of the kernels; NULL: the fastest */
    size_t      max_body, max_answer, memory;
    size_t      model_memory; /* memory of all models, bytes */
    size_t      max_rows, max_nesting, max_models, max_links;
    size_t      client_connections;          /* most connections of one client; 0: three quarters of `connections` */
    size_t      client_rate;                 /* requests per second of one client; 0: any */
    size_t      connections, workers, loops; /* workers and loops: 0 derives them from the usable cores */
    size_t      transfer_rate;               /* least bytes per second of large bodies and answers; 0: any */
    double      timeout, read_deadline, write_deadline, idle_timeout;
    double      queue;        /* s of estimated work that may wait per worker */
    double      client_work;  /* work of one client in the queue, s; 0: as much as `queue` */
    double      inline_limit; /* us, longest estimate of a request that runs on the loop's thread */
    double      drain_delay;  /* s, time from SIGTERM until the server drains */
    double      drain;        /* s, time for requests in flight when the server stops */
    const char *audit_log;    /* file of the lines about changes; NULL: they are written with the others */
    int         log_format, log_level;
    size_t      log_sample;   /* one of this many routine requests gets a line in the log */
    size_t      log_refusals; /* lines per second for refused requests */
    double      log_slow;     /* s, longest time of a routine request */
    double      slow_request; /* s, least time of a request with a line "slow-request"; 0: none has one */
    int         insecure;     /* 1: listen beyond this machine without TLS or access control */
    int         socket_mode;  /* permissions of a Unix-domain socket */

    unsigned char origin[SRV_SETTINGS_MOST]; /* srv_origin of each setting, in the order of the table */
    unsigned      line[SRV_SETTINGS_MOST];   /* number of its line in the file, if that is the origin */
} srv_config;

typedef enum srv_action { SRV_SERVE, SRV_HELP, SRV_VERSION, SRV_SETTINGS_TABLE, SRV_MISUSE } srv_action;

/* Reads flags, variables and the file of --config. For SRV_MISUSE, `error` names the flag, variable or line, its value,
 * and what was expected. A variable or line that begins with TORQUED_ and is no setting is refused, too. The caller
 * ends `config` with srv_config_free, whatever was returned. */
srv_action srv_config_read(srv_config *config, int argc, char *const argv[], char *error, size_t error_size);
void       srv_config_free(srv_config *config);

void srv_config_table(FILE *out); /* prints a Markdown table */

/* A setting as text, for help, the manual and completions. */
typedef struct srv_setting_text {
    const char *name, *value; /* the flag is --name VALUE; value NULL: a switch, --name */
    const char *variable;     /* environment variable of the setting */
    const char *default_text; /* NULL: none */
    const char *choices;      /* "a|b"; NULL: any value */
    const char *help;
} srv_setting_text;

/* True if a flag such as "--insecure" is a setting that takes no value. */
bool srv_config_is_switch(const char *flag);

/* Calls `visit` for every setting, in the order of the table. The texts of `setting` live until `visit` returns. */
void srv_config_describe(void (*visit)(void *arg, const srv_setting_text *setting), void *arg);

/* Calls `visit` for every setting with its current value as text, for the log. */
void srv_config_visit(const srv_config *config, void (*visit)(void *arg, const char *name, const char *value),
                      void             *arg);

/* Writes the settings whose values are not their defaults, such as "queue 0.5 (default 1), memory 8M (default 2G)".
 * Addresses, names and files are left out. A text that is too long ends early. */
void srv_config_print_changed(const srv_config *config, char *text, size_t size);

/* Calls `visit` for every setting that has no effect because of the values of others, with the reason. */
void srv_config_visit_idle(const srv_config *config, void (*visit)(void *arg, const char *name, const char *reason),
                           void             *arg);

/* The part of the configuration that api_open needs. */
api_config srv_config_api(const srv_config *config);

/* --- default_folders.c -------------------------------------------------------------------------------------------- */

/* Determines the folder of the bundled models: `--models`, else ../share/torqued/models beside the executable's folder,
 * else models/ in the parent of that folder or one level higher. If none of them exists, the result is the second. */
void srv_config_models_folder(const srv_config *config, char *folder, size_t size);

/* Determines the folder of the store: `--store`, else $STATE_DIRECTORY (set by service managers), else
 * $XDG_STATE_HOME/torqued, else ~/.local/state/torqued. False with a message if none of them is set or the path is
 * too long. */
bool srv_config_store_folder(const srv_config *config, char *folder, size_t size, char *error, size_t error_size);
