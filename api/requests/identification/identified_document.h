/* identified_document.h - write the document of a model with identified parameters in place of its own.
 *
 * A body's inertial parameters become "inertial" of its own link. The links merged into it and the motors that it
 * carries are part of them, and so lose theirs. Friction is written to the joint, also that of a motor which drives a
 * rigid joint, and a magnitude below zero, which no document holds, as zero. It was fitted as all of the friction, so a
 * Stribeck curve of the model that was not identified is left out. */
#pragma once
#include "dynamics/identification/consistent_parameters.h"
#include "api/codec/emit.h"
#include "api/robots/model/model.h"

typedef struct api_identified {
    const api_model *model;
    const double    *parameters; /* [dyn_parameter_count], then those of curves if there are; NULL: any, to measure the
                                    length of the document */
    int      row;                /* the only identified body, in the model's bodies; or DYN_ALL_BODIES, DYN_NO_BODY */
    unsigned with;               /* flags DYN_BASE_...: identified parameters of joints and motors */
    bool     load, stribeck;     /* load coefficients, Stribeck's curves are identified */
} api_identified;

/* Returns NULL if a document can hold these parameters of the model's joints and motors, or else the reason. */
const char *api_identified_document_refusal(const api_model *model, unsigned with);

/* Returns an upper estimate, in bytes, of the memory that api_identified_document_emit allocates while it runs. */
size_t api_identified_document_memory(const api_model *model);

/* Writes the document. If memory is short it is not complete; the shortage is noted (shortage.h). */
void api_identified_document_emit(const api_identified *found, api_emit *to);
