/* external_wrench.h - options of the operation external-wrench. */
#pragma once
#include "api/requests/fields/operation.h"
#include "dynamics/wrench_estimation/contact_wrench.h"

enum {
    API_EXTERNAL_TAU,
    API_EXTERNAL_WRENCH,
    API_EXTERNAL_COVARIANCE,
    API_EXTERNAL_REMAINDER,
};
#define API_EXTERNAL_OF_FRAME                                                                                          \
    (API_BIT(API_EXTERNAL_WRENCH) | API_BIT(API_EXTERNAL_COVARIANCE) | API_BIT(API_EXTERNAL_REMAINDER))

typedef struct api_external_options {
    const dyn_frame   *frame; /* frame of the estimated wrench; NULL: no wrench is estimated */
    bool               frame_axes;
    dyn_contact_wrench fit;   /* stride and deadline are not set */
    const double      *gain;  /* [nv] gains of the momentum observer, 1/s; NULL: static estimate */
    double             step;  /* s between samples, with a gain */
    double            *p, *u; /* lanes of all states, with a gain: momentum, and the known part of its rate */
    double *jacobian; /* Jacobian of `frame` at all states, in lanes. Set if a momentum observer (`gain`) estimates a
                         wrench at a frame; else NULL */
} api_external_options;

/* Reads the options. NULL with a problem. */
api_external_options *api_external_wrench_read(api_query *q, api_selection *selected, const api_node *node,
                                               const api_place *up);

/* Brings gain and noise into the order of the model, when "joints" has been read. False with a problem. */
bool api_external_wrench_order(const api_query *q, api_external_options *o);
