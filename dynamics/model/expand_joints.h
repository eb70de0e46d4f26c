/* expand_joints.h - private: parts of dyn_model_build, see expand_joints.c. */
#pragma once
#include "model.h"

enum { DYN_MAX_PARTS = 3 };

/* The links of one coordinate that a moving link is made of, base first; all but the last weigh nothing. One whose
 * coordinate is that of the last part is a mimic. Returns their number. */
size_t dyn_expand_joint(const dyn_link *link, dyn_link part[DYN_MAX_PARTS]);
size_t dyn_count_parts(const dyn_link *link);

/* The rotor that turns a link's joint as a body on `host`, the place of the link on which its motor sits; without a
 * motor, that of an elastic joint on the world. The host's body gives it what it has of its inertia. */
void dyn_make_rotor_body(dyn_body *rotor, dyn_body *host, const dyn_link_place *place, const dyn_link *link);
bool dyn_link_has_rotor_body(const dyn_link *link);
