/* read_robot.h - read a robot from the text of a file with the parameters that all formats take. */
#pragma once
#include "api/base/work/deadline.h"
#include "api/robots/formats.h"

/* Builds the model of a text in a format; its query may have `locked` in addition to the parameters of the format
 * (locked_joints/locked_query.h), whose joints are then locked. Finds the reference of a model with loops. `deadline`
 * may be NULL. The caller owns the one reference. NULL with a problem. */
api_model *api_read_robot(const api_model_format *format, const api_model_source *source, const api_deadline *deadline,
                          api_problem *problem);
