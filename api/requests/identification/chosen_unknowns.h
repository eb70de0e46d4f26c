/* chosen_unknowns.h - read "unknown" of identify: which parameters are estimated while all others of the model are
 * known.
 *
 * "payload": the ten inertial parameters of the body that a frame is on, of which the model's own are known.
 * "payload.mass" and "payload.com": the same, but of the payload only mass and centre of mass are reported; with
 * "payload.inertia" as well they are "payload". "friction": viscous and Coulomb friction of all joints. "rotors": their
 * rotor inertias. "load", "stribeck": with friction, load coefficients and Stribeck's curves (friction_curves.h). */
#pragma once
#include "dynamics/identification/base_parameters.h"
#include "api/requests/fields/query.h"

typedef struct api_chosen_unknowns {
    bool     payload, load, stribeck;
    bool     inertia;   /* the payload's inertia is reported */
    int      row;       /* index of the payload's body in the model's bodies */
    double   origin[3]; /* of the payload's frame, m, in the frame of that body's link */
    unsigned with;      /* flags DYN_BASE_...: the joint parameters that are unknown */
    size_t   n;         /* number of chosen parameters */
    size_t  *parameter; /* [n] indices of the chosen parameters: those of the body, then those of each joint */
    dyn_base base;      /* the chosen parameters, grouped where no motion at this gravity tells them apart */
} api_chosen_unknowns;

/* Reads "unknown" and "frame", at the gravity q->scene.gravity. NULL with a problem, also if the deadline has passed.
 */
api_chosen_unknowns *api_chosen_unknowns_read(api_query *q);

/* True if the friction of joint or motor j may have a load coefficient: it is no mimic and no elastic joint. */
bool api_takes_load(const api_model *model, size_t j);
