/* write_model.h - write a model that is served as the text of a file. */
#pragma once
#include "api/api.h"
#include "api/robots/model/model.h"

/* Writes a model as api_write_model (api.h) does. The format is not the document. The caller frees the text; NULL with
 * a problem. */
char *api_write_model_file(const api *a, const api_model *model, const api_model_form *form,
                           const api_report_target *report, size_t *length, api_problem *problem);

/* Returns an upper estimate, in bytes, of the memory that api_write_model_file takes. */
size_t api_write_model_estimate(const api_model *model);
