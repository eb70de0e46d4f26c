/* model_description.h - write the members that describe a model into an answer's open object. */
#pragma once
#include "api/wire/emit.h"
#include "model.h"

/* A short form for the list of models; the result of a PUT, with its report; and the full description. */
void api_model_emit_summary(api_emit *e, const api_model *model);
void api_model_emit_put_result(api_emit *e, const api_model *model);
void api_model_emit_description(api_emit *e, const api_model *model);
