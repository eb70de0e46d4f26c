/* trajectory_outputs.h - the outputs and options of the operation trajectory, shared by trajectory.c, which reads
 * requests, trajectory_evaluate.c, which evaluates states, and trajectory_cost.c, which estimates their time. */
#pragma once
#include "api/requests/fields/operation.h"
#include "api/requests/evaluate/mimic_efforts.h"
#include "free_efforts.h"
#include "least_margins.h"

enum {
    TIMES,
    Q,
    QD,
    QDD,
    QDDD,
    TAU,
    TAU_DOT,
    JOINT_WRENCHES,
    FIRST_CONTROL_POINT,
    BASIS,
    DTAU_DPOINTS,
    DTAU_DDURATION,
    DTAU_DOT_DPOINTS,
    DTAU_DOT_DDURATION,
    D_JOINT_WRENCHES_DPOINTS,
    D_JOINT_WRENCHES_DDURATION,
    POINT_POSITIONS,
    POINT_VELOCITIES,
    POINT_ACCELERATIONS,
    D_POINT_POSITIONS_DPOINTS,
    D_POINT_VELOCITIES_DPOINTS,
    D_POINT_VELOCITIES_DDURATION,
    D_POINT_ACCELERATIONS_DPOINTS,
    D_POINT_ACCELERATIONS_DDURATION,
    DMOTION_DKNOTS,
    DTAU_DKNOTS,
    DTAU_DOT_DKNOTS,
    D_JOINT_WRENCHES_DKNOTS,
    DQDD_DPOINTS,
    DQDD_DDURATION,
    DQDD_DKNOTS,
    DTAU_DPARAMETERS,
    LIMITS,
    MARGINS,
    DMARGINS_DPOINTS,
    DMARGINS_DDURATION,
    DMARGINS_DKNOTS,
    LEAST_MARGINS,
    LEAST_GRADIENTS,
    DTAU_DOT_DPARAMETERS,
    MOTOR_TAU
};

#define OF_TAU     (API_BIT(DTAU_DPOINTS) | API_BIT(DTAU_DDURATION) | API_BIT(DTAU_DKNOTS))
#define OF_TAU_DOT (API_BIT(DTAU_DOT_DPOINTS) | API_BIT(DTAU_DOT_DDURATION) | API_BIT(DTAU_DOT_DKNOTS))
#define OF_WRENCHES                                                                                                    \
    (API_BIT(D_JOINT_WRENCHES_DPOINTS) | API_BIT(D_JOINT_WRENCHES_DDURATION) | API_BIT(D_JOINT_WRENCHES_DKNOTS))
#define OF_QDD   (API_BIT(DQDD_DPOINTS) | API_BIT(DQDD_DDURATION) | API_BIT(DQDD_DKNOTS))
#define OF_LEAST (API_BIT(LEAST_MARGINS) | API_BIT(LEAST_GRADIENTS))
#define OF_MARGIN_GRADIENTS                                                                                            \
    (API_BIT(DMARGINS_DPOINTS) | API_BIT(DMARGINS_DDURATION) | API_BIT(DMARGINS_DKNOTS) | API_BIT(LEAST_GRADIENTS))
#define OF_MARGINS (API_BIT(MARGINS) | API_BIT(LEAST_MARGINS) | OF_MARGIN_GRADIENTS)
#define BY_POINTS                                                                                                      \
    (API_BIT(BASIS) | API_BIT(DTAU_DPOINTS) | API_BIT(DTAU_DOT_DPOINTS) | API_BIT(D_JOINT_WRENCHES_DPOINTS) |          \
     API_BIT(DQDD_DPOINTS) | API_BIT(D_POINT_POSITIONS_DPOINTS) | API_BIT(D_POINT_VELOCITIES_DPOINTS) |                \
     API_BIT(D_POINT_ACCELERATIONS_DPOINTS) | API_BIT(DMARGINS_DPOINTS))
#define OF_POINTS (API_BIT(DMOTION_DKNOTS) - API_BIT(POINT_POSITIONS))

/* Outputs that need the accelerations, and those that need the jerks, of free coordinates. */
#define OF_ACCELERATIONS                                                                                               \
    (OF_TAU | OF_TAU_DOT | OF_WRENCHES | OF_QDD | API_BIT(DTAU_DPARAMETERS) | API_BIT(DTAU_DOT_DPARAMETERS) |          \
     API_BIT(TAU) | API_BIT(TAU_DOT) | API_BIT(QDD) | API_BIT(QDDD) | API_BIT(JOINT_WRENCHES) |                        \
     API_BIT(POINT_ACCELERATIONS) | OF_POINT_ACCELERATIONS | OF_MARGINS | API_BIT(MOTOR_TAU))
#define OF_JERKS               (OF_TAU_DOT | API_BIT(TAU_DOT) | API_BIT(QDDD) | API_BIT(DTAU_DOT_DPARAMETERS))
#define OF_POINT_ACCELERATIONS (API_BIT(D_POINT_ACCELERATIONS_DPOINTS) | API_BIT(D_POINT_ACCELERATIONS_DDURATION))

typedef struct api_trajectory_options {
    api_motion       *motion;
    api_free_efforts  efforts;
    const dyn_frame  *points;                         /* [API_FIXED_POINTS] frames at the points; NULL: not given */
    api_limit_list    limits;                         /* n = 0: no margins are requested */
    api_mimics        followers;                      /* mimic joints whose efforts are limited */
    bool              efforts_limited, rates_limited; /* limits of efforts, of effort rates */
    api_least_margins least;
} api_trajectory_options;

static inline const api_motion *api_trajectory_motion(const api_selection *selected)
{
    const api_trajectory_options *o = selected->options;
    return o->motion;
}

/* Functions for the fields of api_operation. */
size_t api_trajectory_spare(const api_model *model, const api_selection *selected);
bool   api_trajectory_evaluate(const api_evaluation *e, const api_selection *selected, size_t block, size_t blocks);
bool   api_trajectory_finish(const api_evaluation *e, const api_selection *selected);

/* Estimates, functions of api_operation (trajectory_cost.c). */
double api_trajectory_state_seconds(const api_call *call, const api_input *input);
double api_trajectory_decoded_seconds(const api_query *q, const api_selection *selected);
