/* settings.h - the table of all settings: flag, environment variable, range, default and help. Private to
 * server/settings.c, config.c, config_*.c and server/operating. */
#pragma once
#include "config.h"

/* SWITCH: the flag alone says yes; the variable says yes or no. */
typedef enum srv_setting_kind { TEXT, COUNT, BYTES, SECONDS, MICROSECONDS, CHOICE, OCTAL, SWITCH } srv_setting_kind;

typedef struct srv_setting {
    const char      *name; /* the flag is --name, the variable TORQUED_NAME */
    const char      *value;
    srv_setting_kind kind;
    size_t           offset; /* offset of the field in srv_config */
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

/* --- config.c ----------------------------------------------------------------------------------------------------- */

/* A text for a setting: its value and its source, as messages name it, such as "--max-rows". */
typedef struct srv_given {
    const char *text, *source;
    srv_origin  origin;
    unsigned    line; /* line of the file; 0: the value comes from elsewhere */
} srv_given;

/* Sets a setting. False with a message that names the source, the value and what is expected. */
bool srv_setting_set(srv_config *config, const srv_setting *s, const srv_given *entry, char *error, size_t error_size);

/* Copies the value and the origin of a setting. */
void srv_setting_copy(srv_config *to, const srv_config *from, const srv_setting *s);

/* True if the setting takes effect by SIGHUP; the others need a restart. */
bool srv_setting_reloads(const srv_setting *s);

/* --- config_text.c ------------------------------------------------------------------------------------------------ */

/* Prints the value in the form in which users give it: "256M", "0.25", "info". */
void srv_setting_print(const srv_config *config, const srv_setting *s, char *text, size_t size);

/* As srv_setting_print, with *** in place of passwords. */
void srv_setting_print_openly(const srv_config *config, const srv_setting *s, char *text, size_t size);

/* Prints flag or variable, value and origin: "TORQUED_QUEUE=2 (line 3 of /etc/torqued.env)", "--memory 2G (default)".
 */
void srv_setting_describe(const srv_config *config, const srv_setting *s, char *text, size_t size);

static inline srv_origin srv_setting_origin(const srv_config *config, const srv_setting *s)
{
    return (srv_origin)config->origin[s - srv_settings];
}

/* --- config_file.c ------------------------------------------------------------------------------------------------ */

/* Reads the lines of config->file, KEY=VALUE. False with a message. */
bool srv_config_read_file(srv_config *config, char *error, size_t error_size);

/* --- config_names.c ----------------------------------------------------------------------------------------------- */

/* Checks that every variable of the environment that begins with TORQUED_ has a meaning. False with a message that
 * names the nearest one. */
bool srv_config_check_environment(char *error, size_t error_size);

/* Returns the setting whose variable has the name of `length` bytes; NULL: there is none. */
const srv_setting *srv_setting_of_variable(const char *name, size_t length);

/* Writes "; did you mean NAME?" for the name of a variable (or, with `flag`, of a flag) that is most like `name`, "" if
 * none is. */
void srv_config_suggest(const char *name, bool flag, char *text, size_t size);

/* --- config_checks.c ---------------------------------------------------------------------------------------------- */

/* Checks settings against each other, and the texts of addresses, names and files; lowers defaults to the settings that
 * limit them. False with a message. */
bool srv_config_check(srv_config *config, char *error, size_t error_size);
