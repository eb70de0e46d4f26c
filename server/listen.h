/* listen.h - the listening sockets. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

typedef struct srv_address {
    char host[256]; /* without brackets */
    char port[6];
} srv_address;

/* Splits "127.0.0.1:8088", "[::1]:8088", "localhost:0"; false for anything else. */
bool srv_address_parse(const char *text, srv_address *address);

/* Opens `n` non-blocking listening sockets on an address into sockets[0..n), and writes it with the port in use to
 * `bound`. False: nothing is open, `error` says why.
 *
 * The address is first bound exclusively: a second server must fail, not share the port. Only n > 1 then uses
 * SO_REUSEPORT, by which the kernel spreads connections over the sockets. */
bool srv_listen(const srv_address *address, size_t n, int sockets[], char *bound, size_t bound_size, char *error,
                size_t error_size);
