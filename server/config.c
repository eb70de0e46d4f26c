/* config.c - reads the settings from defaults, environment, file and flags (config.h). */
#include "server/operating/build_id.h"
#include "settings.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void *field(srv_config *config, const srv_setting *s)
{
    return (char *)config + s->offset;
}

/* Reads a plain decimal number such as "256M", "0.5" or "1024". K, M and G (powers of 1024) are allowed if
 * `suffixes`. strtod alone would also accept "inf", "0x10" and " 1". */
static bool parse_number(const char *text, bool suffixes, double *value)
{
    size_t digits = strspn(text, "0123456789.");
    if (digits == 0 || digits > 30 || strspn(text, ".") == digits) return false;
    char *end;
    *value = strtod(text, &end);
    if (end != text + digits) return false;
    if (!*end) return true;
    const char *unit = strchr("KMG", *end);
    if (!suffixes || !unit || end[1]) return false;
    *value *= (double)(1u << (10 * (unit - "KMG" + 1)));
    return true;
}

static bool set_choice(const srv_setting *s, const char *text, int *chosen)
{
    size_t length = strlen(text);
    int    index  = 0;
    for (const char *choice = s->choices; choice; choice = strchr(choice, '|'), index++) {
        choice += *choice == '|';
        size_t size = strcspn(choice, "|");
        if (size != length || memcmp(choice, text, size) != 0) continue;
        *chosen = index;
        return true;
    }
    return false;
}

static bool set_octal(const srv_setting *s, const char *text, int *value)
{
    size_t digits = strspn(text, "01234567");
    if (digits == 0 || digits > 4 || text[digits]) return false;
    *value = (int)strtol(text, NULL, 8);
    return *value >= s->least && *value <= s->most;
}

static bool set_value(srv_config *config, const srv_setting *s, const char *text)
{
    double value;
    switch (s->kind) {
    case TEXT: *(const char **)field(config, s) = text; return *text != '\0';
    case SWITCH:
    case CHOICE: return set_choice(s, text, field(config, s));
    case OCTAL: return set_octal(s, text, field(config, s));
    case COUNT:
    case BYTES:
        if (!parse_number(text, s->kind == BYTES, &value) || value < s->least || value > s->most) return false;
        if (value != floor(value)) return false;
        *(size_t *)field(config, s) = (size_t)value;
        return true;
    case SECONDS:
    case MICROSECONDS:
        if (!parse_number(text, false, &value) || value < s->least || value > s->most) return false;
        *(double *)field(config, s) = value;
        return true;
    }
    return false;
}

bool srv_setting_set(srv_config *config, const srv_setting *s, const srv_given *entry, char *error, size_t error_size)
{
    config->origin[s - srv_settings] = (unsigned char)entry->origin;
    config->line[s - srv_settings]   = entry->line;
    if (set_value(config, s, entry->text)) return true;
    static const char *const expected[] = {[TEXT]         = "",
                                           [COUNT]        = "a whole number, ",
                                           [BYTES]        = "a size such as 64K, 256M or 2G, ",
                                           [SECONDS]      = "seconds, ",
                                           [MICROSECONDS] = "microseconds, ",
                                           [CHOICE]       = "one of ",
                                           [SWITCH]       = "one of ",
                                           [OCTAL]        = "an octal number, "};
    char                     range[120];
    srv_setting_range(s, range, sizeof range);
    snprintf(error, error_size, "%s is \"%.80s\"; expected %s%s", entry->source, entry->text, expected[s->kind], range);
    return false;
}

static bool read_environment(srv_config *config, char *error, size_t error_size)
{
    for (const srv_setting *s = srv_settings; s < srv_settings + srv_n_settings; s++) {
        char variable[64];
        srv_setting_variable(s, variable, sizeof variable);
        const srv_given entry = {.text = getenv(variable), .source = variable, .origin = SRV_BY_ENVIRONMENT};
        if (entry.text && *entry.text && !srv_setting_set(config, s, &entry, error, error_size)) return false;
    }
    return srv_config_check_environment(error, error_size);
}

static bool refuse_flag(const char *flag, char *error, size_t error_size)
{
    char suggestion[120], name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(flag, "="), flag);
    srv_config_suggest(name, true, suggestion, sizeof suggestion);
    snprintf(error, error_size, "\"%.80s\" is not a %ssetting of torqued%s; torqued %s--help lists them", flag,
             *flag == '-' ? "" : "command or ", suggestion, *flag == '-' ? "serve " : "");
    return false;
}

