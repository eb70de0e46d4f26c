/* description.h - declares the checks of dyn_model_build; private to dynamics/model/. */
#pragma once
#include "model.h"

/* Checks a description. On failure *where is the index of the link in error, as in dyn_model_build. */
dyn_status dyn_description_check(const dyn_description *description, int *where);

bool dyn_inertia_is_finite(const dyn_inertia *inertia);
