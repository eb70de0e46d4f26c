/* clients.c - reads the list of clients and finds the client of a token, a certificate or a peer. */
#define _GNU_SOURCE /* strptime, timegm */
#include "clients.h"
#include "regular_file.h"
#include "token.h"
#include <errno.h>
#include <gnutls/gnutls.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

enum { MAX_CLIENTS = 4096, UNMAPPED = 65534 };

typedef enum kind { TOKEN, CERTIFICATE, UID, GID } kind;

typedef struct client {
    char     name[SRV_CLIENT_NAME];
    kind     kind;
    uint8_t  hash[SRV_TOKEN_HASH]; /* SHA-256 of the token; kind TOKEN only */
    char    *common_name;          /* if the kind is CERTIFICATE */
    id_t     id;                   /* number of the user or group; kinds UID and GID only */
    time_t   expires;              /* 0: never */
    unsigned roles;
    char    *models; /* NULL: all */
} client;

struct srv_clients {
    size_t  n, capacity;
    client *list;
};

/* --- finding a client --------------------------------------------------------------------------------------------- */

static api_identity identity_of(const client *c, time_t now)
{
    static const char *const expired[] = {[TOKEN]       = "the token has expired",
                                          [CERTIFICATE] = "the right of the client certificate has expired",
                                          [UID]         = "the right of the user has expired",
                                          [GID]         = "the right of the group has expired"};
    bool                     past      = c->expires > 0 && now >= c->expires;
    return (api_identity){
        .name = c->name, .roles = c->roles, .models = c->models, .refused = past ? expired[c->kind] : NULL};
}

/* Compares the first four bytes of the hashes before all of them, since most differ there. The time of that depends
 * on the hash of the token that was sent. A client cannot choose a token by its hash, and a part of a hash does not
 * help to find the token. The comparison of the whole hashes takes constant time. */
static bool hashes_are_equal(const uint8_t a[SRV_TOKEN_HASH], const uint8_t b[SRV_TOKEN_HASH])
{
    return memcmp(a, b, 4) == 0 && gnutls_memcmp(a, b, SRV_TOKEN_HASH) == 0;
}

api_identity srv_clients_by_token(const srv_clients *clients, const char *token, time_t now)
{
    uint8_t hash[SRV_TOKEN_HASH];
    if (!srv_token_hash(token, hash)) return (api_identity){.refused = "the token cannot be checked"};
    for (size_t i = 0; i < clients->n; i++)
        if (clients->list[i].kind == TOKEN && hashes_are_equal(clients->list[i].hash, hash))
            return identity_of(&clients->list[i], now);
    return (api_identity){.refused = "no client of this server has the token in Authorization"};
}

api_identity srv_clients_by_certificate(const srv_clients *clients, const char *common_name, time_t now)
{
    for (size_t i = 0; i < clients->n; i++)
        if (clients->list[i].kind == CERTIFICATE && strcmp(clients->list[i].common_name, common_name) == 0)
            return identity_of(&clients->list[i], now);
    return (api_identity){0};
}

static api_identity find_id(const srv_clients *clients, kind wanted, id_t id, time_t now)
{
    for (size_t i = 0; i < clients->n; i++)
        if (clients->list[i].kind == wanted && clients->list[i].id == id) return identity_of(&clients->list[i], now);
    return (api_identity){0};
}

api_identity srv_clients_by_uid(const srv_clients *clients, uid_t uid, time_t now)
{
    return find_id(clients, UID, uid, now);
}

api_identity srv_clients_by_gid(const srv_clients *clients, gid_t gid, time_t now)
{
    return find_id(clients, GID, gid, now);
}

size_t srv_clients_count(const srv_clients *clients)
{
    return clients->n;
}

/* --- reading the file --------------------------------------------------------------------------------------------- */

bool srv_client_name_is_valid(const char *name)
{
    size_t length = strlen(name);
    return length > 0 && length < SRV_CLIENT_NAME && strspn(name, NAME_CHARACTERS) == length;
}

bool srv_patterns_are_valid(const char *patterns)
{
    if (strspn(patterns, NAME_CHARACTERS "*?,") != strlen(patterns)) return false;
    for (const char *p = patterns;; p++) {
        size_t length = strcspn(p, ",");
        if (length == 0 || length >= SRV_CLIENT_NAME) return false;
        p += length;
        if (!*p) return true;
    }
}

static unsigned role_named(const char *name, size_t length)
{
#define X(NAME, text, bit)                                                                                             \
    if (length == sizeof text - 1 && memcmp(name, text, length) == 0) return bit;
    API_ROLES(X)
#undef X
    return 0;
}

bool srv_roles_parse(const char *list, unsigned *roles)
{
    for (const char *p = list;; p++) {
        size_t   length = strcspn(p, ",");
        unsigned role   = role_named(p, length);
        if (!role) return false;
        *roles |= role;
        p += length;
        if (!*p) return true;
    }
}

