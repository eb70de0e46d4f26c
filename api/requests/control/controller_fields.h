/* controller_fields.h - lists the controllers (dynamics/control/controller.h) that a simulation can have, and reads the
 * name and the fields of one. */
#pragma once
#include "api/requests/fields/fields.h"
#include "dynamics/control/controller.h"

typedef struct api_controller {
    const dyn_controller *law;
    const char *const    *fields; /* fields of a request, terminated by NULL */
    const char *const    *needs;  /* required fields of a request, terminated by NULL */
    const char           *signal; /* the field with the signal of the controller; absent: zeros */
    /* Reads those `fields` that only this controller has, from `object` at the place `up`. Returns them in
     * memory of the request's pool; NULL with a problem. A NULL function: the controller has no such fields. */
    void *(*read_options)(api_query *q, const api_node *object, const api_place *up);
    /* Reads the numbers of these fields in the order of the model, after "joints" is read. `actuated` [nv] marks the
     * coordinates that the controller drives; NULL: all. False with a problem. NULL: read_options has read all. */
    bool (*load_options)(const api_query *q, const api_place *up, const bool *actuated, void *options);
} api_controller;

extern const api_controller api_controllers[]; /* ends with a row whose `law` is NULL */

/* Returns the controller that a string names, or NULL with a problem. */
const api_controller *api_read_controller(const api_query *q, const api_node *value, const api_place *place);
