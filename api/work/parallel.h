/* parallel.h - work that falls into parts which do not touch each other: done by the worker and whoever of its helpers
 * is free, with the same result, or the same problem, whoever does what. */
#pragma once
#include "api/lanes/evaluation.h"

/* Does part `part`; false with a problem. What it needs to itself belongs to the seat: no two parts that are being done
 * at one time have the same. */
typedef bool api_parallel_task(void *arg, size_t seat, size_t part, api_problem *problem);

/* Seats for that many parts, at least 1. */
size_t api_parallel_slots(const api_evaluation *e, size_t parts);

/* Does the parts, the first first, and looks at the deadline before each, if there are several. False with the problem
 * of the first part that has one; later ones may have been done. */
bool api_run_parallel(api_evaluation *e, size_t seats, size_t parts, api_parallel_task *work, void *arg);
