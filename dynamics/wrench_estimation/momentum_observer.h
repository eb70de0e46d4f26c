/* momentum_observer.h - estimates external torques from samples of motion and torques in time, without accelerations.
 *
 * Let tau_e be the external torques and W known wrenches. With the momentum p = M qd, M' = C + C^T and the equation of
 * motion M qdd + C qd + g + friction + springs = tau + tau_e + sum J^T W,
 *
 *     p' = u + tau_e,   u = tau + (C + C^T) qd - b,   b = C qd + g + friction + springs - sum J^T W.
 *
 * The residual r follows tau_e through a filter of first order, r' = K (tau_e - r), with the gain K (1/s) of each
 * coordinate (De Luca & Mattone 2005; Haddadin, De Luca & Albu-Schäffer 2017, eq. 33). Between samples h apart, by the
 * trapezoidal rule with x = K h / 2 and + for the next sample,
 *
 *     r+ = ((1 - x) r + K (p+ - p - h (u + u+) / 2)) / (1 + x),   r = 0 at the first sample,
 *
 * which is stable for all x and does not oscillate for x < 1. White noise of tau with variance s^2 gives r a variance v
 * s^2 with, for a = (1 - x) / (1 + x) and c = K h / (1 + x),
 *
 *     v+ = a^2 v + c^2 / 2 + a c^2 / 2 (from the second step on; v = c^2 / 2 after the first, 0 before),
 *
 * because two neighbouring steps use the same measured torque. */
#pragma once
#include <stddef.h>

/* A sample of one coordinate: momentum p and the known part u of its rate. */
typedef struct dyn_momentum_sample {
    double p, u;
} dyn_momentum_sample;

/* The residual r of one coordinate, and its variance v for torques of variance 1, after `steps` steps. */
typedef struct dyn_momentum_residual {
    double r, variance;
    size_t steps;
} dyn_momentum_residual;

/* Advances the residual from one sample to the next, h seconds later. `gain` is K. */
void dyn_momentum_observe(double gain, double h, dyn_momentum_sample from, dyn_momentum_sample to,
                          dyn_momentum_residual *residual);
