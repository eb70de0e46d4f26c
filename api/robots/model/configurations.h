/* configurations.h - named positions of a model: from "configurations" of its document, or the keyframes of MJCF. */
#pragma once
#include "api/robots/document/document.h"
#include "model.h"

/* Sets model->configurations; after the loops, which choose the model's coordinates. Coordinates that the document does
 * not list are 0, and quaternions no rotation. Fails for names that are no coordinate of the model or of its tree, for
 * angles beyond the limit of states, and for quaternions whose norm is not 1. */
bool api_configurations_build(api_model *model, const api_document *document, api_reader *reader);
