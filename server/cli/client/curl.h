/* curl.h - load libcurl when a command needs it.
 *
 * The commands that ask a server speak HTTP, TLS and Unix sockets through libcurl. The same binary is the server, which
 * must run where libcurl and its thirty libraries are not installed; so it is not linked, but opened by dlopen.
 * The headers of libcurl are needed to compile. */
#pragma once
#include <curl/curl.h>
#include <stdbool.h>

/* The functions of libcurl that the commands call, under their names without "curl_". */
/* clang-format off */
#define CLI_CURL_FUNCTIONS(X) \
    X(CURLcode, global_init, (long)) \
    X(CURL *, easy_init, (void)) \
    X(void, easy_cleanup, (CURL *)) \
    X(CURLcode, easy_setopt, (CURL *, CURLoption, ...)) \
    X(CURLcode, easy_perform, (CURL *)) \
    X(CURLcode, easy_getinfo, (CURL *, CURLINFO, ...)) \
    X(const char *, easy_strerror, (CURLcode)) \
    X(char *, easy_escape, (CURL *, const char *, int)) \
    X(void, free, (void *)) \
    X(struct curl_slist *, slist_append, (struct curl_slist *, const char *)) \
    X(void, slist_free_all, (struct curl_slist *))
/* clang-format on */

#define X(result, name, arguments) result(*name) arguments;
typedef struct cli_curl {
    CLI_CURL_FUNCTIONS(X)
} cli_curl;
#undef X

/* Loads the library and finds the functions. False after printing an error that says how to install it. The library
 * stays loaded until the process exits. */
bool cli_curl_load(cli_curl *curl);
