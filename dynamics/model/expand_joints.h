/* expand_joints.h - declares the expansion of joints and motors in dyn_model_build; private to dynamics/model/. */
#pragma once
#include "model.h"

/* Splits a moving link into links with one coordinate each, base first; only the last has mass. A part that shares the
 * coordinate of the last link is a mimic of that link. A joint with a quaternion is not split. Returns the number of
 * parts. */
size_t dyn_expand_joint(const dyn_link *link, dyn_link part[DYN_MAX_PARTS]);
size_t dyn_count_parts(const dyn_link *link);

/* Split a link with a planar or helical joint into `part`. Return the number of parts (dyn_joint_type.expand). */
size_t dyn_expand_planar(const dyn_link *link, dyn_link *part);
size_t dyn_expand_helical(const dyn_link *link, dyn_link *part);

/* Sets up `rotor`, the body of the rotor of a joint's motor, whose link is `link`. The motor is on the link at `place`,
 * whose body is `host` (NULL on the world); the spin inertia is subtracted from `host`. For an elastic joint without a
 * motor the rotor is on the world. */
void dyn_make_rotor_body(dyn_body *rotor, dyn_body *host, const dyn_link_place *place, const dyn_link *link);
bool dyn_link_has_rotor_body(const dyn_link *link);
