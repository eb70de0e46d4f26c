/* fields.h - read small values of a request. On failure a function returns false, NULL or -1, and sets q->problem with
 * a pointer to the value. */
#pragma once
#include "api/codec/names.h"
#include "query.h"

/* Sets the problem, with a JSON Pointer to the value at the place `at`, and returns false. */
bool api_fail_at(api_problem *problem, const api_place *at, api_code code, const char *format, ...)
    __attribute__((cold, format(printf, 4, 5)));

bool api_read_number(const api_query *q, const api_node *value, const api_place *at, double *number);

/* True if the request includes friction that depends on the load. Call it after "friction" is read. */
bool api_has_load(const api_query *q);

/* Fails with API_NOT_SUPPORTED: `what` does not take friction that depends on the load. */
bool api_fail_load(const api_query *q, const char *what) __attribute__((cold));

/* Refuses a body whose links differ in "gravity_compensation": the weight is then no function of the body's parameters.
 * `where` may be NULL. */
bool api_check_compensation(const api_query *q, const dyn_compensation *compensation, const api_place *where);

/* Reads true or false into *flag; an absent value (NULL) leaves *flag unchanged. */
bool api_read_flag(const api_query *q, const api_node *value, const api_place *at, bool *flag);

/* Checks that the value is an array with at least one entry. `of` says in the message what an entry is. */
bool api_check_list(const api_query *q, const api_node *value, const api_place *at, const char *of);

/* Like api_check_list, for a list of names. One name alone counts as the list of one, since some encoders unbox arrays
 * of one entry (R's jsonlite, MATLAB's jsonencode). */
bool api_check_names(const api_query *q, const api_node *value, const api_place *place, const char *entry);

/* Returns the number of entries of a list of names; 0 for NULL. */
size_t api_count_names(const api_node *list);

/* Sets `name` to entry i of a list of names, i < api_count_names, and returns its place. `place` is that of the list.
 */
api_place api_take_name(const api_node *list, const api_place *place, size_t i, api_node *name);

/* Returns the remedy for a list of numbers that decimal commas have split, to append to a message: its numbers are
 * integers, and more than `expected` but at most twice as many. Returns "" for any other list. */
const char *api_comma_remedy(const api_node *numbers, size_t expected);

/* Returns the remedy for a list with another number of entries than the model's coordinates: it has the entries of
 * locked joints, or those of rates where quaternions are expected, or the reverse. `positions`: nq entries are
 * expected, else nv. Returns api_comma_remedy for any other list. */
const char *api_coordinates_remedy(const api_query *q, const api_node *numbers, bool positions);

/* Reads an array of exactly n finite numbers. */
bool api_read_numbers(const api_query *q, const api_node *value, const api_place *at, size_t n, double *numbers);

/* Reads an array of exactly n finite numbers into memory that lasts until the request ends. NULL with a problem. */
double *api_take_numbers(api_query *q, const api_node *value, const api_place *at, size_t n);

/* The remedy for an array in place of the whole request. */
#define API_ROWS_REMEDY "; send one object, whose arrays have a row for each state"

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
