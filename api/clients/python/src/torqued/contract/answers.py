"""The answers of the operations. An output that was not asked for raises AttributeError.

Made by api/clients/python/generate.py from api/openapi.yaml: change that, then `make reference`.
"""

from __future__ import annotations

from typing import Any, Mapping, Union

from ..answers import Answer, Array, Scalar
from .fields import *  # noqa: F403


class InverseDynamicsAnswer(Answer):
    """The answer of inverse-dynamics."""
    __slots__ = ()
    # Figures of the request that look like degrees or millimetres; they are used unchanged.
    warnings: list[UnitWarning]
    # If the request has a platform: the corresponding coordinates, nq or nv.
    q: Array
    # If the request has a platform: the corresponding coordinates, nq or nv.
    qd: Array
    # nv: N m or N.
    tau: Array
    # bodies × 6: exerted by the parent on the body, moment about the joint's origin, axes of the body's link frame. It is the
    # rate of change of the momentum of the body and of its descendants, minus gravity and the request's wrenches; along the
    # joint's axis it is the sum of motor, friction, spring and elasticity. A rotor of `motors` belongs to the link that carries
    # the motor: the moments of its spin are included, gyroscopic ones as well. `rotor_inertia` has no axis in space and is
    # omitted. The joint's origin is the link frame's; with standard DH the near end, frame j-1. A floating base's row equals
    # tau[0:6], a floating joint's its six.
    joint_wrenches: Array
    # nv: rad/s² or m/s²; given and computed.
    qdd: Array
    # 6: the first entries of qdd.
    base_acceleration: Array
    # For a model with `loops`, the complete state: the coordinates of the whole tree with their names, qd and qdd, `G` with
    # qd_tree = G qd, and the wrenches in the loops.
    full: Full
    # held × 6, as contact_wrenches of forward-dynamics: those chosen to bear the motion.
    contact_wrenches: Array
    # Motors: the efforts of the motors of `transmissions`, in the order of the model's `transmissions` and their motors:
    # matrix^T tau, with tau of the transmission's joints, in N m or N. This is what the motors exert, rotor inertia and
    # friction included. The model must have transmissions; their joints must not be passive.
    motor_tau: Array
    # With on_error="row": the rows that failed.
    errors: list[RowError]


class ForwardDynamicsAnswer(Answer):
    """The answer of forward-dynamics."""
    __slots__ = ()
    # Figures of the request that look like degrees or millimetres; they are used unchanged.
    warnings: list[UnitWarning]
    # If the request has a platform: the corresponding coordinates, nq or nv.
    q: Array
    # If the request has a platform: the corresponding coordinates, nq or nv.
    qd: Array
    # nv: rad/s² or m/s². For joints at rest without Coulomb friction, unless friction_at_rest is stick.
    qdd: Array
    # nv: joint friction as part of tau, N m or N, as in bias, but by the load at qdd; for joints that stick, the friction that
    # holds them.
    friction: Array
    # bodies × 6: exerted by the parent on the body, moment about the joint's origin, axes of the body's link frame. It is the
    # rate of change of the momentum of the body and of its descendants, minus gravity and the request's wrenches; along the
    # joint's axis it is the sum of motor, friction, spring and elasticity. A rotor of `motors` belongs to the link that carries
    # the motor: the moments of its spin are included, gyroscopic ones as well. `rotor_inertia` has no axis in space and is
    # omitted. The joint's origin is the link frame's; with standard DH the near end, frame j-1. A floating base's row equals
    # tau[0:6], a floating joint's its six.
    joint_wrenches: Array
    # held × 6: force and torque by the environment on the link, about the frame's origin, in the axes in which the frame is
    # held; 0 along those in which it is not. Of a rolling frame the force at the contact point and its moment about the frame's
    # origin, in world axes.
    contact_wrenches: Array
    # For a model with `loops`, the complete state: the coordinates of the whole tree with their names, qd and qdd, `G` with
    # qd_tree = G qd, and the wrenches in the loops.
    full: Full
    # k × k: the Delassus matrix J M⁻¹ Jᵀ + δ of the k held axes, in the order of `held` and its `axes`, with δ of
    # `contact_damping`, in 1/kg, 1/(kg m) and 1/(kg m²). It maps efforts along the held axes to accelerations along them. Those
    # of a rolling frame are x, y and z of the world at its contact point, whatever the `normal`. Only with `held`.
    delassus: Array
    # held × 6: m/s² and rad/s², the accelerations J qdd + J̇ qd = -δ l that contact_damping δ leaves along the held axes, laid
    # out like contact_wrenches.
    contact_residual: Array
    # With on_error="row": the rows that failed.
    errors: list[RowError]


class ImpactAnswer(Answer):
    """The answer of impact."""
    __slots__ = ()
    # Figures of the request that look like degrees or millimetres; they are used unchanged.
    warnings: list[UnitWarning]
    # If the request has a platform: the corresponding coordinates, nq or nv.
    q: Array
    # If the request has a platform: the corresponding coordinates, nq or nv.
    qd: Array
    # If the request has a platform: the corresponding coordinates, nq or nv.
    qdd: Array
    # nv.
    qd_after: Array
    # held × 6: N s and N m s, as contact_wrenches of forward-dynamics.
    contact_impulses: Array
    # J: kinetic energy lost.
    energy_loss: Scalar
    # With on_error="row": the rows that failed.
    errors: list[RowError]


class MassMatrixAnswer(Answer):
    """The answer of mass-matrix."""
    __slots__ = ()
    # Figures of the request that look like degrees or millimetres; they are used unchanged.
    warnings: list[UnitWarning]
    # If the request has a platform: the corresponding coordinates, nq or nv.
    q: Array
    # If the request has a platform: the corresponding coordinates, nq or nv.
    qd: Array
    # If the request has a platform: the corresponding coordinates, nq or nv.
    qdd: Array
    # nv × nv, full: kg m², kg m, kg.
    mass_matrix: Array
    # nv × nv.
    inverse: Array
    # With on_error="row": the rows that failed.
    errors: list[RowError]


class BiasAnswer(Answer):
    """The answer of bias."""
    __slots__ = ()
    # Figures of the request that look like degrees or millimetres; they are used unchanged.
    warnings: list[UnitWarning]
    # If the request has a platform: the corresponding coordinates, nq or nv.
    q: Array
    # If the request has a platform: the corresponding coordinates, nq or nv.
    qd: Array
    # If the request has a platform: the corresponding coordinates, nq or nv.
    qdd: Array
    # nv, N m or N: tau at qdd = 0, friction included.
    bias: Array
    # nv: C(q, qd) qd.
    coriolis: Array
    # nv: g(q).
    gravity: Array
    # nv: joint friction alone.
    friction: Array
    # With on_error="row": the rows that failed.
    errors: list[RowError]


