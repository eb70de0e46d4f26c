/* reference_fields.h - check the fields of a reference velocity, qd_reference and qdd_reference. */
#pragma once
#include "query.h"

/* True if the request has a reference velocity or acceleration; the absent one of the two is then zero. */
static inline bool api_has_reference(const api_query *q)
{
    return q->field[API_QD_REFERENCE] || q->field[API_QDD_REFERENCE];
}

/* Checks that a request with a reference gives no qdd that no operation reads. False with a problem. */
bool api_check_reference(const api_query *q);

/* Fails with API_BAD_VALUE at the reference that the request has, and returns false. */
bool api_fail_reference(const api_query *q, const char *text) __attribute__((cold));
