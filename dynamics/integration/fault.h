/* fault.h - records why a simulation cannot go on: the first fault of each lane, as numbers. The caller makes a message
 * of them. */
#pragma once
#include "dynamics/loops/loop_kernels.h"

#define DYN_MAX_RATE         1e5  /* rad/s or m/s: ten times the speed of the fastest motors */
#define DYN_MAX_ACCELERATION 1e12 /* rad/s^2 or m/s^2: larger accelerations count as divergence */

typedef enum dyn_fault_kind {
    DYN_FAULT_NONE,
    DYN_FAULT_SINGULAR,         /* the mass matrix is singular at body `index` */
    DYN_FAULT_ANGLE,            /* position `index` is beyond DYN_MAX_ANGLE */
    DYN_FAULT_VELOCITY,         /* velocity `index` has the size `value`, beyond DYN_MAX_RATE */
    DYN_FAULT_PASSIVE_VELOCITY, /* velocity `index` of the tree has the size `value`, beyond DYN_MAX_RATE */
    DYN_FAULT_ACCELERATION,     /* acceleration `index` has the size `value`, beyond DYN_MAX_ACCELERATION */
    DYN_FAULT_INFINITE,         /* entry `index` of y is infinite, or so large that its square overflows */
    DYN_FAULT_LOOPS,            /* `loops` says why the loops do not close */
    DYN_FAULT_HELD_MOVES,       /* a held frame moves along a held axis at the start */
    DYN_FAULT_CONTRADICTION,    /* held direction `index`, from 1 on, contradicts those before it */
    DYN_FAULT_UNDECIDED,        /* rounding errors decide which joints stick */
    DYN_FAULT_BELOW,            /* rigid contact `index` starts below its plane, by `value` m */
    DYN_FAULT_RIGID,            /* rigid contacts, with `index` among them, have no forces */
    DYN_FAULT_EVENTS,           /* the rigid contacts have more events than are kept */
    DYN_FAULT_LIMIT             /* the effort that limit `index` bounds is not finite */
} dyn_fault_kind;

/* The first fault of a simulation. The lane of a faulty simulation is still computed, because other lanes need the
 * kernels, but the results of the lane are not used. */
typedef struct dyn_fault {
    dyn_fault_kind   kind;
    double           time; /* s */
    size_t           index;
    double           value; /* absolute velocity (rad/s, m/s) or acceleration (rad/s^2, m/s^2) */
    dyn_loop_failure loops;
} dyn_fault;

/* Records a fault of a lane at time t, unless the lane already has a fault. */
void dyn_fault_record(dyn_fault *lane, dyn_fault_kind kind, double t, size_t index);

/* Records faults of lanes in which the first of n values (in W lanes) is larger than `most`. NaN is found by other
 * checks. */
typedef struct dyn_fault_bound {
    dyn_fault_kind kind;
    double         most;
    size_t         n, W;
} dyn_fault_bound;
void dyn_fault_check(dyn_fault *lanes, double t, const double *values, dyn_fault_bound bound);
