/* canonical.h - private: parts of dyn_model_build. */
#pragma once
#include "model.h"

#define KIND_TOLERANCE 2e-16 /* see dyn_turn */

/* Adds a rigid body given in frame F, X_bF, to a moving body: h += m c, E += (trace(I)/2 1 - I) + m c c^T. */
void dyn_canonical_inertia(dyn_body *body, const dyn_pose *X_bF, const dyn_inertia *inertia);

/* Fills in what the joint says; X_bj: where the joint frame lies in the parent's body frame. */
void dyn_canonical_joint(dyn_body *body, const dyn_link *link, const dyn_pose *X_bj);

/* An offset along an axis that is less than rounding of the whole, as turned frames leave, becomes none. */
void dyn_canonical_offsets(dyn_body *body);

/* The turn's kind by its cosines and sines, which become exact where the kind is special. */
void dyn_canonical_kind(dyn_body *body);

/* Turns body frames about their joints' axes so that children need less of gamma, and moves them along these so that
 * children need fewer offsets; see align_frames.c. */
void dyn_canonical_align(const dyn_model *model, dyn_body *body, dyn_link_place *link);

/* At last, and again when inertias have changed: what is summed over the tree or known only from the whole of it, such
 * as subtrees' masses, grouped moments, and the runs, for which `run` has room for as many as there are bodies. */
void dyn_derive_data(dyn_model *model, dyn_body *body, dyn_run *run);
