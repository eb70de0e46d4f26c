/* record_loader.h - read the records of a store in parallel and pass them to the api. */
#pragma once
#include "api/api.h"

/* A file of the folder of records. `good` and `problem` are set by its reading. */
typedef struct srv_record_file {
    char *name;
    int   fd;      /* open for reading, and owned; -1: it is opened by its name */
    bool  good;    /* the model is served, or the record marks a bundled model as deleted */
    char *problem; /* reason for not being good; NULL: `good`, or no memory for the text */
} srv_record_file;

typedef struct srv_record_files {
    srv_record_file *file; /* [n], in the order of names */
    size_t           n;
    void (*show)(void *arg, size_t done, size_t all); /* called when a record has been read; NULL: not called */
    void *arg;
} srv_record_files;

/* Lists the records in a folder, given by its descriptor, in the order of their names. Files of a change that is under
 * way, or that was refused or interrupted, are left out. `cleans`: deletes them; no server may use the folder then.
 * False with errno: the folder cannot be read. */
bool srv_records_list(int folder, bool cleans, srv_record_files *files);

/* Names of the files of a change: the new record, and a second link to the previous one. No record has such a name. */
#define SRV_RECORD_NEXT     ".next"
#define SRV_RECORD_PREVIOUS ".previous"

#define SRV_RECORD_SUFFIX ".json" /* end of the file name of a record, after the name of its model */

/* Reads all listed records on `threads` threads, and passes them to api_restore in the order of their names. Models,
 * their revisions and the list of problems do not depend on the number of threads, also where the limit of memory of
 * all models is reached. */
void srv_records_restore(int folder, api *service, size_t threads, srv_record_files *files);

/* Reads the record of one model from its file. `saved` must then be passed to api_restore. */
void srv_record_read(int folder, api *service, const char *file, const char *name, api_saved_model *saved);

void srv_records_free(srv_record_files *files);