class KinematicsAnswer(Answer):
    """The answer of kinematics."""
    __slots__ = ()
    # Figures of the request that look like degrees or millimetres; they are used unchanged.
    warnings: list[UnitWarning]
    # If the request has a platform: the corresponding coordinates, nq or nv.
    q: Array
    # If the request has a platform: the corresponding coordinates, nq or nv.
    qd: Array
    # If the request has a platform: the corresponding coordinates, nq or nv.
    qdd: Array
    # Per frame; in a batch `position` and `orientation` are arrays of them.
    poses: Mapping[str, Pose]
    # 6 × nv: [velocity of the origin; angular velocity] = J qd.
    jacobian: Array
    # 6 × nv: time derivative of every entry of jacobian.
    jacobian_dot: Array
    # 6: m/s, rad/s.
    velocity: Array
    # 6: m/s², rad/s².
    acceleration: Array
    # 6: m/s³, rad/s³.
    jerk: Array
    # points × 3: m, world.
    point_positions: Array
    # points × 6 × nv: as jacobian, of each point.
    point_jacobians: Array
    # points × 6 × nv: their time derivatives.
    point_jacobians_dot: Array
    # points × 6: [linear; angular], m/s, rad/s.
    point_velocities: Array
    # points × 6: m/s², rad/s².
    point_accelerations: Array
    # points × 6 × nv × nv: entry [p][i][j][k] is the derivative of point_jacobians[p][i][j] with respect to q_k.
    d_point_jacobians_dq: Array
    # points × 6 × nv: derivatives of point_velocities with respect to q; those with respect to qd are point_jacobians.
    d_point_velocities_dq: Array
    # points × 6 × nv: derivatives of point_accelerations with respect to q; those with respect to qdd are point_jacobians.
    d_point_accelerations_dq: Array
    # points × 6 × nv: derivatives of point_accelerations with respect to qd.
    d_point_accelerations_dqd: Array
    # With on_error="row": the rows that failed.
    errors: list[RowError]


class EnergyAnswer(Answer):
    """The answer of energy."""
    __slots__ = ()
    # Figures of the request that look like degrees or millimetres; they are used unchanged.
    warnings: list[UnitWarning]
    # If the request has a platform: the corresponding coordinates, nq or nv.
    q: Array
    # If the request has a platform: the corresponding coordinates, nq or nv.
    qd: Array
    # If the request has a platform: the corresponding coordinates, nq or nv.
    qdd: Array
    # J, with rotors.
    kinetic: Scalar
    # J: gravity, zero at the world origin, and springs.
    potential: Scalar
    # kg, of all bodies that move, and payloads on them.
    mass: Scalar
    # 3: m, world.
    com: Array
    # 3: m/s, world.
    com_velocity: Array
    # 3 × nv.
    com_jacobian: Array
    # 6: kg m/s; kg m²/s about the centre of mass; world axes.
    momentum: Array
    # 6 × nv: momentum = matrix qd.
    momentum_matrix: Array
    # 3 × 3: kg m², inertia tensor of all bodies that move, joints locked, about the centre of mass; world axes.
    centroidal_inertia: Array
    # 3: m/s², world.
    com_acceleration: Array
    # 3: m/s³, world.
    com_jerk: Array
    # 6: N; N m: time derivative of momentum, momentum_matrix qdd + momentum_matrix_dot qd.
    momentum_rate: Array
    # 6 × nv: time derivative of every entry of momentum_matrix.
    momentum_matrix_dot: Array
    # 6 × nv: of momentum by q; by qd it is momentum_matrix.
    d_momentum_dq: Array
    # 6 × nv: of momentum_rate by q; by qdd it is momentum_matrix.
    d_momentum_rate_dq: Array
    # 6 × nv: of momentum_rate by qd.
    d_momentum_rate_dqd: Array
    # With on_error="row": the rows that failed.
    errors: list[RowError]


class TorqueDerivativeAnswer(Answer):
    """The answer of torque-derivative."""
    __slots__ = ()
    # Figures of the request that look like degrees or millimetres; they are used unchanged.
    warnings: list[UnitWarning]
    # If the request has a platform: the corresponding coordinates, nq or nv.
    q: Array
    # If the request has a platform: the corresponding coordinates, nq or nv.
    qd: Array
    # nv: rad/s² or m/s². With `free`, or if the request has a platform: the corresponding accelerations.
    qdd: Array
    # nv: rad/s³ or m/s³. Only with `free`.
    qddd: Array
    # nv: N m or N.
    tau: Array
    # nv: N m/s or N/s.
    tau_dot: Array
    # bodies × 6: exerted by the parent on the body, moment about the joint's origin, axes of the body's link frame. It is the
    # rate of change of the momentum of the body and of its descendants, minus gravity and the request's wrenches; along the
    # joint's axis it is the sum of motor, friction, spring and elasticity. A rotor of `motors` belongs to the link that carries
    # the motor: the moments of its spin are included, gyroscopic ones as well. `rotor_inertia` has no axis in space and is
    # omitted. The joint's origin is the link frame's; with standard DH the near end, frame j-1. A floating base's row equals
    # tau[0:6], a floating joint's its six.
    joint_wrenches: Array
    # bodies × 6: time derivative of every entry of joint_wrenches.
    joint_wrench_rates: Array
    # held × 6, as contact_wrenches of inverse-dynamics. Only with `held`.
    contact_wrenches: Array
    # held × 6: time derivative of every entry of contact_wrenches. Only with `held`.
    contact_wrench_rates: Array
    # nv × 10·bodies: derivatives with respect to the inertial parameters, in the order of regressor.
    dtau_dot_dparameters: Array
    # With on_error="row": the rows that failed.
    errors: list[RowError]