/* Reads the flag at argv[*index], "--name value" or "--name=value", and advances *index past it. */
static bool read_setting_flag(srv_config *config, int argc, char *const argv[], int *index, char *error,
                              size_t error_size)
{
    const char        *flag   = argv[(*index)++];
    size_t             length = strcspn(flag, "=");
    const srv_setting *s      = strncmp(flag, "--", 2) == 0 ? srv_setting_find(flag + 2, length - 2) : NULL;
    if (!s) return refuse_flag(flag, error, error_size);
    char name[64];
    snprintf(name, sizeof name, "--%s", s->name);
    srv_given entry = {.text = flag + length + 1, .source = name, .origin = SRV_BY_FLAG};
    if (s->kind == SWITCH && !flag[length]) {
        entry.text = "yes";
    } else if (!flag[length]) {
        if (*index == argc) {
            snprintf(error, error_size, "%s needs a value: %s %s", name, name, s->value);
            return false;
        }
        entry.text = argv[(*index)++];
    }
    return srv_setting_set(config, s, &entry, error, error_size);
}

void srv_setting_copy(srv_config *to, const srv_config *from, const srv_setting *s)
{
    size_t      i     = (size_t)(s - srv_settings);
    const void *value = (const char *)from + s->offset;
    to->origin[i]     = from->origin[i];
    to->line[i]       = from->line[i];
    switch (s->kind) {
    case TEXT: *(const char **)field(to, s) = *(const char *const *)value; return;
    case COUNT:
    case BYTES: *(size_t *)field(to, s) = *(const size_t *)value; return;
    case SECONDS:
    case MICROSECONDS: *(double *)field(to, s) = *(const double *)value; return;
    case CHOICE:
    case SWITCH:
    case OCTAL: *(int *)field(to, s) = *(const int *)value; return;
    }
}

bool srv_config_is_switch(const char *flag)
{
    const srv_setting *s = strncmp(flag, "--", 2) == 0 ? srv_setting_find(flag + 2, strlen(flag + 2)) : NULL;
    return s && s->kind == SWITCH;
}

static srv_action parse_action(const char *flag)
{
    if (strcmp(flag, "--help") == 0 || strcmp(flag, "-h") == 0) return SRV_HELP;
    if (strcmp(flag, "--version") == 0) return SRV_VERSION;
    if (strcmp(flag, "--settings-table") == 0) return SRV_SETTINGS_TABLE;
    return SRV_SERVE;
}

static srv_action read_setting_flags(srv_config *config, int argc, char *const argv[], char *error, size_t error_size)
{
    for (int index = 1; index < argc;) {
        srv_action action = parse_action(argv[index]);
        if (action != SRV_SERVE) return action;
        if (!read_setting_flag(config, argc, argv, &index, error, error_size)) return SRV_MISUSE;
    }
    return SRV_SERVE;
}

/* The flags are read twice: they name the file, and override its lines. */
srv_action srv_config_read(srv_config *config, int argc, char *const argv[], char *error, size_t error_size)
{
    *config = (srv_config){0};
    for (const srv_setting *s = srv_settings; s < srv_settings + srv_n_settings; s++)
        if (s->default_text) set_value(config, s, s->default_text);
    if (!read_environment(config, error, error_size)) return SRV_MISUSE;
    srv_action action = read_setting_flags(config, argc, argv, error, error_size);
    if (action != SRV_SERVE) return action;
    if (config->file && (!srv_config_read_file(config, error, error_size) ||
                         read_setting_flags(config, argc, argv, error, error_size) != SRV_SERVE))
        return SRV_MISUSE;
    return srv_config_check(config, error, error_size) ? SRV_SERVE : SRV_MISUSE;
}

void srv_config_free(srv_config *config)
{
    free(config->file_text);
    config->file_text = NULL;
}

api_config srv_config_api(const srv_config *c)
{
    return (api_config){.version = TORQUED_VERSION,
                        .build   = srv_build_id(),
                        .target  = c->target,
                        .hosts   = c->hosts,
                        .origins = c->origins,
                        .limits  = {.body         = c->max_body,
                                    .answer       = c->max_answer,
                                    .memory       = c->memory,
                                    .rows         = c->max_rows,
                                    .nesting      = (unsigned)c->max_nesting,
                                    .models       = c->max_models,
                                    .model_memory = c->model_memory,
                                    .links        = c->max_links,
                                    .timeout      = c->timeout}};
}
