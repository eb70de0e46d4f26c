/* connection.c - see connection.h. */
#include "connection.h"
#include "client_commands.h"
#include "server/store/durable_file.h"
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

/* The header of libcurl makes these names macros that check types; they are members of cli_curl here. */
#undef curl_easy_setopt
#undef curl_easy_getinfo

#define DEFAULT_URL     "http://127.0.0.1:8088"
#define DEFAULT_TIMEOUT 60.0
enum { TOKEN_MAX = 8192, TRIES = 10 };

const cli_option cli_connection_options[] = {
    {"url", "URL", CLI_NOTHING, "TORQUED_URL",
     "address of the server: http://HOST:PORT, https://HOST:PORT or unix:PATH (default: " DEFAULT_URL ")"},
    {"token-file", "FILE", CLI_FILE, "TORQUED_TOKEN_FILE",
     "file with the token that the server asks for; it is sent as Authorization: Bearer"},
    {"ca-file", "FILE", CLI_FILE, "TORQUED_CA_FILE",
     "certificates in PEM that may have signed the server's (default: those of the system)"},
    {"certificate", "FILE", CLI_FILE, "TORQUED_CERTIFICATE",
     "certificate of this client in PEM, for a server that asks for one; needs --key"},
    {"key", "FILE", CLI_FILE, "TORQUED_KEY", "private key of --certificate in PEM"},
    {"timeout", "SECONDS", CLI_NOTHING, NULL, "time for one request (default: 60)"},
    {.name = NULL},
};

/* --- address --------------------------------------------------------------------------------------------------- */

static bool begins(const char *text, const char *prefix)
{
    return strncasecmp(text, prefix, strlen(prefix)) == 0;
}

static bool is_loopback(const char *host)
{
    return begins(host, "127.") || begins(host, "localhost") || begins(host, "[::1]");
}

static bool set_unix(cli_connection *c, const char *path)
{
    c->base     = strdup("http://localhost");
    size_t size = strlen(path) + sizeof "unix:";
    c->listen   = malloc(size);
    if (c->listen) snprintf(c->listen, size, "unix:%s", path);
    return c->base && c->listen && *path && c->curl.easy_setopt(c->handle, CURLOPT_UNIX_SOCKET_PATH, path) == CURLE_OK;
}

/* Reads --url into base and listen. False after printing an error. */
static bool set_address(cli_connection *c, const char *url)
{
    if (begins(url, "unix:")) return set_unix(c, url + 5) || cli_error("--url is \"%.200s\"; expected unix:PATH", url);
    bool        secure = begins(url, "https://");
    const char *host   = strstr(url, "://");
    if ((!secure && !begins(url, "http://")) || !host[3] || strpbrk(host + 3, "?#@ ")) {
        return cli_error(
            "--url is \"%.200s\"; expected http://HOST:PORT, https://HOST:PORT or unix:PATH, without a user: a "
            "token belongs into --token-file",
            url);
    }
    c->base   = strdup(url);
    c->listen = strdup(host + 3);
    if (!c->base || !c->listen) return cli_error("out of memory");
    for (size_t n = strlen(c->base); n > 0 && c->base[n - 1] == '/'; n--)
        c->base[n - 1] = '\0';
    c->listen[strcspn(c->listen, "/")] = '\0';
    if (is_loopback(host + 3)) c->curl.easy_setopt(c->handle, CURLOPT_PROXY, "");
    if (c->token && !secure && !is_loopback(host + 3))
        fprintf(stderr, "torqued: warning: the token crosses the network unencrypted; use https://\n");
    return true;
}

/* Reads the token: one line of visible characters. */
static bool set_token(cli_connection *c, const char *file)
{
    size_t length;
    if (!file) return true;
    c->token = srv_input_read(file, TOKEN_MAX, &length);
    if (!c->token) return cli_error("cannot read the token file %s: %s", file, strerror(errno));
    while (length > 0 && strchr(" \r\n", c->token[length - 1]))
        c->token[--length] = '\0';
    for (size_t i = 0; i < length; i++)
        if (c->token[i] <= ' ' || c->token[i] > '~') length = 0;
    return length > 0 || cli_error("the token file %s must contain one token of visible ASCII characters", file);
}

