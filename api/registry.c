/* registry.c - see registry.h. A sorted array under one lock: some hundred models, lookups of some ten
 * nanoseconds, and nothing slow is ever done inside. */
#include "registry.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct api_registry {
    pthread_mutex_t lock;
    api_model     **models; /* [n], sorted by name; room for `limit` */
    size_t          n, limit;
};

static bool is_letter_or_digit(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool api_model_name_good(const char *name)
{
    if (!is_letter_or_digit(name[0])) return false;
    size_t length = 1;
    while (is_letter_or_digit(name[length]) || (name[length] && strchr("._-", name[length])))
        length++;
    return name[length] == '\0' && length <= 64;
}

api_registry *api_registry_new(size_t limit)
{
    api_registry *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    r->limit  = limit;
    r->models = calloc(limit + 1, sizeof(api_model *));
    if (!r->models || pthread_mutex_init(&r->lock, NULL) != 0) {
        free(r->models);
        free(r);
        return NULL;
    }
    return r;
}

void api_registry_free(api_registry *r)
{
    if (!r) return;
    for (size_t i = 0; i < r->n; i++)
        api_model_release(r->models[i]);
    pthread_mutex_destroy(&r->lock);
    free(r->models);
    free(r);
}

/* Where `name` stands or would stand; call with the lock held. */
static size_t position(const api_registry *r, const char *name, bool *there)
{
    size_t low = 0, high = r->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int    order  = strcmp(name, r->models[middle]->name);
        if (order == 0) {
            *there = true;
            return middle;
        }
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    *there = false;
    return low;
}

api_model *api_registry_find(api_registry *r, const char *name)
{
    bool there;
    pthread_mutex_lock(&r->lock);
    size_t     i     = position(r, name, &there);
    api_model *model = there ? api_model_share(r->models[i]) : NULL;
    pthread_mutex_unlock(&r->lock);
    return model;
}

api_model **api_registry_list(api_registry *r, size_t *n)
{
    pthread_mutex_lock(&r->lock);
    api_model **list = calloc(r->n + 1, sizeof(api_model *));
    for (size_t i = 0; list && i < r->n; i++)
        list[i] = api_model_share(r->models[i]);
    *n = list ? r->n : 0;
    pthread_mutex_unlock(&r->lock);
    return list;
}

/* With the lock held: puts `model` at i. Sets *old to the reference that is to be released outside the lock. */
static api_commit place(api_registry *r, size_t i, bool there, api_model *model, api_model **old)
{
    if (there) {
        *old         = r->models[i];
        r->models[i] = api_model_share(model);
        return API_REPLACED;
    }
    if (r->n == r->limit) return API_REGISTRY_FULL;
    memmove(&r->models[i + 1], &r->models[i], (r->n - i) * sizeof(api_model *));
    r->models[i] = api_model_share(model);
    r->n++;
    return API_CREATED;
}

api_commit api_registry_put(api_registry *r, api_model *model, const api_preconditions *conditions)
{
    bool       there;
    api_model *old = NULL;
    pthread_mutex_lock(&r->lock);
    size_t     i    = position(r, model->name, &there);
    api_commit done = API_NOT_HELD;
    if (api_preconditions_hold(conditions, there ? r->models[i]->revision : NULL))
        done = place(r, i, there, model, &old);
    pthread_mutex_unlock(&r->lock);
    api_model_release(old);
    return done;
}

api_commit api_registry_delete(api_registry *r, const char *name, const api_preconditions *conditions)
{
    bool       there;
    api_model *old = NULL;
    pthread_mutex_lock(&r->lock);
    size_t     i    = position(r, name, &there);
    api_commit done = !there ? API_NOT_THERE : API_NOT_HELD;
    if (there && api_preconditions_hold(conditions, r->models[i]->revision)) {
        old = r->models[i];
        memmove(&r->models[i], &r->models[i + 1], (r->n - i - 1) * sizeof(api_model *));
        r->n--;
        done = API_DELETED;
    }
    pthread_mutex_unlock(&r->lock);
    api_model_release(old);
    return done;
}
