/* peek.h - what the body of a request for dynamics seems to say, before it is read: for estimates. */
#pragma once
#include "api/evaluate/evaluation.h"

/* Whether a name is in the body, at its beginning or end. */
bool api_body_mentions(const api_input *input, const char *name);

/* The number of a field; 0: there is none, or no positive one. */
double api_peek_number(const api_call *call, const api_input *input, api_field field);

/* The largest magnitude among the first `count` numbers of a field that holds an array; 0: there are none. */
double api_peek_largest(const api_call *call, const api_input *input, api_field field, size_t count);
