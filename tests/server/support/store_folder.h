/* store_folder.h - opens, changes and inspects a store in a temporary folder of the test. */
#pragma once
#include "server/store/store.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

/* Two different records that a server accepts at its start: both mark a deleted model. */
#define OLD "{\"deleted\":true}"
#define NEW "{\"deleted\":true }"

extern char    store_folder[60], store_error[600]; /* path of the folder; error message of a failed opening */
extern srv_log store_log;                          /* discards its lines */

/* Fixtures: make_base and drop_base make and remove the folder for a group of tests; clear_folder empties it for a test
   that starts without a store. */
int make_base(void **state);
int drop_base(void **state);
int clear_folder(void **state);

srv_store *open_store(void);

/* Makes a new store with the record `before` of "m" (NULL: none) and the record OLD of "bystander". */
void prepare(const char *before);

/* Saves a record, or erases it if `text` is NULL; returns the store's answer. */
api_code change(srv_store *store, const char *name, const char *text);

/* Opens the store as the next server would: the lock must be free, files of unfinished changes must disappear, and
 * every record must be readable. */
srv_restored start_again(void);

/* Path and content, without its checksum, of a file in models/ (NULL: no such file); valid until the next call. */
char       *record_path(const char *file);
const char *content(const char *file);

bool same(const char *a, const char *b); /* true: equal texts, or both NULL */
void put_file(const char *path, const char *text);
