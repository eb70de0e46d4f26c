/* energy_regressor.h - declares inputs and outputs of the kernel `energy_regressor`: kinetic energy, potential energy
 * of gravity and momentum as linear functions of the parameters of dyn_regressor, in their order there.
 *
 *     kinetic   = kinetic_regressor   body parameters + joint_kinetic_regressor  joint parameters
 *     potential = potential_regressor body parameters + energy of springs
 *     momentum  = momentum_regressor  body parameters + joint_momentum_regressor joint parameters
 *
 * The momentum is [linear; angular about the world's origin], in world axes: about the centre of mass, which moves with
 * the parameters, the angular part is not linear in them. Among the parameters of joints, only inertias of rotors have
 * nonzero columns. Rotors reflected to a joint have no momentum (dyn_energy), and neither have motors on the world
 * whose spin inertia is zero. */
#pragma once
#include "dynamics/dynamics.h"

/* Outputs that are NULL are not computed. */
typedef struct dyn_energy_regressor {
    const double *q, *qd;
    double       *kinetic;        /* 10 n_rows */
    double       *potential;      /* 10 n_rows */
    double       *momentum;       /* 6 x 10 n_rows */
    double       *joint_kinetic;  /* 3 n_movers */
    double       *joint_momentum; /* 6 x 3 n_movers */
} dyn_energy_regressor;
