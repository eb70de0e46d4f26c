"""The objects in requests and answers, as dictionaries with known keys.

Made by api/clients/python/generate.py from api/openapi.yaml: change that, then `make reference`.
"""

from __future__ import annotations

from typing import Any, Literal, Mapping, Sequence, TypedDict, Union

import numpy.typing as npt

from ..answers import Array, Coordinates, Scalar

__all__ = ["Service", "PublishedOperation", "ServiceLimits", "ModelList", "ModelListUnservedItem", "ModelEntry", "ModelFields",
           "PublishedFrame", "PublishedJoint", "Elastic", "JointLimits", "EffortSpeed", "PublishedJointMimic",
           "ModelFieldsAttachedBodiesItem", "Inertia", "PublishedLoop", "ModelFieldsReference", "ModelFieldsTree",
           "ModelFieldsConfigurationsItem", "PublishedMotor", "ModelFieldsTransmissionsItem",
           "ModelFieldsTransmissionsItemMotorsItem", "MotorLimits", "ReportEntry", "Ready", "ProblemMeaning", "Payload",
           "InertiaGiven", "PayloadInertia", "Wrench", "Platform", "HeldContact", "HeldContactRolling", "UnitWarning", "Full",
           "RowError", "Held", "KinematicsPointsItem", "Pose", "WrenchWithRates", "Directions", "ForwardDirections", "Phase",
           "RolloutCost", "Feedback", "RolloutDirections", "Grouping", "GroupingWithItem", "TaskSpaceFramesItem",
           "IdentifyPrior", "BaseParameter", "BodyParameters", "InertiaFound", "FoundFriction", "FoundFrictionCoulomb",
           "IdentifyPayload", "IdentifyFit", "IdentifyObservabilityItem", "TrajectoryInput", "SampledSignal", "SplineSignal",
           "Sinusoid", "WrenchOverTime", "MarginLimit", "LeastMargin", "LeastGradient", "TorqueInput", "TorqueInputGiven",
           "Prescribed", "ContactPoint", "ContactPointPlane", "ContactEvent", "ExceededLimit", "Plane",
           "InverseKinematicsTasksItem", "InverseKinematicsTasksItemGiven", "JointAtLimit",
           "DifferentialInverseKinematicsTasksItem", "DifferentialInverseKinematicsTasksItemGiven", "ForceTorqueSensor",
           "MarginsLeastItem", "MarginsLeastGradientsItem", "PathSmoothFrictionItem", "PathTimingJointLimits", "FrameLimits",
           "PathLimit", "Evaluations", "EvaluationsInverseDynamics", "EvaluationsForwardDynamics", "EvaluationsImpact",
           "EvaluationsMassMatrix", "EvaluationsBias", "EvaluationsKinematics", "EvaluationsEnergy",
           "EvaluationsTorqueDerivative", "EvaluationsSensitivity", "EvaluationsForwardSensitivity", "EvaluationsGradient",
           "EvaluationsForwardGradient", "EvaluationsDirectional", "EvaluationsForwardDirectional", "EvaluationsHessian",
           "EvaluationsForwardHessian", "EvaluationsStep", "EvaluationsCoriolis", "EvaluationsRegressor",
           "EvaluationsTaskSpace", "EvaluationsGroundReaction", "EvaluationsMargins", "EvaluationsFeedForward",
           "EvaluationsPath", "EvaluationsSensors"]


class Service(TypedDict):
    name: Literal['torqued']
    # Version of the server and of this contract, MAJOR.MINOR.PATCH: a minor version only adds.
    version: str
    # Build identifier of the program, which the linker computes from its content: servers with one identifier run the same
    # code. Empty if the program was linked without one.
    build: str
    operations: list[PublishedOperation]
    # The limits in force, settings of the server.
    limits: ServiceLimits
    # Instruction set in use: scalar, sse2, scalar_unfused, sse2_unfused, neon, fma, avx2, avx512.
    target: str
    # States computed at once.
    lanes: int
    # The arithmetic class of the target, as in the field `Arithmetic` of every answer's head.
    arithmetic: Literal['fused', 'unfused']


class PublishedOperation(TypedDict):
    name: str
    path: str


class ServiceLimits(TypedDict):
    """The limits in force, settings of the server."""

    # Bytes of a request's body.
    body: int
    # Bytes of an answer's body.
    answer: int
    # Bytes of bodies, decoded requests and answers in flight, all together.
    memory: int
    # States in one request.
    rows: int
    # Depth of arrays and objects.
    nesting: int
    # Models held.
    models: int
    # Links of one model.
    links: int
    # Velocity coordinates of one model.
    dof: int
    # s: cap and default of Request-Timeout.
    timeout: float
    # rad: largest magnitude of an angle, of states and in documents.
    angle: float


class ModelList(TypedDict):
    # Models that exist and are not served, sorted by name: the record in the store, or the bundled file, is damaged or cannot
    # be read (`model-damaged`), or there is no memory for the model (`insufficient-storage`). Requests on them are answered
    # with this problem. A PUT or DELETE without conditions ends it.
    unserved: list[ModelListUnservedItem]
    models: list[ModelEntry]


class ModelListUnservedItem(TypedDict):
    name: str
    code: Literal['model-damaged', 'insufficient-storage']
    # The reason, for the operator of the server.
    detail: str


class _ModelEntryNeeded(TypedDict):
    name: str
    # Hash of the canonical document without its name.
    revision: str
    nq: int
    nv: int
    bodies: int
    base: Literal['fixed', 'floating']


class ModelEntry(_ModelEntryNeeded, total=False):
    # Of the document; at most 2000 bytes of UTF-8.
    description: str


class _ModelFieldsNeeded(TypedDict):
    name: str
    # Hash of the canonical document without its name.
    revision: str
    nq: int
    nv: int
    base: Literal['fixed', 'floating']
    position_names: list[str]
    velocity_names: list[str]
    # All, as in the document.
    links: list[str]
    # The moving rigid bodies after merging fixed joints, in joint order, each named by the link its moving joint carries.
    bodies: list[str]
    # All frames whose pose can be computed, links included.
    frames: list[PublishedFrame]
    # The moving joints, in coordinate order.
    joints: list[PublishedJoint]
    # The fixed joints, in the order of the links, with the rigid body that each carries, links fixed beyond it included.
    # sensors has their wrenches.
    attached_bodies: list[ModelFieldsAttachedBodiesItem]
    # The motors of the document, without friction and inertial; axes have unit length.
    motors: list[PublishedMotor]
    gravity: list[float]
    # kg, of all bodies.
    mass: float
    # Figures and elements that are suspicious, that the model does not hold, or that were assumed, dropped or merged, in this
    # order: warnings (`severity` `warning`), losses (a `warning` with the code `not-held`), assumptions (`assumed`), other
    # notes (`info`), `unused` and `dropped` parts, and fixed links that were `merged`.
    report: list[ReportEntry]


class ModelFields(_ModelFieldsNeeded, total=False):
    # For models with loops. nq, nv and the names above are then those of the actuated coordinates.
    loops: list[PublishedLoop]
    # Positions that follow from the others; `guess` has these.
    passive_names: list[str]
    # The position with closed loops from which all states are reached.
    reference: ModelFieldsReference
    # All coordinates, as if the loops were open.
    tree: ModelFieldsTree
    # Positions with names, of the document or the keyframes of MJCF.
    configurations: list[ModelFieldsConfigurationsItem]
    # The coupled transmissions of the document, without friction; absent if there are none.
    transmissions: list[ModelFieldsTransmissionsItem]


