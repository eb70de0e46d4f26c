/* fields.h - read small values of a request; problems point at the value. Each function returns false, or NULL or -1,
 * with a problem. */
#pragma once
#include "api/wire/names.h"
#include "query.h"

/* Fails with a pointer to the place `at`. */
bool api_fail_at(api_problem *problem, const api_place *at, api_code code, const char *format, ...)
    __attribute__((cold, format(printf, 4, 5)));

/* Reads a number. */
bool api_read_number(const api_query *q, const api_node *value, const api_place *at, double *number);

/* Reads true or false; without a value (NULL) *flag does not change. */
bool api_read_flag(const api_query *q, const api_node *value, const api_place *at, bool *flag);

/* Checks that the value is an array with at least one entry; `of` names an entry, for the message. */
bool api_check_list(const api_query *q, const api_node *value, const api_place *at, const char *of);

/* Reads an array of exactly n finite numbers. */
bool api_read_numbers(const api_query *q, const api_node *value, const api_place *at, size_t n, double *numbers);

/* The same, into memory of the request. */
double *api_take_numbers(api_query *q, const api_node *value, const api_place *at, size_t n);

/* Checks that the value is an object and all its keys are among `names`, which end with NULL. `of` names the object,
 * for the message. */
bool api_check_keys(const api_query *q, const api_node *object, const api_place *at, const char *const *names,
                    const char *of);

/* Fails for a key or name that `of` does not have; the message lists the known names, or those nearest to it. */
bool api_fail_unknown(const api_query *q, const api_place *at, api_code code, const char *given, const char *of,
                      const api_names *known) __attribute__((cold));
/* The same for the name of a `what`, such as a link, that the model does not have. */
bool api_fail_no_such(const api_query *q, const api_place *at, const char *what, const char *given,
                      const api_names *known) __attribute__((cold));

/* The text of a string. */
const char *api_read_string(const api_query *q, const api_node *value, const api_place *at);

/* The coordinate with the name in a string: an index in velocity_names. */
int api_read_coordinate(const api_query *q, const api_node *value, const api_place *at);

/* The link or frame with the name in a string: an index in the model's frames. */
int api_read_frame(const api_query *q, const api_node *value, const api_place *at);
