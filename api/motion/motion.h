/* motion.h - joint motions as B-splines: "degree", "duration", "control_points", "knots" and "samples" or "times" of a
 * request, read, and turned into the states at all samples.
 *
 * With the fraction f = t / T of the duration T, and B_k the basis functions of spline.h,
 *
 *     q(t) = sum_k B_k(f) c_k,   d^r q / dt^r = sum_k b_rk c_k,   b_rk = B_k^(r)(f) / T^r.
 *
 * Every row of the request is a motion of N samples; state b N + n is sample n of motion b.
 *
 * A wrench W that is a signal enters tau at its value and tau_dot also at its rate W'. At the fraction f = t / T that
 * derivatives by the duration hold, what stretches is W(f) and everything else W(f T):
 *
 *     dW/dT = 0,  dW'/dT = -W' / T        and        dW/dT = t/T W',  dW'/dT = t/T W''. */
#pragma once
#include "api/request/points.h"
#include "spline.h"
#include "wrench_signals.h"

typedef struct api_motion {
    api_spline         spline;
    size_t             samples;          /* N */
    api_points         points;           /* the control points */
    const double      *durations;        /* [1], or [B], s */
    bool               durations_differ; /* the latter */
    double             least, most;      /* of the durations */
    const double      *times;            /* [N], s; NULL: evenly spaced from 0 to T */
    const double      *values;           /* of the control points, once they are read */
    bool               dense;            /* gradients by all control points, not only by those that matter */
    api_wrench_signals wrenches;         /* that change with time */
    /* Lanes of all states, from api_motion_sample on. */
    double *time;  /* 1, s */
    double *rate;  /* 1, 1/T */
    double *first; /* 1, the first control point that matters */
    double *basis; /* API_SPLINE_ORDERS x (degree + 1): b_rk of the control points from `first` on */
    /* 6 of each wrench, force and torque; NULL: none changes with time. */
    double *wrench_by_duration;      /* dW/dT */
    double *wrench_rate_by_duration; /* dW'/dT */
} api_motion;

/* Reads and checks all of it but how far the joints go, and sets e->samples. NULL with a problem. */
api_motion *api_motion_read(api_evaluation *e, const api_node *fields);

/* A row's coordinates and the time between its samples n - 1 (s = 0) and n (s = 1); and a bound of the way that any of
 * them makes there, in units of api_loops.travel. */
void   api_motion_between(const api_evaluation *e, const api_motion *m, size_t row, size_t n, double s, double *q);
double api_motion_time(const api_motion *m, size_t row, size_t n, double s);
double api_motion_way(const api_evaluation *e, const api_motion *m, size_t row, size_t n);

/* Fails motions whose duration is not valid, where rows fail alone: when rows are known. False with a problem. */
bool api_motion_check_durations(const api_evaluation *e, const api_motion *motion);

/* After all fields are read: fills the lanes above, those of e->state from q to qddd and those of the wrenches that
 * change with time. */
bool api_motion_sample(api_evaluation *e, api_motion *motion);

/* The same for the wrenches that change with time alone; when the lanes of the motion are there. */
bool api_motion_push(api_evaluation *e, api_motion *motion);
