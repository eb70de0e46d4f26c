/* model_description.h - what answers tell of a model: members of the object that is open. */
#pragma once
#include "api/wire/emit.h"
#include "model.h"

/* In a list of models; when it was put, with its report; and all of it. */
void api_about_in_list(api_emit *e, const api_model *model);
void api_about_put(api_emit *e, const api_model *model);
void api_about_model(api_emit *e, const api_model *model);
