/* simulated_rows.h - holds simulations of a request that run side by side. */
#pragma once
#include "api/requests/lanes/evaluation.h"
#include "dynamics/simulation/robot_ode.h"
#include "simulation.h"

typedef struct api_ode_limits api_ode_limits; /* defined in ode_limits.c */

typedef struct api_simulated_rows {
    dyn_robot_ode         ode;
    const api_evaluation *e;
    const api_simulation *s;
    api_row_share         share;     /* time share of the simulations side by side (row_time.h) */
    api_limit_violation  *violation; /* [limits][W] (joint_limits.h); NULL: not requested */
    double               *forces;    /* [contacts][3][W] forces at a sample; NULL: not requested */
    api_ode_limits       *limits;    /* efforts of mimic joints; NULL: none is compared with a limit */
} api_simulated_rows;

/* Describes the simulations of a request, and sets their scene, which has the forces at contacts. Returns false with a
 * problem. */
bool api_simulated_rows_describe(const api_evaluation *e, const api_simulation *s, dyn_scene *scene,
                                 dyn_simulation *to);

/* Allocates the arrays of `rows` from the request's pool. Returns false with a problem. */
bool api_simulated_rows_open(api_evaluation *e, const api_simulation *s, const dyn_simulation *described,
                             api_simulated_rows *rows);

/* Begins `n` simulations from row `first` on. */
void api_simulated_rows_start(api_simulated_rows *rows, size_t first, size_t n);
