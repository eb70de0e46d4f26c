/* reference_motion.h - inside the reference: where every link is, as a power series in time. */
#pragma once
#include "jet.h"
#include "reference.h"

/* One link of the description, or the base link. The coordinates that move link k are those of the joints of k,
 * its parent, its parent's parent and so on up to the base. */
typedef struct motion_link {
    int   parent;  /* index in motion.link, -1: none */
    bool  moves;   /* some coordinate moves it */
    int   v, n;    /* first and number of the velocity coordinates that move its own joint */
    int   q;       /* first of its positions */
    real  ratio;   /* of its joint */
    jet   s;       /* position of its joint; of a planar one the angle */
    jet   x, y;    /* of a planar joint */
    int   v_theta; /* of an elastic joint: its motor's coordinate, */
    int   q_theta; /* and that among positions */
    jet   theta;
    jet33 R; /* link frame in the world */
    jet3  p;
    jet3  near;           /* origin of the joint frame on the parent's side, world */
    jet3  lin[6], ang[6]; /* columns of its own joint: velocity at the world's origin, angular velocity */
} motion_link;

typedef struct motion {
    size_t       n; /* links with the base link, which is link[0]; link i of the description is link[i + 1] */
    int          nv;
    motion_link *link;
} motion;

/* Velocity coordinates of a link's own joint that are no other's. */
size_t motion_own(const dyn_link *link);
/* Whether these are an angular velocity, and a position more is needed. */
bool motion_turns_freely(const dyn_link *link);

/* Forward kinematics. False: no memory. */
bool motion_at(motion *m, const dyn_description *d, reference_state state);
void motion_free(motion *m);
