/* held_rates.h - differentiates the wrenches on held frames under a given motion (held_wrenches.h), as long as the same
 * limits are active.
 *
 * A, w, l, x, E, U and tau_0 are those of held_wrenches.h. With A diag(w)^-1/2 = L E, L lower triangular, x = E^T nu +
 * (parts of active limits), and L^T mu = nu, so that E^T nu = diag(w)^-1/2 A^T mu. For a derivative ' with respect to
 * time or a parameter, h = tau_0U' - A' l is the derivative of the efforts at constant l, and
 *
 *     E x' = L^-1 h,  x' = diag(w)^-1/2 A'^T mu + E^T nu' + (changes of the parts of active limits),
 *
 * Without limits this is x' = g + E^T (L^-1 h - E g) with g = diag(w)^-1/2 A'^T mu; with limits cone_newton.h solves
 * it. A'^T mu is the derivative of the velocities along the held directions at constant velocities mu of the
 * coordinates U. The derivatives exist only if no row of A depends on others. */
#pragma once
#include "held_wrenches.h"

/* The multipliers mu of one block, and the changes with which derivatives are computed. Arrays are in lanes. */
typedef struct dyn_held_rates {
    const dyn_held_block *block;
    dyn_least_norm       *limited;     /* [W] the solutions within limits; NULL: no limits */
    double               *mu;          /* nv: mu in the entries of the coordinates U, 0 in the others */
    double               *jerks;       /* k: J qddd and lower orders: second time derivatives of the held velocities */
    double               *jerks_scale; /* k: scales that the jerks are compared with (dyn_held_rates_find_moving) */
    double *direction; /* k: A'^T mu, derivatives of the velocities along the held directions at the velocities mu */
    double *effort; /* n_passive: h = tau_0U' - A' l, in: derivatives of the efforts of U at constant l; overwritten */
    double *velocity, *acceleration, *jerk; /* 6 each, of one frame: scratch */
    bool    ready[DYN_MAX_LANES];           /* true: dyn_held_rates_begin has succeeded in the lane */
} dyn_held_rates;

/* dyn_held_rates_entries returns the doubles per state in lanes, dyn_held_rates_lay_out the arrays in them. */
size_t         dyn_held_rates_entries(size_t nv, const dyn_held_choice *choice);
dyn_held_rates dyn_held_rates_lay_out(const dyn_held_block *b, dyn_least_norm *limited, double *lanes);

/* Finds mu in one lane, in which the wrenches are solved. Returns false if the derivatives do not exist. mu is zero in
 * all lanes that are not ready. */
bool dyn_held_rates_begin(dyn_held_rates *r, size_t lane);

/* Sets `direction`, for the time derivatives along the motion with the jerk qddd, and `jerks`. */
void dyn_held_rates_follow(const dyn_held_rates *r, const dyn_contact_states *states, const double *qdd,
                           const double *qddd);

/* Returns 0, or 1 + the first held direction whose acceleration changes in one lane: |jerks| > DYN_HELD_MOTION
 * jerks_scale. The scale is sum |J_av qddd_v| + 3 (w + sqrt(g / R)) s_a, where w bounds the angular velocity of the
 * frame, and g and R are the gravity and the reach of dynamics/held_directions.h. */
size_t dyn_held_rates_find_moving(const dyn_held_rates *r, size_t lane);

/* Computes l' (k in lanes) from `direction` and `effort`, which the caller sets; zeros in lanes that are not ready. */
void dyn_held_rates_solve(const dyn_held_rates *r, double *l);

/* Derivatives of the efforts with respect to n parameters, at constant contact wrenches. */
typedef struct dyn_held_columns {
    size_t  n;   /* number of parameters, the columns of the matrices below */
    double *tau; /* nv x n, in: derivatives at constant wrenches; out: with the wrenches that follow from the motion */
    const double *direction; /* k x n: A'^T mu; NULL: zero, the parameters do not move the held axes */
    double       *wrenches;  /* (frames x 6) x n: receives the derivatives of the contact wrenches; NULL: not wanted */
} dyn_held_columns;

/* Differentiates the contact wrenches, and completes the efforts: `levers` (frames x nv x 6) are the derivatives of the
 * efforts with respect to the contact wrenches, in the axes in which the frames are held. `l` (k) is scratch. */
void dyn_held_rates_complete(const dyn_held_rates *r, const dyn_held_columns *columns, const double *levers, double *l);
