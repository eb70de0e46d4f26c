/* store_folder.h - a store in a folder of the test's own, and what is to be found there. */
#pragma once
#include "server/store/store.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

/* Two records that a start accepts. */
#define OLD "{\"deleted\":true}"
#define NEW "{\"deleted\":true }"

extern char    store_folder[60], store_error[600]; /* the folder; what opening it said */
extern srv_log store_log;                          /* goes nowhere */

/* Fixtures: of a group; of a test, which begins without a store. */
int make_base(void **state);
int drop_base(void **state);
int clear_folder(void **state);

srv_store *open_store(void);

/* A new store with a record of "m" (NULL: none) and one of "bystander", OLD. */
void prepare(const char *before);

/* Saves, or with `text` NULL erases; what the store answered. */
api_code change(srv_store *store, const char *name, const char *text);

/* As at the next start: the lock is free, leftovers go, every record is read. */
srv_restored start_again(void);

/* Files of models/: the path, and the bytes (NULL: there is none); valid until the next call. */
char       *record_path(const char *file);
const char *content(const char *file);

bool same(const char *a, const char *b); /* texts, or both NULL */
void put_file(const char *path, const char *text);
