/* model_description.h - write the members that describe a model into an answer's open object. */
#pragma once
#include "api/codec/emit.h"
#include "model.h"

/* Write the summary for the list of models; the answer to a PUT, with the report; and the full description. */
void api_model_emit_summary(api_emit *e, const api_model *model);
void api_model_emit_put_result(api_emit *e, const api_model *model);
void api_model_emit_description(api_emit *e, const api_model *model);
