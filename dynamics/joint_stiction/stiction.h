/* stiction.h - lists the joints and motors that sharp Coulomb friction can hold at rest, with the limits of that
 * friction. stiction_solver.h finds which of them it holds.
 *
 * The rate of a joint or motor is a combination of the velocities of the tree: that of its coordinate, or for a motor
 * of a coupled transmission those of several joints. In a model with loops a row may belong to a passive joint, whose
 * velocity follows from those of the model.
 *
 * Friction that depends on the load has limits that depend on T, the effort that the joint transmits: T = u - f, with u
 * the effort without friction of the joint. Since f = coulomb + load |T| has one solution for each u, the limits
 * are known beforehand (dyn_stiction_limit_at). */
#pragma once
#include "dynamics/model/model.h"

#define DYN_NO_COORDINATE ((size_t)-1)

/* A joint or motor that can stick, with its friction limits against positive and negative motion, in N m or N. */
typedef struct dyn_stiction_joint {
    size_t           v;      /* coordinate of the model; DYN_NO_COORDINATE: a motor, or a passive joint of a loop */
    size_t           tree_v; /* velocity coordinate of a joint in the tree; equals `v` in a model without loops */
    const dyn_drive *drive;  /* motor of a coupled transmission; NULL: a joint */
    double           positive, negative; /* limits if the joint transmits no effort */
    double           load;               /* growth of the limits for each N m or N that the joint transmits */
    bool stribeck; /* true: sliding friction is smaller than these limits and depends on the rate (Stribeck) */
} dyn_stiction_joint;

/* True if a body's friction is sharp, without a transition velocity, so that its joint can stick. */
static inline bool dyn_stiction_is_possible(const dyn_body *b)
{
    return b->joint.has_friction && !(b->joint.friction.coulomb_velocity > 0) &&
           (b->joint.friction.positive > 0 || b->joint.friction.negative > 0 ||
            b->joint.friction.stribeck_velocity > 0 || b->joint.friction.load > 0);
}

/* True if the friction of a motor of a coupled transmission is sharp. */
static inline bool dyn_stiction_is_possible_of(const dyn_drive *drive)
{
    const dyn_friction *f = &drive->friction;
    return !(f->coulomb_velocity > 0) && (f->positive > 0 || f->negative > 0 || f->stribeck_velocity > 0);
}

/* Lists in `joints` the coordinates that can stick, with the friction of their mimic joints included, then the motors
 * of coupled transmissions: at most nv + n_drives entries. `v` of an entry is a coordinate of `model`. Returns their
 * number. */
size_t dyn_stiction_list_joints(const dyn_model *model, dyn_stiction_joint *joints);

/* Returns a copy of a joint with its friction limits at the effort u, N m or N, that the joint would transmit without
 * friction. */
dyn_stiction_joint dyn_stiction_limit_at(const dyn_stiction_joint *joint, double u);

/* Returns the sharp friction, in N m or N, of a joint or motor of `model` that slides in the direction `side` (1 or -1)
 * at the speed |rate|, in rad/s or m/s. */
double dyn_stiction_sliding(const dyn_model *model, const dyn_stiction_joint *joint, int side, double rate);

/* Returns the derivative of |dyn_stiction_sliding| with respect to |rate|. */
double dyn_stiction_slope(const dyn_model *model, const dyn_stiction_joint *joint, int side, double rate);