class PublishedFrame(TypedDict):
    name: str
    # The link it is fixed to.
    link: str


class _PublishedJointNeeded(TypedDict):
    name: str
    type: Literal['revolute', 'continuous', 'prismatic', 'helical', 'planar', 'spherical', 'floating']
    # The parent link.
    parent: str
    # The link that it carries.
    link: str
    actuated: bool
    limits: JointLimits


class PublishedJoint(_PublishedJointNeeded, total=False):
    # m/rad, of a helical joint.
    pitch: float
    # A spring between the joint and its drive. The position θ of the drive is a coordinate `<joint>.motor`, in the joint's
    # units, after the coordinates of all joints. With R = stiffness (q - θ - rest) + damping (q̇ - θ̇), the joint's row of the
    # equation of motion has the term R, and that of θ is S^T qdd + B θ̈ - R, B and S being the motor's, or B = rotor_inertia if
    # no motor is given. R is part of `bias` and its energy part of `potential`, as for a spring. tau of θ is gear_ratio times
    # the motor's torque. Without any inertia of the motor the mass matrix is singular.
    elastic: Elastic
    # For a joint without a coordinate; `joint` has one, chains of mimics are resolved.
    mimic: PublishedJointMimic


class _ElasticNeeded(TypedDict):
    # N m/rad or N/m.
    stiffness: float


class Elastic(_ElasticNeeded, total=False):
    """A spring between the joint and its drive. The position θ of the drive is a coordinate `<joint>.motor`, in the joint's units,
    after the coordinates of all joints. With R = stiffness (q - θ - rest) + damping (q̇ - θ̇), the joint's row of the equation
    of motion has the term R, and that of θ is S^T qdd + B θ̈ - R, B and S being the motor's, or B = rotor_inertia if no motor
    is given. R is part of `bias` and its energy part of `potential`, as for a spring. tau of θ is gear_ratio times the motor's
    torque. Without any inertia of the motor the mass matrix is singular."""

    # N m s/rad or N s/m.
    damping: float
    # rad or m.
    rest: float


class JointLimits(TypedDict, total=False):
    # [lower, upper], rad or m.
    position: list[float]
    # rad/s or m/s.
    velocity: float
    # N m or N.
    effort: float
    # N m/s or N/s: how fast the effort may change, up or down.
    effort_rate: float
    # rad/s² or m/s²: of margins, trajectory and path-timing. Models with loops have no such margins.
    acceleration: float
    # rad/s³ or m/s³, likewise.
    jerk: float
    # The torque-speed line of a drive with limited voltage: |effort| ≤ stall_effort - slope |velocity|, where the velocity is
    # that of the joint, of an elastic joint that of its motor, and of a motor of `transmissions` its own. A motor with voltage
    # V, resistance R and constant k, in N m/A and V s/rad, behind a gear of ratio n has stall_effort n k V / R and slope (n k)²
    # / R. Held in margins, trajectory and path-timing; simulate clips controllers to it and reports it.
    effort_speed: EffortSpeed


class EffortSpeed(TypedDict):
    """The torque-speed line of a drive with limited voltage: |effort| ≤ stall_effort - slope |velocity|, where the velocity is
    that of the joint, of an elastic joint that of its motor, and of a motor of `transmissions` its own. A motor with voltage V,
    resistance R and constant k, in N m/A and V s/rad, behind a gear of ratio n has stall_effort n k V / R and slope (n k)² / R.
    Held in margins, trajectory and path-timing; simulate clips controllers to it and reports it."""

    # N m or N, at rest.
    stall_effort: float
    # N m s/rad or N s/m.
    slope: float


class PublishedJointMimic(TypedDict):
    """For a joint without a coordinate; `joint` has one, chains of mimics are resolved."""

    joint: str
    multiplier: float
    offset: float


class ModelFieldsAttachedBodiesItem(TypedDict):
    joint: str
    # The parent link.
    parent: str
    # The link that it carries.
    link: str
    # kg
    mass: float
    # m, in the frame of `link`.
    com: list[float]
    # kg m², true tensor entries (xy = -∫xy dm). Refused with an eigenvalue below -1e-9 × the largest.
    inertia: Inertia


class Inertia(TypedDict, total=False):
    """kg m², true tensor entries (xy = -∫xy dm). Refused with an eigenvalue below -1e-9 × the largest."""

    xx: float
    yy: float
    zz: float
    xy: float
    xz: float
    yz: float


class PublishedLoop(TypedDict):
    name: str
    type: str
    frame_a: str
    frame_b: str


class ModelFieldsReference(TypedDict):
    """The position with closed loops from which all states are reached."""

    # Of position_names: rad or m.
    q: list[float]
    # Of passive_names: rad or m.
    passive: list[float]


class ModelFieldsTree(TypedDict):
    """All coordinates, as if the loops were open."""

    position_names: list[str]
    velocity_names: list[str]


class ModelFieldsConfigurationsItem(TypedDict):
    name: str
    # Of position_names: rad or m.
    q: list[float]


class PublishedMotor(TypedDict):
    joint: str
    link: str
    axis: list[float]
    gear_ratio: float
    spin_inertia: float


class ModelFieldsTransmissionsItem(TypedDict):
    joints: list[str]
    matrix: list[list[float]]
    motors: list[ModelFieldsTransmissionsItemMotorsItem]


class ModelFieldsTransmissionsItemMotorsItem(TypedDict):
    name: str
    rotor_inertia: float
    limits: MotorLimits


class MotorLimits(TypedDict, total=False):
    # rad/s or m/s.
    velocity: float
    # N m or N.
    effort: float
    # N m/s or N/s: how fast the effort may change, up or down.
    effort_rate: float
    # rad/s² or m/s²: of margins, trajectory and path-timing. Models with loops have no such margins.
    acceleration: float
    # rad/s³ or m/s³, likewise.
    jerk: float
    # The torque-speed line of a drive with limited voltage: |effort| ≤ stall_effort - slope |velocity|, where the velocity is
    # that of the joint, of an elastic joint that of its motor, and of a motor of `transmissions` its own. A motor with voltage
    # V, resistance R and constant k, in N m/A and V s/rad, behind a gear of ratio n has stall_effort n k V / R and slope (n k)²
    # / R. Held in margins, trajectory and path-timing; simulate clips controllers to it and reports it.
    effort_speed: EffortSpeed


class ReportEntry(TypedDict):
    severity: str
    code: str
    # JSON pointer into the canonical document, or `line N` of the file, in an included file `line N of FILE`.
    where: str
    text: str


class Ready(TypedDict):
    status: Literal['ready']
    # Faults that do not prevent service, such as files that could not be read.
    reasons: list[str]


class ProblemMeaning(TypedDict):
    type: str
    code: str
    status: int
    title: str
    # What it means and what to do.
    text: str


class _PayloadNeeded(TypedDict):
    # A link or frame of the model.
    link: str
    # kg
    mass: npt.ArrayLike


class Payload(_PayloadNeeded, total=False):
    """A rigid body fixed to a link or frame for this request. Each figure is one for all rows, or one for each row. On a link that
    is fixed to the world it has no effect, which is a warning of the answer. The link's gravity_compensation applies to it too."""

    # m, in the axes of `link` from its origin; default [0,0,0].
    com: npt.ArrayLike
    # About `com`, in the axes of `link`; default 0. Its entries may have rows.
    inertia: Union[InertiaGiven, PayloadInertia]


