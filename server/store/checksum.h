/* checksum.h - protect the records of the store by a checksum.
 *
 * A record is a JSON object. The last member in the file is "sha256", the hash of all bytes before the comma that
 * precedes it: the file stays JSON. A record without this member, as earlier versions wrote it, has no checksum. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* Returns the record with its checksum, which the caller frees; NULL: no memory, or the record is no object. */
char *srv_checksum_add(const char *record, size_t length, size_t *sealed_length);

/* Checks and removes the checksum, if the record has one. False: the record is damaged. */
bool srv_checksum_remove(char *record, size_t *length);
