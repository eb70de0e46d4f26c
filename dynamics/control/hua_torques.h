/* hua_torques.h - computes the inverse dynamics controller of Hua, Poursina & Sanfilippo for robots with rigid and
 * elastic joints (Dynamic Modelling of Mixed Rigid-Flexible Joint Robotic Manipulator, (37)-(49)): one state, no lanes.
 *
 * With e = r - q, Lambda = kp/kd, q'_r = r' + Lambda e and sigma = q'_r - q', the joints need the torques
 *
 *     tau_c = M q''_r + S theta'' + C q'_r + C_1 theta' + g + friction + springs + kd sigma                   (39).
 *
 * Motors of rigid joints produce them directly. The spring of an elastic joint produces k (theta - q + rest) + d
 * (theta' - q'). Its motor therefore follows the angle theta_d, with gains kp and kd of its own. With e = theta_d -
 * theta:
 *
 *     theta_d = q - rest + (tau_c - d (theta' - q')) / k                                                     (43),
 *     theta'_r = theta'_d + Lambda e + sigma_q,   sigma = theta'_r - theta'                              (45), (47),
 *     tau_theta = S^T q'' + B theta''_r + C_2 q' + friction + tau_c + kd sigma                               (49).
 *
 * Derivatives of theta_d would need the jerk and more. A filter of frequency w estimates them:
 *
 *     x_1' = x_2,   x_2' = w^2 (theta_d - x_1) - 2 w x_2,   theta'_d = x_2,   theta''_d = x_2'.
 *
 * The accelerations a = (q'', theta'') in (39) and (49) are those of the robot at that instant, as if measured. Torques
 * are affine in them, tau = tau_0 + L a. The actual robot, whose load the controller does not know, obeys A a + zeta =
 * tau. Therefore (A - L) a = tau_0 - zeta. C is a matrix with M' - 2C skew-symmetric, that of the operation coriolis.
 */
#pragma once
#include "dynamics/model/model.h"

/* The options of the controller (dyn_controller_input.options). */
typedef struct dyn_hua_options {
    double filter; /* frequency w of the filter above, rad/s */
} dyn_hua_options;

typedef struct dyn_hua_state {
    size_t nv, n; /* nv: number of coordinates (positions and velocities alike); n: number of elastic joints */
    const dyn_coupling *coupling; /* [n] coordinates of joint and motor, and the spring, of each elastic joint */
    double              filter;   /* frequency w of the filter above, rad/s; 0: the rates of theta_d count as zero */
    const double       *kp, *kd;  /* [nv] gains; of a motor coordinate those with which the motor follows theta_d */
    /* The robot as the controller knows it. M, C: nv x nv, row-major; known_bias: nv, gravity, friction and springs,
     * without those of elastic joints. */
    double *M, *C, *known_bias;
    /* The actual robot. A: nv x nv mass matrix, row-major; zeta: nv, torques that it needs at zero acceleration. */
    double *A, *zeta;
    /* nv: state and reference. For motors the reference r, r' and r'' is not read; r and r' are overwritten by theta_d
     * and theta'_d. */
    double *q, *qd, *r, *rd, *rdd;
    double *x1, *x2; /* n each: state of the filter of each elastic joint; replaced by its rates */
    double *tau;     /* nv: the torques, the result */
    double *L, *wanted, *sigma, *velocity, *acceleration, *measured; /* scratch: nv x nv; nv each */
    int    *pivot;                                                   /* nv: scratch */
    bool   *is_motor;                                                /* nv: scratch, true for motor coordinates */
} dyn_hua_state;

/* dyn_hua_entries returns the doubles that all arrays but the gains need together. dyn_hua_lay_out sets the arrays;
 * h->nv, h->n and h->coupling must be set. */
size_t dyn_hua_entries(size_t nv, size_t n);
void   dyn_hua_lay_out(dyn_hua_state *h, double *room);

/* Computes h->tau, and replaces the filter's state h->x1, h->x2 by its rates. The results are not finite if A - L is
 * singular. */
void dyn_hua_find_torques(dyn_hua_state *h);
