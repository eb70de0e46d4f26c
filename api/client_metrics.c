/* client_metrics.c - adds up the figures of clients in sketches of fixed size (client_metrics.h). */
#include "client_metrics.h"
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

/* A counter that a client has taken over holds the figure of its last owner in `inherited`. `count` less `inherited` is
 * at most what the client has caused. The smallest counter is the one with the smallest `count`. */
typedef struct counter {
    uint64_t count, inherited;
    char     client[API_CLIENT_NAME]; /* "": free */
} counter;

/* The hashes stand apart from the counters: a search reads 1 KiB. */
typedef struct sketch {
    uint32_t hash[API_CLIENTS_COUNTED];
    counter  counters[API_CLIENTS_COUNTED];
} sketch;

typedef struct measure_kind {
    const char     *name, *help;
    api_metric_unit unit;
} measure_kind;

static const measure_kind kinds[API_CLIENT_MEASURE_COUNT] = {
#define X(MEASURE, name, unit, help) {name, help, API_UNIT_##unit},
    API_CLIENT_MEASURES(X)
#undef X
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sketch          sketches[API_CLIENT_MEASURE_COUNT]; /* guarded by the mutex */

/* Copies a name, cuts it if it is too long, and returns its FNV-1a hash. */
static uint32_t copy_name(char name[API_CLIENT_NAME], const char *client)
{
    uint32_t hash = 2166136261u;
    size_t   n    = 0;
    for (; n < API_CLIENT_NAME - 1 && client[n]; n++)
        hash = (hash ^ (unsigned char)(name[n] = client[n])) * 16777619u;
    name[n] = '\0';
    return hash;
}

/* Returns the counter of a client, which may be one that it takes over. */
static counter *counter_of(sketch *s, const char *client, uint32_t hash)
{
    size_t least = 0;
    for (size_t i = 0; i < API_CLIENTS_COUNTED; i++)
        if (s->hash[i] == hash && strcmp(s->counters[i].client, client) == 0) return &s->counters[i];
    for (size_t i = 1; i < API_CLIENTS_COUNTED; i++)
        if (s->counters[i].count < s->counters[least].count) least = i;
    counter *c     = &s->counters[least];
    c->inherited   = c->count;
    s->hash[least] = hash;
    memcpy(c->client, client, strlen(client) + 1);
    return c;
}

void api_client_count(const char *client, const api_client_figures *figures)
{
    char     name[API_CLIENT_NAME];
    uint32_t hash = copy_name(name, client);
    pthread_mutex_lock(&mutex);
    for (int m = 0; m < API_CLIENT_MEASURE_COUNT; m++)
        if (figures->amount[m] > 0) counter_of(&sketches[m], name, hash)->count += figures->amount[m];
    pthread_mutex_unlock(&mutex);
}

const char *api_client_measure_name(api_client_measure measure)
{
    return kinds[measure].name;
}

const char *api_client_measure_help(api_client_measure measure)
{
    return kinds[measure].help;
}

static uint64_t figure_of(const counter *c)
{
    return c->count - c->inherited;
}

/* Inserts a counter into a list that is sorted by figures, the greatest first. Returns the new length of the list. */
static size_t insert_counter(counter list[API_CLIENTS_SHOWN], size_t n, const counter *c)
{
    size_t place = n;
    while (place > 0 && figure_of(&list[place - 1]) < figure_of(c))
        place--;
    if (place == API_CLIENTS_SHOWN) return n;
    size_t length = n < API_CLIENTS_SHOWN ? n + 1 : n;
    memmove(&list[place + 1], &list[place], (length - place - 1) * sizeof *list);
    list[place] = *c;
    return length;
}

void api_client_read(api_client_measure measure, api_client_reader *read, void *arg)
{
    counter      list[API_CLIENTS_SHOWN];
    size_t       n     = 0;
    const double parts = kinds[measure].unit == API_UNIT_SECONDS ? 1e9 : 1;
    pthread_mutex_lock(&mutex);
    const sketch *s = &sketches[measure];
    for (size_t i = 0; i < API_CLIENTS_COUNTED; i++)
        if (figure_of(&s->counters[i]) > 0) n = insert_counter(list, n, &s->counters[i]);
    pthread_mutex_unlock(&mutex);
    for (size_t i = 0; i < n; i++)
        read(arg, list[i].client, (double)figure_of(&list[i]) / parts);
}
