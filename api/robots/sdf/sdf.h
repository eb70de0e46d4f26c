/* sdf.h - read a robot in the Simulation Description Format (http://sdformat.org/spec) into a model document, and build
 * the model from that document. A PUT of that document gives a model with the same revision and the same bits.
 *
 *     sdf_choose.c: the model -> sdf_collect.c: links, joints, frames and nested models to one list
 *     -> sdf_frame.c: their poses -> sdf_link.c: inertias -> sdf_joint.c, sdf_couple.c: joints, mimics, gears and
 * rotors
 *     -> sdf_tree.c: which joint carries which link -> sdf_driven.c: which joints drive the loops; the document
 *     -> sdf_schema.c: report of what is not used
 *
 * Poses follow the rules of version 1.7 and later; attributes of earlier versions are read by the rules of these. A
 * model whose links no joint connects to the world moves freely. */
#pragma once
#include "api/robots/document/document.h"
#include "api/robots/formats.h"
#include "api/robots/model/model.h"

typedef enum api_sdf_base {
    API_SDF_BASE_AS_STATED, /* floating unless a joint holds the model in the world */
    API_SDF_BASE_FIXED,     /* a root link that moves freely in the file is fixed */
    API_SDF_BASE_FLOATING   /* a model that a joint holds in the world is refused */
} api_sdf_base;

typedef enum api_sdf_mimic { API_SDF_MIMIC_COUPLED, API_SDF_MIMIC_INDEPENDENT, API_SDF_MIMIC_REFUSE } api_sdf_mimic;

/* Builds a model from an SDF file, with the options in the query of the source: base=fixed or floating, mimic=coupled,
 * independent or refuse, model=NAME where several models of the file or its world are not static. NULL with a problem;
 * unless it is one of XML syntax, it names the line and the link or joint. */
api_model *api_model_from_sdf(const api_model_source *source, api_problem *problem);
