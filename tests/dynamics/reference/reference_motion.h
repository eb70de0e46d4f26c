/* reference_motion.h - declares the part of the reference that computes every link's pose as a power series in time. */
#pragma once
#include "tests/dynamics/support/jet.h"
#include "reference.h"

/* Describes one link of the description, or the base link. Link k is moved by the joints of k and of all its
 * ancestors. */
typedef struct motion_link {
    int   parent;  /* index in motion.link, -1: none */
    bool  moves;   /* true if some coordinate moves the link */
    int   v, n;    /* first and number of the velocity coordinates of its own joint */
    int   q;       /* first entry of its joint in q */
    real  ratio;   /* ratio of its joint */
    jet   s;       /* position of its joint; for a planar joint the angle */
    jet   x, y;    /* positions in the plane of a planar joint */
    int   v_theta; /* motor coordinate of an elastic joint */
    int   q_theta; /* entry of that coordinate in q */
    jet   theta;
    jet33 R; /* link frame in the world */
    jet3  p;
    jet3  near;           /* origin of the joint frame on the parent's side, in the world */
    jet3  lin[6], ang[6]; /* columns of its own joint: velocity at the world's origin, angular velocity */
    jet   rates[6];       /* linear and angular velocity of a joint with a quaternion, as series */
    jet33 turn;           /* rotation of a joint with a quaternion */
    jet3  way;            /* position of a joint with a quaternion */
} motion_link;

typedef struct motion {
    size_t       n; /* number of links with the base link, which is link[0]; link i of the description is link[i + 1] */
    int          nv;
    motion_link *link;
} motion;

/* Counts the velocity coordinates of a link's own joint; 0 for a mimic. */
size_t motion_count_velocities(const dyn_link *link);
/* True if the joint's velocities include an angular velocity, for which q has a quaternion. */
bool motion_has_quaternion(const dyn_link *link);

/* Computes forward kinematics. Returns false if there is no memory. */
bool motion_at(motion *m, const dyn_description *d, reference_state state);
void motion_free(motion *m);
