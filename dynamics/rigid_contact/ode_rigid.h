/* ode_rigid.h - simulates rigid contacts: points of a robot that must not penetrate planes.
 *
 * A contact is open, sticks or slides (dyn_rigid_mode). The mode is constant between events (rigid_events.h), so that
 * the equations are smooth: points of closed contacts keep their gap g = n.(x - p), with the plane's normal n and point
 * p; sticking points also keep their place; a sliding point has the friction -mu f_n d. The direction d is that of the
 * sliding velocity or, below the speed DYN_RIGID_SLOW, the last such direction.
 *
 * Accelerations are those of the robot under the forces of dynamics/rigid_contact/rigid_contact_solver.h. After every
 * step positions, then velocities, are corrected by the least change in the metric of the mass matrix. */
#pragma once
#include "rigid_contact_solver.h"
#include "dynamics/simulation/robot_ode.h"

#define DYN_RIGID_SLOW 1e-6 /* m/s: a point that slides more slowly keeps its direction and may stop */

typedef enum dyn_rigid_event_kind {
    DYN_RIGID_IMPACT, /* the point has hit the plane, which exerted `impulse` */
    DYN_RIGID_MAKE,   /* an open contact closes */
    DYN_RIGID_BREAK,  /* a closed contact opens */
    DYN_RIGID_SLIDE,  /* a closed contact with friction begins to slide */
    DYN_RIGID_STICK   /* a closed contact with friction begins to stick */
} dyn_rigid_event_kind;

typedef struct dyn_rigid_event {
    dyn_rigid_event_kind kind;
    size_t               contact;
    double               time;       /* s */
    double               impulse[3]; /* N s, on the robot, world axes; zero for kinds other than IMPACT */
    double               factor;     /* factor of the impact's restitutions: below 1 if with 1 it would create energy */
} dyn_rigid_event;

/* The events of one simulation. */
typedef struct dyn_rigid_events {
    size_t           n, most;
    dyn_rigid_event *event; /* [most]; NULL: none are kept */
} dyn_rigid_events;

struct dyn_ode_rigid {
    size_t                   n;
    const dyn_rigid_contact *contact; /* [n] */
    dyn_rolling             *plane;   /* [n] axes of the planes, with the radius 0 */
    dyn_frame               *frames;  /* [n] */
    dyn_held_set             held;    /* the points of all contacts, as frames held along the axes of their planes */
    dyn_contact_block        block;   /* matrices of `held` */
    dyn_rigid_problem        problem; /* the problem of one lane */
    size_t                   list[DYN_MAX_RIGID];         /* indices of the contacts of `problem` */
    dyn_rigid_mode           mode[DYN_MAX_RIGID];         /* modes of all contacts */
    double                   direction[DYN_MAX_RIGID][2]; /* d of sliding contacts, along two tangents */
    double                   place[DYN_MAX_RIGID][3];     /* m, world axes: where a contact sticks */
    double                  *positions;                   /* in lanes: 3 n, m, world axes: points of all contacts */
    double                  *q, *qd, *step;               /* in lanes: scratch */
    double                  *forces;                      /* in lanes: 3 n, N, world axes: forces on all contacts */
    double                  *power;                       /* in lanes: 1, W (watt): power of the forces */
    dyn_rigid_events         events;
};

/* Allocates ode->rigid; without rigid contacts it stays NULL. Returns false if memory is refused. */
bool dyn_ode_rigid_open(dyn_memory memory, dyn_robot_ode *ode);

/* Sets all contacts open and empties the list of events, before a simulation. */
void dyn_ode_rigid_reset(dyn_ode_rigid *r);

/* Returns the longest step, in s, in which a point cannot touch a plane unnoticed. */
double dyn_ode_rigid_longest_step(void);

/* Sets r->block, the matrices of all contacts at q and qd (in lanes), and r->positions. */
void dyn_ode_rigid_evaluate(dyn_robot_ode *ode, const double *q, const double *qd);

/* Returns the gap of contact i in one lane, m, after dyn_ode_rigid_evaluate. */
double dyn_ode_rigid_gap(const dyn_ode_rigid *r, size_t i, size_t lane);

/* Writes J x of contact i in one lane, its velocity for x = qd, along two tangents and the normal, after
 * dyn_ode_rigid_evaluate. */
void dyn_ode_rigid_velocity(const dyn_ode_rigid *r, size_t i, size_t lane, const double *x, double to[DYN_RIGID_ROWS]);

/* Sets up r->problem for the contacts r->list[0 ... n - 1] in one lane, without b. Returns false if the mass matrix is
 * not positive definite. */
bool dyn_ode_rigid_gather(dyn_robot_ode *ode, size_t n, size_t lane);

/* Lists the closed contacts in r->list. Returns their number. */
size_t dyn_ode_rigid_list_closed(dyn_ode_rigid *r);

/* On entry qdd are the accelerations without contact forces at ode->q; replaces them by those with contact, and sets
 * r->forces and r->power. */
void dyn_ode_rigid_rate(dyn_robot_ode *ode, double t, const double *qd, double *qdd);

/* Corrects the state y after a step. y has `lanes` copies of one state, with entries `stride` apart. */
void dyn_ode_rigid_finish_step(dyn_robot_ode *ode, double t, double *y, size_t stride, size_t lanes);

/* Corrects r->q and r->qd (in lanes) so that closed contacts have no gap, and sticking points are at their places, at
 * time t. */
void dyn_ode_rigid_correct(dyn_robot_ode *ode, double t);