class SensitivityAnswer(Answer):
    """The answer of sensitivity."""
    __slots__ = ()
    # Figures of the request that look like degrees or millimetres; they are used unchanged.
    warnings: list[UnitWarning]
    # If the request has a platform: the corresponding coordinates, nq or nv.
    q: Array
    # If the request has a platform: the corresponding coordinates, nq or nv.
    qd: Array
    # nv: rad/s² or m/s². With `free`, or if the request has a platform: the corresponding accelerations.
    qdd: Array
    # nv × nv.
    dtau_dq: Array
    # nv × nv.
    dtau_dqd: Array
    # nv × nv: the mass matrix.
    dtau_dqdd: Array
    # nv: N m or N.
    tau: Array
    # bodies × 6: exerted by the parent on the body, moment about the joint's origin, axes of the body's link frame. It is the
    # rate of change of the momentum of the body and of its descendants, minus gravity and the request's wrenches; along the
    # joint's axis it is the sum of motor, friction, spring and elasticity. A rotor of `motors` belongs to the link that carries
    # the motor: the moments of its spin are included, gyroscopic ones as well. `rotor_inertia` has no axis in space and is
    # omitted. The joint's origin is the link frame's; with standard DH the near end, frame j-1. A floating base's row equals
    # tau[0:6], a floating joint's its six.
    joint_wrenches: Array
    # bodies × 6 × nv.
    d_joint_wrenches_dq: Array
    # bodies × 6 × nv.
    d_joint_wrenches_dqd: Array
    # bodies × 6 × nv.
    d_joint_wrenches_dqdd: Array
    # wrenches × nv × 6: derivatives with respect to force and torque of each wrench of the request, in its axes.
    dtau_dwrench: Array
    # nv × 3: derivatives with respect to the gravity vector.
    dtau_dgravity: Array
    # nv × 10·bodies: derivatives with respect to the inertial parameters, in the order of regressor.
    dtau_dparameters: Array
    # nv × nv. Only with `free`.
    dqdd_dq: Array
    # nv × nv. Only with `free`.
    dqdd_dqd: Array
    # nv × nv: derivatives with respect to the accelerations of coordinates that are not free; their rows are those of the
    # identity matrix. Only with `free`.
    dqdd_dqdd: Array
    # nv × nv: derivatives with respect to the efforts of free coordinates. Only with `free`.
    dqdd_dtau: Array
    # held × 6, as contact_wrenches of inverse-dynamics. Only with `held`.
    contact_wrenches: Array
    # held × 6 × nv. Only with `held`, as those below.
    d_contact_wrenches_dq: Array
    # held × 6 × nv.
    d_contact_wrenches_dqd: Array
    # held × 6 × nv.
    d_contact_wrenches_dqdd: Array
    # With on_error="row": the rows that failed.
    errors: list[RowError]


class ForwardSensitivityAnswer(Answer):
    """The answer of forward-sensitivity."""
    __slots__ = ()
    # Figures of the request that look like degrees or millimetres; they are used unchanged.
    warnings: list[UnitWarning]
    # If the request has a platform: the corresponding coordinates, nq or nv.
    q: Array
    # If the request has a platform: the corresponding coordinates, nq or nv.
    qd: Array
    # nv × nv.
    dqdd_dq: Array
    # nv × nv.
    dqdd_dqd: Array
    # nv × nv: the inverse mass matrix.
    dqdd_dtau: Array
    # nv: rad/s² or m/s².
    qdd: Array
    # wrenches × nv × 6: derivatives with respect to force and torque of each wrench of the request, in its axes.
    dqdd_dwrench: Array
    # nv × 10·bodies: derivatives with respect to the inertial parameters, in the order of regressor.
    dqdd_dparameters: Array
    # With on_error="row": the rows that failed.
    errors: list[RowError]


class GradientAnswer(Answer):
    """The answer of gradient."""
    __slots__ = ()
    # Figures of the request that look like degrees or millimetres; they are used unchanged.
    warnings: list[UnitWarning]
    # nv: derivatives with respect to q.
    gradient_q: Array
    # nv: derivatives with respect to qd.
    gradient_qd: Array
    # nv: derivatives with respect to qdd; without friction that depends on the load, the mass matrix times the multipliers.
    gradient_qdd: Array
    # nv: N m or N.
    tau: Array
    # nv: rad/s² or m/s². Only with `free`.
    qdd: Array
    # nv: derivatives with respect to the given efforts of free coordinates; 0 for all others. Only with `free`.
    gradient_tau: Array
    # 10·bodies: derivatives with respect to the inertial parameters, in the order of regressor.
    gradient_parameters: Array
    # wrenches × 6: derivatives with respect to force and torque of each wrench of the request, in its axes.
    gradient_wrenches: Array
    # 3: derivatives with respect to the gravity vector.
    gradient_gravity: Array
    # 10·bodies: the sum of gradient_parameters over the rows.
    sum_parameters: Array
    # 3: the sum of gradient_gravity over the rows.
    sum_gravity: Array
    # nq: derivatives with respect to the entries of q. A quaternion r counts as r/|r|, so its four derivatives are those of the
    # function of r/|r|.
    gradient_q_entries: Array
    # directions × nv: rates of gradient_q along the directions.
    hessian_products_q: Array
    # directions × nv: rates of gradient_qd along the directions.
    hessian_products_qd: Array
    # directions × nv: rates of gradient_qdd along the directions.
    hessian_products_qdd: Array
    # directions × nv: rates of tau along the directions.
    rates: Array
    # (joints + motor coordinates + motors of coupled transmissions) × 8: derivatives with respect to viscous, Coulomb magnitude
    # of the positive and the negative direction, coulomb_velocity, breakaway magnitude of both directions, stribeck_velocity
    # and load.
    gradient_friction: Array
    # With on_error="row": the rows that failed.
    errors: list[RowError]


class ForwardGradientAnswer(Answer):
    """The answer of forward-gradient."""
    __slots__ = ()
    # Figures of the request that look like degrees or millimetres; they are used unchanged.
    warnings: list[UnitWarning]
    # nv: derivatives with respect to q.
    gradient_q: Array
    # nv: derivatives with respect to qd.
    gradient_qd: Array
    # nv: derivatives with respect to tau.
    gradient_tau: Array
    # nv: rad/s² or m/s².
    qdd: Array
    # 10·bodies: derivatives with respect to the inertial parameters, in the order of regressor.
    gradient_parameters: Array
    # wrenches × 6: derivatives with respect to force and torque of each wrench of the request, in its axes.
    gradient_wrenches: Array
    # 3: derivatives with respect to the gravity vector.
    gradient_gravity: Array
    # 10·bodies: the sum of gradient_parameters over the rows.
    sum_parameters: Array
    # 3: the sum of gradient_gravity over the rows.
    sum_gravity: Array
    # nq: derivatives with respect to the entries of q. A quaternion r counts as r/|r|, so its four derivatives are those of the
    # function of r/|r|.
    gradient_q_entries: Array
    # directions × nv: rates of gradient_q along the directions.
    hessian_products_q: Array
    # directions × nv: rates of gradient_qd along the directions.
    hessian_products_qd: Array
    # directions × nv: rates of gradient_tau along the directions.
    hessian_products_tau: Array
    # directions × nv: rates of qdd along the directions.
    rates: Array
    # (joints + motor coordinates + motors of coupled transmissions) × 8: derivatives with respect to viscous, Coulomb magnitude
    # of the positive and the negative direction, coulomb_velocity, breakaway magnitude of both directions, stribeck_velocity
    # and load.
    gradient_friction: Array
    # With on_error="row": the rows that failed.
    errors: list[RowError]


