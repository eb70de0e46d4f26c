/* momentum_observer.c - estimates external torques from samples in time (momentum_observer.h). */
#include "momentum_observer.h"

void dyn_momentum_observe(double gain, double h, dyn_momentum_sample from, dyn_momentum_sample to,
                          dyn_momentum_residual *residual)
{
    const double x = 0.5 * gain * h, a = (1 - x) / (1 + x), c = gain * h / (1 + x);
    const double push   = (to.p - from.p) / h - 0.5 * (from.u + to.u); /* mean of tau_e over the step */
    const double shared = residual->steps > 0 ? 0.5 * a * c * c : 0;
    residual->r         = a * residual->r + c * push;
    residual->variance  = a * a * residual->variance + 0.5 * c * c + shared;
    residual->steps++;
}
