/* wrench_signals.h - read and evaluate wrenches that change with time: "force" and "torque" of a wrench as signals
 * (signal.h). What is given as an array stays with the other wrenches (request/wrenches.c), as does the point. */
#pragma once
#include "signal.h"

typedef struct api_wrench_signal {
    api_place  list_at, wrench_at, at; /* places in the request, each above the next */
    size_t     wrench;                 /* index in the request */
    size_t     part;                   /* 0: force, 1: torque */
    api_signal signal;
} api_wrench_signal;

typedef struct api_wrench_signals {
    size_t             n;
    api_wrench_signal *signal; /* [n] */
} api_wrench_signals;

/* Reads the signals among the request's wrenches; `duration` and `reach` are those of api_signal_form. False with a
 * problem. */
bool api_wrench_signals_read(api_evaluation *e, double duration, double reach, api_wrench_signals *signals);

/* After all fields are read: loads the numbers. False with a problem. */
bool api_wrench_signals_load(api_evaluation *e, api_wrench_signals *signals);

/* Puts the values at a moment into lanes of wrenches, 9 numbers each, for W rows; other lanes stay as they are. */
void api_wrench_signals_at(const api_wrench_signals *signals, size_t W, const size_t *row, api_moment moment,
                           double *wrenches);
