/* closure_layout.h - lays out the Jacobian of closure equations (closure.h): which coordinates have columns in which
 * rows, and which rows and unknowns form components.
 *
 * A frame pair is the two frames that a loop joins, or the world and the platform frame. A row of the Jacobian has one
 * column for each coordinate of the joints between the frames of its pair. Two unknowns are in one component if a row
 * has both, or if a chain of rows connects them: components are the connected components of the graph of pairs and
 * unknowns. Components are solved one by one, so that the time of mechanisms whose loops share no unknown grows
 * linearly with the number of loops. */
#pragma once
#include "dynamics/closure_kernels.h"
#include "dynamics/memory/memory.h"
#include "mechanism.h"

/* The closure equations: the loops, then for a platform the pose of its frame. */
typedef struct dyn_closure_equations {
    dyn_mechanism         mechanism;
    const dyn_frame_pair *pair; /* [n_pairs] frames a and b of each loop; then, for a platform, the world and its
                                   frame */
    size_t     n_pairs, rows, unknowns;
    size_t     frame_rows; /* rows of the platform frame: 0, 3 (origin) or 6 (pose) */
    const int *unknown;    /* [unknowns] tree velocities of the unknown coordinates */
} dyn_closure_equations;

/* Rows and unknowns that are solved together. A frame pair that no unknown moves is a component without unknowns; an
 * unknown that moves no pair is a component without rows. */
typedef struct dyn_closure_component {
    dyn_closure_block block;   /* Jacobian entries of the component's m rows and n unknowns */
    const size_t     *row;     /* [m] indices of the component's rows, rising */
    const size_t     *unknown; /* [n] indices among all unknowns, rising */
    const size_t *actuated; /* [n_actuated] velocities of the mechanism that are known and have columns in these rows */
    dyn_closure_block known; /* Jacobian entries of these velocities: m rows, n_actuated columns */
    size_t inverse, scale; /* index of the component's first entry in dyn_closure_solver.inverse and .scale: sums of n m
                              and of n over the components before */
} dyn_closure_component;

typedef struct dyn_closure_layout {
    const dyn_pair_columns *columns;        /* [n_pairs] columns of each pair's Jacobian */
    const size_t           *first;          /* [n_pairs + 1] index of the first row of each pair; last, the number of
                                               rows */
    const int             *velocity;        /* tree velocity of each column; pair k begins at columns[k].first */
    const dyn_closure_row *row;             /* [rows] entries of each row of the loop error's Jacobian */
    size_t pair_entries, entries;           /* number of entries of all pair Jacobians; of the loop error's Jacobian */
    const dyn_closure_component *component; /* [n] components */
    size_t                       n, inverse_entries, most_m, most_n, most_actuated, most_columns;
} dyn_closure_layout;

/* Lays out the Jacobian of the equations. Returns false if memory is refused. */
bool dyn_closure_lay_out(dyn_memory memory, const dyn_closure_equations *equations, dyn_closure_layout *layout);
