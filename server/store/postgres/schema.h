/* schema.h - the tables of a store in PostgreSQL: their versions, their migrations, and the statements on them.
 *
 *     torqued.schema   one row: the version, and the oldest version that a server must know to use the tables
 *     torqued.counter  one row: number of the last change, and the largest number of a tombstone that was removed
 *     torqued.models   one row for each name: number and revision of its last change, and its record with a checksum
 *                      (checksum.h); a deleted model leaves the record of a tombstone
 *     torqued.orders   the changes of the last days by the random token of the request for them
 *     torqued.bundled  names and revisions of bundled models, by a digest of all that a server has (bundled.c)
 *
 * A change locks the row of the counter first and holds it until its transaction ends. So numbers become visible in
 * their order, which those of a sequence do not: a server that has read up to number N has missed nothing below.
 *
 * A tombstone is removed a week after the deletion, so that the table does not grow for ever; one of a name that is
 * bundled stays, because the bundled model would come back. A server that was away for longer than a week sees that a
 * tombstone was removed which it has not read, and compares all names. */
#pragma once
#include "link.h"

enum { SRV_SCHEMA_VERSION = 2 };

/* Migrates the tables to the version of this server, in one transaction; newer tables stay as they are. `from` receives
 * the version before, 0 for none. False with link->error. */
bool srv_schema_migrate(srv_link *link, int *from, uint64_t deadline);

/* Checks that this server can use the database and the tables, and prepares the session. False with link->error. */
bool srv_schema_check(srv_link *link, uint64_t deadline);

/* Result: one row, the rights on the tables that the user of the connection lacks, with commas between them, and 1 if
 * the session takes no writes. */
extern const char srv_schema_rights[];

/* Parameters: token, name, base, revision, record. Result: the number of the change; 0: `base` is not current. A token
 * that was used before gives the number of its change again, and nothing is changed. */
extern const char srv_schema_change[];

/* Parameter: the number up to which the server has read. Result: rows of the two numbers of the counter, and the name,
 * number and record of a model that has changed since, in the order of numbers; one row without a name if there is
 * none. */
extern const char srv_schema_follow[];
enum { SRV_FOLLOW_ROWS = 16 }; /* most rows of one answer */

/* Result: all names of torqued.models, in the order of strcmp. */
extern const char srv_schema_names[];

/* Parameters: digest, names and revisions of the bundled models as texts of arrays. */
extern const char srv_schema_register[];

/* Parameter: digest. Result: a few names, in order, of bundled models that the connected servers do not all have with
 * the same content; names that have been put or deleted are left out. A connected server is known by its
 * application_name, SRV_APPLICATION and its digest. */
extern const char srv_schema_conflicts[];
#define SRV_APPLICATION "torqued "
