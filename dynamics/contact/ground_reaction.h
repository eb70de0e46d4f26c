/* ground_reaction.h - computes the wrenches of the ground on one or two feet of a robot in motion: one state, no lanes.
 *
 * The method has two steps (Xiang et al. 2009; Barman 2020, ch. 5). First, inverse dynamics without ground gives the
 * efforts tau_b along the six coordinates of the base. The ground must provide them, by a wrench with the resultant [F;
 * N_b] about the base's origin b:
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
 * these wrenches acting on the feet, the base's efforts are zero. One of two feet may be lifted; its part is zero.
 *
 * All vectors are in world axes. */
#pragma once
#include "dynamics/dynamics.h"
#include "dynamics/loops/mechanism.h"

enum { DYN_FEET = 2, DYN_BASE_DOF = 6 };

/* The ground, the same for all states. */
typedef struct dyn_ground {
    double    point[3], normal[3]; /* m, a point of the ground plane; unit normal of the plane */
    double    weight;              /* N, the robot's weight: scale for the smallest normal force */
    dyn_frame base;                /* the link that the first six coordinates move */
    size_t    n_contacts;          /* number of feet; without feet 1, and contact[0] is the base */
    dyn_frame contact[DYN_FEET];
} dyn_ground;

/* Finds the base of a robot: the body of a floating base, or the sixth body of a chain from the world with one
 * coordinate each, three of them prismatic. Returns false if the robot has no such base. */
bool dyn_ground_find_base(const dyn_model *tree, dyn_frame *base);

/* True if the body is the base or one of its descendants. */
bool dyn_ground_moves_with_base(const dyn_model *tree, int body, int base);

/* Returns the first loop that connects a body that moves with the base to one that does not, so that the ground bears
 * only a part of the load; NULL: none does. */
const dyn_loop *dyn_ground_loop_to_world(const dyn_mechanism *mechanism, int base);

/* The feet on which the robot stands in a state. */
typedef enum dyn_support { DYN_BOTH_FEET, DYN_FIRST_FOOT, DYN_SECOND_FOOT } dyn_support;

typedef struct dyn_ground_state {
    const dyn_ground *ground;
    dyn_support       support;
    double            base[3], contact[DYN_FEET][3];           /* m, origins of the base and the contacts */
    double            jacobian[DYN_BASE_DOF * DYN_BASE_DOF];   /* J_b, column-major; replaced by its LU factors */
    double            effort[DYN_BASE_DOF];                    /* N, N m: tau_b, efforts along the base's coordinates */
    int               pivot[DYN_BASE_DOF];                     /* pivot indices of the LU factors */
    double            resultant[6], zero_moment[3];            /* N, N m about the world's origin; m */
    double            distance[DYN_FEET], share[DYN_FEET];     /* m, contact k to zero-moment point; share of foot k */
    double            about[DYN_FEET][6], wrench[DYN_FEET][6]; /* resultant about contact k; wrench on foot k */
} dyn_ground_state;

typedef enum dyn_ground_status {
    DYN_GROUND_DONE,
    DYN_GROUND_NOT_FINITE,
    DYN_GROUND_BASE_SINGULAR, /* the six coordinates do not move the base in all directions */
    DYN_GROUND_NO_POINT,      /* the normal force is zero or pulls */
    DYN_GROUND_NO_SHARES,     /* both feet are at the zero-moment point */
} dyn_ground_status;

/* Computes the resultant, the zero-moment point and the contact wrenches from positions, Jacobian and efforts. */
dyn_ground_status dyn_ground_solve(dyn_ground_state *s);

/* Derivatives of the ground's reaction with respect to one coordinate, velocity or acceleration. */
typedef struct dyn_ground_rate {
    double contact[DYN_FEET][3]; /* input: derivatives of the contacts' positions */
    double resultant[6], zero_moment[3], wrench[DYN_FEET][6];
} dyn_ground_rate;

/* Solves J_b^T X = columns for n columns of 6 numbers, and replaces them by X. Derivatives of the base's efforts
 * thereby become derivatives of the resultant [F; N_b]. These efforts must be computed with the contact wrenches
 * acting, constant in world axes, so that the efforts themselves are zero. */
void dyn_ground_solve_base(dyn_ground_state *s, double *columns, size_t n);

/* Finds the derivatives of the reaction from one column that dyn_ground_solve_base has solved. The caller sets
 * rate->contact. */
void dyn_ground_differentiate(const dyn_ground_state *s, const double column[6], dyn_ground_rate *rate);