class InertiaGiven(TypedDict, total=False):
    """kg m², true tensor entries (xy = -∫xy dm). Refused with an eigenvalue below -1e-9 × the largest."""

    xx: float
    yy: float
    zz: float
    xy: float
    xz: float
    yz: float


class PayloadInertia(TypedDict, total=False):
    # kg m²
    xx: npt.ArrayLike
    # kg m²
    yy: npt.ArrayLike
    # kg m²
    zz: npt.ArrayLike
    # kg m²
    xy: npt.ArrayLike
    # kg m²
    xz: npt.ArrayLike
    # kg m²
    yz: npt.ArrayLike


class _WrenchNeeded(TypedDict):
    # Where it acts: a link or frame of the model.
    link: str


class Wrench(_WrenchNeeded, total=False):
    """Acts on the link, by the environment."""

    # N, default [0,0,0].
    force: npt.ArrayLike
    # N m, default [0,0,0].
    torque: npt.ArrayLike
    # m, in the axes of `link` from its origin: where the force acts; default [0,0,0].
    point: npt.ArrayLike
    # The axes of force and torque: `world`; `link`, those of the link or frame named by `link`; or those of a link or frame
    # that is fixed to the same body or to the world. A frame that moves relative to the body is a 422.
    frame: str


class _PlatformNeeded(TypedDict):
    # A frame or link.
    frame: str
    # m.
    position: npt.ArrayLike


class Platform(_PlatformNeeded, total=False):
    """For models with `loops`, instead of q, qd and qdd: pose and motion of a frame, in world axes. The answer begins with the
    corresponding q, and with qd and qdd if rates are given. Without `orientation` the mechanism determines the orientation of
    the frame, and rates are those of its origin alone. The frame moves on the straight line from its pose in the model's
    `reference`; with a `guess` the errors of loops and frame are reduced to zero together, starting from the actuated
    coordinates of the reference and the passive ones of the guess."""

    # Quaternions.
    orientation: npt.ArrayLike
    # 6, or 3 without orientation: of the origin, m/s, and angular, rad/s; default 0.
    velocity: npt.ArrayLike
    # Their derivatives, gravity not included; default 0.
    acceleration: npt.ArrayLike


class _HeldContactNeeded(TypedDict):
    # A link or frame of the model.
    frame: str


class HeldContact(_HeldContactNeeded, total=False):
    """A frame that is held as in forward-dynamics, with the weights and the limits of its wrench."""

    # Directions along and about which the velocity of the frame at its origin is kept.
    axes: Sequence[Literal['x', 'y', 'z', 'rx', 'ry', 'rz']]
    # The axes of these directions. Those of the frame rotate with it: the components of its velocity in them are kept, as those
    # of a skate across its edge.
    reference: Literal['world', 'frame']
    # The frame is the centre of a sphere or a disc that rolls on a plane without slip: the material point that touches the
    # plane is held along all three directions. Without `axle` it is a sphere, whose point is -radius × normal from the origin;
    # with `axle` a thin disc about this axis through the origin, whose point is the lowest of its rim, -radius e / |e| with e =
    # n - (n·a) a. A disc that lies flat has no lowest point (422 `result-not-finite`). Only in forward-dynamics,
    # inverse-dynamics, impact and simulate, and without `axes` and `reference`.
    rolling: HeldContactRolling
    # The weight of the squared efforts along all axes, or one for each entry of `axes`.
    weight: npt.ArrayLike
    # The direction out of the ground, of any length, in the axes of `reference`; default [0, 0, 1]. It is needed only where
    # another limit is given, or to say that the ground does not pull. The frame must be held along a part of it. Not with
    # `rolling`, which has its own normal, nor a sole or torsional friction: limits then bound the force at the contact point.
    normal: npt.ArrayLike
    # N. With any limit or a normal the force along the normal is at least this.
    least_normal_force: float
    # Greatest tangential force divided by the normal force. Missing: no limit. For a contact without friction hold only the
    # normal's axis.
    friction_coefficient: float
    # Sides of the pyramid inside the friction cone that replaces it. Its edges lie on the cone, the first above the x axis of
    # `reference` projected on the plane, or above the y axis where x is within 26° of the normal.
    facets: int
    # m: greatest torque about the normal through the frame's origin, divided by the normal force. Missing: no limit.
    torsional_friction_coefficient: float
    # m: the corners, in order, of the convex polygon that the foot has on the ground, in the axes of the frame, in a plane
    # across the normal. The centre of pressure is kept inside. Only with reference "frame".
    sole: npt.ArrayLike


class _HeldContactRollingNeeded(TypedDict):
    # m.
    radius: float


class HeldContactRolling(_HeldContactRollingNeeded, total=False):
    """The frame is the centre of a sphere or a disc that rolls on a plane without slip: the material point that touches the plane
    is held along all three directions. Without `axle` it is a sphere, whose point is -radius × normal from the origin; with
    `axle` a thin disc about this axis through the origin, whose point is the lowest of its rim, -radius e / |e| with e = n -
    (n·a) a. A disc that lies flat has no lowest point (422 `result-not-finite`). Only in forward-dynamics, inverse-dynamics,
    impact and simulate, and without `axes` and `reference`."""

    # Axis of a disc, of any length, in the axes of the frame. Missing: a sphere.
    axle: npt.ArrayLike
    # Normal of the plane out of the ground, of any length, in world axes; default [0, 0, 1].
    normal: npt.ArrayLike


class UnitWarning(TypedDict):
    # JSON pointer (RFC 6901) into the request.
    where: str
    code: Literal['suspicious', 'no-effect']
    text: str


class Full(TypedDict):
    """For a model with `loops`, the complete state: the coordinates of the whole tree with their names, qd and qdd, `G` with
    qd_tree = G qd, and the wrenches in the loops."""

    position_names: list[str]
    velocity_names: list[str]
    # A vector; in a batch an array of them.
    q: Array
    # A vector; in a batch an array of them.
    qd: Array
    # A vector; in a batch an array of them.
    qdd: Array
    # A matrix, row by row; in a batch an array of them.
    G: Array
    # loops × 6: N and N m, exerted by the link of frame_a on the link of frame_b, moment about the origin of frame_b, axes of
    # frame_a. Where loops are redundant, the wrenches with the least sum of squares, forces multiplied by the greatest length
    # in the model.
    loop_wrenches: Array
    # The remaining loop error: rad, and fractions of the greatest length in the model.
    residual: Scalar


class _RowErrorNeeded(TypedDict):
    # Of the batch, from 0; 0 for a single state.
    row: int
    code: str
    detail: str


class RowError(_RowErrorNeeded, total=False):
    # In evaluate: the only operation in which the row failed; absent if it failed in all.
    operation: str
    # JSON pointer (RFC 6901) to the cause in the request, if it is one place.
    pointer: str
    # As of a problem.
    fraction: float
    # As of a problem.
    time: float


class _HeldNeeded(TypedDict):
    # A link or frame of the model.
    frame: str


