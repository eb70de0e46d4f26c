/* mimic_efforts.h - computes the efforts of mimic joints at their own axes (api/robots/model/limits.h), and the
 * derivatives of these efforts.
 *
 * The uncoupled tree has a coordinate z_k of its own for each mimic joint k. The joint's position is multiplier z_k +
 * offset, and in the motion of the model z_k = q_leader, with all derivatives. By the principle of virtual work, the
 * joint's effort t_k follows from tau_z, the entry of z_k in the inverse dynamics of the uncoupled tree:
 *
 *     t_k = tau_z / multiplier
 *     dt_k/dq_leader = (dtau_z/dq_leader + sum of dtau_z/dz of all mimic joints of that leader) / multiplier
 *
 * In models with loops the wrenches of the loops act on the tree, and change with its state. */
#pragma once
#include "api/requests/lanes/evaluation.h"
#include "dynamics/loops/loop_kernels.h"
#include "api/robots/model/limits.h"

/* The mimic joints whose efforts are limited. */
typedef struct api_mimics {
    size_t           n;         /* number of these joints; 0: the other fields are not set */
    const dyn_model *uncoupled; /* the tree of the request's scene, with n coordinates more than `nq` and `nv` */
    size_t           nq, nv;    /* numbers of coordinates of the tree */
    size_t           model_nv;
    size_t          *q, *v;      /* [n] coordinate of each joint's leader in q and in qd of the tree */
    double          *multiplier; /* [n] multiplier of each mimic joint */
} api_mimics;

/* Lists the mimic joints whose efforts `limits` bound, in the scene of q, whose payload must have been read. Returns
 * false with a problem.
 */
bool api_mimics_open(const api_query *q, const api_limit_list *limits, api_mimics *f);

/* Returns the numbers per state that the functions below need as `room`, without and with derivatives. */
size_t api_mimics_room(const api_mimics *f, bool derivatives);

/* Data for the evaluation of one block of states. */
typedef struct api_mimic_block {
    const api_mimics   *followers;
    const dyn_kernels  *tree;  /* kernels of trees */
    dyn_loop_workspace *loops; /* workspace with the closed state of the block; NULL: no loops */
    const dyn_scene    *scene; /* the scene of the request */
    double             *room;  /* scratch, in lanes: api_mimics_room numbers a state */
} api_mimic_block;

/* Returns an api_mimic_block for the evaluation, with the scratch memory `room`. */
api_mimic_block api_mimic_block_of(const api_evaluation *e, const api_mimics *f, double *room);

/* Computes the efforts at the motion q to qddd of the model, and their rates: n numbers a state each; NULL: not wanted.
 * The outputs of `motion` are not read. */
void api_mimic_efforts(const api_mimic_block *b, const dyn_torque_derivative *motion, double *efforts, double *rates);

/* Computes the derivatives of the efforts with respect to q, qd and qdd, n x nv each, and unless rates_by is NULL the
 * time derivatives of these matrices along the motion, only for models without loops. */
void api_mimic_sensitivity(const api_mimic_block *b, const dyn_torque_derivative *motion, double *const by[3],
                           double *const rates_by[3]);
