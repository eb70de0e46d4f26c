/* body_parameters.h - read "parameters", inertial parameters that replace those of bodies for this request.
 *
 * The ten parameters of a body are numbered as by the regressor (dynamics/identification/parameters.h). Two payloads at
 * the link have the same effect: one with minus the model's own parameters, and one with those given. */
#pragma once
#include "api/requests/fields/query.h"

/* Returns the number of payloads for the field "parameters": two for each link. */
size_t api_count_parameter_payloads(const api_query *q);

/* Counts the rows of the field "parameters" into q->rows. False with a problem. */
bool api_measure_parameters(api_query *q);

/* Sets the links and poses of the payloads, and the inertias of those with the model's own parameters. False with a
 * problem. */
bool api_read_parameter_places(const api_query *q, dyn_payload *payload);

/* Sets the inertias of the payloads of one row, from those in `payload`. False with a problem. */
bool api_read_parameter_row(const api_query *q, size_t row, const dyn_payload *payload, dyn_inertia *inertia);
