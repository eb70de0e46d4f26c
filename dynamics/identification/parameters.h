/* parameters.h - number and name the parameters in which the joint torques are linear: ten inertial parameters per
 * body, four per joint
 *
 *     10 i + c       of body i: m, m c (3), Ixx Ixy Iyy Ixz Iyz Izz about the origin of its link, link axes
 *     10 n + 4 j + c of joint j (n bodies): rotor_inertia, viscous, coulomb_positive, coulomb_negative
 *
 * and named "<link>.m" ... "<joint>.coulomb_negative". Coulomb friction is discontinuous here: tau = positive for a
 * positive joint rate, -negative for a negative one. */
#pragma once
#include "api/robots/model/model.h"

enum { API_PER_BODY = 10, API_PER_JOINT = 4, API_PARAMETER_NAME = 288 /* bytes, NUL included */ };

enum { API_ROTOR_INERTIA, API_VISCOUS, API_COULOMB_POSITIVE, API_COULOMB_NEGATIVE }; /* parameters of a joint */

size_t api_parameter_count(const api_model *model);
void   api_parameter_name(const api_model *model, size_t parameter, char name[API_PARAMETER_NAME]);

/* Index of parameter `c` of joint `j`. */
size_t api_joint_parameter(const api_model *model, size_t j, size_t c);

/* Four more parameters of a joint's friction, in which torques are not linear: they are numbered after all others, from
 * api_parameter_count on, and only identification with known bodies has them. */
enum { API_LOAD, API_BREAKAWAY_POSITIVE, API_BREAKAWAY_NEGATIVE, API_STRIBECK_VELOCITY, API_PER_CURVE };
size_t api_curve_parameter(const api_model *model, size_t j, size_t c);

/* Stribeck's curve of a joint, about which torques are linearised. */
typedef struct api_friction_curve {
    double velocity;           /* rad/s or m/s; 0: none */
    double positive, negative; /* N m or N, breakaway less Coulomb friction of each direction */
} api_friction_curve;

/* False for a joint in a coupled transmission that has neither rotor inertia nor friction of its own: those of the
 * motors are estimated in their place, since both together could not be told apart. */
bool api_mover_is_estimated(const api_model *model, size_t j);

/* True if the parameter may affect the torque at velocity coordinate v: v moves the body or rotor of the parameter. */
bool api_parameter_acts(const api_model *model, size_t parameter, size_t v);

/* Writes the model's own values of all parameters. */
void api_parameters_compute(const api_model *model, double *parameters);

/* The regressor of one state as the kernel wrote it (dyn_regressor), in lane `lane` of `lanes`. `rates` are the
 * joint velocities in lanes; for a model with loops, those of the tree. */
typedef struct api_regressor_lane {
    const double             *regressor, *joint_regressor, *rates;
    size_t                    lanes, lane;
    const double             *transmitted; /* torques without friction, in lanes: for load coefficients */
    const api_friction_curve *curve;       /* [n_movers]; NULL: no joint has one */
} api_regressor_lane;

/* Rate of joint or motor j on which its friction acts, rad/s or m/s. */
double api_friction_rate(const api_model *model, const api_regressor_lane *state, size_t j);

/* Torque at coordinate v per unit of the parameter: an entry of the regressor. */
double api_parameter_effort(const api_model *model, const api_regressor_lane *state, size_t parameter, size_t v);

/* The pseudo-inertia of a body (Wensing, Kim, Slotine 2018) in the frame of its ten parameters, row-major:
 *     J = [E h; hT m],  E = int r rT dm = trace(I)/2 1 - I,  h = m c.
 * It is positive definite for every real body. api_pseudo_inertia_parameters is the inverse. */
void api_pseudo_inertia(const double parameters[API_PER_BODY], double J[16]);
void api_pseudo_inertia_parameters(const double J[16], double parameters[API_PER_BODY]);

/* Mass (kg), centre of mass (m; zero without mass) and inertia about it (kg m^2) of a body, as "inertial" of a document
 * has them. `inertia` is in the order of api_tensor_names: xx yy zz xy xz yz. */
enum { API_TENSOR = 6 };
typedef struct api_inertial {
    double mass, com[3], inertia[API_TENSOR];
} api_inertial;
extern const char *const api_tensor_names[API_TENSOR];

api_inertial api_parameters_inertial(const double parameters[API_PER_BODY]);
