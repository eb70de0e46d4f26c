/* archive_manifest.h - write and check the checksums of an archive of models.
 *
 * The archive is JSON in lines, so that the bytes of each record can be found without parsing them:
 *
 *     {"format":"torqued-archive","version":2,"models":{
 *     "arm":RECORD,
 *     "ur5":RECORD
 *     },"manifest":{"torqued":"0.1.0","made":"2026-11-28T22:00:00Z","count":2,"sha256":{
 *     "arm":"HASH",
 *     "ur5":"HASH"
 *     }},"sha256":"HASH"}
 *
 * HASH is SHA-256 in hexadecimal: in the manifest of the bytes of the record, at the end of all bytes before the comma
 * that precedes this member. */
#pragma once
#include "api/base/memory/buffer.h"
#include "api/problem.h"

/* An archive that is written: its text, and the lines of its manifest. */
typedef struct api_archive {
    api_buffer text, list;
    size_t     count;
} api_archive;

enum { API_ARCHIVE_MAX = 1 << 30, API_ARCHIVE_VERSION = 2 };

void api_archive_begin(api_archive *archive);
void api_archive_add(api_archive *archive, const char *name, const api_buffer *record);

/* Ends the archive. `version` is that of the server, `made` the time, RFC 3339. Returns its text, which the caller
 * frees; NULL: no memory. */
char *api_archive_end(api_archive *archive, const char *version, const char *made, size_t *length);

/* Checks the checksums of an archive that has a manifest. `has_manifest` receives false if the text has neither
 * manifest nor checksum: then the function returns true. False with a problem that names the models whose bytes differ,
 * that are missing or that the manifest does not list. */
bool api_manifest_check(const char *text, size_t length, bool *has_manifest, api_problem *problem);
