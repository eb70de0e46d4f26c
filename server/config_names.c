/* config_names.c - finds settings by the names of their variables, and the name that a misspelt one is most like. */
#define _GNU_SOURCE /* environ */
#include "settings.h"
#include <ctype.h>
#include <string.h>
#include <unistd.h>

enum { NAME_MOST = 48 /* characters of a name that are compared */ };

/* Variables of the sub-commands that ask a server (server/cli/client/connection.c), and of the clients in api/clients,
 * which may start a server: TORQUED_BIN names its program. */
static const char *const client_variables[] = {SRV_VARIABLE_PREFIX "URL",         SRV_VARIABLE_PREFIX "TOKEN_FILE",
                                               SRV_VARIABLE_PREFIX "CA_FILE",     SRV_VARIABLE_PREFIX "KEY",
                                               SRV_VARIABLE_PREFIX "CERTIFICATE", SRV_VARIABLE_PREFIX "TOKEN",
                                               SRV_VARIABLE_PREFIX "BIN"};

enum { CLIENT_VARIABLES = sizeof client_variables / sizeof client_variables[0] };

const srv_setting *srv_setting_of_variable(const char *name, size_t length)
{
    for (const srv_setting *s = srv_settings; s < srv_settings + srv_n_settings; s++) {
        char variable[64];
        srv_setting_variable(s, variable, sizeof variable);
        if (strlen(variable) == length && memcmp(variable, name, length) == 0) return s;
    }
    return NULL;
}

static bool is_client_variable(const char *name, size_t length)
{
    for (size_t i = 0; i < CLIENT_VARIABLES; i++)
        if (strlen(client_variables[i]) == length && memcmp(client_variables[i], name, length) == 0) return true;
    return false;
}

/* True for a variable that Kubernetes makes for a Service named torqued or torqued-...: TORQUED_SERVICE_HOST,
 * TORQUED_SERVICE_PORT_HTTPS, TORQUED_PORT=tcp://10.0.0.1:443, TORQUED_PORT_443_TCP_ADDR. */
static bool is_service_link(const char *name, size_t length, const char *value)
{
    static const char port[] = "_PORT";
    for (size_t i = 0; i + sizeof port - 1 <= length; i++) {
        const char *tail = name + i + sizeof port - 1;
        if (strncmp(name + i, port, sizeof port - 1) != 0) continue;
        if (*tail == '=' && strstr(value, "://")) return true;
        if (*tail == '_' && isdigit((unsigned char)tail[1])) return true;
    }
    return memmem(name, length, "_SERVICE_HOST", 13) || memmem(name, length, "_SERVICE_PORT", 13);
}

/* Number of characters to insert, delete or replace, or of neighbours to exchange, to make one name of the other, in
 * letters of either case. No character of an exchanged pair is changed otherwise. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t row[3][NAME_MOST + 1], n = strnlen(a, NAME_MOST), m = strnlen(b, NAME_MOST);
    for (size_t j = 0; j <= m; j++)
        row[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *now = row[i % 3], *last = row[(i + 2) % 3], *previous = row[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t cost = last[j - 1] + (toupper((unsigned char)a[i - 1]) != toupper((unsigned char)b[j - 1]));
            if (last[j] + 1 < cost) cost = last[j] + 1;
            if (now[j - 1] + 1 < cost) cost = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && previous[j - 2] + 1 < cost)
                cost = previous[j - 2] + 1;
            now[j] = cost;
        }
    }
    return row[n % 3][m];
}

/* Keeps the more similar of the best name so far and another one. */
static void consider(const char *name, const char *other, char *best, size_t *least)
{
    size_t d = edit_distance(name, other);
    if (d >= *least) return;
    *least = d;
    snprintf(best, 64, "%s", other);
}

void srv_config_suggest(const char *name, bool flag, char *text, size_t size)
{
    char   best[64] = "", other[64];
    size_t prefix = flag ? 2 : strlen(SRV_VARIABLE_PREFIX), length = strnlen(name, NAME_MOST);
    size_t least = 2 + (length > prefix ? length - prefix : 0) / 4; /* a name with more differences is another one */
    for (const srv_setting *s = srv_settings; s < srv_settings + srv_n_settings; s++) {
        if (flag)
            snprintf(other, sizeof other, "--%s", s->name);
        else
            srv_setting_variable(s, other, sizeof other);
        consider(name, other, best, &least);
    }
    for (size_t i = 0; i < CLIENT_VARIABLES && !flag; i++)
        consider(name, client_variables[i], best, &least);
    snprintf(text, size, "%s%s%s", *best ? " (did you mean " : "", best, *best ? "?)" : "");
}

bool srv_config_check_environment(char *error, size_t error_size)
{
    for (char *const *entry = environ; *entry; entry++) {
        char        name[80], suggestion[120];
        size_t      length = strcspn(*entry, "=");
        const char *value  = (*entry)[length] ? *entry + length + 1 : "";
        if (strncmp(*entry, SRV_VARIABLE_PREFIX, strlen(SRV_VARIABLE_PREFIX)) != 0) continue;
        if (srv_setting_of_variable(*entry, length) || is_client_variable(*entry, length)) continue;
        if (is_service_link(*entry, length, value)) continue;
        snprintf(name, sizeof name, "%.*s", (int)length, *entry);
        srv_config_suggest(name, false, suggestion, sizeof suggestion);
        snprintf(error, error_size,
                 "the environment has %s, which is no setting of torqued%s; unset it, or see torqued serve --help",
                 name, suggestion);
        return false;
    }
    return true;
}