/* --- callbacks of libcurl -------------------------------------------------------------------------------------- */

static size_t keep_body(char *bytes, size_t one, size_t length, void *arg)
{
    cli_connection *c = arg;
    (void)one;
    cli_text_add(&c->body, bytes, length);
    return c->body.failed ? 0 : length;
}

static size_t keep_header(char *line, size_t one, size_t length, void *arg)
{
    cli_connection   *c       = arg;
    static const char retry[] = "Retry-After:", change[] = "Model-Change:", revision[] = "Model-Revision:";
    char              text[160] = "";
    (void)one;
    if (length < sizeof text) memcpy(text, line, length);
    if (begins(text, retry)) c->retry_after = fmax(0, strtod(text + sizeof retry - 1, NULL));
    if (begins(text, change)) {
        const char *number = text + sizeof change - 1 + strspn(text + sizeof change - 1, " ");
        snprintf(c->change, sizeof c->change, "%.*s", (int)strspn(number, "0123456789"), number);
    }
    if (begins(text, revision)) {
        const char *value = text + sizeof revision - 1 + strspn(text + sizeof revision - 1, " ");
        size_t      size  = strcspn(value, " \r\n");
        snprintf(c->revision, sizeof c->revision, "%.*s", size < sizeof c->revision ? (int)size : 0, value);
    }
    return length;
}

/* --- open, send, close ----------------------------------------------------------------------------------------- */

int cli_connection_open(cli_connection *c, const cli_arguments *arguments)
{
    const char *url = cli_value(arguments, "url"), *ca = cli_value(arguments, "ca-file");
    const char *certificate = cli_value(arguments, "certificate"), *key = cli_value(arguments, "key");
    *c = (cli_connection){0};
    if (!cli_number(arguments, "timeout", 0.001, 86400, DEFAULT_TIMEOUT, &c->timeout)) return 2;
    if (!cli_curl_load(&c->curl)) return 1;
    c->handle = c->curl.easy_init();
    if (!c->handle) return cli_fail(1, "out of memory");
    int status = set_token(c, cli_value(arguments, "token-file")) ? 0 : 1;
    if (status == 0 && !set_address(c, url ? url : DEFAULT_URL)) status = 2;
    if (status == 0) {
        c->curl.easy_setopt(c->handle, CURLOPT_NOSIGNAL, 1L);
        c->curl.easy_setopt(c->handle, CURLOPT_WRITEFUNCTION, keep_body);
        c->curl.easy_setopt(c->handle, CURLOPT_WRITEDATA, c);
        c->curl.easy_setopt(c->handle, CURLOPT_HEADERFUNCTION, keep_header);
        c->curl.easy_setopt(c->handle, CURLOPT_HEADERDATA, c);
        c->curl.easy_setopt(c->handle, CURLOPT_TIMEOUT_MS, (long)ceil(c->timeout * 1e3));
        if (ca) c->curl.easy_setopt(c->handle, CURLOPT_CAINFO, ca);
        if (certificate) c->curl.easy_setopt(c->handle, CURLOPT_SSLCERT, certificate);
        if (key) c->curl.easy_setopt(c->handle, CURLOPT_SSLKEY, key);
        return 0;
    }
    cli_connection_close(c);
    return status;
}

void cli_connection_close(cli_connection *c)
{
    if (c->headers) c->curl.slist_free_all(c->headers);
    if (c->handle) c->curl.easy_cleanup(c->handle);
    if (c->token) memset(c->token, 0, strlen(c->token));
    free(c->token);
    free(c->base);
    free(c->listen);
    cli_text_free(&c->body);
    *c = (cli_connection){0};
}

static bool add_header(cli_connection *c, const char *name, const char *value)
{
    char line[TOKEN_MAX + 100];
    snprintf(line, sizeof line, "%s:%s%s", name, value ? " " : "",
             value ? value : ""); /* libcurl does not send a header without a value */
    struct curl_slist *longer = c->curl.slist_append(c->headers, line);
    if (longer) c->headers = longer;
    return longer != NULL;
}

