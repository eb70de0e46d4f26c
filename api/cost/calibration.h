/* calibration.h - how fast this machine reads, writes and computes, for estimates. */
#pragma once
#include "dynamics/dynamics.h"
#include "api/http/negotiate.h"

/* Seconds, measured once when the api is opened. */
typedef struct api_calibration {
    double parse;                      /* per byte of a document parsed */
    double read[API_MEDIA_COUNT];      /* per byte of a request read */
    double write[API_MEDIA_COUNT];     /* per number written */
    double compress[API_CODING_COUNT]; /* per byte compressed */
    double body;                       /* per state and body of inverse dynamics, the unit of an operation's weight */
} api_calibration;

/* Takes some milliseconds. Without memory, cautious guesses stand. */
api_calibration api_calibrate(const dyn_kernels *kernels);