class DirectionalAnswer(Answer):
    """The answer of directional."""
    __slots__ = ()
    # Figures of the request that look like degrees or millimetres; they are used unchanged.
    warnings: list[UnitWarning]
    # directions × nv: rates of tau.
    rates: Array
    # nv: N m or N.
    tau: Array
    # With on_error="row": the rows that failed.
    errors: list[RowError]


class ForwardDirectionalAnswer(Answer):
    """The answer of forward-directional."""
    __slots__ = ()
    # Figures of the request that look like degrees or millimetres; they are used unchanged.
    warnings: list[UnitWarning]
    # directions × nv: rates of qdd.
    rates: Array
    # nv: rad/s² or m/s².
    qdd: Array
    # With on_error="row": the rows that failed.
    errors: list[RowError]


class HessianAnswer(Answer):
    """The answer of hessian."""
    __slots__ = ()
    # Figures of the request that look like degrees or millimetres; they are used unchanged.
    warnings: list[UnitWarning]
    # nv × nv: second derivatives with respect to q.
    hessian_q_q: Array
    # nv × nv: derivatives with respect to q (rows) and qd (columns).
    hessian_q_qd: Array
    # nv × nv: derivatives with respect to q (rows) and qdd (columns).
    hessian_q_qdd: Array
    # nv × nv: second derivatives with respect to qd, symmetric.
    hessian_qd_qd: Array
    # nv × nv: derivatives with respect to qd (rows) and qdd (columns).
    hessian_qd_qdd: Array
    # nv × nv × nv: hessian_q_q for each torque.
    d2tau_dq_dq: Array
    # nv × nv × nv: hessian_q_qd for each torque.
    d2tau_dq_dqd: Array
    # nv × nv × nv: hessian_q_qdd for each torque.
    d2tau_dq_dqdd: Array
    # nv × nv × nv: hessian_qd_qd for each torque.
    d2tau_dqd_dqd: Array
    # nv × nv × nv: hessian_qd_qdd for each torque.
    d2tau_dqd_dqdd: Array
    # With on_error="row": the rows that failed.
    errors: list[RowError]


class ForwardHessianAnswer(Answer):
    """The answer of forward-hessian."""
    __slots__ = ()
    # Figures of the request that look like degrees or millimetres; they are used unchanged.
    warnings: list[UnitWarning]
    # nv × nv: second derivatives with respect to q.
    hessian_q_q: Array
    # nv × nv: derivatives with respect to q (rows) and qd (columns).
    hessian_q_qd: Array
    # nv × nv: second derivatives with respect to qd, symmetric.
    hessian_qd_qd: Array
    # nv × nv: derivatives with respect to q (rows) and tau (columns).
    hessian_q_tau: Array
    # nv × nv: derivatives with respect to qd (rows) and tau (columns).
    hessian_qd_tau: Array
    # nv × nv × nv: hessian_q_q for each acceleration.
    d2qdd_dq_dq: Array
    # nv × nv × nv: hessian_q_qd for each acceleration.
    d2qdd_dq_dqd: Array
    # nv × nv × nv: hessian_qd_qd for each acceleration.
    d2qdd_dqd_dqd: Array
    # nv × nv × nv: hessian_q_tau for each acceleration.
    d2qdd_dq_dtau: Array
    # nv × nv × nv: hessian_qd_tau for each acceleration.
    d2qdd_dqd_dtau: Array
    # With on_error="row": the rows that failed.
    errors: list[RowError]


class StepAnswer(Answer):
    """The answer of step."""
    __slots__ = ()
    # Figures of the request that look like degrees or millimetres; they are used unchanged.
    warnings: list[UnitWarning]
    # nq: rad or m; quaternions have w ≥ 0.
    q_after: Array
    # nv: rad/s or m/s.
    qd_after: Array
    # 2 nv × 2 nv: A = ∂x₊/∂x.
    state_matrix: Array
    # 2 nv × nv: B = ∂x₊/∂tau.
    input_matrix: Array
    # wrenches × 2 nv × 6: ∂x₊ by force and torque of each wrench of the request, in its axes.
    wrench_matrix: Array
    # 2 nv × 10 bodies: ∂x₊ by the inertial parameters, as the columns of the regressor.
    parameter_matrix: Array
    # held × 6: m/s² and rad/s², the accelerations J qdd + J̇ qd = -δ l that contact_damping δ leaves along the held axes, laid
    # out like contact_wrenches.
    contact_residual: Array
    # nv: 1 for joints that friction holds after the step, else 0. Only with friction_at_rest stick.
    sticking: Array
    # For a model with `loops`, the complete state: the coordinates of the whole tree with their names, qd and qdd, `G` with
    # qd_tree = G qd, and the wrenches in the loops.
    full: Full
    # With on_error="row": the rows that failed.
    errors: list[RowError]


class RolloutAnswer(Answer):
    """The answer of rollout."""
    __slots__ = ()
    # Figures of the request that look like degrees or millimetres; they are used unchanged.
    warnings: list[UnitWarning]
    # N × nq: rad or m; quaternions have w ≥ 0.
    q_after: Array
    # N × nv: rad/s or m/s.
    qd_after: Array
    # N × 2 nv × 2 nv: A = ∂x₊/∂x.
    state_matrix: Array
    # N × 2 nv × nv: B = ∂x₊/∂tau.
    input_matrix: Array
    # N × wrenches × 2 nv × 6: ∂x₊ by force and torque of each wrench of the request, in its axes.
    wrench_matrix: Array
    # N × 2 nv × 10 bodies: ∂x₊ by the inertial parameters, as the columns of the regressor.
    parameter_matrix: Array
    # N × held × 6, as of step.
    contact_residual: Array
    # N × nv: 1 for joints that friction holds after the step, else 0. Only with friction_at_rest stick.
    sticking: Array
    # For a model with `loops`, the complete state: the coordinates of the whole tree with their names, qd and qdd, `G` with
    # qd_tree = G qd, and the wrenches in the loops.
    full: Full
    # N × nv × 2 nv: K, torques by changes of the state before each step.
    gains: Array
    # N × nv: k, changes of the torques, N m or N.
    feed_forward: Array
    # N × 2 nv: derivatives of the value of what follows with respect to the state before each step.
    value_gradient: Array
    # N × 2 nv × 2 nv: its second derivatives.
    value_hessian: Array
    # N × 2: changes of the cost by α k and by its square.
    expected_changes: Array
    # N: the damping used.
    damping: Array
    # N: cost of the torques of each node and of the state after its step.
    costs: Array
    # N × nv: torques of the nodes with the feedback, N m or N.
    tau: Array
    # With on_error="row": the rows that failed.
    errors: list[RowError]


