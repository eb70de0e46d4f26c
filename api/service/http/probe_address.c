/* probe_address.c - a middleware (middleware.h): serve only probes, and perhaps metrics, at an address for probes
 * (api_scope).
 *
 * An address for probes speaks plain HTTP. Where other machines can reach it, the token that /metrics needs could be
 * read on the way. */
#include "middleware.h"
#include <string.h>

static bool asks_health(const char *pattern)
{
    return strcmp(pattern, "/livez") == 0 || strcmp(pattern, "/readyz") == 0;
}

bool api_check_scope(api_call *call, const api_request *request, api_problem *problem)
{
    api_route route;
    if (request->scope == API_ALL_RESOURCES) return true;
    bool known   = api_route_find(call->api->resources, request->target, &route);
    bool metrics = known && strcmp(route.resource->pattern, "/metrics") == 0;
    if (known && (asks_health(route.resource->pattern) || (metrics && request->scope == API_PROBES_AND_METRICS)))
        return true;
    if (metrics)
        return api_fail(problem, API_NO_SUCH_PATH, NULL,
                        "other machines can reach this address of --health-listen without TLS, so it has no /metrics; "
                        "read them at an address of --listen, or start the server with --insecure");
    return api_fail(problem, API_NO_SUCH_PATH, NULL,
                    "this address (--health-listen) has /livez, /readyz and /metrics alone; %.200s is at those of "
                    "--listen",
                    request->target);
}
