/* problem.h - everything that can be wrong with a request, as one table.
 *
 * API_PROBLEMS(X) lists X(CODE, "code", status, "title", "what it means and what to do"): it feeds the enum, the
 * bodies of problem answers (RFC 9457), and GET /problems/{code}. Codes are stable: clients switch on them.
 * An api_problem is filled by whoever finds it and carried up unchanged; the first one found wins. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#define API_PROBLEMS(X)                                                                                                \
    X(BAD_JSON, "bad-json", 400, "Not JSON", "…")

typedef enum api_code {
    API_NO_PROBLEM,
#define X(CODE, code, status, title, text) API_##CODE,
    API_PROBLEMS(X)
#undef X
    API_PROBLEM_COUNT
} api_code;

typedef struct api_problem {
    api_code code;            /* API_NO_PROBLEM: none */
    char     detail[512];     /* one or two sentences: what was found, what was expected */
    char     pointer[256];    /* RFC 6901 pointer into the request; "" the whole; only if has_pointer */
    bool     has_pointer;
    long long row;            /* of a batch, from 0; -1: none */
    long long offset;         /* byte offset of a syntax error; -1: none */
} api_problem;

/* Fills `problem` (if it holds none yet) and returns false, so that callers can `return api_fail(...)`. The
 * pointer may be NULL. */
bool api_fail(api_problem *problem, api_code code, const char *pointer, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
