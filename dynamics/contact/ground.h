/* ground.h - computes the wrenches of the ground on one or two feet of a robot in motion: one state, no lanes.
 *
 * The method has two steps (Xiang et al. 2009; Barman 2020, ch. 5). First, inverse dynamics without ground gives the
 * efforts tau_b along the six coordinates of the base. The ground bears them instead, by the resultant [F; N_b] about
 * the base's origin b:
 *
 *     J_b^T [F; N_b] = tau_b,   J_b: Jacobian of the base with respect to its own six coordinates.
 *
 * Let p be a point and n the normal of the ground plane, and N_p = N_b + (b - p) x F. The moment is along n about the
 * zero-moment point
 *
 *     z = p + n x N_p / (n.F).
 *
 * Second, the feet at r_1, r_2 share the resultant in the parts w_1 = d_2 / (d_1 + d_2) and w_2 = d_1 / (d_1 + d_2),
 * with d_k = |z - r_k|. Foot k bears w_k [F; N_b + (b - r_k) x F] about its own point. A single foot bears all. With
 * these wrenches acting on the feet, the base's efforts are zero. Of two feet one may be lifted; its part is zero.
 *
 * All vectors are in world axes. */
#pragma once
#include "dynamics/dynamics.h"

enum { API_FEET = 2, API_BASE_DOF = 6 };

/* The ground of a request, the same for all states. */
typedef struct api_ground {
    double    point[3], normal[3]; /* m, a point of the ground plane; unit normal of the plane */
    double    weight;              /* N, the robot's weight: scale for the smallest normal force */
    dyn_frame base;                /* the link that the first six coordinates move */
    size_t    n_contacts;          /* number of feet; without feet 1, and contact[0] is the base */
    dyn_frame contact[API_FEET];
} api_ground;

/* The feet that carry a state. */
typedef enum api_support { API_BOTH_FEET, API_FIRST_FOOT, API_SECOND_FOOT } api_support;

typedef struct api_ground_state {
    const api_ground *ground;
    api_support       support;
    double            base[3], contact[API_FEET][3];           /* m, origins of the base and the contacts */
    double            jacobian[API_BASE_DOF * API_BASE_DOF];   /* J_b, column-major; replaced by its LU factors */
    double            effort[API_BASE_DOF];                    /* N, N m: tau_b, efforts along the base's coordinates */
    int               pivot[API_BASE_DOF];                     /* pivot indices of the LU factors */
    double            resultant[6], zero_moment[3];            /* N, N m about the world's origin; m */
    double            distance[API_FEET], share[API_FEET];     /* m, contact k to zero-moment point; share of foot k */
    double            about[API_FEET][6], wrench[API_FEET][6]; /* resultant about contact k; wrench on foot k */
} api_ground_state;

typedef enum api_ground_status {
    API_GROUND_DONE,
    API_GROUND_NOT_FINITE,
    API_GROUND_BASE_SINGULAR, /* the six coordinates do not move the base in all directions */
    API_GROUND_NO_POINT,      /* the normal force is zero or pulls */
    API_GROUND_NO_SHARES,     /* both feet are at the zero-moment point */
} api_ground_status;

/* Computes the resultant, the zero-moment point and the contact wrenches from positions, Jacobian and efforts. */
api_ground_status api_ground_solve(api_ground_state *s);

/* Derivatives of the ground's reaction with respect to one coordinate, velocity or acceleration. */
typedef struct api_ground_rate {
    double contact[API_FEET][3]; /* input: derivatives of the contacts' positions */
    double resultant[6], zero_moment[3], wrench[API_FEET][6];
} api_ground_rate;

/* Solves J_b^T X = columns for n columns of 6 numbers, and replaces them by X. Derivatives of the base's efforts
 * thereby become derivatives of the resultant [F; N_b]. These efforts must be computed with the contact wrenches
 * acting, constant in world axes, so that the efforts themselves are zero. */
void api_ground_solve_base(api_ground_state *s, double *columns, size_t n);

/* Finds the derivatives of the reaction from one column that api_ground_solve_base has solved. The caller sets
 * rate->contact. */
void api_ground_differentiate(const api_ground_state *s, const double column[6], api_ground_rate *rate);