class Held(_HeldNeeded, total=False):
    # Directions along and about which the velocity of the frame at its origin is kept.
    axes: Sequence[Literal['x', 'y', 'z', 'rx', 'ry', 'rz']]
    # The axes of these directions. Those of the frame rotate with it: the components of its velocity in them are kept, as those
    # of a skate across its edge.
    reference: Literal['world', 'frame']
    # The frame is the centre of a sphere or a disc that rolls on a plane without slip: the material point that touches the
    # plane is held along all three directions. Without `axle` it is a sphere, whose point is -radius × normal from the origin;
    # with `axle` a thin disc about this axis through the origin, whose point is the lowest of its rim, -radius e / |e| with e =
    # n - (n·a) a. A disc that lies flat has no lowest point (422 `result-not-finite`). Only in forward-dynamics,
    # inverse-dynamics, impact and simulate, and without `axes` and `reference`.
    rolling: HeldContactRolling


class KinematicsPointsItem(TypedDict, total=False):
    # As `frame`.
    link: str
    # A link or frame of the model.
    frame: str
    # m, in the axes of the link or frame.
    point: npt.ArrayLike


class Pose(TypedDict):
    # m, world.
    position: Array
    # Quaternion [x,y,z,w] of R_world_frame, w ≥ 0.
    orientation: Array


class _WrenchWithRatesNeeded(TypedDict):
    # Where it acts: a link or frame of the model.
    link: str


class WrenchWithRates(_WrenchWithRatesNeeded, total=False):
    """A wrench that changes with time."""

    # N, default [0,0,0].
    force: npt.ArrayLike
    # N m, default [0,0,0].
    torque: npt.ArrayLike
    # m, in the axes of `link` from its origin: where the force acts; default [0,0,0].
    point: npt.ArrayLike
    # The axes of force and torque: `world`; `link`, those of the link or frame named by `link`; or those of a link or frame
    # that is fixed to the same body or to the world. A frame that moves relative to the body is a 422.
    frame: str
    # N/s, default [0,0,0].
    force_rate: npt.ArrayLike
    # N m/s, default [0,0,0].
    torque_rate: npt.ArrayLike


class Directions(TypedDict, total=False):
    """Directions of each state, one row of nv numbers for each; all parts have as many rows, and absent parts are zero."""

    # directions × nv, or rows × directions × nv.
    q: npt.ArrayLike
    # directions × nv, or rows × directions × nv.
    qd: npt.ArrayLike
    # directions × nv, or rows × directions × nv.
    qdd: npt.ArrayLike


class ForwardDirections(TypedDict, total=False):
    """Directions of each state, one row of nv numbers for each; all parts have as many rows, and absent parts are zero."""

    # directions × nv, or rows × directions × nv.
    q: npt.ArrayLike
    # directions × nv, or rows × directions × nv.
    qd: npt.ArrayLike
    # directions × nv, or rows × directions × nv.
    tau: npt.ArrayLike


class _PhaseNeeded(TypedDict):
    # Number of integration steps in this phase.
    steps: int


class Phase(_PhaseNeeded, total=False):
    # Frames in contact; an empty list counts as no `held`. In forward-dynamics and simulate contact_wrenches are then among the
    # default outputs; without `held` that output does not exist. In impact `held` is needed. In a phase of rollout without
    # `held` no frame is held.
    held: Sequence[Held]


class RolloutCost(TypedDict, total=False):
    # Weights of q after each step; for a floating base or joint and a spherical joint of the difference from the reference on
    # the tangent space.
    q: npt.ArrayLike
    # Weights of qd after each step.
    qd: npt.ArrayLike
    # Weights of the torques of all nodes.
    tau: npt.ArrayLike
    # Further weights of q after the last step.
    final_q: npt.ArrayLike
    # Further weights of qd after the last step.
    final_qd: npt.ArrayLike
    # 2 nv × 2 nv, symmetric, or rows × these: weights of products of differences of q, then qd, after each step.
    state_weights: npt.ArrayLike
    # nv × nv, symmetric, or rows × these: weights of products of torques of all nodes.
    tau_weights: npt.ArrayLike
    # As state_weights, further weights after the last step.
    final_state_weights: npt.ArrayLike
    # As the others; of models with quaternions also with nq numbers in place of nv, as q, which weights of quaternions need.
    q_reference: npt.ArrayLike
    # N × nv or 1 × nv, or rows × these. Entries without a weight have no effect.
    qd_reference: npt.ArrayLike
    # N × nv or 1 × nv, or rows × these. Entries without a weight have no effect.
    tau_reference: npt.ArrayLike


class Feedback(TypedDict):
    # N × nv × 2 nv, or rows × these: K of each step. The torques of a step are `torques` + K (e, qd - qd of the reference),
    # with e = q - q of the reference; of a floating base, floating and spherical joints R_refᵀ(p - p_ref) and the rotation
    # vector of R_refᵀ R, which is not the difference of configuration. Gains of a regulator u = -K x have a minus sign here.
    gains: npt.ArrayLike
    # N × nq, or rows × these: reference positions before the steps.
    q: npt.ArrayLike
    # N × nv, or rows × these: reference velocities before the steps.
    qd: npt.ArrayLike


class RolloutDirections(TypedDict, total=False):
    """Directions of the torques, of q and of qd. Each part lists the same number of directions; a part that is missing is zero."""

    # directions × N × nv, or rows × these: directions of the torques.
    torques: npt.ArrayLike
    # directions × nv, or rows × these: directions of the initial q.
    q: npt.ArrayLike
    # directions × nv, or rows × these: directions of the initial qd.
    qd: npt.ArrayLike


Grouping = TypedDict("Grouping", {
    "parameter": "str",
    "with": "list[GroupingWithItem]",
}, total=True)


class GroupingWithItem(TypedDict):
    parameter: str
    coefficient: float


class _TaskSpaceFramesItemNeeded(TypedDict):
    # A link or frame of the model.
    frame: str


class TaskSpaceFramesItem(_TaskSpaceFramesItemNeeded, total=False):
    # Directions of translation and axes of rotation of the task; the answer has their order.
    axes: Sequence[Literal['x', 'y', 'z', 'rx', 'ry', 'rz']]


class IdentifyPrior(TypedDict, total=False):
    """Standard deviations of the robot's parameters about the model's. Only kinds that are estimated; `bodies` without `unknown`."""

    # As a share of each body's mass; moments with powers of the distance of its mass from the link's origin.
    bodies: float
    # kg m²; prismatic joints kg.
    rotors: float
    # Viscous N m s/rad, Coulomb N m; prismatic joints N s/m, N.
    friction: float


class BaseParameter(TypedDict):
    # The parameter, plus each of `with` times its coefficient.
    grouping: Grouping
    # SI units of the parameter that the grouping is named after.
    value: float
    # Standard deviation of the value, from the residual torques over the degrees of freedom.
    deviation: float


class BodyParameters(TypedDict, total=False):
    link: str
    mass: float
    com: Array
    # About the centre of mass, as in a document, where mass, com and inertia may replace the link's; links merged into it then
    # have none.
    inertia: InertiaFound
    # The same in the order of the columns of regressor.
    inertial_parameters: Array
    # The joint that carries the link; absent for a floating base. For a motor its coordinate, `<joint>.motor`.
    joint: str
    # With `rotor`.
    rotor_inertia: float
    # With `friction`; as in a document. Noise can make the values negative.
    friction: FoundFriction


class InertiaFound(TypedDict, total=False):
    """kg m², true tensor entries (xy = -∫xy dm). Refused with an eigenvalue below -1e-9 × the largest."""

    xx: float
    yy: float
    zz: float
    xy: float
    xz: float
    yz: float


class FoundFriction(TypedDict):
    """With `friction`; as in a document. Noise can make the values negative."""

    viscous: float
    coulomb: FoundFrictionCoulomb


