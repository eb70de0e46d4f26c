/* random_tree.h - makes random robots and states that together use every feature of a description; a seed always gives
 * the same robot. */
#pragma once
#include "dynamics/model/model.h"
#include <stdint.h>

/* Generates random numbers by SplitMix64 (Steele, Lea, Flood 2014): the same sequence on every machine. */
typedef struct random_source {
    uint64_t state;
    bool     neat; /* true: only rotations by multiples of 90 deg and axes along x, y, z, as in most real robots */
} random_source;

uint64_t random_bits(random_source *source);
double   random_between(random_source *source, double low, double high);
size_t   random_below(random_source *source, size_t n);
bool     random_chance(random_source *source, double probability);
void     random_unit(random_source *source, double axis[3]);
void     random_rotation(random_source *source, double R[3][3]);
void     random_pose(random_source *source, dyn_pose *X);
void     random_inertia(random_source *source, dyn_inertia *inertia); /* draws the inertia of a solid body */

enum {
    TREE_FRICTION = 1, /* viscous, Coulomb (sharp and smoothed) and Stribeck, with magnitudes for each direction */
    TREE_SPRINGS  = 2, /* stiffness and damping */
    TREE_ROTORS   = 4,
    TREE_GEARS    = 8,  /* joint position = ratio * coordinate + offset */
    TREE_DAMPERS  = 16, /* springs with damping */
    TREE_MIMICS   = 32, /* joints that follow the coordinate of another joint, which is an earlier or a later link */
    TREE_PLANAR   = 64,
    TREE_HELICAL  = 128,
    TREE_MOTORS   = 256, /* motors of rigid joints, on the joint's own link or on its parent */
    TREE_ELASTIC  = 512, /* joints with motor coordinates, with and without a motor on some link */
    TREE_FREELY =
        1024, /* spherical and floating joints anywhere, in two of five trees; those trees have no massless links */
    TREE_FAR           = 2048,  /* motors of rigid joints on any link */
    TREE_TRANSMISSIONS = 4096,  /* motors that drive several joints */
    TREE_COMPENSATED   = 16384, /* gravity is compensated link by link, in one of three trees, also in plain ones */
    TREE_ALL           = 8191 | TREE_COMPENSATED,
    TREE_PLAIN         = 8192, /* not combined with other features: revolute joints without friction or springs, with
                                  coordinates in their order (dyn_run in model.h) */
    TREE_DENSE = TREE_MIMICS | TREE_FAR | TREE_TRANSMISSIONS /* the features that make forward dynamics dense */
};

enum { TREE_MAX_DRIVES = 5 };

/* Holds a random robot. Every robot has fixed links, massless links, branches, prismatic joints and joints that report
 * their moment on the parent's side (moment_at_parent_frame). Ownership: random_tree_free frees the links and
 * drives. */
typedef struct random_tree {
    dyn_description description;
    dyn_link       *links;
    dyn_drive      *drives;
} random_tree;

/* Makes a robot with `dof` velocity coordinates. If `floating`, six of these are the base's (dof >= 6). */
random_tree random_tree_make(uint64_t seed, size_t dof, bool floating, unsigned features);
/* Gives links that fixed joints connect the same compensation of gravity. */
void random_tree_share_compensation(random_tree *tree);
/* Makes a robot as random_tree_make does, in which every link is the child of the previous one. */
random_tree random_chain_make(uint64_t seed, size_t dof, bool floating, unsigned features);
void        random_tree_free(random_tree *tree);

/* Draws one state; any array may be NULL. qd, qdd, qddd and tau have `nv` entries. */
void random_position(random_source *source, const dyn_description *d, double *q);
void random_vector(random_source *source, size_t n, double size, double *x);
