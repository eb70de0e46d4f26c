/* held_effort_rates.h - finds the time derivatives of the wrenches on held frames (dynamics/held/held_rates.h), as long
 * as the same limits are active. */
#pragma once
#include "held_efforts.h"
#include "dynamics/held/held_rates.h"

/* Begins the derivatives of the states whose wrenches are found. Returns false with a problem. */
bool api_held_effort_rates_begin(const api_evaluation *e, const api_held_wrenches *w, dyn_held_rates *r, size_t block);

/* Returns the scratch entries of a state for the arrays of api_held_effort_rates. */
size_t api_held_effort_rates_entries(const api_model *model, const api_held_efforts *efforts, size_t n_wrenches);

/* Finds the rates of the wrenches `w` of a block along `motion`, which has no outputs. `next` is scratch memory of
 * api_held_effort_rates_entries. Returns the rates of all wrenches of efforts->scene, 6 each in lanes; NULL with a
 * problem. */
const double *api_held_effort_rates(const api_evaluation *e, const api_held_efforts *efforts, size_t block,
                                    const dyn_torque_derivative *motion, double *next, api_held_wrenches *w);
