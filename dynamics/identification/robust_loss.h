/* robust_loss.h - estimates with Huber's loss: rows whose residual is larger than a threshold count linearly.
 *
 *     minimise  sum over rows rho(r / sigma),   rho(u) = u^2 / 2 for |u| <= k,  k |u| - k^2 / 2 beyond,
 *
 * by least squares with the weights min(1, k sigma / |r|), repeated until the solution settles (Huber 1981). sigma of a
 * coordinate is the median of |r| / 0.6745, which outliers hardly change, corrected for the degrees of freedom. */
#pragma once
#include "estimate.h"

/* Solves again from the least squares solution, with kept rows. Then `R` and `unknowns.inverse` are those of all rows
 * with equal weight, `noise` has the sigma of each coordinate, and `s` accounts for the loss (Huber 1981, chapter 7).
 * `by_noise`: each coordinate has a sigma of its own; else one sigma is estimated, and the caller's weights give the
 * ratios. Returns false if the deadline has passed, there is no memory, or numbers overflow. */
bool dyn_robust_solve(dyn_estimate *t, bool by_noise);
