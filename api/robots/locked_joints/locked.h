/* locked.h - reduces a model by joints that are locked at positions. */
#pragma once
#include "api/base/work/deadline.h"
#include "api/robots/model/model.h"

/* Returns a model whose document is that of `model` with the members of `locked`, an object from names of joints to
 * positions, added to its own "locked" (document.h): these joints are fixed, and have left the coordinates. Loops keep
 * their assembly: the reference of the reduced model is where that of `model` goes when its joints move to the
 * positions. The caller owns the one reference. NULL with a problem, whose pointer is /locked or below.
 *
 * Building takes as long as reading the document: about 5 us for each link, and the closing of loops. Memory is claimed
 * from `share` (NULL: not counted) while the document is read; `deadline` may be NULL. */
api_model *api_model_lock(const api_model *model, const json_t *locked, api_share *share, const api_deadline *deadline,
                          api_problem *problem);
