/* canonical.h - declares the steps of dyn_model_build that fill in a body; private to dynamics/model/. */
#pragma once
#include "model.h"

#define KIND_TOLERANCE 2e-16 /* deviation of a rotation matrix up to which it becomes a special case of dyn_turn */

/* Adds a rigid body, whose inertia is in a frame F with pose X_bF in the body frame, to a moving body: h += m c and
 * E += (trace(I)/2 1 - I) + m c c^T, with mass m, centre of mass c, and inertia tensor I about c, all in the body
 * frame. */
void dyn_canonical_inertia(dyn_body *body, const dyn_pose *X_bF, const dyn_inertia *inertia);

/* Adds share m and share m c to the body's compensation: m is the mass and c the centre of mass of a link of the body,
 * `share` the part of its weight that is compensated. */
void dyn_canonical_compensation(dyn_body *body, const dyn_pose *X_bF, const dyn_inertia *inertia, double share);

/* Sets the joint data of a body from its link. X_bj is the pose of the joint frame in the parent's body frame. */
void dyn_canonical_joint(dyn_body *body, const dyn_link *link, const dyn_pose *X_bj);

/* Sets components of p_pc to zero that are below the rounding error of the length of p_pc. */
void dyn_canonical_offsets(dyn_body *body);

/* Sets `turn` from the cosines and sines of beta and gamma. If `turn` is a special case, replaces these four numbers by
 * its exact ones. */
void dyn_canonical_kind(dyn_body *body);

/* Rotates and shifts body frames about and along their joint axes, so that the transforms of children have fewer
 * nonzero components (align_frames.c). */
void dyn_canonical_align(const dyn_model *model, dyn_body *body, dyn_link_place *link);

/* Computes all data that depend on the whole tree, such as subtree masses, regrouped moments and runs. dyn_model_build
 * calls this function last; it must be called again after inertias change. `run` is memory for n_bodies runs. */
void dyn_derive_data(dyn_model *model, dyn_body *body, dyn_run *run);
