/* random_tree.h - seeded random robots and states: every feature of a description, each seed the same for ever. */
#pragma once
#include "dynamics/model/model.h"
#include <stdint.h>

/* SplitMix64 (Steele, Lea, Flood 2014): the same sequence on every machine. */
typedef struct random_source {
    uint64_t state;
    bool     neat; /* rotations by multiples of 90 deg and axes along x, y, z only, as most real robots have */
} random_source;

uint64_t random_bits(random_source *source);
double   random_between(random_source *source, double low, double high);
size_t   random_below(random_source *source, size_t n);
bool     random_chance(random_source *source, double probability);
void     random_unit(random_source *source, double axis[3]);
void     random_rotation(random_source *source, double R[3][3]);
void     random_pose(random_source *source, dyn_pose *X);
void     random_inertia(random_source *source, dyn_inertia *inertia); /* of a solid body */

enum {
    TREE_FRICTION = 1, /* viscous and Coulomb, sharp and smoothed, magnitudes differing by direction */
    TREE_SPRINGS  = 2, /* stiffness and damping */
    TREE_ROTORS   = 4,
    TREE_GEARS    = 8,  /* joint position = ratio * coordinate + offset */
    TREE_DAMPERS  = 16, /* damping in the springs, too */
    TREE_MIMICS   = 32, /* joints without a coordinate, anywhere before or after their leader */
    TREE_PLANAR   = 64,
    TREE_HELICAL  = 128,
    TREE_MOTORS   = 256,  /* of rigid joints, on the joint's own link or the one before */
    TREE_ELASTIC  = 512,  /* joints with motor coordinates, with and without a motor that sits on some link */
    TREE_FREELY   = 1024, /* in two trees of five, spherical and floating joints anywhere, no massless links then */
    TREE_FAR      = 2048, /* motors of rigid joints on any link */
    TREE_ALL      = 4095,
    TREE_PLAIN = 4096, /* alone: revolute joints without forces, and coordinates in their order (dyn_run in model.h) */
    TREE_DENSE = TREE_MIMICS | TREE_FAR /* what makes forward dynamics dense */
};

/* Fixed links, massless links, branches, prismatic joints and near ends are always among the links.
 * Ownership: random_tree_free frees the links. */
typedef struct random_tree {
    dyn_description description;
    dyn_link       *links;
} random_tree;

/* `dof` velocity coordinates, six of which are the base's when it floats (dof >= 6). */
random_tree random_tree_make(uint64_t seed, size_t dof, bool floating, unsigned features);
/* The same joints one after another, every one on the one before: depth `dof`. */
random_tree random_chain_make(uint64_t seed, size_t dof, bool floating, unsigned features);
void        random_tree_free(random_tree *tree);

/* One state; any array may be NULL. qd, qdd, qddd, tau have `nv` entries. */
void random_position(random_source *source, const dyn_description *d, double *q);
void random_vector(random_source *source, size_t n, double size, double *x);
