/* parameters.h - what joint torques are linear in: ten inertial parameters a body, four of every joint, numbered
 *
 *     10 i + c       of body i: m, m c (3), Ixx Ixy Iyy Ixz Iyz Izz about its link's origin, link axes
 *     10 n + 4 j + c of joint j (n bodies): rotor_inertia, viscous, coulomb_positive, coulomb_negative
 *
 * and named "<link>.m" ... "<joint>.coulomb_negative". Coulomb friction is sharp here: tau = positive for a rate above
 * zero of the joint, -negative for one below. */
#pragma once
#include "model.h"

enum { API_PER_BODY = 10, API_PER_JOINT = 4, API_PARAMETER_NAME = 288 /* bytes, NUL included */ };

enum { API_ROTOR_INERTIA, API_VISCOUS, API_COULOMB_POSITIVE, API_COULOMB_NEGATIVE }; /* of a joint */

size_t api_parameter_count(const api_model *model);
void   api_parameter_name(const api_model *model, size_t parameter, char name[API_PARAMETER_NAME]);

/* The number of parameter `c` of joint `j`. */
size_t api_joint_parameter(const api_model *model, size_t j, size_t c);

/* Whether the parameter may act on velocity coordinate v: its body is moved by it. */
bool api_parameter_acts(const api_model *model, size_t parameter, size_t v);

/* The model's own figures, of all parameters. */
void api_parameters_compute(const api_model *model, double *parameters);

/* One state's regressor as the kernel left it (dyn_regressor): lane `lane` of `lanes`. `rates` are lanes of the
 * velocities that the joints have, of a model with loops those of its tree. */
typedef struct api_regressor_lane {
    const double *regressor, *joint_regressor, *rates;
    size_t        lanes, lane;
} api_regressor_lane;

/* What a unit of the parameter takes at coordinate v. */
double api_parameter_effort(const api_model *model, const api_regressor_lane *at, size_t parameter, size_t v);

/* The pseudo-inertia of a body (Wensing, Kim, Slotine 2018) in the frame of its ten parameters, row-major:
 *     J = [E h; hT m],  E = int r rT dm = trace(I)/2 1 - I,  h = m c,
 * positive definite for every real body. To the parameters and back. */
void api_pseudo_inertia(const double parameters[API_PER_BODY], double J[16]);
void api_pseudo_inertia_parameters(const double J[16], double parameters[API_PER_BODY]);
