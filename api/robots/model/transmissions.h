/* transmissions.h - brings the coupled transmissions of a document into dynamics/ and into the model. */
#pragma once
#include "api/robots/document/document.h"
#include "model.h"

/* Lists the motors of all transmissions in description->drives, which the arena owns: motor k of a transmission has row
 * k of the inverse matrix as weights. Returns false without memory. */
bool api_transmissions_list_drives(const api_document *document, api_arena *arena, dyn_description *description);

/* Checks that the efforts of all motors are finite at a joint rate and acceleration of 1. False with a problem. */
bool api_transmissions_check_drives(const dyn_model *dyn, api_problem *problem);

/* Copies the transmissions into model->transmissions, and names their motors, which are the last movers. Returns false
 * without memory. */
bool api_transmissions_name(api_model *model, const api_document *document);
