/* middleware.h - list the functions that see the head of every request before it is routed.
 *
 * The middlewares run in the order of the list, on the thread of the connection. A middleware lets the request pass, or
 * answers it; then neither the middlewares after it nor the resource see the request. Headers that a middleware adds to
 * the reply stay, whoever answers. */
#pragma once
#include "call.h"

/* Returns true to let the request pass; false with a problem, or with API_NO_PROBLEM if the reply is complete.
 * `call->kind` and `call->method` are set, `call->route` is not. */
typedef bool api_middleware(api_call *call, const api_request *request, api_problem *problem);

/* X(function) for each middleware. */
#define API_MIDDLEWARES(X)                                                                                             \
    X(api_join_trace)   /* trace_context.c: returns the trace of the request with a span of its own */                 \
    X(api_check_host)   /* host_and_origin.c: refuses names that this server does not have */                          \
    X(api_check_scope)  /* probe_address.c: refuses what is not served at an address for probes */                     \
    X(api_admit_origin) /* host_and_origin.c: marks answers that a page of another origin may read; answers its        \
                           preflight */                                                                                \
    X(api_check_role)   /* authorize.c: refuses clients that lack the role for the method and the path */

#define X(function) api_middleware function;
API_MIDDLEWARES(X)
#undef X

extern api_middleware *const api_middlewares[]; /* all of API_MIDDLEWARES; ends with NULL */

/* Sets the roles that may use a method of a resource. False: no rule names the resource, so administrators may. In
 * authorize.c. */
bool api_roles_of(const api_resource *resource, api_method method, unsigned *roles);

/* Calls the functions of `list`, which ends with NULL, until one returns false. Returns true if all return true. */
bool api_pass_middlewares(api_middleware *const *list, api_call *call, const api_request *request,
                          api_problem *problem);
