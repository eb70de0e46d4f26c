/* prescribed.h - coordinates of a simulated robot that follow a given motion: "prescribed" of a request.
 *
 *     {"coordinates": [name...], "motion": signal}      r(t), one position for each of these coordinates (signal.h)
 *
 * They have q = r, q' = r', q'' = r''. All other coordinates are integrated; their accelerations are those of hybrid
 * dynamics (Featherstone 2008, ch. 9.2), of a floating base and given joints those of Khalil 2010, 7.2. The efforts of
 * prescribed coordinates are what their motion needs. */
#pragma once
#include "api/model/actuation.h"
#include "api/motion/signal.h"

typedef struct api_prescribed_motion {
    size_t     n;      /* 0: no coordinate is prescribed */
    size_t    *v, *q;  /* [n] entries of velocities and positions */
    bool      *mask;   /* [nv]; NULL: no coordinate is prescribed */
    api_signal motion; /* n wide */
} api_prescribed_motion;

/* Reads and checks the field. False with a problem. */
bool api_prescribed_read(api_evaluation *e, const api_node *fields, double duration, api_prescribed_motion *prescribed);

/* After all fields are read: loads the numbers of the motion, and compares the given q and qd with it at time 0, where
 * they have to be the same, or 0. False with a problem. */
bool api_prescribed_load(api_evaluation *e, api_prescribed_motion *prescribed);