static bool parse_hash(const char *hex, uint8_t hash[SRV_TOKEN_HASH])
{
    size_t               size   = SRV_TOKEN_HASH;
    const gnutls_datum_t digits = {(unsigned char *)(uintptr_t)hex, 2 * SRV_TOKEN_HASH};
    if (strlen(hex) != digits.size || strspn(hex, "0123456789abcdefABCDEF") != digits.size) return false;
    return gnutls_hex_decode(&digits, hash, &size) == 0 && size == SRV_TOKEN_HASH;
}

/* Reads the number of a user or group. The kernel shows every user that the server's namespace does not have as
 * UNMAPPED (user_namespaces(7)), so this number cannot name a client. */
static bool parse_id(const char *text, id_t *id)
{
    size_t             digits = strspn(text, "0123456789");
    unsigned long long value  = strtoull(text, NULL, 10);
    *id                       = (id_t)value;
    return digits > 0 && digits <= 10 && text[digits] == '\0' && value < UINT32_MAX && value != UNMAPPED;
}

/* Reads a time such as 2027-01-31T12:00:00Z. Printing it again must give the same text: strptime also takes other
 * forms, and days that do not exist. */
static bool parse_time(const char *text, time_t *time)
{
    static const char form[] = "%Y-%m-%dT%H:%M:%SZ";
    struct tm         utc    = {0};
    char              again[64];
    const char       *end = strptime(text, form, &utc);
    if (!end || *end) return false;
    *time = timegm(&utc);
    return *time > 0 && gmtime_r(time, &utc) && strftime(again, sizeof again, form, &utc) > 0 &&
           strcmp(again, text) == 0;
}

static const char *after(const char *text, const char *prefix)
{
    size_t length = strlen(prefix);
    return strncmp(text, prefix, length) == 0 ? text + length : NULL;
}

static bool parse_credential(const char *text, client *c)
{
    const char *value;
    if ((value = after(text, "sha256:"))) {
        c->kind = TOKEN;
        return parse_hash(value, c->hash);
    }
    if ((value = after(text, "certificate:"))) {
        c->kind        = CERTIFICATE;
        c->common_name = *value ? strdup(value) : NULL;
        return c->common_name != NULL;
    }
    c->kind = after(text, "gid:") ? GID : UID;
    value   = after(text, c->kind == GID ? "gid:" : "uid:");
    return value && parse_id(value, &c->id);
}

/* Reads "expires=..." or "models=...". Each may occur once. */
static bool parse_limit(const char *text, client *c)
{
    const char *value;
    if ((value = after(text, "expires="))) return c->expires == 0 && parse_time(value, &c->expires);
    if (!(value = after(text, "models=")) || c->models || !srv_patterns_are_valid(value)) return false;
    c->models = strdup(value);
    return c->models != NULL;
}

/* True if a word that stands where another is expected may be a token, which must not be repeated in a message. */
static bool may_be_token(const char *word)
{
    return word && (strstr(word, SRV_TOKEN_PREFIX) || (strlen(word) >= SRV_TOKEN_HASH && !strchr(word, ':')));
}

/* Reads a line. Returns NULL, or the text of what was expected; then `*bad` is the field that is wrong. */
static const char *parse_line(char *line, client *c, const char **bad)
{
    static const char blanks[] = " \t\r\n";
    char             *rest, *field = strtok_r(line, blanks, &rest);
    *c   = (client){0};
    *bad = field;
    if (!srv_client_name_is_valid(field)) return "a name of 1 to 64 letters, digits, . _ -";
    strcpy(c->name, field);
    *bad = field = strtok_r(NULL, blanks, &rest);
    if (!field || !srv_roles_parse(field, &c->roles))
        return "roles: evaluate, admin, observe, with commas between them";
    *bad = field = strtok_r(NULL, blanks, &rest);
    if (!field || !parse_credential(field, c))
        return "sha256: and 64 hexadecimal digits, certificate: and a common name, uid: or gid: and a number other "
               "than 65534";
    while ((*bad = field = strtok_r(NULL, blanks, &rest)))
        if (!parse_limit(field, c)) return "expires=2027-01-31T12:00:00Z or models=PATTERN,..., each once";
    return NULL;
}

static bool is_same_credential(const client *a, const client *b)
{
    if (a->kind != b->kind) return false;
    if (a->kind == TOKEN) return memcmp(a->hash, b->hash, SRV_TOKEN_HASH) == 0;
    return a->kind == CERTIFICATE ? strcmp(a->common_name, b->common_name) == 0 : a->id == b->id;
}

static bool has_credential(const srv_clients *clients, const client *wanted)
{
    for (size_t i = 0; i < clients->n; i++)
        if (is_same_credential(&clients->list[i], wanted)) return true;
    return false;
}

static void free_client(client *c)
{
    free(c->common_name);
    free(c->models);
}

/* Adds a client, which the list then owns. */
static bool append_client(srv_clients *clients, const client *c)
{
    if (clients->n == clients->capacity) {
        size_t  capacity = clients->capacity ? 2 * clients->capacity : 16;
        client *list     = reallocarray(clients->list, capacity, sizeof *list);
        if (!list) return false;
        clients->list     = list;
        clients->capacity = capacity;
    }
    clients->list[clients->n++] = *c;
    return true;
}

