/* locked_cache.h - keeps models with locked joints (locked.h) that requests have asked for, so that the next request
 * with the same locks need not build its model again.
 *
 * The cache holds references to at most API_LOCKED_MODELS models with at most API_LOCKED_BYTES bytes together, and
 * forgets the one that was not used for the longest time. Any thread may call its functions. */
#pragma once
#include "api/robots/model/model.h"
#include <pthread.h>

enum {
    API_LOCKED_MODELS   = 64,
    API_LOCKED_BYTES    = 32 * 1024 * 1024, /* all models together */
    API_LOCKED_KEY_MOST = 4096              /* bytes of a key, NUL included; models with longer ones are not kept */
};

typedef struct api_locked_entry {
    char      *key;   /* owned; NULL: the entry is empty */
    api_model *model; /* a counted reference */
    size_t     bytes;
    uint64_t   used; /* value of the clock when the entry was last found */
} api_locked_entry;

typedef struct api_locked_cache {
    pthread_mutex_t  lock;
    api_locked_entry entry[API_LOCKED_MODELS];
    size_t           bytes;
    uint64_t         clock;
} api_locked_cache;

void api_locked_cache_open(api_locked_cache *cache);
void api_locked_cache_close(api_locked_cache *cache); /* releases all models */

/* Returns a new reference to the model of a key, NULL if there is none. */
api_model *api_locked_cache_find(api_locked_cache *cache, const char *key);

/* Keeps a reference to the model under a copy of the key. Does nothing where the model is too large, the key is known
 * or memory is short. */
void api_locked_cache_keep(api_locked_cache *cache, const char *key, api_model *model);
