/* problem.h - holds the problem of a request, and finds its status and texts in the table of problem_codes.h.
 *
 * The function that finds a problem fills an api_problem; callers pass it up unchanged. The first problem found wins.
 */
#pragma once
#include "problem_codes.h"
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct api_problem {
    api_code  code;         /* API_NO_PROBLEM if there is no problem */
    char      detail[512];  /* one or two sentences: what was found and what was expected */
    char      pointer[256]; /* JSON Pointer (RFC 6901) into the request, valid if has_pointer; "" is the whole body */
    bool      has_pointer;
    long long row;    /* row of the batch that has the problem, from 0; -1: none */
    long long offset; /* byte offset of a syntax error; -1: none */
    double
        fraction; /* fraction of a continuation path at which the path reaches a singular position, 0 to 1; -1: none */
    double time;  /* time in a motion or simulation, s; -1: none */
} api_problem;

/* The status and the texts of one problem code, from the table API_PROBLEMS (problem_codes.h). */
typedef struct api_problem_kind {
    const char *code;
    unsigned    status;
    const char *title, *text;
} api_problem_kind;

/* Returns the status and texts of a problem code; for API_NO_PROBLEM all are zero. */
const api_problem_kind *api_problem_kind_of(api_code code);

/* Returns the problem code with this name of `length` bytes (no NUL needed); API_NO_PROBLEM if no code has it. */
api_code api_problem_named(const char *code, size_t length);

/* Initialises `problem` to "no problem", without row or offset. Required before its first use. */
void api_problem_clear(api_problem *problem);

/* Fills `problem`, unless it already has a code, and returns false, so that callers can `return api_fail(...)`.
 * `pointer` may be NULL. */
bool api_fail(api_problem *problem, api_code code, const char *pointer, const char *format, ...)
    __attribute__((cold, format(printf, 4, 5)));
bool api_failv(api_problem *problem, api_code code, const char *pointer, const char *format, va_list args)
    __attribute__((cold, format(printf, 4, 0)));

/* Fills `problem` with `found`, a problem of a part of the request. `prefix`, the pointer of that part, is put
 * before the pointer of `found`. */
bool api_fail_within(api_problem *problem, const char *prefix, const api_problem *found) __attribute__((cold));
