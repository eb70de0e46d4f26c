/* config_text.c - prints settings: for --help, for the reference, for messages and for the log. */
#include "settings.h"
#include "server/store/load_models.h"
#include <string.h>

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
    fputs("| flag | variable | range | default | meaning | changes by |\n|---|---|---|---|---|---|\n", out);
    for (const srv_setting *s = srv_settings; s < srv_settings + srv_n_settings; s++) {
        char variable[64], range[120];
        srv_setting_variable(s, variable, sizeof variable);
        srv_setting_range(s, range, sizeof range);
        for (char *bar = range; (bar = strchr(bar, '|'));) /* a bar would end the table cell */
            *bar = '/';
        fprintf(out, "| `--%s%s%s` | `%s` | %s | %s | %s | %s |\n", s->name, s->value ? " " : "",
                s->value ? s->value : "", variable, range, s->default_text ? s->default_text : "", s->help,
                srv_setting_reloads(s) ? "reload" : "restart");
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

void srv_setting_print(const srv_config *config, const srv_setting *s, char *text, size_t size)
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

void srv_setting_print_openly(const srv_config *config, const srv_setting *s, char *text, size_t size)
{
    const char *store = s->kind == TEXT ? *(const char *const *)field_of(config, s) : NULL;
    switch (srv_store_kind_of(store)) {
    case SRV_STORE_FOLDER: srv_setting_print(config, s, text, size); return;
    case SRV_STORE_DATABASE: srv_postgres_url_print(store, text, size); return;
    }
}

void srv_setting_describe(const srv_config *config, const srv_setting *s, char *text, size_t size)
{
    char       value[400], name[64], variable[64];
    srv_origin origin = srv_setting_origin(config, s);
    srv_setting_print_openly(config, s, value, sizeof value);
    srv_setting_variable(s, variable, sizeof variable);
    snprintf(name, sizeof name, "--%s", s->name);
    switch (origin) {
    case SRV_BY_DEFAULT: snprintf(text, size, "%s %s (default)", name, value); return;
    case SRV_BY_ENVIRONMENT: snprintf(text, size, "%s=%s (environment)", variable, value); return;
    case SRV_BY_FILE:
        snprintf(text, size, "%s=%s (line %u of %s)", variable, value, config->line[s - srv_settings], config->file);
        return;
    case SRV_BY_FLAG: snprintf(text, size, "%s %s", name, value); return;
    }
}

void srv_config_visit(const srv_config *config, void (*visit)(void *arg, const char *name, const char *value),
                      void             *arg)
{
    for (const srv_setting *s = srv_settings; s < srv_settings + srv_n_settings; s++) {
        char text[1024];
        srv_setting_print_openly(config, s, text, sizeof text);
        visit(arg, s->name, text);
    }
}

void srv_config_print_changed(const srv_config *config, char *text, size_t size)
{
    size_t length = 0;
    *text         = '\0';
    for (const srv_setting *s = srv_settings; s < srv_settings + srv_n_settings; s++) {
        char value[1024];
        if (srv_setting_origin(config, s) == SRV_BY_DEFAULT || s->kind == TEXT) continue;
        srv_setting_print_openly(config, s, value, sizeof value);
        if (strcmp(value, s->default_text) == 0) continue;
        int n = snprintf(text + length, size - length, "%s%s %s (default %s)", length > 0 ? ", " : "", s->name, value,
                         s->default_text);
        if (n < 0 || (size_t)n >= size - length) return;
        length += (size_t)n;
    }
}