static bool read_line(srv_clients *clients, char *line, size_t number, char *error, size_t error_size)
{
    client      c;
    const char *bad, *start = line + strspn(line, " \t\r\n");
    if (*start == '\0' || *start == '#') return true;
    const char *expected = parse_line(line, &c, &bad);
    if (expected && may_be_token(bad))
        snprintf(error, error_size,
                 "line %zu has a token itself, or another long word; it needs %s: the line that `torqued token` prints "
                 "to standard output",
                 number, expected);
    else if (expected)
        snprintf(error, error_size, "line %zu has \"%.80s\" where it needs %s", number, bad ? bad : "", expected);
    else if (has_credential(clients, &c))
        snprintf(error, error_size, "line %zu (%s) has the credential of an earlier line", number, c.name);
    else if (clients->n == MAX_CLIENTS)
        snprintf(error, error_size, "line %zu is beyond the limit of %d clients", number, MAX_CLIENTS);
    else if (append_client(clients, &c))
        return true;
    else
        snprintf(error, error_size, "no memory for line %zu", number);
    free_client(&c);
    return false;
}

srv_clients *srv_clients_read(const char *path, char *error, size_t error_size)
{
    char         reason[300] = "no memory", *line = NULL;
    size_t       size = 0, number = 0;
    srv_clients *clients = calloc(1, sizeof *clients);
    FILE        *file    = clients ? srv_trusted_file_open(path, reason, sizeof reason) : NULL;
    bool         good    = file != NULL;
    errno                = 0;
    while (good && getline(&line, &size, file) >= 0)
        good = read_line(clients, line, ++number, reason, sizeof reason);
    if (good && ferror(file)) {
        snprintf(reason, sizeof reason, "%s", strerror(errno));
        good = false;
    }
    free(line);
    if (file) fclose(file);
    if (good && clients->n == 0) {
        snprintf(reason, sizeof reason,
                 "it names no client, so no request could be made; add one (torqued token NAME ROLE >>FILE)");
        good = false;
    }
    if (good) return clients;
    snprintf(error, error_size, "cannot use the file %.200s of --tokens: %s", path, reason);
    srv_clients_free(clients);
    return NULL;
}

/* --- comparing ---------------------------------------------------------------------------------------------------- */

static bool is_same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool has_line(const srv_clients *clients, const client *wanted)
{
    for (size_t i = 0; clients && i < clients->n; i++) {
        const client *c = &clients->list[i];
        if (strcmp(c->name, wanted->name) == 0 && is_same_credential(c, wanted) && c->roles == wanted->roles &&
            c->expires == wanted->expires && is_same_text(c->models, wanted->models))
            return true;
    }
    return false;
}

/* Returns the first line of that name from number `from` on; SIZE_MAX: there is none. */
static size_t line_named(const srv_clients *clients, size_t from, const char *name)
{
    for (size_t i = from; clients && i < clients->n; i++)
        if (strcmp(clients->list[i].name, name) == 0) return i;
    return SIZE_MAX;
}

/* True if `others` has all lines of a name that `clients` has. */
static bool has_lines_of(const srv_clients *others, const srv_clients *clients, const char *name)
{
    for (size_t i = line_named(clients, 0, name); i != SIZE_MAX; i = line_named(clients, i + 1, name))
        if (!has_line(others, &clients->list[i])) return false;
    return true;
}

void srv_clients_compare(const srv_clients *last, const srv_clients                                 *next,
                         void (*visit)(void *arg, const char *name, srv_client_change change), void *arg)
{
    for (size_t i = 0; next && i < next->n; i++) {
        const char *name = next->list[i].name;
        if (line_named(next, 0, name) != i) continue;
        if (line_named(last, 0, name) == SIZE_MAX)
            visit(arg, name, SRV_CLIENT_ADDED);
        else if (!has_lines_of(last, next, name) || !has_lines_of(next, last, name))
            visit(arg, name, SRV_CLIENT_CHANGED);
    }
    for (size_t i = 0; last && i < last->n; i++) {
        const char *name = last->list[i].name;
        if (line_named(last, 0, name) == i && line_named(next, 0, name) == SIZE_MAX)
            visit(arg, name, SRV_CLIENT_REMOVED);
    }
}

void srv_clients_visit_idle(const srv_clients *clients, time_t now, bool users, bool certificates,
                            void (*visit)(void *arg, const char *name, const char *reason), void *arg)
{
    for (size_t i = 0; i < clients->n; i++) {
        const client *c       = &clients->list[i];
        const char   *expired = identity_of(c, now).refused;
        if (expired)
            visit(arg, c->name, expired);
        else if (c->kind == CERTIFICATE && !certificates)
            visit(arg, c->name, "the server asks for no certificates without --tls-client-ca");
        else if ((c->kind == UID || c->kind == GID) && !users)
            visit(arg, c->name, "--listen has no unix:PATH, where users are seen");
    }
}

void srv_clients_free(srv_clients *clients)
{
    if (!clients) return;
    for (size_t i = 0; i < clients->n; i++)
        free_client(&clients->list[i]);
    free(clients->list);
    free(clients);
}
