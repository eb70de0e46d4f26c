/* store_folder.h - open, change and inspect a store in a temporary folder of the test. */
#pragma once
#include "server/store/store.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

/* Two different records that a server accepts at its start. */
#define OLD "{\"deleted\":true}"
#define NEW "{\"deleted\":true }"

extern char    store_folder[60], store_error[600]; /* the folder; the message of a failed opening */
extern srv_log store_log;                          /* discards its lines */

/* Fixtures: make_base and drop_base of a group; clear_folder of a test, which starts without a store. */
int make_base(void **state);
int drop_base(void **state);
int clear_folder(void **state);

srv_store *open_store(void);

/* Makes a new store with the record `before` of "m" (NULL: none) and the record OLD of "bystander". */
void prepare(const char *before);

/* Saves a record, or erases it if `text` is NULL; returns the store's answer. */
api_code change(srv_store *store, const char *name, const char *text);

/* Opens the store as the next server would: the lock must be free, files of unfinished changes must disappear, every
 * record is read. */
srv_restored start_again(void);

/* Path and content of a file in models/ (NULL: there is none), without its checksum; valid until the next call. */
char       *record_path(const char *file);
const char *content(const char *file);

bool same(const char *a, const char *b); /* equal texts, or both NULL */
void put_file(const char *path, const char *text);
