/* ground.h - what a robot asks of the ground under one or two feet: one state, plain numbers.
 *
 * Two steps (Xiang et al. 2009; Barman 2020, ch. 5). Without any ground, the base would have to bear tau_b along its
 * six coordinates. The ground bears it instead, by the resultant [F; N_b] about the base's origin:
 *
 *     J_b^T [F; N_b] = tau_b,   J_b the base's Jacobian with respect to its own six coordinates.
 *
 * With the moment N_p = N_b + (b - p) x F about a point p of a plane of normal n, the moment about
 *
 *     z = p + n x N_p / (n.F)
 *
 * is along n: the zero-moment point. Of the resultant the feet at r_1, r_2 bear the parts w_1 = d_2 / (d_1 + d_2) and
 * w_2 = d_1 / (d_1 + d_2), d_k = |z - r_k|: each, about its own point, w_k [F; N_b + (b - r_k) x F]. One foot bears
 * all. Then the feet's wrenches act on the robot, and nothing is left for the base to bear.
 *
 * Everything in world axes. */
#pragma once
#include "dynamics/dynamics.h"

enum { API_FEET = 2, API_BASE_DOF = 6 };

/* What a request says of the ground, the same for all of its states. */
typedef struct api_ground {
    double    point[3], normal[3]; /* of the plane; the normal of unit length */
    double    weight;              /* N, of the robot: a billionth of it, and of the force, is no normal force */
    dyn_frame base;                /* the link that the first six coordinates move */
    size_t    n_contacts;          /* feet; without any, the base stands in for one */
    dyn_frame contact[API_FEET];
} api_ground;

typedef struct api_ground_state {
    const api_ground *ground;
    double            base[3], contact[API_FEET][3];           /* m, positions of the origins */
    double            jacobian[API_BASE_DOF * API_BASE_DOF];   /* J_b in columns; becomes its factors */
    double            effort[API_BASE_DOF];                    /* tau_b */
    int               pivot[API_BASE_DOF];                     /* of the factors */
    double            resultant[6], zero_moment[3];            /* about the world's origin */
    double            distance[API_FEET], share[API_FEET];     /* d, w */
    double            about[API_FEET][6], wrench[API_FEET][6]; /* the resultant about contact k, and what k bears */
} api_ground_state;

typedef enum api_ground_status {
    API_GROUND_DONE,
    API_GROUND_NOT_FINITE,
    API_GROUND_BASE_SINGULAR, /* the six coordinates do not move the base in all directions */
    API_GROUND_NO_POINT,      /* the normal force is none, or pulls */
    API_GROUND_NO_SHARES,     /* both feet are at the zero-moment point */
} api_ground_status;

/* From positions, Jacobian and efforts to all that follows. */
api_ground_status api_ground_solve(api_ground_state *s);

/* Derivatives by one coordinate, velocity or acceleration. */
typedef struct api_ground_rate {
    double contact[API_FEET][3]; /* given: of the contacts' positions */
    double resultant[6], zero_moment[3], wrench[API_FEET][6];
} api_ground_rate;

/* Derivatives of efforts, n columns of six, become those of [F; N_b], in place: of efforts with the contacts' wrenches
 * acting, held in world axes, which are zero themselves. */
void api_ground_solve_base(api_ground_state *s, double *columns, size_t n);

/* The rates that go with one of those columns. */
void api_ground_differentiate(const api_ground_state *s, const double column[6], api_ground_rate *rate);
