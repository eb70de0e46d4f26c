/* locked_cache.c - see locked_cache.h: a table that is searched from end to end, under a mutex. */
#include "locked_cache.h"
#include <stdlib.h>
#include <string.h>

void api_locked_cache_open(api_locked_cache *cache)
{
    pthread_mutex_init(&cache->lock, NULL);
}

static void empty(api_locked_cache *cache, api_locked_entry *entry)
{
    cache->bytes -= entry->bytes;
    free(entry->key);
    api_model_release(entry->model);
    *entry = (api_locked_entry){.key = NULL};
}

void api_locked_cache_close(api_locked_cache *cache)
{
    for (size_t i = 0; i < API_LOCKED_MODELS; i++)
        empty(cache, &cache->entry[i]);
    pthread_mutex_destroy(&cache->lock);
}

static api_locked_entry *find_locked(api_locked_cache *cache, const char *key)
{
    for (size_t i = 0; i < API_LOCKED_MODELS; i++)
        if (cache->entry[i].key && strcmp(cache->entry[i].key, key) == 0) return &cache->entry[i];
    return NULL;
}

api_model *api_locked_cache_find(api_locked_cache *cache, const char *key)
{
    pthread_mutex_lock(&cache->lock);
    api_locked_entry *entry = find_locked(cache, key);
    api_model        *model = entry ? api_model_share(entry->model) : NULL;
    if (entry) entry->used = ++cache->clock;
    pthread_mutex_unlock(&cache->lock);
    return model;
}

/* Returns an empty entry if there is one, else the entry that was not used for the longest time. */
static api_locked_entry *oldest(api_locked_cache *cache)
{
    api_locked_entry *found = &cache->entry[0];
    for (size_t i = 1; i < API_LOCKED_MODELS && found->key; i++)
        if (!cache->entry[i].key || cache->entry[i].used < found->used) found = &cache->entry[i];
    return found;
}

/* Returns the entry with a key that was not used for the longest time; the cache is not empty. */
static api_locked_entry *oldest_in_use(api_locked_cache *cache)
{
    api_locked_entry *found = NULL;
    for (size_t i = 0; i < API_LOCKED_MODELS; i++)
        if (cache->entry[i].key && (!found || cache->entry[i].used < found->used)) found = &cache->entry[i];
    return found;
}

void api_locked_cache_keep(api_locked_cache *cache, const char *key, api_model *model)
{
    const size_t bytes = api_model_bytes(model);
    if (bytes > API_LOCKED_BYTES / 4) return;
    char *copy = strdup(key);
    if (!copy) return;
    pthread_mutex_lock(&cache->lock);
    const bool known = find_locked(cache, key) != NULL;
    while (!known && cache->bytes + bytes > API_LOCKED_BYTES)
        empty(cache, oldest_in_use(cache));
    if (!known) {
        api_locked_entry *entry = oldest(cache);
        empty(cache, entry);
        *entry = (api_locked_entry){copy, api_model_share(model), bytes, ++cache->clock};
        cache->bytes += bytes;
    }
    pthread_mutex_unlock(&cache->lock);
    if (known) free(copy);
}