class FoundFrictionCoulomb(TypedDict):
    positive: float
    negative: float


class _IdentifyPayloadNeeded(TypedDict):
    link: str
    # kg.
    mass: float
    com: Array
    # kg, standard deviation of the mass; null where the rows do not show it alone, or where no real body has the mass that they
    # show and this one is more than two deviations off: look at `fit`, and at signs and units of the torques.
    mass_deviation: Union[float, Any]


class IdentifyPayload(_IdentifyPayloadNeeded, total=False):
    """With an unknown payload: the body that carries `frame`, and what is fixed to it beyond the model, in the axes of that link;
    a request takes it as `payload`, without `mass_deviation`. `base_parameters` are those of the whole body. `observability`
    says which of its figures the rows show."""

    # About the centre of mass. Absent if `unknown` lists only mass and centre of mass.
    inertia: InertiaFound


class IdentifyFit(TypedDict):
    """Residuals of the torques with the figures of `model`, `parameters` or `payload`, each times its weight if there are
    `weights`. Coefficients of the load and Stribeck's curves count as linearised."""

    # Root mean square of all rows.
    residual: float
    # nv: of each coordinate.
    coordinates: Array


class IdentifyObservabilityItem(TypedDict):
    parameter: str
    # alone, in a combination with others (see `base_parameters`), or not at all. A prior does not count.
    these_rows: Literal['alone', 'combined', 'none']
    any_motion: Literal['alone', 'combined', 'none']


class TrajectoryInput(TypedDict):
    """Only with `free`."""

    # Efforts, nv entries, 0 for coordinates that are not free.
    tau: Union[npt.ArrayLike, SampledSignal, SplineSignal, Sinusoid]


class _SampledSignalNeeded(TypedDict):
    values: npt.ArrayLike


class SampledSignal(_SampledSignalNeeded, total=False):
    """Values at times, held, linear or on a natural cubic spline between them."""

    # s, from 0 on; default: evenly spaced over the duration.
    times: npt.ArrayLike
    interpolation: Literal['hold', 'linear', 'cubic']


class _SplineSignalNeeded(TypedDict):
    degree: int
    control_points: npt.ArrayLike


class SplineSignal(_SplineSignalNeeded, total=False):
    """A B-spline over the duration."""

    knots: npt.ArrayLike


class _SinusoidNeeded(TypedDict):
    # Of a single coordinate.
    amplitude: npt.ArrayLike
    # rad/s; a number counts for all coordinates.
    angular_frequency: npt.ArrayLike


class Sinusoid(_SinusoidNeeded, total=False):
    """offset + amplitude sin(angular_frequency t + phase)."""

    # Of a single coordinate.
    offset: npt.ArrayLike
    # rad.
    phase: npt.ArrayLike


class _WrenchOverTimeNeeded(TypedDict):
    # Where it acts: a link or frame of the model.
    link: str


class WrenchOverTime(_WrenchOverTimeNeeded, total=False):
    """A wrench whose components may be signals."""

    # N, default [0,0,0].
    force: Union[npt.ArrayLike, SampledSignal, SplineSignal, Sinusoid]
    # N m, default [0,0,0].
    torque: Union[npt.ArrayLike, SampledSignal, SplineSignal, Sinusoid]
    # m, in the axes of `link` from its origin: where the force acts; default [0,0,0].
    point: npt.ArrayLike
    # The axes of force and torque: `world`; `link`, those of the link or frame named by `link`; or those of a link or frame
    # that is fixed to the same body or to the world. A frame that moves relative to the body is a 422.
    frame: str


class _MarginLimitNeeded(TypedDict):
    # Any joint with limits, with a coordinate or without; or a motor of `transmissions`. Motors follow the joints.
    joint: str
    kind: Literal['position', 'velocity', 'effort', 'effort_rate', 'acceleration', 'jerk', 'effort_speed']
    # rad, rad/s, rad/s², rad/s³, N m, N m/s, or m, m/s, m/s², m/s³, N, N/s.
    lower: float
    # In the unit of lower. Of effort_speed the stall effort.
    upper: float


class MarginLimit(_MarginLimitNeeded, total=False):
    # Only of effort_speed: N m s/rad or N s/m.
    slope: float


class LeastMargin(TypedDict):
    # Or a motor of `transmissions`; motors follow the joints.
    joint: str
    # effort_rate, acceleration and jerk: of trajectory only.
    kind: Literal['effort', 'position', 'velocity', 'effort_rate', 'acceleration', 'jerk', 'effort_speed']
    # The nearer limit: N m, N, rad, m, rad/s, m/s, N m/s or N/s; of effort_speed the stall effort.
    limit: float
    # The least distance to the limit, in the same unit; negative beyond it.
    margin: float
    # s, the first time of that margin.
    time: float


class LeastGradient(TypedDict):
    # The first sample with the least margin, from 0.
    sample: int
    # m × nv: derivatives with respect to all control points.
    dcontrol_points: Array
    # By the duration, at a constant fraction of the motion.
    dduration: float
    # m + p + 1: derivatives with respect to the knots.
    dknots: Array


class TorqueInput(TypedDict):
    # Joint values over time: constant, sampled, a B-spline or a sinusoid; each may be a batch.
    tau: Union[npt.ArrayLike, SampledSignal, SplineSignal, Sinusoid]


class _TorqueInputGivenNeeded(TypedDict):
    controller: Literal['state_feedback']
    # nv × 2 nv: K, torques by errors of positions, then of velocities. The K of a regulator u = -K x has the same sign, `gains`
    # of rollout the opposite one. Rows of coordinates that the controller does not drive are zeros.
    gain_matrix: npt.ArrayLike
    # nq, or rows × nq: positions of the reference; quaternions have the norm 1.
    q: npt.ArrayLike


class TorqueInputGiven(_TorqueInputGivenNeeded, total=False):
    # nv, or rows × nv: velocities of the reference, default 0.
    qd: npt.ArrayLike
    # Torques at the reference, default 0; 0 for coordinates that the controller does not drive.
    tau: Union[npt.ArrayLike, SampledSignal, SplineSignal, Sinusoid]
    # s between two samples, at most the duration; not for hua. Default: the controller is continuous.
    period: float
    # s from a sample until its torques act; needs period.
    delay: float
    # Whether torques are clipped at the limits of effort and effort_speed.
    clip: bool


class Prescribed(TypedDict):
    # Velocity names.
    coordinates: Sequence[str]
    # Their positions, in this order.
    motion: Union[npt.ArrayLike, SampledSignal, SplineSignal, Sinusoid]


class _ContactPointNeeded(TypedDict):
    # A link or frame of the model.
    frame: str


class ContactPoint(_ContactPointNeeded, total=False):
    """A point of the robot that a plane pushes out while the point is below the plane, or with `rigid` does not let in."""

    # m: the point in the axes of the frame, default its origin.
    position: npt.ArrayLike
    # The plane, in world axes; default z = 0.
    plane: ContactPointPlane
    # true: impacts and unilateral contact instead of a spring.
    rigid: bool
    # Speed along the normal after an impact of a rigid contact, divided by that before it.
    restitution: float
    # m/s along the normal, of a rigid contact: one that separates more slowly after an impact closes.
    resting_speed: float
    # N/m. Needed unless the contact is rigid.
    stiffness: float
    # s/m: 0, no energy is lost.
    dissipation: float
    # Greatest tangential force divided by the normal force.
    friction_coefficient: float
    # m/s along the plane below which friction is viscous.
    slip_velocity: float


