/* prescribed.h - reads the field "prescribed" of a simulation: coordinates that follow a given motion.
 *
 *     {"coordinates": [name...], "motion": signal} r(t), one position per coordinate (api/requests/motion/signal.h)
 *
 * These coordinates have q = r, q' = r' and q'' = r''. The others are integrated with the accelerations of hybrid
 * dynamics (Featherstone 2008, ch. 9.2; with a floating base and given joints Khalil 2010, 7.2). The efforts of
 * prescribed coordinates are those that the motion needs. */
#pragma once
#include "api/requests/lanes/evaluation.h"
#include "api/robots/model/actuation.h"
#include "api/requests/motion/signal.h"

typedef struct api_prescribed_motion {
    size_t     n;      /* 0: no coordinate is prescribed */
    size_t    *v, *q;  /* [n] index of each coordinate in qd, and in q */
    bool      *mask;   /* [nv] true: the coordinate is prescribed; NULL if n is 0 */
    api_signal motion; /* signal of n entries, in the order of `v` */
} api_prescribed_motion;

/* Reads and checks the field "prescribed"; without it prescribed->n is 0. `duration` is in s. Returns false with a
 * problem. */
bool api_prescribed_read(api_query *q, const api_node *fields, double duration, api_prescribed_motion *prescribed);

/* Loads the numbers of the motion, after all fields are read. Given q and qd must agree with the motion at time 0, or
 * be 0. Returns false with a problem. */
bool api_prescribed_load(const api_plan *plan, api_prescribed_motion *prescribed);
