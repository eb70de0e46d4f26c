/* checksum.c - see checksum.h. */
#include "checksum.h"
#include <gnutls/crypto.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BEFORE ",\"sha256\":\""
#define AFTER  "\"}"

enum { HASH = 32, HEX = 2 * HASH, TAIL = sizeof BEFORE - 1 + HEX + sizeof AFTER - 1 };

static bool hash_text(const char *bytes, size_t length, char hex[HEX + 1])
{
    uint8_t hash[HASH];
    if (gnutls_hash_fast(GNUTLS_DIG_SHA256, bytes, length, hash) != 0) return false;
    for (size_t i = 0; i < HASH; i++)
        snprintf(hex + 2 * i, 3, "%02x", hash[i]);
    return true;
}

char *srv_checksum_add(const char *record, size_t length, size_t *sealed_length)
{
    char hex[HEX + 1];
    if (length < 2 || record[length - 1] != '}') return NULL;
    size_t kept   = length - 1; /* without the brace at the end */
    char  *sealed = malloc(kept + TAIL + 1);
    if (!sealed || !hash_text(record, kept, hex)) {
        free(sealed);
        return NULL;
    }
    memcpy(sealed, record, kept);
    snprintf(sealed + kept, TAIL + 1, BEFORE "%s" AFTER, hex);
    *sealed_length = kept + TAIL;
    return sealed;
}

bool srv_checksum_remove(char *record, size_t *length)
{
    char hex[HEX + 1];
    if (*length < TAIL) return true;
    size_t      kept = *length - TAIL;
    const char *tail = record + kept;
    if (memcmp(tail, BEFORE, sizeof BEFORE - 1) != 0)
        return true; /* no checksum, as in records of earlier versions; the reader of the record checks the rest */
    const char *found = tail + sizeof BEFORE - 1;
    if (strcmp(found + HEX, AFTER) != 0 || !hash_text(record, kept, hex) || memcmp(found, hex, HEX) != 0) return false;
    strcpy(record + kept, "}");
    *length = kept + 1;
    return true;
}
