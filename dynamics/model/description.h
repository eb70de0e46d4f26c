/* description.h - private: checks of dyn_model_build, see description.c. */
#pragma once
#include "model.h"

/* `where` as in dyn_model_build. */
dyn_status dyn_description_check(const dyn_description *description, int *where);

bool dyn_inertia_is_finite(const dyn_inertia *inertia);