class RolloutGradientAnswer(Answer):
    """The answer of rollout-gradient."""
    __slots__ = ()
    # Figures of the request that look like degrees or millimetres; they are used unchanged.
    warnings: list[UnitWarning]
    # N × nv: derivatives with respect to the torques.
    gradient_torques: Array
    # nv: derivatives with respect to the initial q.
    gradient_q: Array
    # nv: derivatives with respect to the initial qd.
    gradient_qd: Array
    # The value of the cost, without the multipliers' part.
    cost: Scalar
    # nq: after the last step, rad or m; quaternions have w ≥ 0.
    q_after: Array
    # nv: after the last step, rad/s or m/s.
    qd_after: Array
    # 10·bodies: derivatives with respect to the inertial parameters, in the order of regressor.
    gradient_parameters: Array
    # wrenches × 6: derivatives with respect to force and torque of each wrench of the request, in its axes.
    gradient_wrenches: Array
    # 3: derivatives with respect to the gravity vector.
    gradient_gravity: Array
    # 10·bodies: the sum of gradient_parameters over the rows.
    sum_parameters: Array
    # 3: the sum of gradient_gravity over the rows.
    sum_gravity: Array
    # nq: derivatives with respect to the entries of q. A quaternion r counts as r/|r|, so its four derivatives are those of the
    # function of r/|r|.
    gradient_q_entries: Array
    # directions × N × nv: rates of gradient_torques along the directions.
    hessian_products_torques: Array
    # directions × nv: rates of gradient_q along the directions, by the initial q.
    hessian_products_q: Array
    # directions × nv: rates of gradient_qd along the directions, by the initial qd.
    hessian_products_qd: Array
    # directions × N × nv: rates of q after the steps, on the tangent space.
    rates_q: Array
    # directions × N × nv: rates of qd after the steps.
    rates_qd: Array
    # With on_error="row": the rows that failed.
    errors: list[RowError]


class CoriolisAnswer(Answer):
    """The answer of coriolis."""
    __slots__ = ()
    # Figures of the request that look like degrees or millimetres; they are used unchanged.
    warnings: list[UnitWarning]
    # If the request has a platform: the corresponding coordinates, nq or nv.
    q: Array
    # If the request has a platform: the corresponding coordinates, nq or nv.
    qd: Array
    # If the request has a platform: the corresponding coordinates, nq or nv.
    qdd: Array
    # nv × nv.
    coriolis_matrix: Array
    # nv × nv × nv: [i][j][k].
    christoffel: Array
    # With on_error="row": the rows that failed.
    errors: list[RowError]


class RegressorAnswer(Answer):
    """The answer of regressor."""
    __slots__ = ()
    # Figures of the request that look like degrees or millimetres; they are used unchanged.
    warnings: list[UnitWarning]
    # If the request has a platform: the corresponding coordinates, nq or nv.
    q: Array
    # If the request has a platform: the corresponding coordinates, nq or nv.
    qd: Array
    # If the request has a platform: the corresponding coordinates, nq or nv.
    qdd: Array
    # nv × 10·bodies.
    regressor: Array
    # nv × 3·(joints + motor coordinates); zeros for joints with a quaternion.
    joint_regressor: Array
    # One β for each column of base_regressor: the parameter `<link>.<parameter>` (m, mcx, mcy, mcz, Ixx, Ixy, Iyy, Ixz, Iyz,
    # Izz), plus each of `with` times its coefficient. Never batched.
    base_parameters: list[Grouping]
    # nv × base parameters: columns of regressor.
    base_regressor: Array
    # 10·bodies: kinetic energy in J for each parameter, in the order of regressor.
    kinetic_regressor: Array
    # 10·bodies: potential energy of gravity in J for each parameter, zero at the world's origin.
    potential_regressor: Array
    # 6 × 10·bodies: [linear in kg m/s; angular about the world's origin in kg m²/s], world axes.
    momentum_regressor: Array
    # 3·(joints + motor coordinates): kinetic energy of rotors, in the order of joint_regressor; zeros for friction.
    joint_kinetic_regressor: Array
    # 6 × 3·(joints + motor coordinates): momentum of motors' rotors, as momentum_regressor; zeros for other rotors and
    # friction.
    joint_momentum_regressor: Array
    # With on_error="row": the rows that failed.
    errors: list[RowError]


class TaskSpaceAnswer(Answer):
    """The answer of task-space."""
    __slots__ = ()
    # Figures of the request that look like degrees or millimetres; they are used unchanged.
    warnings: list[UnitWarning]
    # If the request has a platform: the corresponding coordinates, nq or nv.
    q: Array
    # If the request has a platform: the corresponding coordinates, nq or nv.
    qd: Array
    # If the request has a platform: the corresponding coordinates, nq or nv.
    qdd: Array
    # k × k: Λ.
    inertia: Array
    # k × nv.
    jacobian: Array
    # k: J̇ q̇.
    jacobian_dot_qd: Array
    # nv × k: J̄.
    jacobian_inverse: Array
    # k.
    bias: Array
    # k × k, one semi-axis per row, the longest first, of the ellipsoid of the forces Λ ẍ for unit accelerations: eigenvectors
    # of Λ times their eigenvalues.
    ellipsoid: Array
    # Ratio of the largest and the smallest eigenvalue of Λ; units of force and torque are mixed unless all axes are of one
    # kind.
    condition: Scalar
    # With on_error="row": the rows that failed.
    errors: list[RowError]


