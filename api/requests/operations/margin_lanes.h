/* margin_lanes.h - finds the quantities that limits bound, and differentiates them with respect to the state, for the
 * operation margins. */
#pragma once
#include "api/requests/evaluate/mimic_efforts.h"
#include "api/requests/evaluate/limited_quantities.h"

/* The limits of a request, and the mimic joints whose efforts they bound. */
typedef struct api_limited_joints {
    api_limit_list limits;
    api_mimics     followers;
} api_limited_joints;

/* The limited quantities of a block, and scratch lanes. The entries and rows of mimic joints follow those of the nv
 * coordinates. */
typedef struct api_margin_lanes {
    const double     *of[DYN_LIMIT_KINDS];   /* q and qd of the tree, tau, and its rate */
    dyn_limited_rates motion;                /* derivatives of q and qd of the tree */
    double           *tau, *tau_dot;         /* nv + mimic joints each: efforts and their rates */
    double           *by_q, *by_qd, *by_qdd; /* (nv + mimic joints) x nv each: derivatives of tau */
    double *q_rate, *qd_rate, *qdd_rate; /* (nv + mimic joints) x nv each: time derivatives of by_q, by_qd and by_qdd */
    double *motion_room, *follower_room;
} api_margin_lanes;

/* Returns the numbers per state of all arrays; places the arrays in e->spare. */
size_t           api_margin_lanes_entries(const api_model *model, const api_limited_joints *o);
api_margin_lanes api_margin_lanes_place(const api_evaluation *e, const api_limited_joints *o);

/* Finds the limited quantities of a block whose loops are closed. */
void api_margin_lanes_find(const api_evaluation *e, const api_limited_joints *o, api_margin_lanes *b, size_t block);

/* Finds the derivatives of the limited quantities with respect to q, qd, qdd and qddd. */
void api_margin_lanes_differentiate(const api_evaluation *e, const api_limited_joints *o, api_margin_lanes *b,
                                    size_t block);

/* A limit in one lane, with its margin in the state of this lane. */
typedef struct api_limit_place {
    const dyn_limit *limit;
    size_t           lane;
    dyn_limit_margin margin;
} api_limit_place;

/* Returns entry v of the gradient of a margin with respect to q, qd, qdd or qddd (`variable` 0 to 3). */
double api_margin_slope(const api_evaluation *e, const api_margin_lanes *b, const api_limit_place *l, int variable,
                        size_t v);
