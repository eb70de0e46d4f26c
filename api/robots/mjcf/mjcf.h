/* mjcf.h - read a robot in MuJoCo's format, MJCF (https://mujoco.readthedocs.io/en/stable/XMLreference.html), into a
 * model document, and build the model from that document. A PUT of that document gives a model with the same revision
 * and the same bits.
 *
 *     mjcf_include.c: files into one tree -> mjcf_class.c: defaults -> mjcf_settings.c: compiler, option
 *     -> mjcf_body.c: bodies, their joints, geoms and sites -> mjcf_mass.c: inertias
 *     -> mjcf_equality.c, mjcf_actuator.c: couplings, limits of effort -> mjcf_document.c: the document
 *
 * Coordinates keep their meaning: a joint's `ref` goes into its origin. Quaternions are x y z w here, and the velocity
 * of a free joint is in its own axes, as for every floating joint. The model's report lists what was assumed, and every
 * part of the file that the model does not hold. */
#pragma once
#include "api/robots/document/document.h"
#include "api/robots/mjcf_schema/mjcf_joint_types.h"
#include "api/robots/model/model.h"

typedef enum api_mjcf_equality {
    API_EQUALITY_COUPLED,     /* joint equalities become mimic joints; connect and weld become loops */
    API_EQUALITY_INDEPENDENT, /* equalities are left out: the model is the tree */
    API_EQUALITY_REFUSE       /* a model with an active equality is refused */
} api_mjcf_equality;

/* Builds a model from an MJCF file, with the options in the query of the source: equality=coupled, independent or
 * refuse. NULL with a problem; unless it is one of XML syntax, it names the line and the body or joint. */
api_model *api_model_from_mjcf(const api_model_source *source, api_problem *problem);
