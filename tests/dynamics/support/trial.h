/* trial.h - makes a random robot in random states with random wrenches, for the kernels and for the reference.
 * Ownership: trial_make allocates everything, trial_free frees it. */
#pragma once
#include "dynamics/dynamics.h"
#include "random_tree.h"
#include "tests/dynamics/reference/reference.h"

typedef struct trial {
    uint64_t         seed;
    random_tree      tree;
    dyn_model       *model;
    dyn_scene        scene;
    size_t           rows, nq, nv, bodies;
    double          *q, *qd, *qdd, *qddd, *tau; /* [rows][nq or nv] random states */
    double          *wrenches;                  /* [rows][9 n_wrenches] force, torque, point of each wrench */
    double          *wrench_rates;              /* [rows][6 n_wrenches] rates of force and torque */
    dyn_wrench_site *site;                      /* [n_wrenches], also scene.wrench */
    int             *wrench_link;               /* [n_wrenches], index of the link of each site */
} trial;

/* Makes the robot of a seed: 1 to 40 degrees of freedom, floating in one of three cases, with all features. Two of
   seven robots have only revolute joints without friction and springs (TREE_PLAIN); one of these two is a serial arm on
   a fixed base. */
trial trial_make(uint64_t seed, size_t rows);
/* Makes a robot with all features whose joints and motors have load coefficients; floating in one of three cases. */
trial trial_make_loaded(uint64_t seed, size_t rows);
/* Makes a robot with the given features in one state, without wrenches; the base floats for even seeds. */
trial trial_make_plain(uint64_t seed, unsigned features);
/* Makes two unit links with a point mass at the end of the second: M = [[2 + 2 cos q2, 1 + cos q2], [., 1]]. M is
 * singular exactly when the arm is straight, as it is in every odd row. */
trial trial_point_mass_arm(size_t rows);
/* Makes a chain of seven joints about or along random directions whose links but the last are massless. Seven
 * coordinates for the six motions of one body make the mass matrix singular in every state, up to rounding. */
trial trial_redundant_arm(uint64_t seed, size_t rows);
/* Makes a trial of the given tree, which the trial then owns. */
trial trial_of(uint64_t seed, random_tree tree, size_t rows, size_t n_wrenches);
void  trial_free(trial *t);

/* A check that is run for many trials. trial_robots: robots of seeds 1 to `robots` in several states. trial_terms:
 * twenty robots with each combination of friction and springs. trial_longest: the longest chains, in one state, fixed
 * and floating; their rates are a hundredth of the usual ones, since rates add up along 512 joints. */
typedef void trial_check(const trial *t);
void         trial_robots(uint64_t robots, size_t rows, trial_check *check);
void         trial_terms(size_t rows, trial_check *check);
void         trial_longest(trial_check *check);

/* Returns gravity and wrenches of one row for the reference; `wrench` is an array of n_wrenches. */
reference_scene trial_reference_scene(const trial *t, size_t row, reference_wrench *wrench);
/* Computes the reference for one row; the caller frees it. */
reference *trial_reference(const trial *t, size_t row);

/* Bounds the change of qdd = M^-1 (tau - bias) by relative errors of 1 in M and in each force: |M^-1| (|M| |qdd| +
 * |tau| + |bias|). It also holds with driven coordinates: the eigenvalues of the remaining part of M are between those
 * of M. */
double trial_leverage(const trial *t, const reference *r, const reference_scene *scene, const double *tau,
                      const double *qdd);

/* Returns where the last link is in the model; the base if the robot has no other link. */
const dyn_link_place *trial_last_link(const trial *t);

/* Allocates rows * entries doubles, never NULL; free() frees them. */
double *trial_array(const trial *t, size_t entries);

/* Directions of a state along which the kernels differentiate, [TRIAL_DIRECTIONS][nv] of each part: of q, of qd, and of
 * qdd or tau. The first direction has the random numbers of three vectors of the trial, the second one permutes them.
 */
enum { TRIAL_Q, TRIAL_QD, TRIAL_LAST, TRIAL_PARTS, TRIAL_DIRECTIONS = 2 };
typedef struct trial_directions {
    double *part[TRIAL_PARTS];
} trial_directions;

trial_directions trial_directions_make(const trial *t);
void             trial_directions_free(trial_directions *d);

enum { TRIAL_WRENCHES = 4 }; /* largest number of wrenches that trial_make places on a robot */
