/* model_names.h - copy the names of a document into the model's own arena. */
#pragma once
#include "api/robots/document/document.h"
#include "model.h"

/* Sets the model's arrays of names, frames, joints, motors and transmissions. The model must have its tree in
 * dynamics/, and its arena owns the memory; `scratch` is used only during the call. Returns false without memory. */
bool api_model_copy_names(api_model *model, const api_document *document, api_arena *scratch);
