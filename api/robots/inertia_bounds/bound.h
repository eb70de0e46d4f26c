/* bound.h - mend the inertias of a document that simulators refuse, and report each change as a warning `bounded`.
 *
 * Balanced: no principal moment exceeds the sum of the others. With the second moments of the mass about the centre of
 * mass, p_k = (I_i + I_j - I_k)/2, a tensor is balanced if none is negative; negative ones become zero, which is the
 * nearest balanced tensor in terms of them.
 *
 * Bounded: a link that moves has a mass and principal moments, itself or in a link that is fixed to it. One without
 * gets the least of API_BOUND_MASS and API_BOUND_MOMENT that it lacks. */
#pragma once
#include "api/robots/document/document.h"

#define API_SOUND_LEAST  1e-15 /* kg, kg m^2: MuJoCo treats smaller masses and moments as zero (mjMINVAL) */
#define API_BOUND_MASS   1e-6  /* kg */
#define API_BOUND_MOMENT 1e-9  /* kg m^2, of a radius of gyration of 3 cm with that mass */

/* Links that are sound: they, or links that are fixed to them, have the mass and moments of a body that moves. */
typedef struct api_sound_links {
    bool  base;
    bool *link; /* [n_links] */
} api_sound_links;

/* Finds the sound links; `sound->link` is in the arena. False with a problem when memory is short. */
bool api_bound_find_sound(const api_document *document, api_reader *reader, api_sound_links *sound);

/* Balances the inertias of all links. False when memory is short, as the next functions. */
bool api_bound_balance(api_document *document, api_reader *reader);

/* Bounds the inertia of one link; DYN_WORLD: of the base. */
bool api_bound_link(api_document *document, api_reader *reader, int link);

/* Balances the inertias of all links, and bounds those of all links that move and are not sound. */
bool api_bound_moving(api_document *document, api_reader *reader);
