/* free_coordinates.h - "free": coordinates that move as forces make them, while the motion of all others is given: the
 * base of a robot that stands on nothing, joints without a motor. */
#pragma once
#include "api/lanes/batch.h"

/* Reads "free", an array of velocity names or "base", into e->driven, which stays NULL without it: at most one
 * operation takes it. False with a problem. */
bool api_read_free(api_evaluation *e, const api_node *options, const api_place *up);

/* True if a coordinate of the floating base is free. */
bool api_base_is_free(const api_evaluation *e);

/* Looks at vectors of qdd and tau (see api_vector): where coordinates are free, qdd of these and tau of the others are
 * found, and must be 0 where they are given. */
bool api_check_free_qdd(const api_evaluation *e, const api_vector *v, double *qdd, size_t stride, size_t lanes,
                        const api_place *row);
bool api_check_free_tau(const api_evaluation *e, const api_vector *v, double *tau, size_t stride, size_t lanes,
                        const api_place *row);