class IdentifyAnswer(Answer):
    """One answer for all rows; never batched."""
    __slots__ = ()
    # Figures of the request that look like degrees or millimetres; they are used unchanged.
    warnings: list[UnitWarning]
    base_parameters: list[BaseParameter]
    # One entry for each body, as in the model's `bodies`, then one for each motor coordinate, with `joint` and the estimated
    # quantities.
    parameters: list[BodyParameters]
    # Root mean square of all residual torques, each times its weight if there are `weights`.
    residual: float
    # nv: standard deviation of each coordinate's torques (times their weights), from the same residual; 0 for a coordinate
    # without degrees of freedom left.
    noise: Array
    # Of the weighted equations, columns scaled to unit length: ratio of the largest and the smallest singular value.
    condition: float
    # Parameters that no motion of the robot at this gravity can determine, not even in a combination.
    unobservable: list[str]
    # With an unknown payload: the body that carries `frame`, and what is fixed to it beyond the model, in the axes of that
    # link; a request takes it as `payload`, without `mass_deviation`. `base_parameters` are those of the whole body.
    # `observability` says which of its figures the rows show.
    payload: IdentifyPayload
    # Residuals of the torques with the figures of `model`, `parameters` or `payload`, each times its weight if there are
    # `weights`. Coefficients of the load and Stribeck's curves count as linearised.
    fit: IdentifyFit
    # Each parameter that is sought, and how the rows of the request and any motion of the robot show it.
    observability: list[IdentifyObservabilityItem]
    # The model's document, as PUT takes it, with the identified parameters in place of its own.
    model: Mapping[str, Any]
    # With on_error="row": the rows that failed.
    errors: list[RowError]


class TrajectoryAnswer(Answer):
    """N samples, n = nv; a batch has one more dimension before that of the samples. k is p + 1, or m with `dense`."""
    __slots__ = ()
    # Figures of the request that look like degrees or millimetres; they are used unchanged.
    warnings: list[UnitWarning]
    # N: s.
    times: Array
    # N × nq.
    q: Array
    # N × nv.
    qd: Array
    # N × nv.
    qdd: Array
    # N × nv.
    qddd: Array
    # N × nv: N m or N.
    tau: Array
    # N × nv: N m/s or N/s.
    tau_dot: Array
    # N × bodies × 6, as in inverse-dynamics.
    joint_wrenches: Array
    # N: index of the first control point with an effect; present with gradients that are not dense.
    first_control_point: Array
    # N × 4 × k: b_rk.
    basis: Array
    # N × nv × k × nv.
    dtau_dcontrol_points: Array
    # N × nv.
    dtau_dduration: Array
    # N × nv × k × nv.
    dtau_dot_dcontrol_points: Array
    # N × nv.
    dtau_dot_dduration: Array
    # N × bodies × 6 × k × nv.
    d_joint_wrenches_dcontrol_points: Array
    # N × bodies × 6.
    d_joint_wrenches_dduration: Array
    # N × points × 3: m, world.
    point_positions: Array
    # N × points × 6: [linear; angular], m/s, rad/s, world axes.
    point_velocities: Array
    # N × points × 6: m/s², rad/s², world axes.
    point_accelerations: Array
    # N × points × 3 × k × nv.
    d_point_positions_dcontrol_points: Array
    # N × points × 6 × k × nv.
    d_point_velocities_dcontrol_points: Array
    # N × points × 6.
    d_point_velocities_dduration: Array
    # N × points × 6 × k × nv.
    d_point_accelerations_dcontrol_points: Array
    # N × points × 6.
    d_point_accelerations_dduration: Array
    # N × 4 × nv × (m + p + 1): derivatives of the spline and of its first three time derivatives.
    dmotion_dknots: Array
    # N × nv × (m + p + 1).
    dtau_dknots: Array
    # N × nv × (m + p + 1).
    dtau_dot_dknots: Array
    # N × bodies × 6 × (m + p + 1).
    d_joint_wrenches_dknots: Array
    # N × nv × k × nv. Only with `free`.
    dqdd_dcontrol_points: Array
    # N × nv. Only with `free`.
    dqdd_dduration: Array
    # N × nv × (m + p + 1). Only with `free`.
    dqdd_dknots: Array
    # N × nv × 10·bodies: derivatives with respect to the inertial parameters, in the order of regressor.
    dtau_dparameters: Array
    # N × nv × 10·bodies: derivatives with respect to the inertial parameters, in the order of regressor.
    dtau_dot_dparameters: Array
    # N × motors: the efforts of the motors of `transmissions`, as in inverse-dynamics.
    motor_tau: Array
    # Never batched; the other outputs have this order.
    limits: list[MarginLimit]
    # N × limits: in the unit of the limit.
    margins: Array
    # N × limits × k × nv.
    dmargins_dcontrol_points: Array
    # N × limits.
    dmargins_dduration: Array
    # N × limits × (m + p + 1).
    dmargins_dknots: Array
    # Of each limit the least margin of all samples, in the order of `limits`; of a batch one list for each motion, null if it
    # fails.
    least_margins: Union[list[LeastMargin], list[Union[list[LeastMargin], Any]]]
    # The gradient of each least margin, in the order of `limits`; of a batch one list for each motion, null if it fails.
    least_gradients: Union[list[LeastGradient], list[Union[list[LeastGradient], Any]]]
    # With on_error="row": the rows that failed.
    errors: list[RowError]


class TrajectoryHessianAnswer(Answer):
    """The answer of trajectory-hessian."""
    __slots__ = ()
    # Figures of the request that look like degrees or millimetres; they are used unchanged.
    warnings: list[UnitWarning]
    # m × nv × m × nv.
    hessian_control_points: Array
    # With on_error="row": the rows that failed.
    errors: list[RowError]


class SimulateAnswer(Answer):
    """N samples; a batch has one more dimension before that of the samples."""
    __slots__ = ()
    # Figures of the request that look like degrees or millimetres; they are used unchanged.
    warnings: list[UnitWarning]
    # N: s.
    times: Array
    # N × nq.
    q: Array
    # N × nv.
    qd: Array
    # N × nv.
    qdd: Array
    # N × nv: N m or N.
    tau: Array
    # N: J, as in energy.
    kinetic: Array
    # N: J, as in energy.
    potential: Array
    # N: J.
    actuator_work: Array
    # N: J.
    friction_work: Array
    # N: J.
    wrench_work: Array
    # N × nv: r - q, with a controller; 0 for joints with a quaternion, except with state_feedback.
    position_error: Array
    # N × nv: r' - q', with a controller; 0 for joints with a quaternion, except with state_feedback.
    velocity_error: Array
    # N: steps taken since the beginning.
    steps: Array
    # N × held × 6, as of forward-dynamics.
    contact_wrenches: Array
    # N × held × 6, as of forward-dynamics.
    contact_residual: Array
    # N × contacts × 3: N, by the planes on the robot, in world axes. Only with `contacts`.
    contact_forces: Array
    # Events of rigid contacts in the order of time; of a batch one list for each simulation. Only with a rigid contact.
    contact_events: Union[list[ContactEvent], list[list[ContactEvent]]]
    # Limits of joints that were exceeded, in the order of joints; of a batch one list for each simulation.
    limits: Union[list[ExceededLimit], list[list[ExceededLimit]]]
    # The least margin of each limit during the simulation, in the order of joints; of a batch one list for each simulation.
    least_margins: Union[list[LeastMargin], list[list[LeastMargin]]]
    # N × motors: the efforts of the motors of `transmissions`, as in inverse-dynamics.
    motor_tau: Array
    # With on_error="row": the rows that failed.
    errors: list[RowError]


