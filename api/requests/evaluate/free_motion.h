/* free_motion.h - finds the accelerations of free coordinates, whose efforts are given (free_coordinates.h). Shared by
 * inverse-dynamics, forward-dynamics, torque-derivative, sensitivity and trajectory. */
#pragma once
#include "api/requests/lanes/evaluation.h"
#include "dynamics/motion/free_coordinates.h"

/* Reads "free" into selected->options: [nv] true for driven coordinates; NULL without "free". `output` is qdd, which
 * exists only with free coordinates. False with a problem. */
bool api_free_read(api_query *q, api_selection *selected, const api_node *given, const api_place *up, size_t output);

/* Checks that tau is used: by free coordinates (driven not NULL), or by another operation of the request. False with a
 * problem. */
bool api_free_check_tau(const api_plan *plan, const api_selection *selected, const bool *driven);

/* Finds qdd (nv in lanes) of all coordinates. driven NULL: all coordinates are free. `singular` is scratch memory, one
 * entry a state. False with a problem. */
bool api_free_accelerations(const api_evaluation *e, const bool *driven, double *singular, double *qdd, size_t block,
                            size_t blocks);

/* Sets the entries of free coordinates in tau (nv in lanes) to the values of the request: those computed have rounding
 * errors. */
void api_free_restore(const api_evaluation *e, const bool *driven, size_t block, size_t blocks, double *tau);

/* Finds qddd (nv in lanes) of all coordinates of a block, so that the efforts of free coordinates have the rates
 * `tau_rates` (nv in lanes; NULL: zero). `io` has the state and the qddd of driven coordinates; qddd may be io->qddd.
 * api_free_jerks_room returns the doubles per state of `room`. */
void   api_free_jerks(const api_evaluation *e, const bool *driven, const dyn_torque_derivative *io,
                      const double *tau_rates, double *qddd, double *room);
size_t api_free_jerks_room(size_t nv);

/* Sets dtau/dT (nv in lanes) of a block at q, qd, qdd and wrenches. Returns `to`, or NULL if friction does not depend
 * on the load. */
const double *api_free_find_load(const api_evaluation *e, dyn_inverse_dynamics at, double *to);
