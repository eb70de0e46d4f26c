/* middleware.c - see middleware.h. */
#include "middleware.h"

#define X(function) function,
api_middleware *const api_middlewares[] = {API_MIDDLEWARES(X) NULL};
#undef X

bool api_pass_middlewares(api_middleware *const *list, api_call *call, const api_request *request, api_problem *problem)
{
    while (*list && (*list)(call, request, problem))
        list++;
    return *list == NULL;
}
