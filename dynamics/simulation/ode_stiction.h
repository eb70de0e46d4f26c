/* ode_stiction.h - simulates sharp Coulomb friction: joints slide or stick.
 *
 * A sliding coordinate keeps the friction of its direction within a step, whatever the sign of q', so that the
 * equations are smooth. When q' reaches zero the coordinate may stick. A sticking coordinate has q'' = 0, and its
 * friction is what that needs (Filippov's solution):
 *
 *     needed = u - T(q, q', q'') + J^T l   in   [-negative, positive],
 *
 * with u the effort without that friction, T that of inverse dynamics without any (ode_friction.h), and l the wrenches
 * on held frames. The limits are those at u (dyn_stiction_limit_at).
 *
 * Held frames and joints that stick can depend on each other: four held feet keep all joints of a quadruped at rest if
 * six of them stick. The other joints at rest then follow: they keep the friction that the decision gave them. These
 * joints may start to move, since what depends on each other in one position may not do so in the next.
 *
 * A joint that comes to rest stops, and the other velocities are corrected to that, if this changes them no more than
 * the stop accounts for. Near a dead point, where a joint's velocity changes its sign while the robot moves on, a stop
 * would take the robot's velocity: there the accelerations alone decide whether the joint sticks or passes.
 *
 * With a tolerance, ARKODE locates the instants at which q' reaches zero and `needed` a limit. With fixed steps a joint
 * whose q' changes sign in a step stops at its end. Which joints at rest stick is one problem for all of them
 * (dynamics/joint_stiction/stiction_solver.h, stiction_events.h). This file applies the friction once that is decided.
 */
#pragma once
#include "dynamics/joint_stiction/friction_rows.h"
#include "robot_ode.h"

/* The state of one coordinate that can stick. */
typedef struct dyn_friction_joint {
    size_t             v;
    dyn_stiction_joint at_rest; /* friction limits against positive and negative motion, N m or N */
    /* For each lane: 1, -1: slides in that direction; 0: is at rest, and sticks or follows with this friction, N m or
     * N.
     */
    int    side[DYN_MAX_LANES];
    bool   follows[DYN_MAX_LANES];
    double friction[DYN_MAX_LANES];
    double starts[DYN_MAX_LANES]; /* least rate at which a joint that follows is taken to slide, rad/s or m/s */
} dyn_friction_joint;

struct dyn_ode_stiction {
    size_t              n;
    dyn_friction_joint *joint;       /* [n] the coordinates that can stick */
    bool               *driven;      /* [W][nv] coordinates that stick or are prescribed */
    double             *efforts;     /* in lanes: nv, efforts without the friction of joints that can stick */
    double             *needed;      /* in lanes: nv, the friction that sticking joints need */
    double             *qdd;         /* in lanes: nv accelerations */
    double             *singular;    /* in lanes: 1, body with a singular pivot, or -1 (dyn_forward_dynamics) */
    double             *mass;        /* in lanes: nv x nv, the mass matrix */
    double             *before;      /* in lanes: nv, velocities before joints stopped */
    double             *rows;        /* room for the arrays of dyn_friction_rows */
    size_t             *index;       /* [n] for each row of the problem, its index in `joint` */
    bool               *breaks;      /* [n] joints whose friction has reached a limit */
    bool uncorrected[DYN_MAX_LANES]; /* lanes in which a joint has lost a rate, and the others are not corrected to that
                                      */
};

/* Allocates ode->stiction, which stays NULL if no joint can stick. Returns false if memory is refused. */
bool dyn_ode_stiction_open(dyn_memory memory, dyn_robot_ode *ode);

/* Sets the side of a joint in one lane: with 0 it sticks. dyn_ode_stiction_follow lets it follow with a friction. */
void dyn_ode_stiction_set_side(dyn_robot_ode *ode, dyn_friction_joint *j, size_t lane, int side);
void dyn_ode_stiction_follow(dyn_robot_ode *ode, dyn_friction_joint *j, size_t lane, double friction);

/* True if a joint sticks in one lane: it is at rest and does not follow. */
static inline bool dyn_ode_stiction_sticks(const dyn_friction_joint *j, size_t lane)
{
    return j->side[lane] == 0 && !j->follows[lane];
}

/* Computes io->qdd with the coordinates of each lane driven that stick or are prescribed. */
void dyn_ode_stiction_accelerate(dyn_robot_ode *ode, dyn_forward_dynamics *io);

/* Finds the friction of every sticking joint as a part of its limits, at qdd and ode->q; 0 for sliding joints. This
 * load is integrated with the motion, so that steps are short enough to catch the limit even at rest. */
void dyn_ode_stiction_load(dyn_robot_ode *ode, const double *qd, const double *qdd, double *load);

/* Returns the friction limits of a joint that sticks, in one lane at the last evaluation. */
dyn_stiction_joint dyn_ode_stiction_limits(const dyn_robot_ode *ode, const dyn_friction_joint *j, size_t lane);

size_t dyn_ode_stiction_count(const dyn_robot_ode *ode);     /* number of joints that can stick */
bool   dyn_ode_stiction_any_rests(const dyn_robot_ode *ode); /* true if a joint is at rest now in some lane */

/* Returns the marks of the coordinates that are driven in one lane: [nv], or NULL if none is. */
const bool *dyn_ode_driven(const dyn_robot_ode *ode, size_t lane);
