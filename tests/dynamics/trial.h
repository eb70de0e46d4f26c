/* trial.h - a random robot in random states under random wrenches, for the kernels and for the reference alike.
 * Ownership: trial_make allocates everything, trial_free frees it. */
#pragma once
#include "dynamics/dynamics.h"
#include "random_tree.h"
#include "reference.h"

typedef struct trial {
    uint64_t         seed;
    random_tree      tree;
    dyn_model       *model;
    dyn_scene        scene;
    size_t           rows, nq, nv, bodies;
    double          *q, *qd, *qdd, *qddd, *tau; /* [rows][nq or nv] */
    double          *wrenches;                  /* [rows][9 n_wrenches] */
    double          *wrench_rates;              /* [rows][6 n_wrenches] */
    dyn_wrench_site *site;                      /* [n_wrenches], also scene.wrench */
    int             *wrench_link;               /* [n_wrenches] the link each site is on */
} trial;

/* The robot of a seed: 1 to 40 degrees of freedom, floating in one of three, all features; two robots of seven have
 * plain joints only, one of the two as a serial arm on the ground. */
trial trial_make(uint64_t seed, size_t rows);
/* One state of a robot without wrenches; floating for even seeds. */
trial trial_make_plain(uint64_t seed, unsigned features);
/* Two unit links, a point mass at the end of the second: M = [[2 + 2 cos q2, 1 + cos q2], [., 1]], singular exactly
 * when the arm is straight, as it is in every odd row. */
trial trial_point_mass_arm(size_t rows);
/* Seven joints about or along random directions, all but the last link massless: seven unknowns for the six ways in
 * which one body can move, so the mass matrix is singular in every state, but never to the last bit. */
trial trial_redundant_arm(uint64_t seed, size_t rows);
/* A given tree, which the trial then owns. */
trial trial_of(uint64_t seed, random_tree tree, size_t rows, size_t n_wrenches);
void  trial_free(trial *t);

/* A check of many: of the robots of seeds 1 to `robots`, in so many states each; of twenty robots with each set of
 * terms (friction, springs) on or off; of the longest chains there may be, in one state, fixed and floating, whose
 * rates are a hundredth, since they add up along 512 joints. */
typedef void trial_check(const trial *t);
void         trial_robots(uint64_t robots, size_t rows, trial_check *check);
void         trial_terms(size_t rows, trial_check *check);
void         trial_longest(trial_check *check);

/* The same surroundings for the reference in one row; `wrench` has room for n_wrenches. */
reference_scene trial_reference_scene(const trial *t, size_t row, reference_wrench *wrench);
/* The reference in one row, to be freed by the caller. */
reference *trial_reference(const trial *t, size_t row);

/* How much a relative error of 1 in M and in each force would move qdd = M^-1 (tau - bias):
 * |M^-1| (|M| |qdd| + |tau| + |bias|). With some coordinates driven it is no more: the eigenvalues of what is left of M
 * lie between those of M. */
double trial_leverage(const trial *t, const reference *r, const reference_scene *scene, const double *tau,
                      const double *qdd);

/* rows * entries doubles, never NULL; free() frees. */
double *trial_array(const trial *t, size_t entries);

enum { TRIAL_WRENCHES = 4 }; /* most that trial_make puts on a robot */
