/* restore.h - read the records of a store in parallel and pass them to the api. */
#pragma once
#include "api/api.h"

/* A file of the folder of records after its reading. */
typedef struct srv_record_file {
    char *name;
    bool  good;    /* its model is served, or it marks a bundled model as deleted */
    char *problem; /* why not; NULL: it is good, or there is no memory for the text */
} srv_record_file;

typedef struct srv_record_files {
    srv_record_file *file; /* [n], in the order of names */
    size_t           n;
} srv_record_files;

/* Lists the records in a folder, given by its descriptor, in the order of their names. Deletes `leftover` files of a
 * change that was refused, interrupted or completed; NULL ends their list. False with errno: the folder cannot be read.
 */
bool srv_records_list(int folder, const char *const *leftover, srv_record_files *files);

/* Reads all listed records on `threads` threads, and passes them to api_restore in the order of their names. Models,
 * their revisions and the list of problems do not depend on the number of threads, also where the limit of memory of
 * all models is reached. */
void srv_records_restore(int folder, api *service, size_t threads, srv_record_files *files);

void srv_records_free(srv_record_files *files);
