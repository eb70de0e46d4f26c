/* forwarded.h - find the address of the client in the headers that trusted proxies add to a request. */
#pragma once
#include "networks.h"

/* Finds the client's address in Forwarded (RFC 7239) and X-Forwarded-For; NULL for absent headers. Each proxy appends
 * the address from which it got the request. So the last address that is no trusted proxy's is the client's; addresses
 * before it are what the client itself has sent. False, and `client` is undefined, if the headers name no address, or
 * if both are present and disagree: a proxy replaces one of them and may pass on the other as the client has sent it.
 */
bool srv_forwarded_client(const srv_networks *proxies, const char *forwarded, const char *x_forwarded_for,
                          srv_ip *client);
