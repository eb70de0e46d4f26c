/* hua_torques.h - the inverse dynamics controller of Hua, Poursina & Sanfilippo for robots of which some joints are
 * elastic (Dynamic Modelling of Mixed Rigid-Flexible Joint Robotic Manipulator, (37)-(49)): one state, plain numbers.
 *
 * Of joints, with e = r - q, Lambda = kp/kd, q'_r = r' + Lambda e and sigma = q'_r - q', the torques wanted are
 *
 *     tau_c = M q''_r + S theta'' + C q'_r + C_1 theta' + g + friction + springs + kd sigma                   (39).
 *
 * Motors of rigid joints give them. An elastic joint gives k (theta - q + rest) + d (theta' - q'), so that its motor,
 * which has a kp and kd, too, has to go to theta_d: with e = theta_d - theta,
 *
 *     theta_d = q - rest + (tau_c - d (theta' - q')) / k                                                     (43),
 *     theta'_r = theta'_d + Lambda e + sigma_q,   sigma = theta'_r - theta'                              (45), (47),
 *     tau_theta = S^T q'' + B theta''_r + C_2 q' + friction + tau_c + kd sigma                               (49).
 *
 * theta_d has no derivatives that could be computed: they need the jerk and more. A filter follows it,
 *
 *     x_1' = x_2,   x_2' = w^2 (theta_d - x_1) - 2 w x_2,   theta'_d = x_2,   theta''_d = x_2'.
 *
 * q'' and theta'' in (39) and (49) are the robot's at that instant, as if measured. Torques are affine in them,
 * tau = tau_0 + L a, and the robot, which may carry what the controller does not know, moves with A a + zeta = tau: so
 * (A - L) a = tau_0 - zeta. C is a matrix with M' - 2C skew, that of the operation coriolis. */
#pragma once
#include "dynamics/model/model.h"

typedef struct api_hua_state {
    size_t              nv, n;    /* coordinates; elastic joints. There are as many positions as velocities */
    const dyn_coupling *coupling; /* [n] */
    double              filter;   /* w, rad/s; 0: theta_d stands still */
    const double       *kp, *kd;  /* nv */
    /* What the controller knows: nv x nv, by rows; gravity, friction and springs but for the elastic joints'. */
    double *M, *C, *known;
    /* The robot as it is: A, and zeta, tau at rest accelerations. */
    double *A, *zeta;
    /* nv. Of motors r, r', r'' are not looked at; r and r' become theta_d and theta'_d. */
    double *q, *qd, *r, *rd, *rdd;
    double *x1, *x2;                                        /* n: of the filter; become their rates */
    double *tau;                                            /* nv: what comes out */
    double *L, *want, *sigma, *velocity, *acceleration, *a; /* inner: nv x nv, nv */
    int    *pivot;                                          /* inner: nv */
    bool   *motor;                                          /* inner: nv */
} api_hua_state;

/* Numbers that all arrays but gains need room for; laying them out, when nv, n and coupling are set. */
size_t api_hua_entries(size_t nv, size_t n);
void   api_hua_lay_out(api_hua_state *h, double *room);

/* The torques; not finite where A - L is singular. */
void api_hua_find_torques(api_hua_state *h);