class ContactPointPlane(TypedDict, total=False):
    """The plane, in world axes; default z = 0."""

    # m: a point of the plane, default the world's origin.
    point: npt.ArrayLike
    # Its normal out of the ground, of any length; default [0, 0, 1].
    normal: npt.ArrayLike


class _ContactEventNeeded(TypedDict):
    # s.
    time: float
    # Index in `contacts`.
    contact: int
    event: Literal['impact', 'make', 'break', 'slide', 'stick']


class ContactEvent(_ContactEventNeeded, total=False):
    # N s, by the plane on the robot, in world axes; of an impact. A contact that closes then loses its speed, at most
    # resting_speed, without an impulse that is listed.
    impulse: Array
    # Factor of all restitutions of an impact that would create energy with them. Absent: none was needed.
    restitution_factor: float


class ExceededLimit(TypedDict):
    # Or a motor of `transmissions`; motors follow the joints.
    joint: str
    kind: Literal['effort', 'position', 'velocity', 'effort_speed']
    # The limit on the side that was exceeded: N m, N, rad, m, rad/s or m/s; of effort_speed the stall effort.
    limit: float
    # The largest excess over the limit, in the same unit.
    excess: float
    # s, the time of that excess.
    time: float


class Plane(TypedDict, total=False):
    # m, world axes.
    point: npt.ArrayLike
    # World axes, not zero; default: against gravity.
    normal: npt.ArrayLike


class _InverseKinematicsTasksItemNeeded(TypedDict):
    # A frame or link that a joint moves.
    frame: str


class InverseKinematicsTasksItem(_InverseKinematicsTasksItemNeeded, total=False):
    # m, world axes.
    position: npt.ArrayLike
    # Quaternions [x, y, z, w] that rotate the frame's axes to world axes.
    orientation: npt.ArrayLike
    # World axes, of any length but 0. Not with `orientation`.
    direction: npt.ArrayLike
    # In the frame's axes, only with `direction`: points along it.
    axis: npt.ArrayLike
    # Weight of the squared errors, in m and rad, among tasks of one priority.
    weight: float
    priority: int


class _InverseKinematicsTasksItemGivenNeeded(TypedDict):
    # The centre of mass: m, world axes.
    com: npt.ArrayLike


class InverseKinematicsTasksItemGiven(_InverseKinematicsTasksItemGivenNeeded, total=False):
    # Weight of the squared errors, in m and rad, among tasks of one priority.
    weight: float
    priority: int


class JointAtLimit(TypedDict):
    joint: str
    # rad or m.
    limit: float


class _DifferentialInverseKinematicsTasksItemNeeded(TypedDict):
    # A frame or link that a joint moves.
    frame: str
    # World axes. 6: [linear; angular], m/s and rad/s; or 3, linear.
    velocity: npt.ArrayLike


class DifferentialInverseKinematicsTasksItem(_DifferentialInverseKinematicsTasksItemNeeded, total=False):
    # Weight of the squared errors, in m and rad, among tasks of one priority.
    weight: float
    priority: int


class _DifferentialInverseKinematicsTasksItemGivenNeeded(TypedDict):
    # m/s, world axes.
    com_velocity: npt.ArrayLike


class DifferentialInverseKinematicsTasksItemGiven(_DifferentialInverseKinematicsTasksItemGivenNeeded, total=False):
    # Weight of the squared errors, in m and rad, among tasks of one priority.
    weight: float
    priority: int


class ForceTorqueSensor(TypedDict, total=False):
    """A joint through which a wrench is computed, and the frame with its axes and its point."""

    # A fixed or moving joint. Default: the joint that carries the link of `frame`.
    joint: str
    # A link or frame that is fixed to the link beyond the joint. Default: that link.
    frame: str


class MarginsLeastItem(TypedDict):
    # Or a motor of `transmissions`.
    joint: str
    kind: Literal['position', 'velocity', 'effort', 'effort_rate', 'acceleration', 'jerk', 'effort_speed']
    # In the unit of the limit.
    margin: float
    # The first row with it, from 0.
    row: int


class MarginsLeastGradientsItem(TypedDict):
    # The row with the least margin, as in least.
    row: int
    # nv: derivatives with respect to q of this row.
    dq: Array
    # nv: derivatives with respect to qd of this row.
    dqd: Array
    # nv: derivatives with respect to qdd of this row.
    dqdd: Array
    # nv: derivatives with respect to qddd of this row.
    dqddd: Array


class _PathSmoothFrictionItemNeeded(TypedDict):
    # A velocity coordinate.
    joint: str
    # N m or N.
    positive: float
    # N m or N.
    negative: float
    # rad/s or m/s; 0: sharp.
    velocity: float


class PathSmoothFrictionItem(_PathSmoothFrictionItemNeeded, total=False):
    # N m or N. With a stribeck_velocity.
    breakaway_positive: float
    # N m or N.
    breakaway_negative: float
    # rad/s or m/s.
    stribeck_velocity: float
    # No unit: N m or N for each N m or N of |T|.
    load: float


class PathTimingJointLimits(TypedDict, total=False):
    """Limits in place of those of the model, for each kind that is named."""

    # rad/s or m/s.
    velocity: npt.ArrayLike
    # N m or N.
    effort: npt.ArrayLike
    # rad/s² or m/s².
    acceleration: npt.ArrayLike
    # N m/s or N/s.
    effort_rate: npt.ArrayLike
    # rad/s³ or m/s³.
    jerk: npt.ArrayLike


class _FrameLimitsNeeded(TypedDict):
    # Name of a link or frame that a joint moves.
    frame: str


class FrameLimits(_FrameLimitsNeeded, total=False):
    """Limits of the magnitudes of a frame's motion against the world, at least one."""

    # m/s, of the frame's origin.
    speed: float
    # rad/s.
    angular_speed: float
    # m/s², of the frame's origin, without gravity.
    linear_acceleration: float
    # rad/s².
    angular_acceleration: float


class _PathLimitNeeded(TypedDict):
    kind: Literal['position', 'velocity', 'effort', 'effort_rate', 'acceleration', 'jerk', 'effort_speed', 'speed', 'angular_speed', 'linear_acceleration', 'angular_acceleration', 'least_normal_force', 'friction_coefficient', 'torsional_friction_coefficient', 'sole']


class PathLimit(_PathLimitNeeded, total=False):
    # The joint or motor that has the limit.
    joint: str
    # In place of joint: the frame whose motion or contact wrench is limited.
    frame: str
    # rad, rad/s, rad/s², rad/s³, N m, N m/s, or m, m/s, m/s², m/s³, N, N/s. 0 for frames, whose magnitudes are limited. Of
    # contacts only least_normal_force has it.
    lower: float
    # In the unit of lower; a coefficient of friction. Of effort_speed the stall effort. Not of least_normal_force and sole.
    upper: float
    # Only of effort_speed: N m s/rad or N s/m.
    slope: float


