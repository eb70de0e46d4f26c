/* registry_entries.h - the sorted array of entries behind a registry: for some hundred models a lookup takes about ten
 * nanoseconds.
 *
 * Two locks, always taken in this order. `change_lock` serialises changes by clients, from the check of the
 * preconditions to the answer of the store, which may take long. `entries_lock` guards the entries and is held only
 * briefly, for a lookup or a replacement: a shared store may replace other entries, or the same one by a newer change,
 * while a client's change waits for the store. The caller of every function holds `entries_lock`. */
#pragma once
#include "registry.h"
#include <pthread.h>

typedef struct api_entry {
    char       name[API_NAME_MAX + 1];
    api_model *model;   /* NULL: deleted, or the name has a fault */
    api_code   fault;   /* see api_model_fault; API_NO_PROBLEM: none */
    char      *detail;  /* text of the fault, owned; NULL: there was no memory for it */
    bool       bundled; /* when the model is deleted, the entry stays as a tombstone */
    uint64_t   number;  /* number of the last change in a shared store; then the entry stays, too. 0: none */
} api_entry;

struct api_registry {
    pthread_mutex_t change_lock, entries_lock;
    api_store       store;   /* save == NULL: no store */
    api_entry      *entries; /* [n], sorted by name; space for `capacity` */
    size_t          n, capacity;
    size_t          n_models;          /* number of entries with a model */
    _Atomic size_t  limit;             /* largest number of models */
    size_t          bytes, most_bytes; /* memory of all models */
    const char     *growing;           /* name of a model whose change waits for the store; NULL: none */
    size_t          growth;            /* bytes that this change will add to `bytes` */
};

/* Returns the index of `name`, or the index at which to insert it. */
size_t api_entries_find(const api_registry *registry, const char *name, bool *found);

/* True if change `number` or a newer one of the name has been entered. */
bool api_entries_have_change(const api_registry *registry, const char *name, uint64_t number);

void api_entry_copy_fault(const api_entry *entry, api_model_fault *fault);

/* Makes space for two more entries: one for the caller, before the store is called, so that nothing can fail after the
 * store has saved a change; and one that stays free for such a caller when a shared store inserts an entry meanwhile.
 * False: no memory. */
bool api_entries_reserve(api_registry *registry);

/* Checks that `model`, unless NULL, fits into the memory of all models in place of the current one of that name. A
 * change of another name that waits for the store keeps its share. `growth` receives the additional bytes. */
bool api_entries_check_memory(const api_registry *registry, const char *name, const api_model *model, size_t *growth,
                              api_problem *problem);

/* Replaces the model of a name; NULL removes it and leaves the fault, which may be NULL. Skips a numbered change if the
 * name has a newer one. The caller has called api_entries_reserve, and releases the model that was replaced, which is
 * returned. */
api_model *api_entries_replace(api_registry *registry, const char *name, api_model *model, api_origin origin,
                               const api_problem *fault);

/* Removes every entry of a numbered change whose name is not in a list: [n], in the order of strcmp. */
void api_entries_keep(api_registry *registry, const char *const *names, size_t n);

void api_entries_free(api_registry *registry);