static bool set_headers(cli_connection *c, const cli_request *r)
{
    char bearer[TOKEN_MAX + 20], tag[CLI_REVISION_SIZE + 2];
    if (c->headers) c->curl.slist_free_all(c->headers);
    c->headers = NULL;
    if (c->token) snprintf(bearer, sizeof bearer, "Bearer %s", c->token);
    snprintf(tag, sizeof tag, "\"%s\"", c->pinned);
    return add_header(c, "Content-Type", r->content_type) && add_header(c, "Accept", r->accept) &&
           add_header(c, "Expect", NULL) && (!*c->change || add_header(c, "Model-Change", c->change)) &&
           (!*c->pinned || add_header(c, "If-Match", tag)) && (!c->token || add_header(c, "Authorization", bearer));
}

/* Prints why no answer has come, and what to do. */
static void report_failure(const cli_connection *c, CURLcode code)
{
    const char *why = c->curl.easy_strerror(code);
    if (c->quiet) return;
    if (code == CURLE_COULDNT_CONNECT)
        cli_error("no server answers at %s; start one with: torqued serve --listen %s, or name another with --url",
                  begins(c->listen, "unix:") ? c->listen : c->base, c->listen);
    else if (code == CURLE_COULDNT_RESOLVE_HOST)
        cli_error("%s: there is no such host; name the server with --url", c->base);
    else if (code == CURLE_OPERATION_TIMEDOUT)
        cli_error("%s gave no answer within %g s; --timeout allows more", c->base, c->timeout);
    else if (code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE)
        cli_error("%s: %s; --ca-file names the certificate that signed the server's", c->base, why);
    else if (code == CURLE_SSL_CERTPROBLEM)
        cli_error("%s; --certificate and --key name the certificate of this client and its key", why);
    else if (c->body.failed)
        cli_error("no memory for the answer");
    else if (code == CURLE_GOT_NOTHING && begins(c->base, "http:"))
        cli_error("%s: %s; a server that speaks TLS is at https:// instead", c->base, why);
    else
        cli_error("%s: %s", c->base, why);
}

static void wait_seconds(double seconds)
{
    struct timespec time = {.tv_sec = (time_t)seconds, .tv_nsec = (long)((seconds - floor(seconds)) * 1e9)};
    nanosleep(&time, NULL);
}

static bool send_once(cli_connection *c, const cli_request *r, const char *url)
{
    cli_curl  *curl   = &c->curl;
    CURLcode   code   = CURLE_OUT_OF_MEMORY;
    curl_off_t micros = 0;
    c->body.length    = 0;
    c->status         = 0;
    c->retry_after    = -1;
    *c->revision      = '\0';
    if (set_headers(c, r)) {
        curl->easy_setopt(c->handle, CURLOPT_URL, url);
        curl->easy_setopt(c->handle, CURLOPT_HTTPHEADER, c->headers);
        curl->easy_setopt(c->handle, CURLOPT_NOBODY, 0L);
        curl->easy_setopt(c->handle, CURLOPT_HTTPGET, 1L);
        if (r->body) curl->easy_setopt(c->handle, CURLOPT_POSTFIELDS, r->body);
        if (r->body) curl->easy_setopt(c->handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->length);
        curl->easy_setopt(c->handle, CURLOPT_CUSTOMREQUEST, r->method);
        code = curl->easy_perform(c->handle);
    }
    if (code == CURLE_OK) {
        cli_text_add(&c->body, "", 0); /* ends it with a NUL, also if it is empty */
        curl->easy_getinfo(c->handle, CURLINFO_RESPONSE_CODE, &c->status);
        curl->easy_getinfo(c->handle, CURLINFO_TOTAL_TIME_T, &micros);
        c->seconds = (double)micros * 1e-6;
        return !c->body.failed;
    }
    report_failure(c, code);
    return false;
}

