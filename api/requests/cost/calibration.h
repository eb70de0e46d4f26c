/* calibration.h - measure how fast this machine reads, writes, compresses and computes, for estimates of a request's
 * cost. */
#pragma once
#include "dynamics/dynamics.h"
#include "api/codec/negotiate.h"

/* Seconds per unit of work, measured once by api_open. */
typedef struct api_calibration {
    double parse;                      /* per byte of a model document that is parsed */
    double read[API_FORMAT_COUNT];     /* per byte of a request's body read */
    double write[API_FORMAT_COUNT];    /* per number of an answer written */
    double compress[API_CODING_COUNT]; /* per byte of an answer compressed */
    double body;                       /* per state and body of inverse dynamics: the unit of api_operation's weight */
} api_calibration;

/* Runs the measurements, which takes a few milliseconds. A measurement that gets no memory leaves a conservative
 * default. */
api_calibration api_calibrate(const dyn_kernels *kernels);
