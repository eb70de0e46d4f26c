/* config.h - every setting of the server, in one table (config.c): flag, environment variable, kind, range, default
 * and help. The table feeds --help, the README's table (--settings-table), the checks, and the line that logs
 * the configuration in force. A flag goes before its variable, the variable before the default; the last of a
 * repeated flag counts. */
#pragma once
#include "api/api.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef enum srv_log_format { SRV_LOG_AUTO, SRV_LOG_TEXT, SRV_LOG_JSON } srv_log_format;
typedef enum srv_level { SRV_ERROR, SRV_WARNING, SRV_INFO, SRV_DEBUG } srv_level;

/* Texts belong to argv, the environment or the program, and live as long as it runs. */
typedef struct srv_config {
    const char *listen; /* HOST:PORT or unix:PATH, several with commas between */
    const char *models; /* folder; NULL: srv_config_models_folder finds it */
    const char *store;  /* folder; NULL: srv_config_store_folder finds it */
    const char *target; /* of the kernels; NULL: the widest */
    size_t      max_body, max_answer, memory;
    size_t      max_rows, max_nesting, max_models, max_links;
    size_t      connections, workers, loops; /* workers, loops 0: from the usable cores */
    double      timeout, read_deadline, write_deadline, idle_timeout;
    double      queue;        /* s of estimated work that may wait for each worker */
    double      inline_limit; /* us of estimated work done on the loop thread */
    double      drain;        /* s */
    int         log_format, log_level;
    int         socket_mode; /* permissions */
} srv_config;

typedef enum srv_action { SRV_SERVE, SRV_HELP, SRV_VERSION, SRV_SETTINGS_TABLE, SRV_MISUSE } srv_action;

/* Reads flags and variables. SRV_MISUSE leaves in `error` what was given where and what was expected. */
srv_action srv_config_read(srv_config *config, int argc, char *const argv[], char *error, size_t error_size);

void srv_config_help(FILE *out);
void srv_config_table(FILE *out); /* Markdown */

/* Walks the settings in force, for the log. */
void srv_config_visit(const srv_config *config, void (*visit)(void *arg, const char *name, const char *value),
                      void             *arg);

/* Names the variables that look like settings' and are none. */
void srv_config_visit_unknown(void (*visit)(void *arg, const char *name), void *arg);

/* What of it is the api's. */
api_config srv_config_api(const srv_config *config);

/* --- default_folders.c -------------------------------------------------------------------------------------------- */

/* The bundled robots: `--models`, else models/ beside the parent of the executable's folder, else under the prefix. */
void srv_config_models_folder(const srv_config *config, char *folder, size_t size);

/* Where models are kept: `--store`, else $STATE_DIRECTORY (as service managers set it), else $XDG_STATE_HOME/torqued,
 * else ~/.local/state/torqued. False and a message: nothing says where. */
bool srv_config_store_folder(const srv_config *config, char *folder, size_t size, char *error, size_t error_size);
