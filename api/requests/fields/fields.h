/* fields.h - read small values of a request. On failure a function returns false, NULL or -1, and sets q->problem with
 * a pointer to the value. */
#pragma once
#include "api/codec/names.h"
#include "query.h"

/* Sets the problem, with a JSON Pointer to the value at the place `at`, and returns false. */
bool api_fail_at(api_problem *problem, const api_place *at, api_code code, const char *format, ...)
    __attribute__((cold, format(printf, 4, 5)));

bool api_read_number(const api_query *q, const api_node *value, const api_place *at, double *number);

/* True if the request includes friction that depends on the load; known when "friction" has been read. */
bool api_has_load(const api_query *q);

/* Fails with API_NOT_SUPPORTED: `what` does not take friction that depends on the load. */
bool api_fail_load(const api_query *q, const char *what) __attribute__((cold));

/* Reads true or false into *flag; an absent value (NULL) leaves *flag unchanged. */
bool api_read_flag(const api_query *q, const api_node *value, const api_place *at, bool *flag);

/* Checks that the value is an array with at least one entry. `of` says in the message what an entry is. */
bool api_check_list(const api_query *q, const api_node *value, const api_place *at, const char *of);

/* Reads an array of exactly n finite numbers. */
bool api_read_numbers(const api_query *q, const api_node *value, const api_place *at, size_t n, double *numbers);

/* Reads an array of exactly n finite numbers into memory that lasts until the request ends. NULL with a problem. */
double *api_take_numbers(api_query *q, const api_node *value, const api_place *at, size_t n);

/* Checks that the value is an object and that all its keys are among `names`, an array that ends with NULL. `of` says
 * in the message what the object is. */
bool api_check_keys(const api_query *q, const api_node *object, const api_place *at, const char *const *names,
                    const char *of);

/* Sets the problem that the object or operation `of` has no key or name `given`, and returns false. The message lists
 * the known names, or those nearest to `given`. */
bool api_fail_unknown(const api_query *q, const api_place *at, api_code code, const char *given, const char *of,
                      const api_names *known) __attribute__((cold));
/* Sets the problem that the model has no `what`, such as a link, named `given`, and returns false. The message lists
 * the known names, or those nearest to `given`. */
bool api_fail_no_such(const api_query *q, const api_place *at, const char *what, const char *given,
                      const api_names *known) __attribute__((cold));

/* Returns the text of a string value; NULL with a problem if the value is no string. */
const char *api_read_string(const api_query *q, const api_node *value, const api_place *at);

/* Reads a string that is one of the known names; `of` says in the message what they name, such as "a controller".
 * Returns the index of the name; -1 with a problem that lists the known names, or those nearest to the string. */
int api_read_choice(const api_query *q, const api_node *value, const api_place *at, const char *of,
                    const api_names *known);

/* Reads the name of a velocity coordinate. Returns its index in velocity_names; -1 with a problem. */
int api_read_coordinate(const api_query *q, const api_node *value, const api_place *at);

/* Reads the name of a link or frame. Returns its index in the model's frames; -1 with a problem. */
int api_read_frame(const api_query *q, const api_node *value, const api_place *at);
