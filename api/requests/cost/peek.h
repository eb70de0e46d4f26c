/* peek.h - find names and numbers in a request's body without decoding it, for cost estimates. The results may be
 * wrong; no answer depends on them. */
#pragma once
#include "api/requests/lanes/evaluation.h"

/* True if the name occurs in the first or last 512 bytes of the body. */
bool api_body_mentions(const api_input *input, const char *name);

/* Returns the number that follows the field's name; 0 if there is none, or if it is not positive. */
double api_peek_number(const api_call *call, const api_input *input, api_field field);

/* Returns the largest magnitude among the first `count` numbers of an array field; 0 if there are none. */
double api_peek_largest(const api_call *call, const api_input *input, api_field field, size_t count);

/* Estimates how many position vectors q the body contains. */
double api_peek_positions(const api_call *call, const api_input *input);

/* Returns the seconds of one iteration of closing the loops of one state; 0 if the model has no loops. */
double api_closing_step_seconds(const api_model *model);
