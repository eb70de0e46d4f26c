/* wrench_signals.h - read wrenches that change with time: "force" and "torque" of a wrench as signals
 * (signal.h). Parts that are arrays, and the points of application, are read with the constant wrenches
 * (api/requests/lanes/wrenches.c). */
#pragma once
#include "signal.h"

typedef struct api_wrench_signal {
    api_place  list_at, wrench_at, at; /* places in the request of "wrenches", of its entry and of the signal */
    size_t     wrench;                 /* index in "wrenches" */
    size_t     part;                   /* 0: force, 1: torque */
    api_signal signal;
} api_wrench_signal;

typedef struct api_wrench_signals {
    size_t             n;
    api_wrench_signal *signal; /* [n] */
} api_wrench_signals;

/* Reads and checks the signals among the wrenches of the request. `duration` and `reach` are those of api_signal_form,
 * in s. Returns false with a problem. */
bool api_wrench_signals_read(api_query *q, double duration, double reach, api_wrench_signals *signals);

/* Reads the numbers of the signals. Call it after all fields are read. Returns false with a problem. */
bool api_wrench_signals_load(const api_query *q, api_wrench_signals *signals);
