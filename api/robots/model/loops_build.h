/* loops_build.h - build the loops (loops.h) of a model from its document. */
#pragma once
#include "api/robots/document/document.h"
#include "model.h"

/* Sets model->loops, and reduces the model's coordinates to the actuated ones. The tree and all names of the model
 * must exist. If the document has no loops, model->loops stays NULL. False with the reader's problem. */
bool api_loops_build(api_model *model, const api_document *document, api_reader *reader);