Evaluations = TypedDict("Evaluations", {
    "inverse-dynamics": "EvaluationsInverseDynamics",
    "forward-dynamics": "EvaluationsForwardDynamics",
    "impact": "EvaluationsImpact",
    "mass-matrix": "EvaluationsMassMatrix",
    "bias": "EvaluationsBias",
    "kinematics": "EvaluationsKinematics",
    "energy": "EvaluationsEnergy",
    "torque-derivative": "EvaluationsTorqueDerivative",
    "sensitivity": "EvaluationsSensitivity",
    "forward-sensitivity": "EvaluationsForwardSensitivity",
    "gradient": "EvaluationsGradient",
    "forward-gradient": "EvaluationsForwardGradient",
    "directional": "EvaluationsDirectional",
    "forward-directional": "EvaluationsForwardDirectional",
    "hessian": "EvaluationsHessian",
    "forward-hessian": "EvaluationsForwardHessian",
    "step": "EvaluationsStep",
    "coriolis": "EvaluationsCoriolis",
    "regressor": "EvaluationsRegressor",
    "task-space": "EvaluationsTaskSpace",
    "ground-reaction": "EvaluationsGroundReaction",
    "margins": "EvaluationsMargins",
    "feed-forward": "EvaluationsFeedForward",
    "path": "EvaluationsPath",
    "sensors": "EvaluationsSensors",
}, total=False)


class EvaluationsInverseDynamics(TypedDict, total=False):
    # The coordinates whose acceleration is computed, by velocity_names; "base": all six of a floating base. The default of
    # `outputs` is then tau, qdd and, if coordinates of the base are among them, base_acceleration. Without `free` there are no
    # outputs qdd and base_acceleration.
    free: Union[Sequence[str], Literal['base']]
    # Frames in contact, whose wrenches bear the motion; an empty list counts as no `held`. contact_wrenches are then among the
    # default outputs; without `held` that output does not exist. Not with `free`.
    held: Sequence[HeldContact]
    outputs: Sequence[Literal['tau', 'joint_wrenches', 'qdd', 'base_acceleration', 'full', 'motor_tau', 'contact_wrenches']]


class EvaluationsForwardDynamics(TypedDict, total=False):
    # Frames in contact; an empty list counts as no `held`. In forward-dynamics and simulate contact_wrenches are then among the
    # default outputs; without `held` that output does not exist. In impact `held` is needed. In a phase of rollout without
    # `held` no frame is held.
    held: Sequence[Held]
    # Damping δ of the contacts of `held`, 1/kg and 1/(kg m²): see forward-dynamics. Missing: none.
    contact_damping: float
    # Friction of joints whose velocity is zero.
    friction_at_rest: Literal['none', 'stick']
    outputs: Sequence[Literal['qdd', 'joint_wrenches', 'contact_wrenches', 'full', 'friction', 'contact_residual', 'delassus']]


class _EvaluationsImpactNeeded(TypedDict):
    # The frames that hit something, at least one.
    held: Sequence[Held]


class EvaluationsImpact(_EvaluationsImpactNeeded, total=False):
    # Of the velocity along all held axes: 0, the frames stick; 1, no energy is lost.
    restitution: float
    outputs: Sequence[Literal['qd_after', 'contact_impulses', 'energy_loss']]


class EvaluationsMassMatrix(TypedDict, total=False):
    outputs: Sequence[Literal['mass_matrix', 'inverse']]


class EvaluationsBias(TypedDict, total=False):
    outputs: Sequence[Literal['bias', 'coriolis', 'gravity', 'friction']]


class EvaluationsKinematics(TypedDict, total=False):
    # Links and frames for `poses`; default all.
    frames: Sequence[str]
    # The link or frame that the outputs jacobian to jerk describe.
    frame: str
    # Points fixed to links or frames, for the outputs whose names begin with `point_` or `d_point_`. With `points` the default
    # of `outputs` contains point_positions.
    points: Sequence[KinematicsPointsItem]
    # The axes of the outputs other than `poses`.
    reference: Literal['world', 'frame']
    outputs: Sequence[Literal['poses', 'jacobian', 'jacobian_dot', 'velocity', 'acceleration', 'jerk', 'point_positions', 'point_jacobians', 'point_jacobians_dot', 'point_velocities', 'point_accelerations', 'd_point_jacobians_dq', 'd_point_velocities_dq', 'd_point_accelerations_dq', 'd_point_accelerations_dqd']]


class EvaluationsEnergy(TypedDict, total=False):
    outputs: Sequence[Literal['kinetic', 'potential', 'mass', 'com', 'com_velocity', 'com_jacobian', 'momentum', 'momentum_matrix', 'centroidal_inertia', 'com_acceleration', 'com_jerk', 'momentum_rate', 'momentum_matrix_dot', 'd_momentum_dq', 'd_momentum_rate_dq', 'd_momentum_rate_dqd']]


class EvaluationsTorqueDerivative(TypedDict, total=False):
    # The coordinates whose acceleration is computed, by velocity_names; "base": all six of a floating base. Without `free`
    # there are no outputs that begin with qdd or dqdd.
    free: Union[Sequence[str], Literal['base']]
    # Frames in contact, whose wrenches bear the motion; an empty list counts as no `held`. contact_wrenches are then among the
    # default outputs; without `held` that output does not exist. Not with `free`.
    held: Sequence[HeldContact]
    outputs: Sequence[Literal['tau', 'tau_dot', 'joint_wrenches', 'joint_wrench_rates', 'qdd', 'qddd', 'dtau_dot_dparameters', 'contact_wrenches', 'contact_wrench_rates']]


class EvaluationsSensitivity(TypedDict, total=False):
    # The coordinates whose acceleration is computed, by velocity_names; "base": all six of a floating base. Without `free`
    # there are no outputs that begin with qdd or dqdd.
    free: Union[Sequence[str], Literal['base']]
    # Frames in contact, whose wrenches bear the motion; an empty list counts as no `held`. contact_wrenches are then among the
    # default outputs; without `held` that output does not exist. Not with `free`.
    held: Sequence[HeldContact]
    outputs: Sequence[Literal['dtau_dq', 'dtau_dqd', 'dtau_dqdd', 'tau', 'joint_wrenches', 'd_joint_wrenches_dq', 'd_joint_wrenches_dqd', 'd_joint_wrenches_dqdd', 'dtau_dwrench', 'dtau_dgravity', 'dtau_dparameters', 'qdd', 'dqdd_dq', 'dqdd_dqd', 'dqdd_dqdd', 'dqdd_dtau', 'contact_wrenches', 'd_contact_wrenches_dq', 'd_contact_wrenches_dqd', 'd_contact_wrenches_dqdd']]


class EvaluationsForwardSensitivity(TypedDict, total=False):
    # Frames in contact; an empty list counts as no `held`. In forward-dynamics and simulate contact_wrenches are then among the
    # default outputs; without `held` that output does not exist. In impact `held` is needed. In a phase of rollout without
    # `held` no frame is held.
    held: Sequence[Held]
    # Damping δ of the contacts of `held`, 1/kg and 1/(kg m²): see forward-dynamics. Missing: none.
    contact_damping: float
    outputs: Sequence[Literal['dqdd_dq', 'dqdd_dqd', 'dqdd_dtau', 'qdd', 'dqdd_dwrench', 'dqdd_dparameters']]


class EvaluationsGradient(TypedDict, total=False):
    # The coordinates whose acceleration is computed, by velocity_names; "base": all six of a floating base. Without `free`
    # there are no outputs that begin with qdd or dqdd.
    free: Union[Sequence[str], Literal['base']]
    # Directions of each state, one row of nv numbers for each; all parts have as many rows, and absent parts are zero.
    directions: Directions
    outputs: Sequence[Literal['gradient_q', 'gradient_qd', 'gradient_qdd', 'tau', 'qdd', 'gradient_tau', 'gradient_parameters', 'gradient_wrenches', 'gradient_gravity', 'sum_parameters', 'sum_gravity', 'gradient_q_entries', 'hessian_products_q', 'hessian_products_qd', 'hessian_products_qdd', 'rates', 'gradient_friction']]


