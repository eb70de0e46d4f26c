/* compliant_contact.h - finds the forces of planes on points of a robot.
 *
 * With the gap g = n.(x - p) of a point x above the plane through p with the normal n, the velocity v of the material
 * point, v_t = v - (n.v) n, and the depth d = max(0, -g), the force on the robot is
 *
 *     F = N n - mu N v_t / sqrt(|v_t|^2 + v_s^2),  N = max(0, k d (1 - c n.v)),
 *
 * the compliant normal force of Hunt & Crossley (1975), which is continuous at touch and never pulls, and Coulomb
 * friction that is smooth at v_t = 0. This friction does not hold a point at rest: below the slip velocity v_s the
 * point creeps. A free mass that touches with the velocity u separates with e u, where the coefficient of restitution e
 * satisfies c u (1 + e) = ln((1 + c u) / (1 - c e u)). */
#pragma once
#include "contact.h"

/* A point of the robot, and the plane that pushes it out. */
typedef struct dyn_compliant_contact {
    dyn_frame frame;       /* the point is its origin */
    double    point[3];    /* p, a point of the plane, m, world axes */
    double    normal[3];   /* n, unit normal of the plane out of the ground, world axes */
    double    stiffness;   /* k, N/m */
    double    dissipation; /* c, s/m */
    double    friction;    /* mu, coefficient of friction */
    double    slip;        /* v_s, slip velocity of the friction law, m/s */
} dyn_compliant_contact;

/* All points, and arrays in lanes for the states of one block. */
typedef struct dyn_compliant_contacts {
    size_t                       n;
    const dyn_compliant_contact *point;               /* [n] the points */
    double                      *position, *velocity; /* 3 and 6 in lanes, of one point: scratch */
    double                      *forces;              /* 3 per point in lanes, N in world axes */
} dyn_compliant_contacts;

/* Allocates the arrays of n points for W lanes. Returns false if memory is refused. */
bool dyn_compliant_contacts_open(dyn_memory memory, size_t W, size_t n, const dyn_compliant_contact *point,
                                 dyn_compliant_contacts *points);

/* Returns the site (dyn_wrench_site) through which kernels apply the force on a point: its frame, with components in
 * world axes. The torque and the point of application of such a wrench are zero. */
dyn_wrench_site dyn_compliant_contacts_site(const dyn_compliant_contact *point);

/* Sets the forces of one block of states in W lanes. Past the deadline the remaining forces keep their old values. */
void dyn_compliant_contacts_find(const dyn_compliant_contacts *points, const dyn_contact_states *states, size_t W,
                                 dyn_deadline deadline);

/* Writes the forces to the last points->n of n external wrenches, of 9 numbers each in W lanes. */
void dyn_compliant_contacts_put(const dyn_compliant_contacts *points, size_t W, size_t n, double *wrenches);

/* Returns half of sqrt(mass / k), in s, with the largest stiffness k: a sixth of the time that a point of this mass
 * would be in contact. 0 without points. */
double dyn_compliant_contacts_longest_step(const dyn_compliant_contacts *points, double mass);
