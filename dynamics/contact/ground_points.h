/* ground_points.h - finds the forces of planes on points of a robot.
 *
 * With the gap g = n.(x - p) of a point x above the plane through p with the normal n, the velocity v of the material
 * point, v_t = v - (n.v) n, and the depth d = max(0, -g), the force on the robot is
 *
 *     F = N n - mu N v_t / sqrt(|v_t|^2 + v_s^2),  N = max(0, k d (1 - c n.v)),
 *
 * the compliant normal force of Hunt & Crossley (1975), which is continuous at touch and never pulls, and Coulomb
 * friction that is smooth at rest: below the slip velocity v_s a point creeps. Between touch at the velocity u and
 * separation at e u a mass that nothing else moves satisfies c u (1 + e) = ln((1 + c u) / (1 - c e u)). */
#pragma once
#include "contact.h"

/* A point of the robot that a plane pushes out. */
typedef struct dyn_ground_point {
    dyn_frame frame;       /* the point is its origin */
    double    point[3];    /* p, m, world axes */
    double    normal[3];   /* n, of unit length, world axes, out of the ground */
    double    stiffness;   /* k, N/m */
    double    dissipation; /* c, s/m */
    double    friction;    /* mu */
    double    slip;        /* v_s, m/s */
} dyn_ground_point;

/* Points with their arrays in lanes. */
typedef struct dyn_ground_points {
    size_t                  n;
    const dyn_ground_point *point;               /* [n] */
    double                 *position, *velocity; /* 3 and 6, of one point: scratch */
    double                 *forces;              /* 3 per point, N in world axes */
} dyn_ground_points;

/* Takes the arrays for W lanes. Returns false if memory is refused. */
bool dyn_ground_points_open(dyn_memory memory, size_t W, dyn_ground_points *points);

/* Returns the site of the force at a point as a wrench whose torque and point are zero. */
dyn_wrench_site dyn_ground_points_site(const dyn_ground_point *point);

/* Sets the forces of one block of states in W lanes. Past the deadline they stay as they are. */
void dyn_ground_points_find(const dyn_ground_points *points, const dyn_contact_states *states, size_t W,
                            dyn_deadline deadline);

/* Returns half of sqrt(mass / k), in s, with the largest stiffness k: a sixth of the time that a point of this mass
 * would be in contact. 0 without points. */
double dyn_ground_points_longest_step(const dyn_ground_points *points, double mass);