class EvaluationsForwardGradient(TypedDict, total=False):
    # Directions of each state, one row of nv numbers for each; all parts have as many rows, and absent parts are zero.
    directions: ForwardDirections
    outputs: Sequence[Literal['gradient_q', 'gradient_qd', 'gradient_tau', 'qdd', 'gradient_parameters', 'gradient_wrenches', 'gradient_gravity', 'sum_parameters', 'sum_gravity', 'gradient_q_entries', 'hessian_products_q', 'hessian_products_qd', 'hessian_products_tau', 'rates', 'gradient_friction']]


class _EvaluationsDirectionalNeeded(TypedDict):
    # Directions of each state, one row of nv numbers for each; all parts have as many rows, and absent parts are zero.
    directions: Directions


class EvaluationsDirectional(_EvaluationsDirectionalNeeded, total=False):
    outputs: Sequence[Literal['rates', 'tau']]


class _EvaluationsForwardDirectionalNeeded(TypedDict):
    # Directions of each state, one row of nv numbers for each; all parts have as many rows, and absent parts are zero.
    directions: ForwardDirections


class EvaluationsForwardDirectional(_EvaluationsForwardDirectionalNeeded, total=False):
    outputs: Sequence[Literal['rates', 'qdd']]


class EvaluationsHessian(TypedDict, total=False):
    outputs: Sequence[Literal['hessian_q_q', 'hessian_q_qd', 'hessian_q_qdd', 'hessian_qd_qd', 'hessian_qd_qdd', 'd2tau_dq_dq', 'd2tau_dq_dqd', 'd2tau_dq_dqdd', 'd2tau_dqd_dqd', 'd2tau_dqd_dqdd']]


class EvaluationsForwardHessian(TypedDict, total=False):
    outputs: Sequence[Literal['hessian_q_q', 'hessian_q_qd', 'hessian_qd_qd', 'hessian_q_tau', 'hessian_qd_tau', 'd2qdd_dq_dq', 'd2qdd_dq_dqd', 'd2qdd_dqd_dqd', 'd2qdd_dq_dtau', 'd2qdd_dqd_dtau']]


class _EvaluationsStepNeeded(TypedDict):
    # The step's duration h, s.
    step: float


class EvaluationsStep(_EvaluationsStepNeeded, total=False):
    integrator: Literal['explicit_euler', 'semi_implicit_euler', 'rk4', 'implicit_euler']
    # Frames in contact; an empty list counts as no `held`. In forward-dynamics and simulate contact_wrenches are then among the
    # default outputs; without `held` that output does not exist. In impact `held` is needed. In a phase of rollout without
    # `held` no frame is held.
    held: Sequence[Held]
    # Damping δ of the contacts of `held`, 1/kg and 1/(kg m²): see forward-dynamics. Missing: none.
    contact_damping: float
    # stick: sharp Coulomb friction can stop joints in the step. none: it has the sign of the velocity before the step.
    friction_at_rest: Literal['none', 'stick']
    # Whether the step begins with a plastic impact of the held frames.
    impact: bool
    outputs: Sequence[Literal['q_after', 'qd_after', 'state_matrix', 'input_matrix', 'wrench_matrix', 'parameter_matrix', 'contact_residual', 'sticking', 'full']]


class EvaluationsCoriolis(TypedDict, total=False):
    outputs: Sequence[Literal['coriolis_matrix', 'christoffel']]


class EvaluationsRegressor(TypedDict, total=False):
    outputs: Sequence[Literal['regressor', 'joint_regressor', 'base_parameters', 'base_regressor', 'kinetic_regressor', 'potential_regressor', 'momentum_regressor', 'joint_kinetic_regressor', 'joint_momentum_regressor']]


class EvaluationsTaskSpace(TypedDict, total=False):
    # A link or frame of the model.
    frame: str
    # Directions of translation and axes of rotation of the task; the answer has their order.
    axes: Sequence[Literal['x', 'y', 'z', 'rx', 'ry', 'rz']]
    # Several frames, in place of `frame` and `axes`.
    frames: Sequence[TaskSpaceFramesItem]
    # Bounds Λ near singular states, by damping⁻².
    damping: float
    outputs: Sequence[Literal['inertia', 'jacobian', 'jacobian_dot_qd', 'jacobian_inverse', 'bias', 'ellipsoid', 'condition']]


class EvaluationsGroundReaction(TypedDict, total=False):
    # Needed for foot_wrenches, tau and their derivatives. Links or frames that descend from the base.
    feet: Sequence[KinematicsPointsItem]
    # Which of two feet stand: one for all rows, or one for each row. The other foot is lifted and its wrench is zero.
    supports: Union[Literal['both', 'first', 'second'], Sequence[Literal['both', 'first', 'second']]]
    plane: Plane
    outputs: Sequence[Literal['resultant', 'zero_moment_point', 'foot_wrenches', 'tau', 'd_resultant_dq', 'd_resultant_dqd', 'd_resultant_dqdd', 'd_zero_moment_point_dq', 'd_zero_moment_point_dqd', 'd_zero_moment_point_dqdd', 'd_foot_wrenches_dq', 'd_foot_wrenches_dqd', 'd_foot_wrenches_dqdd', 'dtau_dq', 'dtau_dqd', 'dtau_dqdd']]


class EvaluationsMargins(TypedDict, total=False):
    # Of limits; default all.
    kinds: Sequence[Literal['position', 'velocity', 'effort', 'effort_rate', 'acceleration', 'jerk', 'effort_speed']]
    outputs: Sequence[Literal['limits', 'margins', 'dmargins_dq', 'dmargins_dqd', 'dmargins_dqdd', 'dmargins_dqddd', 'least', 'least_gradients']]


class EvaluationsFeedForward(TypedDict, total=False):
    # s, increasing, one for each row: the rows are instants of one motion, along which motors of elastic joints with damping
    # are integrated. With `times` qdd_errors is among the default outputs.
    times: npt.ArrayLike
    # Source of the positions of the motors of elastic joints with damping. given: `q` of each row, with `times` of the first
    # row. settled: only with `times`, the first row begins with a settled spring.
    motor_positions: Literal['settled', 'given']
    outputs: Sequence[Literal['q', 'qd', 'qdd', 'tau', 'qdd_errors']]


class EvaluationsPath(TypedDict, total=False):
    outputs: Sequence[Literal['tau_a', 'tau_b', 'tau_c', 'tau_d', 'dtau_a_ds', 'dtau_b_ds', 'dtau_c_ds', 'dtau_d_ds', 'smooth_friction', 'jumps', 'joint_wrenches_a', 'joint_wrenches_b', 'joint_wrenches_c', 'd_joint_wrenches_a_ds', 'd_joint_wrenches_b_ds', 'd_joint_wrenches_c_ds', 'motor_jumps']]


class EvaluationsSensors(TypedDict, total=False):
    # Joints through which the wrench is computed.
    force_torque: Sequence[ForceTorqueSensor]
    # Links or frames with an accelerometer and a gyroscope.
    inertial: Union[str, Sequence[str]]
    # Without it those whose sensors are given.
    outputs: Sequence[Literal['wrenches', 'specific_forces', 'angular_velocities']]
