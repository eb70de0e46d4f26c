/* parameters.h - numbers the parameters of bodies and joints. The joint torques are linear in ten inertial parameters
 * for each body and four parameters for each joint:
 *
 *     10 i + c       of body i: m, m c (3), Ixx Ixy Iyy Ixz Iyz Izz about the origin of its link, link axes
 *     10 n + 4 j + c of joint j (n bodies): rotor_inertia, viscous, coulomb_positive, coulomb_negative
 *
 * They are not linear in four more parameters for each joint, those of friction curves (DYN_PER_CURVE). Coulomb
 * friction is discontinuous here: tau = positive for a positive joint rate, -negative for a negative one. */
#pragma once
#include "dynamics/loops/mechanism.h"

enum { DYN_PER_BODY = 10, DYN_PER_JOINT = 4 };

/* The four parameters of a joint. */
enum { DYN_ROTOR_INERTIA, DYN_VISCOUS, DYN_COULOMB_POSITIVE, DYN_COULOMB_NEGATIVE };

/* Number of the parameters above: 10 n_rows + 4 n_movers. */
size_t dyn_parameter_count(const dyn_model *model);

/* Index of parameter `c` of joint `j`. */
size_t dyn_joint_parameter(const dyn_model *model, size_t j, size_t c);

/* Four more parameters of a joint's friction, in which torques are not linear: they are numbered after all others, from
 * dyn_parameter_count on, and only identification with known bodies has them. */
enum { DYN_LOAD, DYN_BREAKAWAY_POSITIVE, DYN_BREAKAWAY_NEGATIVE, DYN_STRIBECK_VELOCITY, DYN_PER_CURVE };
size_t dyn_curve_parameter(const dyn_model *model, size_t j, size_t c);

/* The body or mover (dyn_model.n_movers) that a parameter belongs to, and which of its parameters it is. */
typedef enum dyn_parameter_kind { DYN_OF_BODY, DYN_OF_MOVER, DYN_OF_CURVE } dyn_parameter_kind;
typedef struct dyn_parameter_owner {
    dyn_parameter_kind kind;
    size_t             index; /* index of the row of the body, or of the mover */
    size_t             c;     /* number of the parameter among those of this kind */
} dyn_parameter_owner;
dyn_parameter_owner dyn_parameter_owner_of(const dyn_model *model, size_t parameter);

/* Stribeck's curve of one joint, at which torques are linearised with respect to its parameters. */
typedef struct dyn_friction_curve {
    double velocity;           /* Stribeck velocity, rad/s or m/s; 0: no Stribeck effect */
    double positive, negative; /* N m or N, breakaway less Coulomb friction of each direction */
} dyn_friction_curve;

/* False for a joint in a coupled transmission that has neither rotor inertia nor friction of its own: the parameters of
 * the transmission's motors are estimated instead, since measurements cannot tell the two apart. */
bool dyn_mover_is_estimated(const dyn_model *model, size_t j);

/* True if the parameter may affect the torque at velocity coordinate v: v moves the body or rotor of the parameter. */
bool dyn_parameter_acts(const dyn_mechanism *mechanism, size_t parameter, size_t v);

/* Writes the model's own values of all parameters, dyn_parameter_count numbers. */
void dyn_parameters_compute(const dyn_model *model, double *parameters);

/* The regressor of one state as the kernel wrote it (dyn_regressor), in lane `lane` of `lanes`. `rates` are the
 * joint velocities in lanes; for a model with loops, those of the tree. */
typedef struct dyn_regressor_lane {
    const double             *regressor, *joint_regressor, *rates; /* all three in lanes of one block */
    size_t                    lanes, lane;
    const double             *transmitted; /* torques without friction, in lanes: for the parameter load */
    const dyn_friction_curve *curve;       /* [n_movers]; NULL: no joint has one */
} dyn_regressor_lane;

/* Returns the rate of joint or motor j at which its friction acts, rad/s or m/s. */
double dyn_friction_rate(const dyn_model *model, const dyn_regressor_lane *state, size_t j);

/* Torque at coordinate v per unit of the parameter: an entry of the regressor. */
double dyn_parameter_effort(const dyn_model *model, const dyn_regressor_lane *state, size_t parameter, size_t v);

/* The pseudo-inertia of a body (Wensing, Kim, Slotine 2018) in the frame of its ten parameters, row-major:
 *     J = [E h; hT m],  E = int r rT dm = trace(I)/2 1 - I,  h = m c.
 * J is positive definite for every real body. dyn_pseudo_inertia_parameters is the inverse. */
void dyn_pseudo_inertia(const double parameters[DYN_PER_BODY], double J[16]);
void dyn_pseudo_inertia_parameters(const double J[16], double parameters[DYN_PER_BODY]);

/* Mass (kg), centre of mass (m; zero without mass) and inertia about it (kg m^2: xx yy zz xy xz yz) of a body. */
enum { DYN_TENSOR = 6 };
typedef struct dyn_inertial {
    double mass, com[3], inertia[DYN_TENSOR];
} dyn_inertial;

dyn_inertial dyn_parameters_inertial(const double parameters[DYN_PER_BODY]);
