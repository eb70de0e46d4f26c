/* fields.h - reading small JSON values of a request, with errors that point at them. */
#pragma once
#include "api/wire/names.h"
#include "query.h"

/* Fails with a pointer to the place `at`. */
bool api_fail_at(api_problem *problem, const api_place *at, api_code code, const char *format, ...)
    __attribute__((cold, format(printf, 4, 5)));

/* False unless `value` is a number. */
bool api_read_number(const api_query *q, const api_node *value, const api_place *at, double *number);

/* True or false; *flag stays as it is when `value` is NULL. False with a problem for anything else. */
bool api_read_flag(const api_query *q, const api_node *value, const api_place *at, bool *flag);

/* False unless `value` is an array, and not empty; `of` says of what, for the message. */
bool api_check_list(const api_query *q, const api_node *value, const api_place *at, const char *of);

/* False unless `value` is an array of exactly n finite numbers. */
bool api_read_numbers(const api_query *q, const api_node *value, const api_place *at, size_t n, double *numbers);

/* The same into memory of the request; NULL with a problem. */
double *api_take_numbers(api_query *q, const api_node *value, const api_place *at, size_t n);

/* False unless every key of the object is one of `names` (ends with NULL). `of` says of what, for the message. */
bool api_check_keys(const api_query *q, const api_node *object, const api_place *at, const char *const *names,
                    const char *of);

/* Fails with the names that would have been right, or those nearest to the one given. */
bool api_fail_unknown(const api_query *q, const api_place *at, api_code code, const char *given, const char *of,
                      const api_names *known) __attribute__((cold));
/* The same of a name that the model has not: `what`, a link, say. */
bool api_fail_no_such(const api_query *q, const api_place *at, const char *what, const char *given,
                      const api_names *known) __attribute__((cold));

/* The text of a string value; NULL with a problem when it is none. */
const char *api_read_string(const api_query *q, const api_node *value, const api_place *at);

/* The coordinate that a string value names, one of velocity_names; -1 with a problem. */
int api_read_coordinate(const api_query *q, const api_node *value, const api_place *at);

/* Index in the model's frames of the link or frame that a string value names; -1 with a problem. */
int api_read_frame(const api_query *q, const api_node *value, const api_place *at);
