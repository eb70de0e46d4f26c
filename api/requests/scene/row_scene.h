/* row_scene.h - the scene of one row in a slot, of a request with api_row_scenes (scene/row_scenes.h). */
#pragma once
#include "api/requests/lanes/evaluation.h"

/* Gives the slot a query of its own, whose scene changes from row to row. False with a problem. */
bool api_row_scene_open(api_evaluation *e);
/* Frees the model of the last row, and gives the slot the query of the request again. */
void api_row_scene_close(api_evaluation *e);

/* Sets the scene of the slot's query to that of the row of state `state`. False with e->problem. */
bool api_row_scene_set(api_evaluation *e, size_t state);
