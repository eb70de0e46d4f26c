/* unit_warnings.h - warn of angles and lengths in a request that look like degrees or millimetres, and of payloads and
 * wrenches without effect: "warnings" of an answer.
 *
 * There is at most one warning for each coordinate. A value is reported if it belongs to
 *
 *     - a revolute joint beyond 30 rad, up to 1e4, and outside its limits; without limits, at a whole number of radians
 *     - a prismatic joint beyond 100 m and outside its limits
 *     - the centre of mass of a payload, or the point of a wrench, more than 100 m from the frame of its link
 *     - gravity, beyond 100 m/s^2
 *
 * as "suspicious". A payload or a wrench on a link that is fixed to the world, also by locked joints, has no effect and
 * is reported as "no-effect".
 *
 * Continuous joints and joints with several coordinates are not checked. */
#pragma once
#include "api/codec/emit.h"
#include "query.h"

/* Finds suspicious numbers in q, control points, references, prescribed motions, locked joints, payloads, wrenches and
 * gravity; call after "joints" is read. False with a
 * problem if memory is short. */
bool api_unit_warnings_find(api_query *q);

/* Emits the warnings as [{"where", "code", "text"}, ...]. */
void api_unit_warnings_emit(const api_query *q, api_emit *to);
