/* controller_fields.h - lists the controllers (dynamics/control/controller.h) that a simulation can have, and reads the
 * name and the fields of one. */
#pragma once
#include "api/requests/fields/fields.h"
#include "dynamics/control/controller.h"

typedef struct api_controller {
    const dyn_controller *law;
    const char *const    *fields; /* fields of a request, terminated by NULL */
    /* Reads those `fields` that only this controller has, from the object `given` at the place `up`. Returns them in
     * memory of the request's pool; NULL with a problem. A NULL function: the controller has no such fields. */
    const void *(*read_options)(const api_query *q, const api_node *given, const api_place *up);
} api_controller;

extern const api_controller api_controllers[]; /* ends with a row whose `law` is NULL */

/* Returns the controller that a string names, or NULL with a problem. */
const api_controller *api_read_controller(const api_query *q, const api_node *value, const api_place *at);
