/* schema.c - see schema.h. */
#include "schema.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OLDEST_SERVER = 120000 }; /* as libpq numbers versions: PostgreSQL 12 */

/* Each migration leads from the version before to its own. A server of the previous release must be able to use the
 * tables after it, for upgrades of one server after the other; otherwise it raises `readable_from`. */
static const char *const migrations[SRV_SCHEMA_VERSION] = {
    "CREATE TABLE torqued.schema (version int NOT NULL, readable_from int NOT NULL);"
    "INSERT INTO torqued.schema VALUES (0, 1);"
    "CREATE TABLE torqued.counter (change bigint NOT NULL);"
    "INSERT INTO torqued.counter VALUES (0);"
    "CREATE TABLE torqued.models (name text PRIMARY KEY, change bigint NOT NULL UNIQUE, revision text NOT NULL,"
    " record bytea NOT NULL, changed timestamptz NOT NULL DEFAULT now());"
    "ALTER TABLE torqued.models ALTER record SET STORAGE EXTERNAL;"
    "CREATE TABLE torqued.orders (token text PRIMARY KEY, change bigint NOT NULL,"
    " ordered timestamptz NOT NULL DEFAULT now());"
    "CREATE INDEX ON torqued.orders (ordered);"
    "CREATE FUNCTION torqued.change_model(the_token text, the_name text, base bigint, the_revision text,"
    " the_record bytea) RETURNS bigint LANGUAGE plpgsql AS $$"
    " DECLARE number bigint; earlier bigint;"
    " BEGIN"
    "  SELECT change + 1 INTO number FROM torqued.counter FOR UPDATE;"
    "  SELECT change INTO earlier FROM torqued.orders WHERE token = the_token;"
    "  IF FOUND THEN RETURN earlier; END IF;"
    "  UPDATE torqued.models SET change = number, revision = the_revision, record = the_record, changed = now()"
    "   WHERE name = the_name AND change = base;"
    "  IF NOT FOUND THEN"
    "   IF base <> 0 THEN RETURN 0; END IF;"
    "   INSERT INTO torqued.models (name, change, revision, record)"
    "    VALUES (the_name, number, the_revision, the_record) ON CONFLICT (name) DO NOTHING;"
    "   IF NOT FOUND THEN RETURN 0; END IF;"
    "  END IF;"
    "  DELETE FROM torqued.orders WHERE ordered < now() - interval '2 days';"
    "  INSERT INTO torqued.orders (token, change) VALUES (the_token, number);"
    "  UPDATE torqued.counter SET change = number;"
    "  PERFORM pg_notify('torqued', number::text);"
    "  RETURN number;"
    " END $$;",

    "ALTER TABLE torqued.counter ADD purged bigint NOT NULL DEFAULT 0;"
    "CREATE INDEX ON torqued.models (changed) WHERE revision = '';"
    "CREATE TABLE torqued.bundled (digest text, name text, revision text NOT NULL, PRIMARY KEY (digest, name));"
    /* Removes tombstones older than a week when one is older than eight days: servers compare names once a day. */
    "CREATE FUNCTION torqued.purge() RETURNS trigger LANGUAGE plpgsql AS $$"
    " BEGIN"
    "  IF EXISTS (SELECT FROM torqued.models m WHERE revision = '' AND changed < now() - interval '8 days'"
    "   AND NOT EXISTS (SELECT FROM torqued.bundled b WHERE b.name = m.name)) THEN"
    "   WITH gone AS (DELETE FROM torqued.models m WHERE revision = '' AND changed < now() - interval '7 days'"
    "    AND NOT EXISTS (SELECT FROM torqued.bundled b WHERE b.name = m.name) RETURNING m.change)"
    "   UPDATE torqued.counter SET purged = greatest(purged, (SELECT max(gone.change) FROM gone));"
    "  END IF;"
    "  RETURN NULL;"
    " END $$;"
    /* A change inserts its order when it has locked the row of the counter, so purge(), which updates that row, waits
     * for no other change. */
    "CREATE TRIGGER purge AFTER INSERT ON torqued.orders FOR EACH STATEMENT EXECUTE FUNCTION torqued.purge();",
};

const char srv_schema_change[] = "SELECT torqued.change_model($1, $2, $3, $4, $5)";

const char srv_schema_follow[] =
    "SELECT c.change, c.purged, m.name, m.change, m.record FROM torqued.counter c LEFT JOIN LATERAL"
    " (SELECT * FROM torqued.models WHERE change > $1 ORDER BY change LIMIT 16) m ON true ORDER BY m.change";

const char srv_schema_names[] = "SELECT name FROM torqued.models ORDER BY name COLLATE \"C\"";

const char srv_schema_register[] =
    "INSERT INTO torqued.bundled (digest, name, revision) SELECT $1, n, r"
    " FROM unnest($2::text::text[], $3::text::text[]) AS u (n, r) ON CONFLICT DO NOTHING";

