/* centroidal.h - declares inputs and outputs of the kernel `centroidal`: motion of the centre of mass, the rate of the
 * momentum about it, and derivatives. The momentum is that of dyn_energy, [linear; angular about the centre of mass] in
 * world axes, without rotor inertias. Columns of derivatives with respect to q are along the directions of
 * dyn_sensitivity, at constant qd and qdd. */
#pragma once
#include "dynamics/dynamics.h"

typedef struct dyn_centroidal {
    const double *q, *qd, *qdd, *qddd;
    double       *com_acceleration;    /* 3, m/s^2, world axes */
    double       *com_jerk;            /* 3, m/s^3, world axes */
    double       *momentum_rate;       /* 6, N and N m: time derivative of the momentum, A qdd + A' qd */
    double       *momentum_matrix_dot; /* 6 x nv: A', time derivative of every entry of the momentum matrix A */
    double       *momentum_by_q;       /* 6 x nv: derivatives of the momentum with respect to q */
    double       *rate_by_q;           /* 6 x nv: derivatives of momentum_rate with respect to q */
    double       *rate_by_qd;          /* 6 x nv: derivatives of momentum_rate with respect to qd */
} dyn_centroidal;
