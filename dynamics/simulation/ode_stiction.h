/* ode_stiction.h - simulates sharp Coulomb friction: joints slide or stick.
 *
 * Within a step, a sliding coordinate keeps the friction of its direction (its side), even if q' changes sign, so that
 * the equations are smooth. When q' reaches zero the coordinate may stick. A sticking coordinate has q'' = 0, and its
 * friction is the value that this requires (Filippov's solution):
 *
 *     needed = u - T(q, q', q'') + J^T l   in   [-negative, positive],
 *
 * with u the effort without this friction, T the effort of inverse dynamics without friction (ode_friction.h), and l
 * the wrenches on held frames. The limits are those at u (dyn_stiction_limit_at).
 *
 * Held frames and sticking joints can depend on each other: four held feet keep all joints of a quadruped at rest if
 * six of them stick. The other joints at rest then follow: they are not driven, and keep the friction that the decision
 * found. They may start to move, since joints that depend on each other in one position may be independent in the next.
 *
 * When a joint comes to rest, its velocity is set to zero and the other velocities are corrected accordingly, if this
 * changes them in proportion to that velocity. Near a dead point, where a joint's velocity changes its sign while the
 * robot moves on, setting it to zero would stop the robot: there the accelerations alone decide whether the joint
 * sticks or reverses.
 *
 * With a tolerance, ARKODE locates the instants at which q' reaches zero or `needed` reaches a limit. With fixed steps
 * a joint whose q' changes sign in a step stops at the end of the step. The joints at rest that stick are found as one
 * problem (dynamics/joint_stiction/stiction_solver.h, stiction_events.h). This file applies the friction once this is
 * decided. */
#pragma once
#include "dynamics/joint_stiction/friction_rows.h"
#include "robot_ode.h"

/* The state of one coordinate that can stick. */
typedef struct dyn_friction_joint {
    size_t             v;
    dyn_stiction_joint at_rest; /* friction limits at rest against positive and negative motion, N m or N */
    /* For each lane: side 1 or -1: the joint slides in this direction. side 0: it is at rest, and sticks or, if
     * `follows`, has the friction `friction`, N m or N. */
    int    side[DYN_MAX_LANES];
    bool   follows[DYN_MAX_LANES];
    double friction[DYN_MAX_LANES];
    double starts[DYN_MAX_LANES]; /* rad/s or m/s: at this speed a joint that follows begins to slide */
} dyn_friction_joint;

struct dyn_ode_stiction {
    size_t              n;
    dyn_friction_joint *joint;       /* [n] the coordinates that can stick */
    bool               *driven;      /* [W][nv] true: the coordinate sticks or is prescribed */
    double             *efforts;     /* in lanes: nv, efforts without the friction of joints that can stick */
    double             *needed;      /* in lanes: nv, the friction that sticking joints need */
    double             *qdd;         /* in lanes: nv accelerations */
    double             *singular;    /* in lanes: 1, body with a singular pivot, or -1 (dyn_forward_dynamics) */
    double             *mass;        /* in lanes: nv x nv, the mass matrix */
    double             *before;      /* in lanes: nv, velocities before joints stopped */
    double             *rows;        /* memory for the arrays of dyn_friction_rows */
    size_t             *index;       /* [n] for each row of the problem, its index in `joint` */
    bool               *breaks;      /* [n] true: the friction of the joint has reached a limit */
    bool uncorrected[DYN_MAX_LANES]; /* true: in this lane a joint was stopped, and the other velocities are not
                                        corrected */
};

/* Allocates ode->stiction; it stays NULL if no joint can stick. Returns false if memory is refused. */
bool dyn_ode_stiction_open(dyn_memory memory, dyn_robot_ode *ode);

/* dyn_ode_stiction_set_side sets the side of a joint in one lane; with side 0 the joint sticks. dyn_ode_stiction_follow
 * sets side 0 and lets the joint follow, with the friction `friction`. */
void dyn_ode_stiction_set_side(dyn_robot_ode *ode, dyn_friction_joint *j, size_t lane, int side);
void dyn_ode_stiction_follow(dyn_robot_ode *ode, dyn_friction_joint *j, size_t lane, double friction);

/* True if a joint sticks in one lane: it is at rest and does not follow. */
static inline bool dyn_ode_stiction_sticks(const dyn_friction_joint *j, size_t lane)
{
    return j->side[lane] == 0 && !j->follows[lane];
}

/* Computes io->qdd by forward dynamics in which, lane by lane, the coordinates that stick or are prescribed are
 * driven. */
void dyn_ode_stiction_accelerate(dyn_robot_ode *ode, dyn_forward_dynamics *io);

/* Writes to `load` the friction of every sticking joint at qdd and ode->q, relative to the width of its limits; 0 for
 * other joints. This load is integrated with the motion, so that steps are short enough to locate the limit even at
 * rest. */
void dyn_ode_stiction_load(dyn_robot_ode *ode, const double *qd, const double *qdd, double *load);

/* Returns the friction limits of a sticking joint in one lane, at the effort of the last evaluation. */
dyn_stiction_joint dyn_ode_stiction_limits(const dyn_robot_ode *ode, const dyn_friction_joint *j, size_t lane);

size_t dyn_ode_stiction_count(const dyn_robot_ode *ode);     /* number of joints that can stick */
bool   dyn_ode_stiction_any_rests(const dyn_robot_ode *ode); /* true if a joint is at rest now in some lane */

/* Returns, for one lane, [nv] true for driven coordinates, or NULL if no coordinate is driven. */
const bool *dyn_ode_driven(const dyn_robot_ode *ode, size_t lane);
