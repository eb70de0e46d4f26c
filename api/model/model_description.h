/* model_description.h - what answers tell of a model: members of the object that is open. */
#pragma once
#include "api/wire/emit.h"
#include "model.h"

/* In a list of models; when it was put, with its report; and all of it. */
void api_model_emit_summary(api_emit *e, const api_model *model);
void api_model_emit_put_result(api_emit *e, const api_model *model);
void api_model_emit_description(api_emit *e, const api_model *model);