class GroundReactionAnswer(Answer):
    """The answer of ground-reaction."""
    __slots__ = ()
    # Figures of the request that look like degrees or millimetres; they are used unchanged.
    warnings: list[UnitWarning]
    # 6: N and N m about the world's origin.
    resultant: Array
    # 3: m.
    zero_moment_point: Array
    # feet × 6.
    foot_wrenches: Array
    # nv.
    tau: Array
    # 6 × nv.
    d_resultant_dq: Array
    # 6 × nv.
    d_resultant_dqd: Array
    # 6 × nv.
    d_resultant_dqdd: Array
    # 3 × nv.
    d_zero_moment_point_dq: Array
    # 3 × nv.
    d_zero_moment_point_dqd: Array
    # 3 × nv.
    d_zero_moment_point_dqdd: Array
    # feet × 6 × nv.
    d_foot_wrenches_dq: Array
    # feet × 6 × nv.
    d_foot_wrenches_dqd: Array
    # feet × 6 × nv.
    d_foot_wrenches_dqdd: Array
    # nv × nv.
    dtau_dq: Array
    # nv × nv.
    dtau_dqd: Array
    # nv × nv.
    dtau_dqdd: Array
    # With on_error="row": the rows that failed.
    errors: list[RowError]


class InverseKinematicsAnswer(Answer):
    """The answer of inverse-kinematics."""
    __slots__ = ()
    # Figures of the request that look like degrees or millimetres; they are used unchanged.
    warnings: list[UnitWarning]
    # nq.
    q: Array
    # nv.
    qd: Array
    # nv.
    qdd: Array
    # m, from the goal; of tasks the largest one of priority 0.
    distance: Scalar
    # rad, from the goal; of tasks the largest one of priority 0.
    angle: Scalar
    # tasks × 2: distance in m and angle in rad of each task, in the order of the request; 0 where the task has no such goal.
    task_errors: Array
    # Positions that were tried.
    iterations: Scalar
    # Starting positions that were tried.
    starts_needed: Scalar
    # The joints at their position limits, those with `mimic` included; empty with `limits` false. Of a batch one list for each
    # row, null if it fails.
    at_limits: Union[list[JointAtLimit], list[Union[list[JointAtLimit], Any]]]
    # With on_error="row": the rows that failed.
    errors: list[RowError]


class DifferentialInverseKinematicsAnswer(Answer):
    """The answer of differential-inverse-kinematics."""
    __slots__ = ()
    # Figures of the request that look like degrees or millimetres; they are used unchanged.
    warnings: list[UnitWarning]
    # nv: rad/s or m/s.
    qd: Array
    # tasks × 2: |J qd - velocity| of each task in m/s and rad/s, in the order of the request; 0 where the task has no such
    # goal.
    task_errors: Array
    # nv: 1 where qd is at its upper bound, -1 at the lower one, else 0.
    limited: Array
    # With on_error="row": the rows that failed.
    errors: list[RowError]


class ConfigurationAnswer(Answer):
    """The answer of configuration."""
    __slots__ = ()
    # Figures of the request that look like degrees or millimetres; they are used unchanged.
    warnings: list[UnitWarning]
    # nq: rad or m.
    integrated: Array
    # nv: rad or m, those of a quaternion in the axes of its body at q.
    difference: Array
    # nq: rad or m.
    interpolated: Array
    # nq: rad or m.
    normalised: Array
    # nq: rad or m.
    neutral: Array
    # nq: rad or m.
    random: Array
    # With on_error="row": the rows that failed.
    errors: list[RowError]


class SensorsAnswer(Answer):
    """The answer of sensors."""
    __slots__ = ()
    # If the request has a platform: the corresponding coordinates, nq or nv.
    q: Array
    # If the request has a platform: the corresponding coordinates, nq or nv.
    qd: Array
    # If the request has a platform: the corresponding coordinates, nq or nv.
    qdd: Array
    # Figures of the request that look like degrees or millimetres; they are used unchanged.
    warnings: list[UnitWarning]
    # sensors × 6: [force; moment], N and N m, exerted by the parent on the link beyond the joint.
    wrenches: Array
    # frames × 3: m/s², acceleration minus gravity, in the axes of each frame.
    specific_forces: Array
    # frames × 3: rad/s, in the axes of each frame.
    angular_velocities: Array
    # With on_error="row": the rows that failed.
    errors: list[RowError]


class ExternalWrenchAnswer(Answer):
    """The answer of external-wrench."""
    __slots__ = ()
    # Figures of the request that look like degrees or millimetres; they are used unchanged.
    warnings: list[UnitWarning]
    # nv: N m or N, by the environment.
    tau_external: Array
    # 6: [force; moment], N and N m, by the environment on the link, in the axes of `reference`; 0 along axes that are not
    # listed.
    wrench: Array
    # axes × axes: of `wrench`, N², N² m, N² m².
    covariance: Array
    # nv: N m or N.
    remainder: Array
    # With on_error="row": the rows that failed.
    errors: list[RowError]


class MarginsAnswer(Answer):
    """The answer of margins."""
    __slots__ = ()
    # Figures of the request that look like degrees or millimetres; they are used unchanged.
    warnings: list[UnitWarning]
    # If the request has a platform: the corresponding coordinates, nq or nv.
    q: Array
    # If the request has a platform: the corresponding coordinates, nq or nv.
    qd: Array
    # If the request has a platform: the corresponding coordinates, nq or nv.
    qdd: Array
    # Never batched; the other outputs have this order.
    limits: list[MarginLimit]
    # limits: in the unit of the limit.
    margins: Array
    # limits × nv.
    dmargins_dq: Array
    # limits × nv.
    dmargins_dqd: Array
    # limits × nv.
    dmargins_dqdd: Array
    # limits × nv.
    dmargins_dqddd: Array
    # Of each limit the least margin of all rows of the request, such as the samples of a trajectory or simulation; null if all
    # rows fail.
    least: list[MarginsLeastItem]
    # The gradients of each least margin, in the order of `limits`; null if all rows fail.
    least_gradients: list[MarginsLeastGradientsItem]
    # With on_error="row": the rows that failed.
    errors: list[RowError]


