/* payload_parameters.h - check the estimated parameters of a payload, and suppose some where the rows show none. */
#pragma once
#include "chosen_unknowns.h"
#include "dynamics/identification/estimate.h"

/* True if a body with these parameters can be built: its pseudo-inertia (parameters.h) is positive definite. */
bool api_payload_is_consistent(const double payload[DYN_PER_BODY]);

/* Writes the parameters of a homogeneous ball of 1000 kg/m^3. Its mass and centre are those that the estimate t shows
 * alone; else the mean mass of the model's bodies, and the origin of the payload's frame. */
void api_payload_suppose(const dyn_estimate *t, const api_chosen_unknowns *chosen, double payload[DYN_PER_BODY]);
