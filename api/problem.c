/* problem.c - see problem.h. */
#include "problem.h"
#include <stdio.h>
#include <string.h>

static const api_problem_kind kinds[API_PROBLEM_COUNT] = {
#define X(CODE, code, status, title, text) [API_##CODE] = {code, status, title, text},
    API_PROBLEMS(X)
#undef X
};

const api_problem_kind *api_problem_kind_of(api_code code)
{
    return &kinds[code];
}

api_code api_problem_named(const char *code, size_t length)
{
    for (int i = API_NO_PROBLEM + 1; i < API_PROBLEM_COUNT; i++)
        if (strlen(kinds[i].code) == length && memcmp(kinds[i].code, code, length) == 0) return (api_code)i;
    return API_NO_PROBLEM;
}

void api_problem_clear(api_problem *problem)
{
    problem->code        = API_NO_PROBLEM;
    problem->has_pointer = false;
    problem->row = problem->offset = -1;
    problem->fraction = problem->time = -1;
    /* Clears one byte of each text, not all 768: every request does so. */
    *problem->detail = *problem->pointer = '\0';
}

bool api_fail(api_problem *problem, api_code code, const char *pointer, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    api_failv(problem, code, pointer, format, args);
    va_end(args);
    return false;
}

bool api_failv(api_problem *problem, api_code code, const char *pointer, const char *format, va_list args)
{
    if (problem->code != API_NO_PROBLEM) return false;
    api_problem_clear(problem);
    problem->code = code;
    vsnprintf(problem->detail, sizeof problem->detail, format, args);
    /* A pointer that does not fit is omitted: a truncated one would name a different member. */
    if (pointer && strlen(pointer) < sizeof problem->pointer) {
        problem->has_pointer = true;
        strcpy(problem->pointer, pointer);
    }
    return false;
}

bool api_fail_within(api_problem *problem, const char *prefix, const api_problem *found)
{
    char pointer[2 * sizeof found->pointer];
    snprintf(pointer, sizeof pointer, "%.255s%s", prefix, found->pointer);
    return api_fail(problem, found->code, found->has_pointer ? pointer : NULL, "%s", found->detail);
}