class PathAnswer(Answer):
    """The answer of path."""
    __slots__ = ()
    # Figures of the request that look like degrees or millimetres; they are used unchanged.
    warnings: list[UnitWarning]
    # nv: of s̈.
    tau_a: Array
    # nv: of ṡ².
    tau_b: Array
    # nv: N m or N.
    tau_c: Array
    # nv: of ṡ.
    tau_d: Array
    # nv.
    dtau_a_ds: Array
    # nv.
    dtau_b_ds: Array
    # nv.
    dtau_c_ds: Array
    # nv.
    dtau_d_ds: Array
    # Never batched.
    smooth_friction: list[PathSmoothFrictionItem]
    # nv: where Coulomb friction jumps between this row and the next, as a fraction of the way, by dq/ds of both; 0 in rows
    # where dq/ds is zero; -1 for no jump.
    jumps: Array
    # Motors: the same for the motors of `transmissions`, by their rates P dq/ds.
    motor_jumps: Array
    # bodies × 6, as joint_wrenches of inverse-dynamics.
    joint_wrenches_a: Array
    # bodies × 6.
    joint_wrenches_b: Array
    # bodies × 6.
    joint_wrenches_c: Array
    # bodies × 6.
    d_joint_wrenches_a_ds: Array
    # bodies × 6.
    d_joint_wrenches_b_ds: Array
    # bodies × 6.
    d_joint_wrenches_c_ds: Array
    # With on_error="row": the rows that failed.
    errors: list[RowError]


class PathTimingAnswer(Answer):
    """N places; a batch has one more dimension before that of the places."""
    __slots__ = ()
    # Figures of the request that look like degrees or millimetres; they are used unchanged.
    warnings: list[UnitWarning]
    # N: s, from 0.
    times: Array
    # N: from 0 to 1.
    s: Array
    # N: ds/dt, 1/s.
    sd: Array
    # N: 1/s².
    sdd: Array
    # N × nq.
    q: Array
    # N × nv.
    qd: Array
    # N × nv.
    qdd: Array
    # N × nv: N m or N.
    tau: Array
    # N: index of the limit that is reached; -1: none.
    active: Array
    # Never batched: those of joints and motors, then those of frames, then of contacts; `active` and `dduration_dlimits` have
    # this order.
    limits: list[PathLimit]
    # s, the time of the last place.
    duration: Scalar
    # N: 1/s³.
    sddd: Array
    # N × nv.
    qddd: Array
    # N × nv: N m/s or N/s.
    tau_dot: Array
    # s, without limits of jerk and effort_rate.
    second_order_duration: Scalar
    # limits: s per unit of the limit, 0 or less; of a batch one list for each path, null if it fails.
    dduration_dlimits: Array
    # N × held × 6, as contact_wrenches of forward-dynamics: those chosen to bear the motion.
    contact_wrenches: Array
    # With on_error="row": the rows that failed.
    errors: list[RowError]


class FeedForwardAnswer(Answer):
    """The answer of feed-forward."""
    __slots__ = ()
    # Figures of the request that look like degrees or millimetres; they are used unchanged.
    warnings: list[UnitWarning]
    # nq; the given positions and those of the motors.
    q: Array
    # nv.
    qd: Array
    # nv.
    qdd: Array
    # nv; 0 at the link's side of elastic joints.
    tau: Array
    # nv, only with `times`: estimated error of qdd of the motors of joints with damping, rad/s² or m/s²; 0 elsewhere, and with
    # fewer than three rows. Times the rotor's inertia it is the error of the torque.
    qdd_errors: Array
    # With on_error="row": the rows that failed.
    errors: list[RowError]


class EvaluateAnswer(Answer):
    """The answer of evaluate."""
    __slots__ = ()
    _nested = {"inverse-dynamics": InverseDynamicsAnswer, "forward-dynamics": ForwardDynamicsAnswer, "impact": ImpactAnswer,
               "mass-matrix": MassMatrixAnswer, "bias": BiasAnswer, "kinematics": KinematicsAnswer, "energy":
               EnergyAnswer, "torque-derivative": TorqueDerivativeAnswer, "sensitivity": SensitivityAnswer,
               "forward-sensitivity": ForwardSensitivityAnswer, "gradient": GradientAnswer, "forward-gradient":
               ForwardGradientAnswer, "directional": DirectionalAnswer, "forward-directional":
               ForwardDirectionalAnswer, "hessian": HessianAnswer, "forward-hessian": ForwardHessianAnswer,
               "step": StepAnswer, "coriolis": CoriolisAnswer, "regressor": RegressorAnswer, "task-space":
               TaskSpaceAnswer, "ground-reaction": GroundReactionAnswer, "margins": MarginsAnswer, "feed-forward":
               FeedForwardAnswer, "path": PathAnswer, "sensors": SensorsAnswer}
    # Figures of the request that look like degrees or millimetres; they are used unchanged.
    warnings: list[UnitWarning]
    # If the request has a platform: the corresponding coordinates, nq or nv.
    q: Array
    # If the request has a platform: the corresponding coordinates, nq or nv.
    qd: Array
    # If the request has a platform: the corresponding coordinates, nq or nv.
    qdd: Array
    inverse_dynamics: InverseDynamicsAnswer
    forward_dynamics: ForwardDynamicsAnswer
    impact: ImpactAnswer
    mass_matrix: MassMatrixAnswer
    bias: BiasAnswer
    kinematics: KinematicsAnswer
    energy: EnergyAnswer
    torque_derivative: TorqueDerivativeAnswer
    sensitivity: SensitivityAnswer
    forward_sensitivity: ForwardSensitivityAnswer
    gradient: GradientAnswer
    forward_gradient: ForwardGradientAnswer
    directional: DirectionalAnswer
    forward_directional: ForwardDirectionalAnswer
    hessian: HessianAnswer
    forward_hessian: ForwardHessianAnswer
    step: StepAnswer
    coriolis: CoriolisAnswer
    regressor: RegressorAnswer
    task_space: TaskSpaceAnswer
    ground_reaction: GroundReactionAnswer
    margins: MarginsAnswer
    feed_forward: FeedForwardAnswer
    path: PathAnswer
    sensors: SensorsAnswer
    # With on_error="row": the rows that failed.
    errors: list[RowError]
