/* wrench_fields.h - the vectors of a wrench in a request, which api/lanes reads into lanes. */
#pragma once
#include "query.h"

/* Vectors of three numbers: force, torque and point, which every operation takes, then force_rate and torque_rate. */
enum { API_WRENCH_POINT = 2, API_WRENCH_VALUES = 3, API_WRENCH_RATES = 2 };
extern const char *const api_wrench_vectors[API_WRENCH_VALUES + API_WRENCH_RATES];

/* True if a selected operation takes rates. */
bool api_takes_wrench_rates(const api_query *q);

/* True if the value of such a vector is a signal, which the options of the operation have read. */
bool api_is_wrench_signal(const api_query *q, const api_node *value, const char *name);