bool cli_connection_send(cli_connection *c, const cli_request *request)
{
    char  *url    = NULL;
    size_t size   = strlen(c->base) + strlen(request->path) + 1;
    double waited = 0;
    url           = malloc(size);
    if (!url) return cli_error("out of memory");
    snprintf(url, size, "%s%s", c->base, request->path);
    bool answered = send_once(c, request, url);
    for (int i = 1; request->waits && i < TRIES && answered && c->status == 503 && c->retry_after >= 0; i++) {
        double pause = fmax(c->retry_after, 0.05);
        if (waited + pause > c->timeout) break;
        wait_seconds(pause);
        waited += pause;
        answered = send_once(c, request, url);
    }
    free(url);
    return answered;
}

bool cli_model_path(cli_connection *c, const char *model, const char *rest, char *path, size_t size)
{
    char *escaped = c->curl.easy_escape(c->handle, model, 0);
    int   length  = escaped ? snprintf(path, size, "/v1/models/%s%s", escaped, rest) : -1;
    if (escaped) c->curl.free(escaped);
    return (length >= 0 && (size_t)length < size) || cli_error("the name \"%.80s\" is too long", model);
}

bool cli_connection_ask(cli_connection *c, const cli_request *request)
{
    if (!cli_connection_send(c, request)) return false;
    if (c->status < 400) return true;
    if (!c->quiet) cli_connection_report(c, NULL);
    return false;
}

/* --- problems -------------------------------------------------------------------------------------------------- */

/* Prints the names of the models, after a request named one that does not exist. Uses the body of the connection. */
static void list_models(cli_connection *c)
{
    json_t *answer, *model;
    size_t  i;
    *c->pinned = '\0';
    if (!cli_connection_send(c, &(cli_request){.method = "GET", .path = "/v1/models"}) || c->status != 200) return;
    answer = json_loads(c->body.bytes, 0, NULL);
    fputs("  models of this server:", stderr);
    json_array_foreach (json_object_get(answer, "models"), i, model) {
        const char *name = json_string_value(json_object_get(model, "name"));
        if (name) fprintf(stderr, " %s", name);
    }
    fputs("\n  add one with: torqued put MODEL FILE\n", stderr);
    json_decref(answer);
}

static void print_hint(cli_connection *c, const char *code)
{
    if (*c->pinned && strcmp(code, "precondition-failed") == 0)
        fprintf(stderr,
                "  the model has been replaced since this command began, with the revision \"%s\";\n"
                "  an answer must not mix two models: call again to evaluate the new one\n",
                c->pinned);
    if (c->status == 401 || c->status == 403) fputs("  --token-file names the file with the token\n", stderr);
    if (strcmp(code, "no-such-model") == 0) list_models(c);
}

/* Prints the place of the problem in the request, and in the file that the request comes from. */
static void print_place(const json_t *problem, const cli_origin *origin)
{
    const char *pointer = json_string_value(json_object_get(problem, "pointer"));
    json_t     *number  = json_object_get(problem, "row");
    size_t      row     = json_integer_value(number) > 0 ? (size_t)json_integer_value(number) : 0;
    size_t      first   = origin ? origin->first_row : 0;
    if (pointer && *pointer)
        fprintf(stderr, "  at %s of the request%s\n", pointer, first > 0 ? ", which is a part of the file" : "");
    if (!number) return;
    fprintf(stderr, "  row %zu, counted from 0", first + row);
    if (origin && origin->lines && row < origin->rows)
        fprintf(stderr, ": %s line %zu", origin->file, origin->lines[row]);
    fputc('\n', stderr);
}

void cli_connection_report(cli_connection *c, const cli_origin *origin)
{
    json_t     *problem = json_loads(c->body.bytes, 0, NULL), *reason;
    const char *code    = json_string_value(json_object_get(problem, "code"));
    const char *detail  = json_string_value(json_object_get(problem, "detail"));
    size_t      i;
    char        copy[64] = "";
    if (detail)
        cli_error("%s (%s, status %ld)", detail, code ? code : "no code", c->status);
    else
        cli_error("%s answered status %ld: %.200s", c->base, c->status, c->body.bytes);
    print_place(problem, origin);
    json_array_foreach (json_object_get(problem, "reasons"), i, reason) {
        fprintf(stderr, "  %s\n", json_string_value(reason) ? json_string_value(reason) : "");
    }
    if (code) snprintf(copy, sizeof copy, "%s", code);
    json_decref(problem);
    print_hint(c, copy);
}
