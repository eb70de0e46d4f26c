/* integrate_adaptive.h - integrates with error control by the embedded Runge-Kutta pairs of ARKODE (SUNDIALS; Reynolds
 * et al. 2023): the part that all pairs share.
 *
 * Every simulation has steps of its own, so that its result does not depend on the batch. The root mean square of the
 * local errors of positions and velocities, each divided by tolerance (1 + |y|), is kept below 1. */
#pragma once
#include "integrator.h"
#include "sundials_memory.h"
#include <arkode/arkode_arkstep.h>
#include <sunlinsol/sunlinsol_dense.h>

/* The content of the dense linear solver: the ODE, whose deadline the factorization checks. */
typedef struct dyn_newton_content {
    struct _SUNLinearSolverContent_Dense dense;
    const dyn_ode                       *ode;
} dyn_newton_content;

typedef struct dyn_adaptive {
    dyn_ode            *ode;
    dyn_sundials_memory memory; /* memory of the members that follow */
    SUNContext          context;
    N_Vector            y;
    SUNMatrix           jacobian; /* Jacobian of an implicit pair, with a solver; NULL: none */
    SUNLinearSolver     solver;
    dyn_newton_content  newton; /* content of the solver */
    void               *arkode;
    size_t              changes;     /* number of events that changed the equations */
    size_t              began_steps; /* step count and time at which the window of has_collapsed starts */
    double              began;
} dyn_adaptive;

/* Sets the pair of a new ARKODE integrator, and its solver. Returns false without memory. */
typedef bool dyn_choose_pair(dyn_adaptive *a);

/* Functions for the constants of integrators. The ODE must have one simulation. */
size_t          dyn_adaptive_bytes(const dyn_ode *ode); /* without the Jacobian of an implicit pair */
bool            dyn_adaptive_open(dyn_ode *ode, bool is_implicit, dyn_choose_pair *choose_pair);
dyn_integration dyn_adaptive_integrate(dyn_ode *ode, dyn_interval interval);
void            dyn_adaptive_close(dyn_ode *ode);

/* Copies y to all lanes. */
void dyn_adaptive_fill_lanes(const dyn_ode *ode, const double *y, double *lanes);
