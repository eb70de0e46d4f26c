/* settings.h - the table of all settings: flag, environment variable, range, default and help. Private to
 * server/settings.c, config.c, config_checks.c and config_text.c. */
#pragma once
#include "config.h"

/* SWITCH: the flag alone says yes; the variable says yes or no. */
typedef enum srv_setting_kind { TEXT, COUNT, BYTES, SECONDS, MICROSECONDS, CHOICE, OCTAL, SWITCH } srv_setting_kind;

typedef struct srv_setting {
    const char      *name; /* the flag is --name, the variable TORQUED_NAME */
    const char      *value;
    srv_setting_kind kind;
    size_t           offset; /* of the field in srv_config */
    double           least, most;
    const char      *default_text; /* NULL: no default; only a TEXT setting may be absent */
    const char      *choices;
    const char      *help;
} srv_setting;

#define SRV_VARIABLE_PREFIX "TORQUED_" /* prefix of environment variables */
#define SRV_MB              1048576.0

extern const srv_setting srv_settings[];
extern const size_t      srv_n_settings;

/* Returns the setting of that name of `length` bytes, without "--"; NULL: there is none. */
const srv_setting *srv_setting_find(const char *name, size_t length);

void srv_setting_variable(const srv_setting *s, char *name, size_t size); /* name of the environment variable */

/* Describes the valid values: "1024 to 1024G", "error|warning|info|debug". */
void srv_setting_range(const srv_setting *s, char *text, size_t size);

/* Checks settings against each other, and the texts of addresses, names and files. False with a message. */
bool srv_config_check(const srv_config *config, char *error, size_t error_size);
