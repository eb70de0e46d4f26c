/* loops_build.h - the loops of a document (loops.h) put into a model whose tree stands. */
#pragma once
#include "api/load/document/document.h"
#include "model.h"

/* When all names of the model are there: model->loops, and the model's coordinates become those that are actuated. NULL
 * loops and true without loops in the document. False with the reader's problem. */
bool api_loops_build(api_model *model, const api_document *document, api_reader *reader);
