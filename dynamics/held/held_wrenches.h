/* held_wrenches.h - chooses the wrenches on held frames (contact.h) under a given motion.
 *
 * The accelerations qdd hold the frames: J qdd + J' qd = 0. With tau_0 the efforts of this motion without contacts, and
 * U the coordinates that no actuator moves, the efforts l along the held directions satisfy
 *
 *     A l = tau_0U,  A = (J^T)_U,  tau = tau_0 - J^T l.
 *
 * The choice is the l with the least sum of w_i l_i^2 within the limits of the contacts. In x = sqrt(w) l it is a
 * vector of least norm. The rows of A become an orthonormal basis E by Gram & Schmidt, A diag(w)^-1/2 = R^T E, so that
 * E x = e with R^T e = tau_0U; without limits x = E^T e (constraints/held_balance.c). A row of A depends on those
 * before it by the rule of dynamics/held_directions.h, and has no effect. The motion is refused unless the effort that
 * such a row leaves, and the accelerations of the held frames, are negligible:
 *
 *     |J qdd + J' qd|_a <= DYN_HELD_MOTION s_a,  |tau_0U - A l|_u <= DYN_HELD_MOTION s_u,
 *
 * with s_a = A + V + sum_v |J_av qdd_v| (dynamics/held_directions.h), and s_u of the efforts: the weight of the robot,
 * times a length for moments, plus the s of the rows on which u depends times their factors.
 *
 * Forward dynamics, where the accelerations follow from given efforts, is solved by dynamics/contact/contact.h instead:
 * there the mass matrix decides the wrenches. */
#pragma once
#include "dynamics/contact/contact.h"
#include "least_norm.h"

#define DYN_HELD_MOTION  1e-6
#define DYN_HELD_BALANCE 1e-9 /* effort that rounding errors of limited wrenches may leave, relative to its scale */

/* The choice of wrenches, the same for all states. */
typedef struct dyn_held_choice {
    const dyn_held_set   *contact;
    double               *root;      /* [k] 1 / sqrt(w), with w the weights of the directions */
    size_t                n_passive; /* coordinates without actuator */
    size_t               *passive;   /* [n_passive] the coordinates without actuator */
    double               *scale;     /* [n_passive] scales of efforts, N or N m */
    size_t                n_rows, n_cones;
    const dyn_limit_row  *row;  /* [n_rows] limits of x */
    const dyn_limit_cone *cone; /* [n_cones] cones of x */
} dyn_held_choice;

/* The wrenches of one block of states, in lanes. */
typedef struct dyn_held_block {
    const dyn_held_choice *choice;
    size_t                 nv, W;
    double *moves, *moves_scale; /* k: accelerations along the held directions, J qdd + J' qd; their scales s_a */
    double *E, *R, *e; /* n_passive x k: orthonormal rows E; n_passive x n_passive: R of A diag(w)^-1/2 = R^T E;
                          n_passive: e of E x = e */
    double *remains, *remains_scale; /* n_passive: tau_0U - A l in rows that depend on others; their scales s_u */
    double *x;                       /* k: sqrt(w) l, with l the efforts along the held directions */
    dyn_contact_block rows;          /* J, levers and scratch; `moves` and `moves_scale` receive its J' qd and sizes */
} dyn_held_block;

/* dyn_held_entries returns the doubles per state that a block needs in lanes, dyn_held_lay_out the block in them. */
size_t         dyn_held_entries(size_t nv, const dyn_held_choice *choice);
dyn_held_block dyn_held_lay_out(const dyn_held_choice *choice, size_t nv, size_t W, double *lanes);

/* Finds x of least norm without limits in all lanes. `tau` (nv in lanes) are the efforts without contacts, qdd (nv in
 * lanes; NULL: zero) the accelerations. */
void dyn_held_solve(const dyn_held_block *b, const dyn_contact_states *states, const double *qdd, const double *tau);

/* True if the accelerations, efforts and wrenches of one lane are finite. */
bool dyn_held_is_finite(const dyn_held_block *b, size_t lane);

/* Returns 0, or 1 + the first held direction that accelerates in one lane. */
size_t dyn_held_find_moving(const dyn_held_block *b, size_t lane);

/* Returns 0, or 1 + the first entry of choice->passive whose effort remains in one lane. */
size_t dyn_held_find_unbalanced(const dyn_held_block *b, size_t lane);

/* Describes the effort that remains at entry u of choice->passive: with the z of z^T A = 0, z_u = 1 and z_i = 0 for i >
 * u, *remains = z.tau_0U / z_w for the entry w with the largest |z_w| scale_w, which is returned. */
size_t dyn_held_describe_unbalanced(const dyn_held_block *b, size_t lane, size_t u, double *remains);

/* Finds x of one lane within the limits of the choice. `s` has memory for k and n_passive, and a deadline. */
dyn_least_norm_status dyn_held_limit(const dyn_held_block *b, size_t lane, dyn_least_norm *s);

/* Writes l as wrenches of 6 numbers (n x 6 in lanes), with zeros along axes that are not held. */
void dyn_held_put_wrenches(const dyn_held_block *b, double *wrenches);
