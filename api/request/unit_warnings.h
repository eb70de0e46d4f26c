/* unit_warnings.h - warn of angles and lengths in a request that look like degrees or millimetres: "warnings" of an
 * answer, as the report of a document warns of those in it.
 *
 * Warned of, once for each coordinate, are
 *
 *     a revolute joint beyond 30 rad (to 1e4), outside its limits; without limits, when it is at a whole number of
 * radians, which no motion arrives at a prismatic joint beyond 100 m, outside its limits a payload's centre of mass, or
 * the point of a wrench, more than 100 m from its link's frame
 *
 * Continuous joints, and joints with several coordinates, may be anywhere. */
#pragma once
#include "api/wire/emit.h"
#include "query.h"

/* Finds them in q, control points, payloads and wrenches, when "joints" is read. False with a problem: no memory. */
bool api_unit_warnings_find(api_query *q);

/* [{"where", "code", "text"}...] */
void api_unit_warnings_emit(const api_query *q, api_emit *to);
