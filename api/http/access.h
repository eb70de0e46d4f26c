/* access.h - decide which host names a request may use, and which web origins may read the answer.
 *
 * Both protect people whose browser reaches this server from pages of other sites. DNS rebinding: a site lets its own
 * name resolve to an address of this server, so that the browser takes both for one site; the Host header still
 * carries that name. Cross-origin reading: browsers hand an answer to a page of another origin only if the answer
 * names that origin (CORS, in the Fetch standard of WHATWG). */
#pragma once
#include "api/api.h"

/* True if Host, and the host of an absolute target, are IP addresses, loopback names, or listed in `hosts`. NULL, no
 * list: any name is allowed, unless the connection was accepted on a loopback address. */
bool api_host_is_allowed(const api_request *request, const char *hosts);

/* True if the list names this origin, or is `*`, which names all. */
bool api_origin_is_listed(const char *origins, const char *origin);
