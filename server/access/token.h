/* token.h - make the secret tokens of clients, and their hashes.
 *
 * A token is 256 random bits. A secret of that length cannot be guessed, so a single SHA-256 protects the file that
 * keeps the hash: the slow hashes for passwords make guessing expensive, and would cost milliseconds for every request.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SRV_TOKEN_PREFIX "torqued_" /* lets scanners recognise a token in a text where it must not be */

enum { SRV_TOKEN_SIZE = sizeof SRV_TOKEN_PREFIX + 64, SRV_TOKEN_HASH = 32 };

bool srv_token_make(char token[SRV_TOKEN_SIZE]); /* false: the system has no random numbers; errno is set */

/* Computes the SHA-256 of a token. False: GnuTLS does not compute it, for want of memory or in a failed state. */
bool srv_token_hash(const char *token, uint8_t hash[SRV_TOKEN_HASH]);

void srv_hex_write(const uint8_t *bytes, size_t n, char *hex); /* writes 2n digits and a NUL */
