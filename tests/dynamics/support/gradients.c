/* gradients.c - holds the gradients of one state of a trial (gradients.h). */
#include "gradients.h"
#include <stdlib.h>

const char *const gradient_names[GRADIENTS] = {"by q",          "by qd",       "by qdd or tau",
                                               "by parameters", "by wrenches", "by gravity"};

size_t gradient_length(const trial *t, int part)
{
    return part < GRADIENT_PARAMETERS    ? t->nv
           : part == GRADIENT_PARAMETERS ? 10 * t->model->n_rows
           : part == GRADIENT_WRENCHES   ? 6 * t->scene.n_wrenches
                                         : 3;
}

gradients gradients_allocate(const trial *t)
{
    gradients g = {.value = trial_array(t, t->nv)};
    for (int part = 0; part < GRADIENTS; part++)
        g.part[part] = trial_array(t, gradient_length(t, part));
    return g;
}

void gradients_free(gradients *g)
{
    for (int part = 0; part < GRADIENTS; part++)
        free(g->part[part]);
    free(g->value);
}
