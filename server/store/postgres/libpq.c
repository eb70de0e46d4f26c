/* libpq.c - see libpq.h. */
#include "libpq.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* Converts the object pointer of dlsym to a function pointer, which C has no cast for (POSIX: dlsym). */
static bool find(void *library, const char *name, void *function)
{
    void *address = dlsym(library, name);
    memcpy(function, &address, sizeof address);
    return address != NULL;
}

bool srv_libpq_load(srv_libpq *pq, char *error, size_t error_size)
{
    void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(error, error_size,
                 "a store in PostgreSQL needs libpq, which cannot be loaded (%.200s); on Debian: apt-get install "
                 "torqued-postgresql",
                 dlerror());
        return false;
    }
#define X(result, name, arguments) find(library, "PQ" #name, &pq->name) &&
    bool complete = SRV_LIBPQ_FUNCTIONS(X) true;
#undef X
    if (!complete)
        snprintf(error, error_size, "libpq lacks a function that the store needs; version 10 or newer has all");
    return complete;
}
