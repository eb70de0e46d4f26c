/* gain_matrix.h - reads matrices of gains, which turn a difference of states into torques: nv rows of 2 nv numbers. */
#pragma once
#include "api/requests/fields/fields.h"

/* Checks the shape of one matrix at the place `where`. False with a problem. */
bool api_gain_matrix_check(api_query *q, const api_node *matrix, const api_place *where);

/* Writes the numbers of a checked matrix as [nv][2 nv], rows and columns in the order of the model. Call it after
 * "joints" is read. */
void api_gain_matrix_read(const api_query *q, const api_node *matrix, double *to);
