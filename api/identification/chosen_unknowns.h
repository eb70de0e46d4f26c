/* chosen_unknowns.h - read "unknown" of identify: which parameters are estimated while all others of the model are
 * known.
 *
 * "payload": the ten inertial parameters of the body that a frame is on, of which the model's own are known.
 * "friction": viscous and Coulomb friction of all joints. "rotors": their rotor inertias. "load", "stribeck": with
 * friction, load coefficients and Stribeck's curves (friction_curves.h). */
#pragma once
#include "api/model/base_parameters.h"
#include "api/request/query.h"

typedef struct api_chosen_unknowns {
    bool     payload, load, stribeck;
    int      row;  /* of the payload's body in the model's bodies */
    unsigned with; /* set of API_BASE_... */
    api_base base; /* the chosen parameters; none is combined with another */
} api_chosen_unknowns;

/* Reads "unknown" and "frame". NULL with a problem. */
api_chosen_unknowns *api_chosen_unknowns_read(api_query *q);

/* True if the friction of joint or motor j may have a load coefficient: it is no mimic and no elastic joint. */
bool api_takes_load(const api_model *model, size_t j);
