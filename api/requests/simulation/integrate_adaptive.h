/* integrate_adaptive.h - integrates with error control by the embedded Runge-Kutta pairs of ARKODE (SUNDIALS; Reynolds
 * et al. 2023): the part that all pairs share.
 *
 * Every simulation has steps of its own, so that its result does not depend on the batch. The root mean square of the
 * local errors of positions and velocities, each divided by tolerance (1 + |y|), is kept below 1. */
#pragma once
#include "ode.h"
#include "dynamics/simulation/sundials_memory.h"
#include <arkode/arkode_arkstep.h>
#include <sunlinsol/sunlinsol_dense.h>

#define API_STEPS_PER_SAMPLE 100 /* assumed by the estimate of costs where steps are adaptive */

/* The content of the dense linear solver, with the ODE, whose deadline the factorization asks. */
typedef struct api_newton_content {
    struct _SUNLinearSolverContent_Dense dense;
    const api_ode                       *ode;
} api_newton_content;

typedef struct api_adaptive {
    api_ode            *ode;
    dyn_sundials_memory memory; /* of all that follows */
    SUNContext          context;
    N_Vector            y;
    SUNMatrix           jacobian; /* of an implicit pair, with its solver; NULL: none */
    SUNLinearSolver     solver;
    api_newton_content  newton; /* content of the solver */
    void               *arkode;
    size_t              changes;     /* number of changes of joints between sliding and sticking */
    size_t              began_steps; /* step count and time at which the window of has_collapsed starts */
    double              began;
} api_adaptive;

/* Sets the pair of a new ARKODE integrator, and its solver. Returns false without memory. */
typedef bool api_choose_pair(api_adaptive *a);

/* Functions for the rows of api_integrators (integrator.h). The ODE must have one simulation. */
size_t api_adaptive_bytes(const api_ode *ode); /* without the Jacobian of an implicit pair */
void  *api_adaptive_open(api_ode *ode, bool is_implicit, api_choose_pair *choose_pair, api_problem *problem);
bool   api_adaptive_integrate(api_ode *ode, void *data, api_interval interval, api_problem *problem);
void   api_adaptive_close(void *data);

/* True until the deadline of the request has passed. Callbacks of ARKODE that find it false end the integration; the
 * request fails later. */
bool api_adaptive_may_continue(const api_ode *ode);

/* Copies y to all lanes. */
void api_adaptive_fill_lanes(const api_ode *ode, const double *y, double *lanes);