const char srv_schema_conflicts[] =
    "WITH live AS (SELECT substr(application_name, 9) AS digest FROM pg_stat_activity"
    "  WHERE datname = current_database() AND application_name LIKE 'torqued %' UNION SELECT $1)"
    " SELECT b.name FROM torqued.bundled b JOIN live USING (digest)"
    " WHERE NOT EXISTS (SELECT FROM torqued.models m WHERE m.name = b.name) GROUP BY b.name"
    " HAVING count(DISTINCT b.revision) > 1 OR count(*) < (SELECT count(*) FROM live) ORDER BY b.name LIMIT 6";

const char srv_schema_rights[] =
    "SELECT coalesce(string_agg(privilege || ' on torqued.' || relation, ', '), ''),"
    " (pg_is_in_recovery() OR current_setting('transaction_read_only')::bool)::int::bigint"
    " FROM (VALUES ('schema', 'SELECT'), ('counter', 'SELECT'), ('counter', 'UPDATE'), ('models', 'SELECT'),"
    "  ('models', 'INSERT'), ('models', 'UPDATE'), ('models', 'DELETE'), ('orders', 'SELECT'), ('orders', 'INSERT'),"
    "  ('orders', 'DELETE'), ('bundled', 'SELECT'), ('bundled', 'INSERT')) AS needed (relation, privilege)"
    " WHERE NOT has_table_privilege('torqued.' || relation, privilege)";

/* Reads a number of one row and column; 0 if it is NULL. False if the query fails. */
static bool read_number(srv_link *link, const char *text, uint64_t *number, uint64_t deadline)
{
    const srv_query query  = {.text = text};
    PGresult       *result = srv_link_query(link, &query, deadline);
    if (!result) return false;
    *number = link->pq->ntuples(result) > 0 ? srv_link_number(link, result, 0, 0) : 0;
    link->pq->clear(result);
    return true;
}

static bool read_version(srv_link *link, uint64_t *version, uint64_t deadline)
{
    uint64_t exists;
    *version = 0;
    if (!read_number(link, "SELECT count(to_regclass('torqued.schema'))", &exists, deadline)) return false;
    return exists == 0 || read_number(link, "SELECT version::bigint FROM torqued.schema", version, deadline);
}

static bool apply_schema(srv_link *link, uint64_t from, uint64_t deadline)
{
    char statement[80];
    for (uint64_t version = from; version < SRV_SCHEMA_VERSION; version++)
        if (!srv_link_run(link, migrations[version], deadline)) return false;
    snprintf(statement, sizeof statement, "UPDATE torqued.schema SET version = %d", SRV_SCHEMA_VERSION);
    return from >= SRV_SCHEMA_VERSION || srv_link_run(link, statement, deadline);
}

bool srv_schema_migrate(srv_link *link, int *from, uint64_t deadline)
{
    uint64_t version;
    /* The lock makes two migrations at the same time follow each other. The number has no meaning. */
    bool begun = srv_link_run(link, "BEGIN; SELECT pg_advisory_xact_lock(7465717565)", deadline) &&
                 read_version(link, &version, deadline);
    if (!begun) return false;
    *from = (int)version;
    if (version == 0 && !srv_link_run(link, "CREATE SCHEMA IF NOT EXISTS torqued", deadline)) return false;
    return apply_schema(link, version, deadline) && srv_link_run(link, "COMMIT", deadline);
}

bool srv_schema_check(srv_link *link, uint64_t deadline)
{
    uint64_t version, readable_from;
    int      server = link->pq->serverVersion(link->connection);
    if (server < OLDEST_SERVER)
        return srv_link_fail(link, API_STORE_FAULT_SERVER_VERSION, "it is PostgreSQL %d, and torqued needs %d or newer",
                             server / 10000, OLDEST_SERVER / 10000);
    if (!read_version(link, &version, deadline)) return false;
    if (version < SRV_SCHEMA_VERSION)
        return srv_link_fail(link, version == 0 ? API_STORE_FAULT_TABLES : API_STORE_FAULT_TABLES_VERSION,
                             "the database has version %d of the tables and this torqued needs %d; run torqued store "
                             "migrate",
                             (int)version, SRV_SCHEMA_VERSION);
    if (!read_number(link, "SELECT readable_from::bigint FROM torqued.schema", &readable_from, deadline)) return false;
    if (readable_from > SRV_SCHEMA_VERSION)
        return srv_link_fail(link, API_STORE_FAULT_TABLES_VERSION,
                             "the tables of the database need a torqued that knows version %d of them; this one knows "
                             "%d",
                             (int)readable_from, SRV_SCHEMA_VERSION);
    /* The limit of a lock makes a change fail that would wait behind one that hangs. */
    return srv_link_run(link, "SET lock_timeout = '3s'; LISTEN torqued", deadline);
}
