/* wrench_fields.h - name and classify the vectors of a wrench in a request. api/requests/lanes reads their numbers into
 * lanes. */
#pragma once
#include "query.h"

/* Vectors of a wrench, of three numbers each: force, torque and point, then the rates force_rate and torque_rate, which
 * only some operations take. */
enum { API_WRENCH_POINT = 2, API_WRENCH_VALUES = 3, API_WRENCH_RATES = 2 };
extern const char *const api_wrench_vectors[API_WRENCH_VALUES + API_WRENCH_RATES];

/* True if a selected operation takes force_rate and torque_rate. */
bool api_takes_wrench_rates(const api_query *q);

/* True if the value of the wrench vector `name` is a signal, an object that the options of the operation have read. */
bool api_is_wrench_signal(const api_query *q, const api_node *value, const char *name);
