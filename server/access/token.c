/* token.c - see token.h. */
#include "token.h"
#include <gnutls/crypto.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

void srv_hex_write(const uint8_t *bytes, size_t n, char *hex)
{
    for (size_t i = 0; i < n; i++)
        snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
}

bool srv_token_make(char token[SRV_TOKEN_SIZE])
{
    uint8_t random[32];
    char    hex[2 * sizeof random + 1];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) return false;
    srv_hex_write(random, sizeof random, hex);
    snprintf(token, SRV_TOKEN_SIZE, SRV_TOKEN_PREFIX "%s", hex);
    explicit_bzero(random, sizeof random);
    explicit_bzero(hex, sizeof hex);
    return true;
}

bool srv_token_hash(const char *token, uint8_t hash[SRV_TOKEN_HASH])
{
    return gnutls_hash_fast(GNUTLS_DIG_SHA256, token, strlen(token), hash) == 0;
}
