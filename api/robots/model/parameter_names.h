/* parameter_names.h - name the parameters of dynamics/identification/parameters.h by link and joint, and write base
 * parameters: "<link>.m" ... "<joint>.coulomb_negative". */
#pragma once
#include "api/codec/emit.h"
#include "dynamics/identification/base_parameters.h"
#include "model.h"

enum { API_PARAMETER_NAME = 288 /* bytes, NUL included */ };

void api_parameter_name(const api_model *model, size_t parameter, char name[API_PARAMETER_NAME]);

/* Names of the six entries of an inertia in "inertial" of a document, in the order of dyn_inertial. */
extern const char *const api_tensor_names[DYN_TENSOR];

/* Writes base parameter k as {"parameter", "with": [{"parameter", "coefficient"}...]}. */
void api_base_emit(api_emit *to, const api_model *model, const dyn_base *base, size_t k);
