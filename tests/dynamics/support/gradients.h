/* gradients.h - holds the gradients of one state of a trial, for the tests of the kernels of gradients. */
#pragma once
#include "trial.h"

/* The parts of a gradient; GRADIENT_LAST is that by qdd or tau. */
enum { GRADIENT_Q, GRADIENT_QD, GRADIENT_LAST, GRADIENT_PARAMETERS, GRADIENT_WRENCHES, GRADIENT_GRAVITY, GRADIENTS };

extern const char *const gradient_names[GRADIENTS];

/* The gradient of one state. `part` has gradient_length numbers; `value` (nv) is the tau or qdd that the kernel returns
 * as well. */
typedef struct gradients {
    double *part[GRADIENTS], *value;
} gradients;

size_t    gradient_length(const trial *t, int part);
gradients gradients_allocate(const trial *t);
void      gradients_free(gradients *g);
