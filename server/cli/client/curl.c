/* curl.c - see curl.h. */
#include "curl.h"
#include "server/cli/options.h"
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

/* The header of libcurl makes these names macros that check types. */
#undef curl_easy_setopt
#undef curl_easy_getinfo

/* Converts the object pointer of dlsym to a function pointer, which C has no cast for (POSIX: dlsym). */
static bool find(void *library, const char *name, void *function)
{
    void *address = dlsym(library, name);
    memcpy(function, &address, sizeof address);
    return address != NULL;
}

bool cli_curl_load(cli_curl *curl)
{
    /* Debian has two builds with the same interface, one with OpenSSL and one with GnuTLS. */
    static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};
    void                    *library = NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return cli_error("this command needs libcurl, which cannot be loaded (%s); on Debian: apt-get install libcurl4",
                         dlerror());
#define X(result, name, arguments) find(library, "curl_" #name, &curl->name) &&
    bool complete = CLI_CURL_FUNCTIONS(X) true;
#undef X
    if (!complete) return cli_error("libcurl lacks a function that this command needs; version 7.62 or newer has all");
    return curl->global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK || cli_error("libcurl does not start");
}
