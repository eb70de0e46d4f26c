/* bundled.c - compare the bundled models of the servers that share a database: a name that no client has put must be
 * the same robot at each of them. The names and revisions of a server's models are a few rows under their digest. The
 * application_name of its connection has the digest, so that the servers that are connected now are known. */
#include "postgres_private.h"
#include "server/work/clock.h"
#include <gnutls/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_NS UINT64_C(5000000000) /* time for one answer of the database */

#define BUNDLED "bundled" /* subject of a reason in the answer of /readyz */

enum {
    MOST_NAMED = 5
}; /* most names of models in the reason; the query returns one more, to show that there are others */

/* --- the list ----------------------------------------------------------------------------------------------------- */

typedef struct list {
    FILE       *names, *revisions; /* texts of arrays */
    const char *separator;
} list;

/* No name or revision needs quotation marks. */
static void add_model(void *arg, const char *name, const char *revision)
{
    list *l = arg;
    fprintf(l->names, "%s%s", l->separator, name);
    fprintf(l->revisions, "%s%s", l->separator, revision);
    l->separator = ",";
}

static bool print_lists(srv_postgres *store, list *l)
{
    fputs("{", l->names);
    fputs("{", l->revisions);
    bool done = api_visit_models(store->service, add_model, l);
    fputs("}", l->names);
    fputs("}", l->revisions);
    return done;
}

static bool hash_lists(srv_postgres *store)
{
    uint8_t          hash[32];
    gnutls_hash_hd_t state;
    if (gnutls_hash_init(&state, GNUTLS_DIG_SHA256) != 0) return false;
    gnutls_hash(state, store->bundled_names, strlen(store->bundled_names));
    gnutls_hash(state, store->bundled_revisions, strlen(store->bundled_revisions));
    gnutls_hash_deinit(state, hash);
    for (size_t i = 0; i < (sizeof store->digest - 1) / 2; i++)
        snprintf(store->digest + 2 * i, 3, "%02x", hash[i]);
    return true;
}

bool srv_postgres_list_bundled(srv_postgres *store)
{
    size_t length;
    list   l = {open_memstream(&store->bundled_names, &length), open_memstream(&store->bundled_revisions, &length), ""};
    bool   done = l.names && l.revisions && print_lists(store, &l);
    if (l.names) done = !ferror(l.names) && fclose(l.names) == 0 && done;
    if (l.revisions) done = !ferror(l.revisions) && fclose(l.revisions) == 0 && done;
    return done && hash_lists(store);
}

/* --- in the database ---------------------------------------------------------------------------------------------- */

bool srv_postgres_register_bundled(srv_postgres *store)
{
    char            statement[100];
    const srv_query query  = {.text    = srv_schema_register,
                              .n       = 3,
                              .values  = {store->digest, store->bundled_names, store->bundled_revisions},
                              .lengths = {(int)strlen(store->digest), (int)strlen(store->bundled_names),
                                          (int)strlen(store->bundled_revisions)}};
    PGresult       *result = srv_link_query(&store->link, &query, srv_now() + ANSWER_NS);
    if (!result) return false;
    store->pq.clear(result);
    snprintf(statement, sizeof statement, "SET application_name = '" SRV_APPLICATION "%s'", store->digest);
    return srv_link_run(&store->link, statement, srv_now() + ANSWER_NS);
}

static void report(srv_postgres *store, const PGresult *rows, int n)
{
    char   names[MOST_NAMED * 70] = "";
    size_t length                 = 0;
    for (int i = 0; i < n && i < MOST_NAMED; i++)
        length += (size_t)snprintf(names + length, sizeof names - length, "%s%.64s", i > 0 ? ", " : "",
                                   store->pq.getvalue(rows, i, 0));
    api_set_reason(store->service, BUNDLED,
                   "store: the servers on this database have different bundled models: %s%s; give all servers the same "
                   "--models, or PUT these models",
                   names, n > MOST_NAMED ? " and more" : "");
}

bool srv_postgres_compare_bundled(srv_postgres *store)
{
    const srv_query query = {
        .text = srv_schema_conflicts, .n = 1, .values = {store->digest}, .lengths = {(int)strlen(store->digest)}};
    PGresult *rows = srv_link_query(&store->link, &query, srv_now() + ANSWER_NS);
    if (!rows) return false;
    int n = store->pq.ntuples(rows);
    if (n > 0)
        report(store, rows, n);
    else
        api_clear_reason(store->service, BUNDLED);
    store->pq.clear(rows);
    return true;
}
