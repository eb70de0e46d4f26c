/* template.h - recognise a template of xacro, the macro language of robot files, that was not expanded. */
#pragma once
#include "api/robots/xml/xml_reader.h"

/* Refuses a file that calls or includes macros, or has expressions ${...} or $(find ...) where the readers of robots
 * look; definitions that nothing uses do no harm. An expression in the name of a mesh or in settings of other programs
 * is reported. False with a problem. */
bool api_xml_refuse_template(api_xml_reader *reader);
