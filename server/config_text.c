/* config_text.c - print settings: for --help, for the reference, and for the log; and variables that are none. */
#define _GNU_SOURCE /* environ */
#include "settings.h"
#include <string.h>
#include <unistd.h>

static const void *field_of(const srv_config *config, const srv_setting *s)
{
    return (const char *)config + s->offset;
}

void srv_config_describe(void (*visit)(void *arg, const srv_setting_text *setting), void *arg)
{
    for (const srv_setting *s = srv_settings; s < srv_settings + srv_n_settings; s++) {
        char variable[64];
        srv_setting_variable(s, variable, sizeof variable);
        const srv_setting_text text = {.name         = s->name,
                                       .value        = s->value,
                                       .variable     = variable,
                                       .default_text = s->default_text,
                                       .choices      = s->choices,
                                       .help         = s->help};
        visit(arg, &text);
    }
}

void srv_config_table(FILE *out)
{
    fputs("| flag | variable | range | default | meaning |\n|---|---|---|---|---|\n", out);
    for (const srv_setting *s = srv_settings; s < srv_settings + srv_n_settings; s++) {
        char variable[64], range[120];
        srv_setting_variable(s, variable, sizeof variable);
        srv_setting_range(s, range, sizeof range);
        for (char *bar = range; (bar = strchr(bar, '|'));) /* a bar would end the table cell */
            *bar = '/';
        fprintf(out, "| `--%s%s%s` | `%s` | %s | %s | %s |\n", s->name, s->value ? " " : "", s->value ? s->value : "",
                variable, range, s->default_text ? s->default_text : "", s->help);
    }
}

static void print_bytes(size_t bytes, char *text, size_t size)
{
    static const char units[] = "GMK";
    for (unsigned shift = 30, i = 0; shift; shift -= 10, i++)
        if (bytes && bytes % ((size_t)1 << shift) == 0) {
            snprintf(text, size, "%zu%c", bytes >> shift, units[i]);
            return;
        }
    snprintf(text, size, "%zu", bytes);
}

static void print_value(const srv_config *config, const srv_setting *s, char *text, size_t size)
{
    const void *value = field_of(config, s);
    const char *string;
    switch (s->kind) {
    case TEXT:
        string = *(const char *const *)value;
        snprintf(text, size, "%s", string ? string : "");
        return;
    case COUNT: snprintf(text, size, "%zu", *(const size_t *)value); return;
    case BYTES: print_bytes(*(const size_t *)value, text, size); return;
    case OCTAL: snprintf(text, size, "%o", (unsigned)*(const int *)value); return;
    case SECONDS:
    case MICROSECONDS: snprintf(text, size, "%.15g", *(const double *)value); return;
    case SWITCH:
    case CHOICE:
        string = s->choices;
        for (int i = *(const int *)value; i > 0; i--)
            string = strchr(string, '|') + 1;
        snprintf(text, size, "%.*s", (int)strcspn(string, "|"), string);
        return;
    }
}

void srv_config_visit(const srv_config *config, void (*visit)(void *arg, const char *name, const char *value),
                      void             *arg)
{
    for (const srv_setting *s = srv_settings; s < srv_settings + srv_n_settings; s++) {
        char text[1024];
        print_value(config, s, text, sizeof text);
        visit(arg, s->name, text);
    }
}

/* Variables of the sub-commands that ask a server (server/cli/client/connection.c), and of the clients in api/clients.
 */
static const char *const client_variables[] = {SRV_VARIABLE_PREFIX "URL",     SRV_VARIABLE_PREFIX "TOKEN_FILE",
                                               SRV_VARIABLE_PREFIX "CA_FILE", SRV_VARIABLE_PREFIX "CERTIFICATE",
                                               SRV_VARIABLE_PREFIX "KEY",     SRV_VARIABLE_PREFIX "TOKEN"};

static bool is_variable(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof client_variables / sizeof client_variables[0]; i++)
        if (strlen(client_variables[i]) == length && memcmp(client_variables[i], name, length) == 0) return true;
    for (const srv_setting *s = srv_settings; s < srv_settings + srv_n_settings; s++) {
        char variable[64];
        srv_setting_variable(s, variable, sizeof variable);
        if (strlen(variable) == length && memcmp(variable, name, length) == 0) return true;
    }
    return false;
}

void srv_config_visit_unknown(void (*visit)(void *arg, const char *name), void *arg)
{
    for (char *const *entry = environ; *entry; entry++) {
        char   name[64];
        size_t length = strcspn(*entry, "=");
        if (strncmp(*entry, SRV_VARIABLE_PREFIX, strlen(SRV_VARIABLE_PREFIX)) != 0 || is_variable(*entry, length))
            continue;
        snprintf(name, sizeof name, "%.*s", (int)length, *entry);
        visit(arg, name);
    }
}
