"""One method for each operation of the contract.

Made by api/clients/python/generate.py from api/openapi.yaml: change that, then `make reference`.
"""

from __future__ import annotations

from typing import Any, Literal, Mapping, Optional, Sequence, Type, Union

import numpy.typing as npt

from ..answers import A, Coordinates
from .answers import (InverseDynamicsAnswer, ForwardDynamicsAnswer, ImpactAnswer, MassMatrixAnswer, BiasAnswer,
                      KinematicsAnswer, EnergyAnswer, TorqueDerivativeAnswer, SensitivityAnswer, ForwardSensitivityAnswer,
                      GradientAnswer, ForwardGradientAnswer, DirectionalAnswer, ForwardDirectionalAnswer, HessianAnswer,
                      ForwardHessianAnswer, StepAnswer, RolloutAnswer, RolloutGradientAnswer, CoriolisAnswer, RegressorAnswer,
                      TaskSpaceAnswer, IdentifyAnswer, TrajectoryAnswer, TrajectoryHessianAnswer, SimulateAnswer,
                      GroundReactionAnswer, InverseKinematicsAnswer, DifferentialInverseKinematicsAnswer, ConfigurationAnswer,
                      SensorsAnswer, ExternalWrenchAnswer, MarginsAnswer, PathAnswer, PathTimingAnswer, FeedForwardAnswer,
                      EvaluateAnswer)
from .fields import *  # noqa: F403


class Operations:
    """What a model answers. Fields that are None are not sent."""

    def _evaluate(self, operation: str, kind: Type[A], request: Mapping[str, Any],
                  timeout: Optional[float]) -> A:
        raise NotImplementedError

    def inverse_dynamics(
            self, q: Optional[Coordinates] = None, *, qd: Optional[Coordinates] = None, qdd: Optional[Coordinates] = None,
            qd_reference: Optional[Coordinates] = None, qdd_reference: Optional[Coordinates] = None,
            gravity: Optional[npt.ArrayLike] = None, payload: Optional[Union[Payload, Sequence[Payload]]] = None,
            parameters: Optional[Mapping[str, npt.ArrayLike]] = None, wrenches: Optional[Sequence[Wrench]] = None,
            friction: Optional[bool] = None, joints: Optional[Sequence[str]] = None, guess: Optional[Coordinates] = None,
            platform: Optional[Platform] = None, tau: Optional[Coordinates] = None,
            free: Optional[Union[Sequence[str], Literal['base']]] = None, held: Optional[Sequence[HeldContact]] = None,
            locked: Optional[Mapping[str, npt.ArrayLike]] = None, normalise: Optional[bool] = None,
            on_error: Optional[Literal['request', 'row']] = None,
            outputs: Optional[Sequence[Literal['tau', 'joint_wrenches', 'qdd', 'base_acceleration', 'full', 'motor_tau',
            'contact_wrenches']]] = None,
            timeout: Optional[float] = None,
    ) -> InverseDynamicsAnswer:
        """Torques for given accelerations.

        tau = M qdd + C qd + g + friction + springs - Σ JᵀW, by the recursive Newton-Euler algorithm. Missing `qd` and `qdd` are
        zero. With `qd_reference` or `qdd_reference` (a missing one is zero) the torque is that of adaptive and passivity-based
        controllers (Slotine & Li): tau = M qdd_reference + C(q, qd) qd_reference + g + friction + springs - Σ JᵀW, with the
        matrix C of the operation coriolis. Friction and damping are those at `qd_reference`. `qdd`, `free` and the output
        joint_wrenches cannot be combined with a reference. Coordinates in `free` move as forces make them: a base without
        support, joints without a motor. Their `tau` is given (default 0) and their `qdd` is computed, by the articulated-body
        algorithm in which all other joints are driven; `tau` of the others is computed. A computed quantity is absent or 0 in
        the request. The answer has `tau` and `qdd` of all coordinates, and `base_acceleration` where coordinates of the base
        are free. A free coordinate without mass or inertia is a 422 that names the joint. With `held` frames (feet on the
        ground, a hand on a table) contact wrenches bear the motion. No actuator moves the coordinates U of a floating base, of
        joints with "actuated": false and of elastic joints beyond their springs; their tau is 0. With J the rows of the frames
        along the held axes and tau₀ the torques without contacts, the efforts l along these axes satisfy (Jᵀl)_U = tau₀_U, and
        tau = tau₀ - Jᵀl. The answer has `contact_wrenches`; `joint_wrenches`, `full` and `motor_tau` include their effect. A
        robot without coordinates U can do without contacts: l is then as small as the limits below allow. `qdd` must hold the
        frames as in forward-dynamics: J qdd + J̇ qd = 0. Up to 1e-6 of the size of the accelerations at the frames (gravity,
        that of qd, |J_av qdd_v| of each coordinate) counts as zero; more is the 422 held-frame-accelerates, which names frame,
        axis and residual. The qdd of forward-dynamics with the same `held` does. If several l bear the motion, that with the
        least sum of weight l² is chosen, in N² and N² m². Limits of the contacts restrict the choice: members of the entries of
        `held`. With the force f and the torque t on the frame about its origin and the `normal` n out of the ground: n·f ≥
        `least_normal_force`; |f - (n·f) n| ≤ `friction_coefficient` n·f, or with `facets` the pyramid inside this cone; |n·t| ≤
        `torsional_friction_coefficient` n·f; the centre of pressure is in the polygon `sole`. The wrenches keep within the
        limits up to 1e-12 of their size. If no wrenches bear the motion, the answer is the 422 infeasible-contacts: it names
        the limits and frames that contradict each other, or the coordinate at which an effort remains that none of the held
        axes bears (up to 1e-6 of the robot's weight, times the largest reach of a held frame for torques, counts as none).
        Without limits the wrenches are those of linear algebra and may pull. The choice within limits is a convex problem,
        which the dual active-set method of Goldfarb & Idnani solves; cones are approached by their tangents, and finished by
        Newton's method. The steps of both methods are bounded. With "free", a reference, or friction that depends on the load
        in a model with loops or at a joint without actuator, `held` is refused.

        q: Positions, nq entries: rad or m.
        qd: Velocities, nv entries: rad/s or m/s. Default 0.
        qdd: Accelerations, nv entries: rad/s² or m/s². Default 0.
        qd_reference: Reference velocities of a controller, nv entries: rad/s or m/s. Default 0 beside `qdd_reference`.
        qdd_reference: Reference accelerations of a controller, nv entries: rad/s² or m/s². Default 0 beside `qd_reference`.
        gravity: m/s², world axes; replaces the model's. One vector for all rows, or one for each: of tilted mounts, whose
        gravity turns with the base, and of a base that is accelerated without turning, whose gravity is g - a. For any motion
        of the base the model has a floating one, whose qdd is given. Rows of gravity or of figures of payloads have the bits of
        single requests; each state is then evaluated alone instead of in lanes: an inverse dynamics of a Panda takes 0.3 µs
        more, and with payloads of rows 1.3 µs more, in which the model with the payload is made. identify, ground-reaction,
        sensors, external-wrench and path-timing take one value for all rows. path with Coulomb friction and limits of the
        effort of mimic joints takes one payload and one set of parameters.
        payload: A rigid body fixed to a link or frame for this request. Each figure is one for all rows, or one for each row.
        On a link that is fixed to the world it has no effect, which is a warning of the answer. The link's gravity_compensation
        applies to it too.
        parameters: Inertial parameters that replace the model's, by the links of bodies: for each link ten numbers m, m c (3),
        Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the origin and in the axes of the link, as `regressor` numbers them, or a row of ten
        for each row of the batch. The parameters of a link are those of its body, whatever is merged into it or mounted on it
        included. A body must be physical. Payloads are added. Cost: as of payloads.
        wrenches: Acts on the link, by the environment.
        friction: false omits joint friction.
        joints: A permutation of velocity_names, the order of coordinates in this request and its answer. The six coordinates of
        a floating base stay first, as in `q` its seven positions, and may be left out of the list. For models none of whose
        joints has a quaternion.
        guess: For models with `loops`: passive coordinates near the intended ones, where several positions close the loops.
        From there the loop error is reduced to zero proportionally, without passing a singular position. An object of some of
        `passive_names`, the others having the values of the model's `reference`, or an array of all of them, or a batch of
        arrays.
        platform: For models with `loops`, instead of q, qd and qdd: pose and motion of a frame, in world axes. The answer
        begins with the corresponding q, and with qd and qdd if rates are given. Without `orientation` the mechanism determines
        the orientation of the frame, and rates are those of its origin alone. The frame moves on the straight line from its
        pose in the model's `reference`; with a `guess` the errors of loops and frame are reduced to zero together, starting
        from the actuated coordinates of the reference and the passive ones of the guess.
        tau: Only with `free`: efforts, nv entries, 0 for coordinates that are not free. Default 0.
        free: The coordinates whose acceleration is computed, by velocity_names; "base": all six of a floating base. The default
        of `outputs` is then tau, qdd and, if coordinates of the base are among them, base_acceleration. Without `free` there
        are no outputs qdd and base_acceleration.
        held: Frames in contact, whose wrenches bear the motion; an empty list counts as no `held`. contact_wrenches are then
        among the default outputs; without `held` that output does not exist. Not with `free`.
        locked: Joints that are held at positions, by the names of the joints: a number in rad or m, [x, y, angle] of a planar
        joint, the quaternion [qx, qy, qz, qw] of a spherical one, or the seven positions of a floating one. These joints are
        fixed for this request: they leave `q`, `qd`, `tau` and all other coordinates of the request and of its answer, whose
        order stays; their links belong to the bodies of their parents, and keep their frames. So `joint_wrenches`, parameters
        and limits of the request are those of the reduced model, too. Joints that mimic them stand where they follow. Their
        friction, springs, limits and `rotor_inertia` disappear; a motor on such a joint is a part of the link that carries it.
        `<joint>.motor` of an elastic joint locks its motor alone: the joint then has the spring to the motor's place. Loops
        keep their assembly, the position to which the locked joints move the model's `reference`. A 422: a mimic joint, a
        passive joint of loops, a floating base, all joints together, or some of the joints of a transmission. The first request
        with the same `locked` on a model takes the time to build the reduced model, about 0.1 ms for each link and the closing
        of its loops; the server keeps the last 64, of at most 32 MiB, for the next ones. Of `PUT`, the parameter `locked`
        reduces a model for all requests.
        normalise: Whether quaternions of the request (in `q`, `guess`, `platform` and `orientation`) may have any norm but 0,
        and are normalised. By default a norm that differs from 1 by more than 1e-6 is the 422 bad-quaternion: it is often a
        wrong order or a missing component.
        on_error: Whether a row that cannot be evaluated fails the whole request, or only itself: then it is null (NaN in typed
        arrays of CBOR), and listed in `errors` of the answer. Outputs without numbers, as `dtau_dwrench` without wrenches, stay
        empty.
        outputs
        timeout: of this call, s; the server then stops working on it, too.
        """
        return self._evaluate("inverse-dynamics", InverseDynamicsAnswer, {"q": q, "qd": qd, "qdd": qdd, "qd_reference":
            qd_reference, "qdd_reference": qdd_reference, "gravity": gravity, "payload": payload, "parameters": parameters,
            "wrenches": wrenches, "friction": friction, "joints": joints, "guess": guess, "platform": platform, "tau": tau,
            "free": free, "held": held, "locked": locked, "normalise": normalise, "on_error": on_error, "outputs": outputs},
            timeout)

    def forward_dynamics(
            self, q: Optional[Coordinates] = None, *, tau: Coordinates, qd: Optional[Coordinates] = None,
            gravity: Optional[npt.ArrayLike] = None, payload: Optional[Union[Payload, Sequence[Payload]]] = None,
            parameters: Optional[Mapping[str, npt.ArrayLike]] = None, wrenches: Optional[Sequence[Wrench]] = None,
            friction: Optional[bool] = None, joints: Optional[Sequence[str]] = None, guess: Optional[Coordinates] = None,
            platform: Optional[Platform] = None, held: Optional[Sequence[Held]] = None,
            contact_damping: Optional[float] = None, friction_at_rest: Optional[Literal['none', 'stick']] = None,
            locked: Optional[Mapping[str, npt.ArrayLike]] = None, normalise: Optional[bool] = None,
            on_error: Optional[Literal['request', 'row']] = None,
            outputs: Optional[Sequence[Literal['qdd', 'joint_wrenches', 'contact_wrenches', 'full', 'friction',
            'contact_residual', 'delassus']]] = None,
            timeout: Optional[float] = None,
    ) -> ForwardDynamicsAnswer:
        """Accelerations for given torques.

        qdd = M⁻¹ (tau + Σ JᵀW - C qd - g - friction - springs), by the articulated-body algorithm. Missing `qd` is zero. A mass
        matrix that is singular at the state is a 422 naming the joint. `held` frames keep their velocity along the named axes:
        with J the rows of their Jacobians, M qdd + C qd + g + … = tau + Σ JᵀW + Jᵀl and J qdd + J̇ qd = 0. `contact_wrenches`
        are the wrenches that hold them; `joint_wrenches` include their effect. Contacts may depend on each other (four feet,
        two hands on one object): qdd is the same however the load is shared, and the wrenches are those with the least sum of
        squares (N and N m alike). Contacts push and pull; the caller checks whether the ground could pull. Wheels, skates and
        balls. A frame held along one of its own axes (`"reference": "frame"`) is a skate or the edge of a knife; two of them
        make a car. A frame with `rolling` is the centre of a sphere or a disc that rolls on a plane without slip: J has the
        rows of the material point that touches the plane, and J̇ qd the motion of this point through the material. Its wrench
        is the force at this point, given about the frame's origin like all wrenches. One rule decides in all operations with
        `held` which axes depend on others, and whether they contradict each other. An axis depends on the axes before it if J
        M⁻¹ Jᵀ, eliminated in their order, leaves at most 1e-12 of its diagonal entry. Its acceleration then follows from
        theirs. If it does not vanish with theirs, no accelerations keep the velocities: the 422 contradictory-contacts, which
        names the frames. Up to 1e-8 of the size of the accelerations at the frames counts as zero. This size is the sum of
        those by gravity (at least 9.80665 m/s²; for rotations divided by the reach, the sum of the distances between the joints
        up to the frame), by the velocities, and of |J| |qdd| without contacts, in the units of the axis. So velocities of
        rounding size count as rest. An axis along which the frame moves by less than 1e-8 of the reach is held for nothing.
        Measured velocities of feet that depend on each other are never exactly compatible. `contact_damping` δ > 0 gives the
        accelerations for any velocities: it solves (J M⁻¹ Jᵀ + δ 1) l = -(J qdd₀ + J̇ qd), once, with the accelerations qdd₀
        without contacts. Along the held axes J qdd + J̇ qd = -δ l remains: the output `contact_residual`, then among the
        outputs by default. The unit of δ is 1/kg along x, y, z and 1/(kg m²) about rx, ry, rz; one number is used for both.
        Joints at rest. Coulomb friction has the sign of the velocity, and is zero where the velocity is zero: by default a
        joint that is exactly at rest accelerates as if it had no Coulomb friction. With `"friction_at_rest": "stick"` static
        friction holds each joint with sharp Coulomb friction (without `coulomb_velocity`) that is at rest, qd = 0, as long as
        this needs at most `coulomb`, or `breakaway` if given, plus load |T| where friction depends on the load: its qdd is
        exactly 0. A joint that cannot be held starts to move against its full friction. Motors of coupled `transmissions` stick
        in the same way while their rate is 0, and passive joints of loops while the whole mechanism is at rest. Which joints
        stick is one problem for all of them and the `held` frames (Coulomb's law is the optimality condition of a bounded
        least-squares problem); qdd is unique, and simulations start with it; simulate names the joints that do not stick there.
        Several joints and held frames can hold the same motion, as in a robot that stands on four feet: then the friction is
        the one with the least sum of squares of friction / (sum of the limits of both directions), and the wrenches are those
        with the least sum of squares beside it. `friction` is then among the outputs by default. `"friction": false` beside it
        is a 422.

        tau: Joint efforts, nv entries: N m or N.
        q: Positions, nq entries: rad or m.
        qd: Velocities, nv entries: rad/s or m/s. Default 0.
        gravity: m/s², world axes; replaces the model's. One vector for all rows, or one for each: of tilted mounts, whose
        gravity turns with the base, and of a base that is accelerated without turning, whose gravity is g - a. For any motion
        of the base the model has a floating one, whose qdd is given. Rows of gravity or of figures of payloads have the bits of
        single requests; each state is then evaluated alone instead of in lanes: an inverse dynamics of a Panda takes 0.3 µs
        more, and with payloads of rows 1.3 µs more, in which the model with the payload is made. identify, ground-reaction,
        sensors, external-wrench and path-timing take one value for all rows. path with Coulomb friction and limits of the
        effort of mimic joints takes one payload and one set of parameters.
        payload: A rigid body fixed to a link or frame for this request. Each figure is one for all rows, or one for each row.
        On a link that is fixed to the world it has no effect, which is a warning of the answer. The link's gravity_compensation
        applies to it too.
        parameters: Inertial parameters that replace the model's, by the links of bodies: for each link ten numbers m, m c (3),
        Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the origin and in the axes of the link, as `regressor` numbers them, or a row of ten
        for each row of the batch. The parameters of a link are those of its body, whatever is merged into it or mounted on it
        included. A body must be physical. Payloads are added. Cost: as of payloads.
        wrenches: Acts on the link, by the environment.
        friction: false omits joint friction.
        joints: A permutation of velocity_names, the order of coordinates in this request and its answer. The six coordinates of
        a floating base stay first, as in `q` its seven positions, and may be left out of the list. For models none of whose
        joints has a quaternion.
        guess: For models with `loops`: passive coordinates near the intended ones, where several positions close the loops.
        From there the loop error is reduced to zero proportionally, without passing a singular position. An object of some of
        `passive_names`, the others having the values of the model's `reference`, or an array of all of them, or a batch of
        arrays.
        platform: For models with `loops`, instead of q, qd and qdd: pose and motion of a frame, in world axes. The answer
        begins with the corresponding q, and with qd and qdd if rates are given. Without `orientation` the mechanism determines
        the orientation of the frame, and rates are those of its origin alone. The frame moves on the straight line from its
        pose in the model's `reference`; with a `guess` the errors of loops and frame are reduced to zero together, starting
        from the actuated coordinates of the reference and the passive ones of the guess.
        held: Frames in contact; an empty list counts as no `held`. In forward-dynamics and simulate contact_wrenches are then
        among the default outputs; without `held` that output does not exist. In impact `held` is needed. In a phase of rollout
        without `held` no frame is held.
        contact_damping: Damping δ of the contacts of `held`, 1/kg and 1/(kg m²): see forward-dynamics. Missing: none.
        friction_at_rest: Friction of joints whose velocity is zero.
        locked: Joints that are held at positions, by the names of the joints: a number in rad or m, [x, y, angle] of a planar
        joint, the quaternion [qx, qy, qz, qw] of a spherical one, or the seven positions of a floating one. These joints are
        fixed for this request: they leave `q`, `qd`, `tau` and all other coordinates of the request and of its answer, whose
        order stays; their links belong to the bodies of their parents, and keep their frames. So `joint_wrenches`, parameters
        and limits of the request are those of the reduced model, too. Joints that mimic them stand where they follow. Their
        friction, springs, limits and `rotor_inertia` disappear; a motor on such a joint is a part of the link that carries it.
        `<joint>.motor` of an elastic joint locks its motor alone: the joint then has the spring to the motor's place. Loops
        keep their assembly, the position to which the locked joints move the model's `reference`. A 422: a mimic joint, a
        passive joint of loops, a floating base, all joints together, or some of the joints of a transmission. The first request
        with the same `locked` on a model takes the time to build the reduced model, about 0.1 ms for each link and the closing
        of its loops; the server keeps the last 64, of at most 32 MiB, for the next ones. Of `PUT`, the parameter `locked`
        reduces a model for all requests.
        normalise: Whether quaternions of the request (in `q`, `guess`, `platform` and `orientation`) may have any norm but 0,
        and are normalised. By default a norm that differs from 1 by more than 1e-6 is the 422 bad-quaternion: it is often a
        wrong order or a missing component.
        on_error: Whether a row that cannot be evaluated fails the whole request, or only itself: then it is null (NaN in typed
        arrays of CBOR), and listed in `errors` of the answer. Outputs without numbers, as `dtau_dwrench` without wrenches, stay
        empty.
        outputs
        timeout: of this call, s; the server then stops working on it, too.
        """
        return self._evaluate("forward-dynamics", ForwardDynamicsAnswer, {"tau": tau, "q": q, "qd": qd, "gravity": gravity,
            "payload": payload, "parameters": parameters, "wrenches": wrenches, "friction": friction, "joints": joints, "guess":
            guess, "platform": platform, "held": held, "contact_damping": contact_damping, "friction_at_rest": friction_at_rest,
            "locked": locked, "normalise": normalise, "on_error": on_error, "outputs": outputs}, timeout)

    def impact(
            self, q: Optional[Coordinates] = None, *, held: Sequence[Held], qd: Optional[Coordinates] = None,
            payload: Optional[Union[Payload, Sequence[Payload]]] = None,
            parameters: Optional[Mapping[str, npt.ArrayLike]] = None, joints: Optional[Sequence[str]] = None,
            guess: Optional[Coordinates] = None, platform: Optional[Platform] = None, restitution: Optional[float] = None,
            locked: Optional[Mapping[str, npt.ArrayLike]] = None, normalise: Optional[bool] = None,
            on_error: Optional[Literal['request', 'row']] = None,
            outputs: Optional[Sequence[Literal['qd_after', 'contact_impulses', 'energy_loss']]] = None,
            timeout: Optional[float] = None,
    ) -> ImpactAnswer:
        """Velocities after an impact of frames.

        The frames of `held` hit an obstacle at the same instant, and stick to it along their axes or bounce: with J the rows of
        their Jacobians, M (qd₊ - qd) = Jᵀp and J qd₊ = -restitution J qd. Finite forces have no effect, because an impact takes
        no time. Contacts may depend on each other, as in forward-dynamics. The kinetic energy lost, ½ (1 - restitution²) (J
        qd)ᵀ (J M⁻¹ Jᵀ)⁻¹ (J qd), is never negative, because one restitution applies to all directions.

        held: The frames that hit something, at least one.
        q: Positions, nq entries: rad or m.
        qd: Velocities, nv entries: rad/s or m/s. Default 0.
        payload: A rigid body fixed to a link or frame for this request. Each figure is one for all rows, or one for each row.
        On a link that is fixed to the world it has no effect, which is a warning of the answer. The link's gravity_compensation
        applies to it too.
        parameters: Inertial parameters that replace the model's, by the links of bodies: for each link ten numbers m, m c (3),
        Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the origin and in the axes of the link, as `regressor` numbers them, or a row of ten
        for each row of the batch. The parameters of a link are those of its body, whatever is merged into it or mounted on it
        included. A body must be physical. Payloads are added. Cost: as of payloads.
        joints: A permutation of velocity_names, the order of coordinates in this request and its answer. The six coordinates of
        a floating base stay first, as in `q` its seven positions, and may be left out of the list. For models none of whose
        joints has a quaternion.
        guess: For models with `loops`: passive coordinates near the intended ones, where several positions close the loops.
        From there the loop error is reduced to zero proportionally, without passing a singular position. An object of some of
        `passive_names`, the others having the values of the model's `reference`, or an array of all of them, or a batch of
        arrays.
        platform: For models with `loops`, instead of q, qd and qdd: pose and motion of a frame, in world axes. The answer
        begins with the corresponding q, and with qd and qdd if rates are given. Without `orientation` the mechanism determines
        the orientation of the frame, and rates are those of its origin alone. The frame moves on the straight line from its
        pose in the model's `reference`; with a `guess` the errors of loops and frame are reduced to zero together, starting
        from the actuated coordinates of the reference and the passive ones of the guess.
        restitution: Of the velocity along all held axes: 0, the frames stick; 1, no energy is lost.
        locked: Joints that are held at positions, by the names of the joints: a number in rad or m, [x, y, angle] of a planar
        joint, the quaternion [qx, qy, qz, qw] of a spherical one, or the seven positions of a floating one. These joints are
        fixed for this request: they leave `q`, `qd`, `tau` and all other coordinates of the request and of its answer, whose
        order stays; their links belong to the bodies of their parents, and keep their frames. So `joint_wrenches`, parameters
        and limits of the request are those of the reduced model, too. Joints that mimic them stand where they follow. Their
        friction, springs, limits and `rotor_inertia` disappear; a motor on such a joint is a part of the link that carries it.
        `<joint>.motor` of an elastic joint locks its motor alone: the joint then has the spring to the motor's place. Loops
        keep their assembly, the position to which the locked joints move the model's `reference`. A 422: a mimic joint, a
        passive joint of loops, a floating base, all joints together, or some of the joints of a transmission. The first request
        with the same `locked` on a model takes the time to build the reduced model, about 0.1 ms for each link and the closing
        of its loops; the server keeps the last 64, of at most 32 MiB, for the next ones. Of `PUT`, the parameter `locked`
        reduces a model for all requests.
        normalise: Whether quaternions of the request (in `q`, `guess`, `platform` and `orientation`) may have any norm but 0,
        and are normalised. By default a norm that differs from 1 by more than 1e-6 is the 422 bad-quaternion: it is often a
        wrong order or a missing component.
        on_error: Whether a row that cannot be evaluated fails the whole request, or only itself: then it is null (NaN in typed
        arrays of CBOR), and listed in `errors` of the answer. Outputs without numbers, as `dtau_dwrench` without wrenches, stay
        empty.
        outputs
        timeout: of this call, s; the server then stops working on it, too.
        """
        return self._evaluate("impact", ImpactAnswer, {"held": held, "q": q, "qd": qd, "payload": payload, "parameters":
            parameters, "joints": joints, "guess": guess, "platform": platform, "restitution": restitution, "locked": locked,
            "normalise": normalise, "on_error": on_error, "outputs": outputs}, timeout)

    def mass_matrix(
            self, q: Optional[Coordinates] = None, *, payload: Optional[Union[Payload, Sequence[Payload]]] = None,
            parameters: Optional[Mapping[str, npt.ArrayLike]] = None, joints: Optional[Sequence[str]] = None,
            guess: Optional[Coordinates] = None, platform: Optional[Platform] = None,
            locked: Optional[Mapping[str, npt.ArrayLike]] = None, normalise: Optional[bool] = None,
            on_error: Optional[Literal['request', 'row']] = None,
            outputs: Optional[Sequence[Literal['mass_matrix', 'inverse']]] = None, timeout: Optional[float] = None,
    ) -> MassMatrixAnswer:
        """The joint-space inertia matrix, and its inverse.

        By the composite-rigid-body algorithm; rotor inertia included.

        q: Positions, nq entries: rad or m.
        payload: A rigid body fixed to a link or frame for this request. Each figure is one for all rows, or one for each row.
        On a link that is fixed to the world it has no effect, which is a warning of the answer. The link's gravity_compensation
        applies to it too.
        parameters: Inertial parameters that replace the model's, by the links of bodies: for each link ten numbers m, m c (3),
        Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the origin and in the axes of the link, as `regressor` numbers them, or a row of ten
        for each row of the batch. The parameters of a link are those of its body, whatever is merged into it or mounted on it
        included. A body must be physical. Payloads are added. Cost: as of payloads.
        joints: A permutation of velocity_names, the order of coordinates in this request and its answer. The six coordinates of
        a floating base stay first, as in `q` its seven positions, and may be left out of the list. For models none of whose
        joints has a quaternion.
        guess: For models with `loops`: passive coordinates near the intended ones, where several positions close the loops.
        From there the loop error is reduced to zero proportionally, without passing a singular position. An object of some of
        `passive_names`, the others having the values of the model's `reference`, or an array of all of them, or a batch of
        arrays.
        platform: For models with `loops`, instead of q, qd and qdd: pose and motion of a frame, in world axes. The answer
        begins with the corresponding q, and with qd and qdd if rates are given. Without `orientation` the mechanism determines
        the orientation of the frame, and rates are those of its origin alone. The frame moves on the straight line from its
        pose in the model's `reference`; with a `guess` the errors of loops and frame are reduced to zero together, starting
        from the actuated coordinates of the reference and the passive ones of the guess.
        locked: Joints that are held at positions, by the names of the joints: a number in rad or m, [x, y, angle] of a planar
        joint, the quaternion [qx, qy, qz, qw] of a spherical one, or the seven positions of a floating one. These joints are
        fixed for this request: they leave `q`, `qd`, `tau` and all other coordinates of the request and of its answer, whose
        order stays; their links belong to the bodies of their parents, and keep their frames. So `joint_wrenches`, parameters
        and limits of the request are those of the reduced model, too. Joints that mimic them stand where they follow. Their
        friction, springs, limits and `rotor_inertia` disappear; a motor on such a joint is a part of the link that carries it.
        `<joint>.motor` of an elastic joint locks its motor alone: the joint then has the spring to the motor's place. Loops
        keep their assembly, the position to which the locked joints move the model's `reference`. A 422: a mimic joint, a
        passive joint of loops, a floating base, all joints together, or some of the joints of a transmission. The first request
        with the same `locked` on a model takes the time to build the reduced model, about 0.1 ms for each link and the closing
        of its loops; the server keeps the last 64, of at most 32 MiB, for the next ones. Of `PUT`, the parameter `locked`
        reduces a model for all requests.
        normalise: Whether quaternions of the request (in `q`, `guess`, `platform` and `orientation`) may have any norm but 0,
        and are normalised. By default a norm that differs from 1 by more than 1e-6 is the 422 bad-quaternion: it is often a
        wrong order or a missing component.
        on_error: Whether a row that cannot be evaluated fails the whole request, or only itself: then it is null (NaN in typed
        arrays of CBOR), and listed in `errors` of the answer. Outputs without numbers, as `dtau_dwrench` without wrenches, stay
        empty.
        outputs
        timeout: of this call, s; the server then stops working on it, too.
        """
        return self._evaluate("mass-matrix", MassMatrixAnswer, {"q": q, "payload": payload, "parameters": parameters, "joints":
            joints, "guess": guess, "platform": platform, "locked": locked, "normalise": normalise, "on_error": on_error,
            "outputs": outputs}, timeout)

    def bias(
            self, q: Optional[Coordinates] = None, *, qd: Optional[Coordinates] = None,
            gravity: Optional[npt.ArrayLike] = None, payload: Optional[Union[Payload, Sequence[Payload]]] = None,
            parameters: Optional[Mapping[str, npt.ArrayLike]] = None, wrenches: Optional[Sequence[Wrench]] = None,
            friction: Optional[bool] = None, joints: Optional[Sequence[str]] = None, guess: Optional[Coordinates] = None,
            platform: Optional[Platform] = None, locked: Optional[Mapping[str, npt.ArrayLike]] = None,
            normalise: Optional[bool] = None, on_error: Optional[Literal['request', 'row']] = None,
            outputs: Optional[Sequence[Literal['bias', 'coriolis', 'gravity', 'friction']]] = None,
            timeout: Optional[float] = None,
    ) -> BiasAnswer:
        """Torques at zero acceleration, and their terms.

        bias = C qd + g + friction + springs - Σ JᵀW.

        q: Positions, nq entries: rad or m.
        qd: Velocities, nv entries: rad/s or m/s. Default 0.
        gravity: m/s², world axes; replaces the model's. One vector for all rows, or one for each: of tilted mounts, whose
        gravity turns with the base, and of a base that is accelerated without turning, whose gravity is g - a. For any motion
        of the base the model has a floating one, whose qdd is given. Rows of gravity or of figures of payloads have the bits of
        single requests; each state is then evaluated alone instead of in lanes: an inverse dynamics of a Panda takes 0.3 µs
        more, and with payloads of rows 1.3 µs more, in which the model with the payload is made. identify, ground-reaction,
        sensors, external-wrench and path-timing take one value for all rows. path with Coulomb friction and limits of the
        effort of mimic joints takes one payload and one set of parameters.
        payload: A rigid body fixed to a link or frame for this request. Each figure is one for all rows, or one for each row.
        On a link that is fixed to the world it has no effect, which is a warning of the answer. The link's gravity_compensation
        applies to it too.
        parameters: Inertial parameters that replace the model's, by the links of bodies: for each link ten numbers m, m c (3),
        Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the origin and in the axes of the link, as `regressor` numbers them, or a row of ten
        for each row of the batch. The parameters of a link are those of its body, whatever is merged into it or mounted on it
        included. A body must be physical. Payloads are added. Cost: as of payloads.
        wrenches: Acts on the link, by the environment.
        friction: false omits joint friction.
        joints: A permutation of velocity_names, the order of coordinates in this request and its answer. The six coordinates of
        a floating base stay first, as in `q` its seven positions, and may be left out of the list. For models none of whose
        joints has a quaternion.
        guess: For models with `loops`: passive coordinates near the intended ones, where several positions close the loops.
        From there the loop error is reduced to zero proportionally, without passing a singular position. An object of some of
        `passive_names`, the others having the values of the model's `reference`, or an array of all of them, or a batch of
        arrays.
        platform: For models with `loops`, instead of q, qd and qdd: pose and motion of a frame, in world axes. The answer
        begins with the corresponding q, and with qd and qdd if rates are given. Without `orientation` the mechanism determines
        the orientation of the frame, and rates are those of its origin alone. The frame moves on the straight line from its
        pose in the model's `reference`; with a `guess` the errors of loops and frame are reduced to zero together, starting
        from the actuated coordinates of the reference and the passive ones of the guess.
        locked: Joints that are held at positions, by the names of the joints: a number in rad or m, [x, y, angle] of a planar
        joint, the quaternion [qx, qy, qz, qw] of a spherical one, or the seven positions of a floating one. These joints are
        fixed for this request: they leave `q`, `qd`, `tau` and all other coordinates of the request and of its answer, whose
        order stays; their links belong to the bodies of their parents, and keep their frames. So `joint_wrenches`, parameters
        and limits of the request are those of the reduced model, too. Joints that mimic them stand where they follow. Their
        friction, springs, limits and `rotor_inertia` disappear; a motor on such a joint is a part of the link that carries it.
        `<joint>.motor` of an elastic joint locks its motor alone: the joint then has the spring to the motor's place. Loops
        keep their assembly, the position to which the locked joints move the model's `reference`. A 422: a mimic joint, a
        passive joint of loops, a floating base, all joints together, or some of the joints of a transmission. The first request
        with the same `locked` on a model takes the time to build the reduced model, about 0.1 ms for each link and the closing
        of its loops; the server keeps the last 64, of at most 32 MiB, for the next ones. Of `PUT`, the parameter `locked`
        reduces a model for all requests.
        normalise: Whether quaternions of the request (in `q`, `guess`, `platform` and `orientation`) may have any norm but 0,
        and are normalised. By default a norm that differs from 1 by more than 1e-6 is the 422 bad-quaternion: it is often a
        wrong order or a missing component.
        on_error: Whether a row that cannot be evaluated fails the whole request, or only itself: then it is null (NaN in typed
        arrays of CBOR), and listed in `errors` of the answer. Outputs without numbers, as `dtau_dwrench` without wrenches, stay
        empty.
        outputs
        timeout: of this call, s; the server then stops working on it, too.
        """
        return self._evaluate("bias", BiasAnswer, {"q": q, "qd": qd, "gravity": gravity, "payload": payload, "parameters":
            parameters, "wrenches": wrenches, "friction": friction, "joints": joints, "guess": guess, "platform": platform,
            "locked": locked, "normalise": normalise, "on_error": on_error, "outputs": outputs}, timeout)

    def kinematics(
            self, q: Optional[Coordinates] = None, *, qd: Optional[Coordinates] = None, qdd: Optional[Coordinates] = None,
            qddd: Optional[Coordinates] = None, joints: Optional[Sequence[str]] = None, guess: Optional[Coordinates] = None,
            platform: Optional[Platform] = None, frames: Optional[Sequence[str]] = None, frame: Optional[str] = None,
            points: Optional[Sequence[KinematicsPointsItem]] = None, reference: Optional[Literal['world', 'frame']] = None,
            locked: Optional[Mapping[str, npt.ArrayLike]] = None, normalise: Optional[bool] = None,
            on_error: Optional[Literal['request', 'row']] = None,
            outputs: Optional[Sequence[Literal['poses', 'jacobian', 'jacobian_dot', 'velocity', 'acceleration', 'jerk',
            'point_positions', 'point_jacobians', 'point_jacobians_dot', 'point_velocities', 'point_accelerations',
            'd_point_jacobians_dq', 'd_point_velocities_dq', 'd_point_accelerations_dq', 'd_point_accelerations_dqd']]] = None,
            timeout: Optional[float] = None,
    ) -> KinematicsAnswer:
        """Poses of frames; Jacobian, velocity, acceleration and jerk of one frame.

        `frames` selects the poses (default: all). The other outputs describe the frame named `frame`, in the axes that
        `reference` names. Acceleration and jerk are classical: those of the frame's origin, without gravity; in frame axes they
        are the world vectors expressed in those axes. `jacobian_dot` is the time derivative of every entry of `jacobian`.

        q: Positions, nq entries: rad or m.
        qd: Velocities, nv entries: rad/s or m/s. Default 0.
        qdd: Accelerations, nv entries: rad/s² or m/s². Default 0.
        qddd: Jerks, nv entries: rad/s³ or m/s³. Default 0.
        joints: A permutation of velocity_names, the order of coordinates in this request and its answer. The six coordinates of
        a floating base stay first, as in `q` its seven positions, and may be left out of the list. For models none of whose
        joints has a quaternion.
        guess: For models with `loops`: passive coordinates near the intended ones, where several positions close the loops.
        From there the loop error is reduced to zero proportionally, without passing a singular position. An object of some of
        `passive_names`, the others having the values of the model's `reference`, or an array of all of them, or a batch of
        arrays.
        platform: For models with `loops`, instead of q, qd and qdd: pose and motion of a frame, in world axes. The answer
        begins with the corresponding q, and with qd and qdd if rates are given. Without `orientation` the mechanism determines
        the orientation of the frame, and rates are those of its origin alone. The frame moves on the straight line from its
        pose in the model's `reference`; with a `guess` the errors of loops and frame are reduced to zero together, starting
        from the actuated coordinates of the reference and the passive ones of the guess.
        frames: Links and frames for `poses`; default all.
        frame: The link or frame that the outputs jacobian to jerk describe.
        points: Points fixed to links or frames, for the outputs whose names begin with `point_` or `d_point_`. With `points`
        the default of `outputs` contains point_positions.
        reference: The axes of the outputs other than `poses`.
        locked: Joints that are held at positions, by the names of the joints: a number in rad or m, [x, y, angle] of a planar
        joint, the quaternion [qx, qy, qz, qw] of a spherical one, or the seven positions of a floating one. These joints are
        fixed for this request: they leave `q`, `qd`, `tau` and all other coordinates of the request and of its answer, whose
        order stays; their links belong to the bodies of their parents, and keep their frames. So `joint_wrenches`, parameters
        and limits of the request are those of the reduced model, too. Joints that mimic them stand where they follow. Their
        friction, springs, limits and `rotor_inertia` disappear; a motor on such a joint is a part of the link that carries it.
        `<joint>.motor` of an elastic joint locks its motor alone: the joint then has the spring to the motor's place. Loops
        keep their assembly, the position to which the locked joints move the model's `reference`. A 422: a mimic joint, a
        passive joint of loops, a floating base, all joints together, or some of the joints of a transmission. The first request
        with the same `locked` on a model takes the time to build the reduced model, about 0.1 ms for each link and the closing
        of its loops; the server keeps the last 64, of at most 32 MiB, for the next ones. Of `PUT`, the parameter `locked`
        reduces a model for all requests.
        normalise: Whether quaternions of the request (in `q`, `guess`, `platform` and `orientation`) may have any norm but 0,
        and are normalised. By default a norm that differs from 1 by more than 1e-6 is the 422 bad-quaternion: it is often a
        wrong order or a missing component.
        on_error: Whether a row that cannot be evaluated fails the whole request, or only itself: then it is null (NaN in typed
        arrays of CBOR), and listed in `errors` of the answer. Outputs without numbers, as `dtau_dwrench` without wrenches, stay
        empty.
        outputs
        timeout: of this call, s; the server then stops working on it, too.
        """
        return self._evaluate("kinematics", KinematicsAnswer, {"q": q, "qd": qd, "qdd": qdd, "qddd": qddd, "joints": joints,
            "guess": guess, "platform": platform, "frames": frames, "frame": frame, "points": points, "reference": reference,
            "locked": locked, "normalise": normalise, "on_error": on_error, "outputs": outputs}, timeout)

    def energy(
            self, q: Optional[Coordinates] = None, *, qd: Optional[Coordinates] = None, qdd: Optional[Coordinates] = None,
            qddd: Optional[Coordinates] = None, gravity: Optional[npt.ArrayLike] = None,
            payload: Optional[Union[Payload, Sequence[Payload]]] = None,
            parameters: Optional[Mapping[str, npt.ArrayLike]] = None, joints: Optional[Sequence[str]] = None,
            guess: Optional[Coordinates] = None, platform: Optional[Platform] = None,
            locked: Optional[Mapping[str, npt.ArrayLike]] = None, normalise: Optional[bool] = None,
            on_error: Optional[Literal['request', 'row']] = None,
            outputs: Optional[Sequence[Literal['kinetic', 'potential', 'mass', 'com', 'com_velocity', 'com_jacobian',
            'momentum', 'momentum_matrix', 'centroidal_inertia', 'com_acceleration', 'com_jerk', 'momentum_rate',
            'momentum_matrix_dot', 'd_momentum_dq', 'd_momentum_rate_dq', 'd_momentum_rate_dqd']]] = None,
            timeout: Optional[float] = None,
    ) -> EnergyAnswer:
        """Energies, centre of mass, momentum.

        Kinetic energy includes rotors; potential energy is of gravity (zero at the world origin) and springs. Momentum is about
        the centre of mass, in world axes: the centroidal momentum, and `momentum_matrix` the centroidal momentum matrix (CMM).
        The momentum includes the bodies and the rotors of `motors`, but not `rotor_inertia`, which has no axis in space.
        centroidal_inertia is the inertia tensor of the robot as one rigid body, with all joints locked at `q`: the angular part
        of the centroidal composite rigid body inertia. Its inverse times the angular momentum is the average angular velocity.
        Rotors of `motors` count as parts of the links that carry them; `rotor_inertia` and motors on the world do not count.
        com_acceleration, com_jerk and momentum_rate are those of the motion with `qdd` and `qddd` (default 0). Derivatives with
        respect to q are along the tangents of sensitivity, at constant qd and qdd; models with `loops` do not have them. Mass,
        centre of mass and potential energy are those of what moves: links that fixed joints, or joints that are `locked`,
        connect with the world do not count, and neither do payloads on them.

        q: Positions, nq entries: rad or m.
        qd: Velocities, nv entries: rad/s or m/s. Default 0.
        qdd: Accelerations, nv entries: rad/s² or m/s². Default 0.
        qddd: Jerks, nv entries: rad/s³ or m/s³. Default 0.
        gravity: m/s², world axes; replaces the model's. One vector for all rows, or one for each: of tilted mounts, whose
        gravity turns with the base, and of a base that is accelerated without turning, whose gravity is g - a. For any motion
        of the base the model has a floating one, whose qdd is given. Rows of gravity or of figures of payloads have the bits of
        single requests; each state is then evaluated alone instead of in lanes: an inverse dynamics of a Panda takes 0.3 µs
        more, and with payloads of rows 1.3 µs more, in which the model with the payload is made. identify, ground-reaction,
        sensors, external-wrench and path-timing take one value for all rows. path with Coulomb friction and limits of the
        effort of mimic joints takes one payload and one set of parameters.
        payload: A rigid body fixed to a link or frame for this request. Each figure is one for all rows, or one for each row.
        On a link that is fixed to the world it has no effect, which is a warning of the answer. The link's gravity_compensation
        applies to it too.
        parameters: Inertial parameters that replace the model's, by the links of bodies: for each link ten numbers m, m c (3),
        Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the origin and in the axes of the link, as `regressor` numbers them, or a row of ten
        for each row of the batch. The parameters of a link are those of its body, whatever is merged into it or mounted on it
        included. A body must be physical. Payloads are added. Cost: as of payloads.
        joints: A permutation of velocity_names, the order of coordinates in this request and its answer. The six coordinates of
        a floating base stay first, as in `q` its seven positions, and may be left out of the list. For models none of whose
        joints has a quaternion.
        guess: For models with `loops`: passive coordinates near the intended ones, where several positions close the loops.
        From there the loop error is reduced to zero proportionally, without passing a singular position. An object of some of
        `passive_names`, the others having the values of the model's `reference`, or an array of all of them, or a batch of
        arrays.
        platform: For models with `loops`, instead of q, qd and qdd: pose and motion of a frame, in world axes. The answer
        begins with the corresponding q, and with qd and qdd if rates are given. Without `orientation` the mechanism determines
        the orientation of the frame, and rates are those of its origin alone. The frame moves on the straight line from its
        pose in the model's `reference`; with a `guess` the errors of loops and frame are reduced to zero together, starting
        from the actuated coordinates of the reference and the passive ones of the guess.
        locked: Joints that are held at positions, by the names of the joints: a number in rad or m, [x, y, angle] of a planar
        joint, the quaternion [qx, qy, qz, qw] of a spherical one, or the seven positions of a floating one. These joints are
        fixed for this request: they leave `q`, `qd`, `tau` and all other coordinates of the request and of its answer, whose
        order stays; their links belong to the bodies of their parents, and keep their frames. So `joint_wrenches`, parameters
        and limits of the request are those of the reduced model, too. Joints that mimic them stand where they follow. Their
        friction, springs, limits and `rotor_inertia` disappear; a motor on such a joint is a part of the link that carries it.
        `<joint>.motor` of an elastic joint locks its motor alone: the joint then has the spring to the motor's place. Loops
        keep their assembly, the position to which the locked joints move the model's `reference`. A 422: a mimic joint, a
        passive joint of loops, a floating base, all joints together, or some of the joints of a transmission. The first request
        with the same `locked` on a model takes the time to build the reduced model, about 0.1 ms for each link and the closing
        of its loops; the server keeps the last 64, of at most 32 MiB, for the next ones. Of `PUT`, the parameter `locked`
        reduces a model for all requests.
        normalise: Whether quaternions of the request (in `q`, `guess`, `platform` and `orientation`) may have any norm but 0,
        and are normalised. By default a norm that differs from 1 by more than 1e-6 is the 422 bad-quaternion: it is often a
        wrong order or a missing component.
        on_error: Whether a row that cannot be evaluated fails the whole request, or only itself: then it is null (NaN in typed
        arrays of CBOR), and listed in `errors` of the answer. Outputs without numbers, as `dtau_dwrench` without wrenches, stay
        empty.
        outputs
        timeout: of this call, s; the server then stops working on it, too.
        """
        return self._evaluate("energy", EnergyAnswer, {"q": q, "qd": qd, "qdd": qdd, "qddd": qddd, "gravity": gravity,
            "payload": payload, "parameters": parameters, "joints": joints, "guess": guess, "platform": platform, "locked":
            locked, "normalise": normalise, "on_error": on_error, "outputs": outputs}, timeout)

    def torque_derivative(
            self, q: Optional[Coordinates] = None, *, qd: Optional[Coordinates] = None, qdd: Optional[Coordinates] = None,
            qddd: Optional[Coordinates] = None, gravity: Optional[npt.ArrayLike] = None,
            payload: Optional[Union[Payload, Sequence[Payload]]] = None,
            parameters: Optional[Mapping[str, npt.ArrayLike]] = None, wrenches: Optional[Sequence[WrenchWithRates]] = None,
            friction: Optional[bool] = None, joints: Optional[Sequence[str]] = None, guess: Optional[Coordinates] = None,
            platform: Optional[Platform] = None, tau: Optional[Coordinates] = None,
            free: Optional[Union[Sequence[str], Literal['base']]] = None, held: Optional[Sequence[HeldContact]] = None,
            locked: Optional[Mapping[str, npt.ArrayLike]] = None, normalise: Optional[bool] = None,
            on_error: Optional[Literal['request', 'row']] = None,
            outputs: Optional[Sequence[Literal['tau', 'tau_dot', 'joint_wrenches', 'joint_wrench_rates', 'qdd', 'qddd',
            'dtau_dot_dparameters', 'contact_wrenches', 'contact_wrench_rates']]] = None,
            timeout: Optional[float] = None,
    ) -> TorqueDerivativeAnswer:
        """Torques and their time derivative.

        tau as in inverse-dynamics, and dtau/dt along a motion with the jerk `qddd`, with friction, rotors, springs and wrenches
        that change at `force_rate` and `torque_rate`. Rates are derivatives of the components as returned, or as given; `point`
        is fixed in the link. Missing `qd`, `qdd`, `qddd` are zero. The efforts of coordinates in `free` are given, as in
        inverse-dynamics, and constant: their tau_dot is 0. `qdd` and `qddd` of these coordinates are computed. Both vectors are
        then among the outputs by default. With `held` frames the torques and contact_wrenches are those of inverse-dynamics,
        whose conditions and refusals hold here too, and `contact_wrench_rates` are the time derivatives of these wrenches.
        Limits of contacts that are active stay active. `qddd` must let the frames keep their accelerations: d/dt (J qdd + J̇
        qd) = 0, up to 1e-6 of Σ|J_av qddd_v| + 3 (w + √(g/R)) s, with the size s of the accelerations, the frame's rate w,
        gravity g and the frame's reach R; else the answer is the 422 held-frame-accelerates. Where the held axes do not bear
        each coordinate without actuator (a robot balanced on two point feet), or active limits depend on each other, there are
        no rates: 422 infeasible-contacts. `dtau_dot_dparameters` is not computed with `held`. `dtau_dot_dparameters` is the
        time derivative of the regressor: the derivatives of tau_dot with respect to the inertial parameters of all bodies at
        constant motion and, with `free`, at constant efforts of these coordinates, whose rows are then zero.

        q: Positions, nq entries: rad or m.
        qd: Velocities, nv entries: rad/s or m/s. Default 0.
        qdd: Accelerations, nv entries: rad/s² or m/s². Default 0.
        qddd: Jerks, nv entries: rad/s³ or m/s³. Default 0.
        gravity: m/s², world axes; replaces the model's. One vector for all rows, or one for each: of tilted mounts, whose
        gravity turns with the base, and of a base that is accelerated without turning, whose gravity is g - a. For any motion
        of the base the model has a floating one, whose qdd is given. Rows of gravity or of figures of payloads have the bits of
        single requests; each state is then evaluated alone instead of in lanes: an inverse dynamics of a Panda takes 0.3 µs
        more, and with payloads of rows 1.3 µs more, in which the model with the payload is made. identify, ground-reaction,
        sensors, external-wrench and path-timing take one value for all rows. path with Coulomb friction and limits of the
        effort of mimic joints takes one payload and one set of parameters.
        payload: A rigid body fixed to a link or frame for this request. Each figure is one for all rows, or one for each row.
        On a link that is fixed to the world it has no effect, which is a warning of the answer. The link's gravity_compensation
        applies to it too.
        parameters: Inertial parameters that replace the model's, by the links of bodies: for each link ten numbers m, m c (3),
        Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the origin and in the axes of the link, as `regressor` numbers them, or a row of ten
        for each row of the batch. The parameters of a link are those of its body, whatever is merged into it or mounted on it
        included. A body must be physical. Payloads are added. Cost: as of payloads.
        wrenches: A wrench that changes with time.
        friction: false omits joint friction.
        joints: A permutation of velocity_names, the order of coordinates in this request and its answer. The six coordinates of
        a floating base stay first, as in `q` its seven positions, and may be left out of the list. For models none of whose
        joints has a quaternion.
        guess: For models with `loops`: passive coordinates near the intended ones, where several positions close the loops.
        From there the loop error is reduced to zero proportionally, without passing a singular position. An object of some of
        `passive_names`, the others having the values of the model's `reference`, or an array of all of them, or a batch of
        arrays.
        platform: For models with `loops`, instead of q, qd and qdd: pose and motion of a frame, in world axes. The answer
        begins with the corresponding q, and with qd and qdd if rates are given. Without `orientation` the mechanism determines
        the orientation of the frame, and rates are those of its origin alone. The frame moves on the straight line from its
        pose in the model's `reference`; with a `guess` the errors of loops and frame are reduced to zero together, starting
        from the actuated coordinates of the reference and the passive ones of the guess.
        tau: Only with `free`: efforts, nv entries, 0 for coordinates that are not free. Default 0.
        free: The coordinates whose acceleration is computed, by velocity_names; "base": all six of a floating base. Without
        `free` there are no outputs that begin with qdd or dqdd.
        held: Frames in contact, whose wrenches bear the motion; an empty list counts as no `held`. contact_wrenches are then
        among the default outputs; without `held` that output does not exist. Not with `free`.
        locked: Joints that are held at positions, by the names of the joints: a number in rad or m, [x, y, angle] of a planar
        joint, the quaternion [qx, qy, qz, qw] of a spherical one, or the seven positions of a floating one. These joints are
        fixed for this request: they leave `q`, `qd`, `tau` and all other coordinates of the request and of its answer, whose
        order stays; their links belong to the bodies of their parents, and keep their frames. So `joint_wrenches`, parameters
        and limits of the request are those of the reduced model, too. Joints that mimic them stand where they follow. Their
        friction, springs, limits and `rotor_inertia` disappear; a motor on such a joint is a part of the link that carries it.
        `<joint>.motor` of an elastic joint locks its motor alone: the joint then has the spring to the motor's place. Loops
        keep their assembly, the position to which the locked joints move the model's `reference`. A 422: a mimic joint, a
        passive joint of loops, a floating base, all joints together, or some of the joints of a transmission. The first request
        with the same `locked` on a model takes the time to build the reduced model, about 0.1 ms for each link and the closing
        of its loops; the server keeps the last 64, of at most 32 MiB, for the next ones. Of `PUT`, the parameter `locked`
        reduces a model for all requests.
        normalise: Whether quaternions of the request (in `q`, `guess`, `platform` and `orientation`) may have any norm but 0,
        and are normalised. By default a norm that differs from 1 by more than 1e-6 is the 422 bad-quaternion: it is often a
        wrong order or a missing component.
        on_error: Whether a row that cannot be evaluated fails the whole request, or only itself: then it is null (NaN in typed
        arrays of CBOR), and listed in `errors` of the answer. Outputs without numbers, as `dtau_dwrench` without wrenches, stay
        empty.
        outputs
        timeout: of this call, s; the server then stops working on it, too.
        """
        return self._evaluate("torque-derivative", TorqueDerivativeAnswer, {"q": q, "qd": qd, "qdd": qdd, "qddd": qddd,
            "gravity": gravity, "payload": payload, "parameters": parameters, "wrenches": wrenches, "friction": friction,
            "joints": joints, "guess": guess, "platform": platform, "tau": tau, "free": free, "held": held, "locked": locked,
            "normalise": normalise, "on_error": on_error, "outputs": outputs}, timeout)

    def sensitivity(
            self, q: Optional[Coordinates] = None, *, qd: Optional[Coordinates] = None, qdd: Optional[Coordinates] = None,
            gravity: Optional[npt.ArrayLike] = None, payload: Optional[Union[Payload, Sequence[Payload]]] = None,
            parameters: Optional[Mapping[str, npt.ArrayLike]] = None, wrenches: Optional[Sequence[Wrench]] = None,
            friction: Optional[bool] = None, joints: Optional[Sequence[str]] = None, guess: Optional[Coordinates] = None,
            platform: Optional[Platform] = None, tau: Optional[Coordinates] = None,
            free: Optional[Union[Sequence[str], Literal['base']]] = None, held: Optional[Sequence[HeldContact]] = None,
            locked: Optional[Mapping[str, npt.ArrayLike]] = None, normalise: Optional[bool] = None,
            on_error: Optional[Literal['request', 'row']] = None,
            outputs: Optional[Sequence[Literal['dtau_dq', 'dtau_dqd', 'dtau_dqdd', 'tau', 'joint_wrenches',
            'd_joint_wrenches_dq', 'd_joint_wrenches_dqd', 'd_joint_wrenches_dqdd', 'dtau_dwrench', 'dtau_dgravity',
            'dtau_dparameters', 'qdd', 'dqdd_dq', 'dqdd_dqd', 'dqdd_dqdd', 'dqdd_dtau', 'contact_wrenches',
            'd_contact_wrenches_dq', 'd_contact_wrenches_dqd', 'd_contact_wrenches_dqdd']]] = None,
            timeout: Optional[float] = None,
    ) -> SensitivityAnswer:
        """Derivatives of the torques and internal wrenches.

        Analytical derivatives of inverse-dynamics with respect to coordinates, rates, accelerations, wrenches, gravity and
        inertial parameters. Derivatives with respect to `q` have nv columns; for a floating base or joint they are p += R e_v,
        R ← R exp(e_w). Components of wrenches, in their named axes, and their points are constant. The derivative of sign(qd)
        is taken as zero. Missing `qd` and `qdd` are zero. The efforts of coordinates in `free` are given, as in
        inverse-dynamics, and constant; their accelerations follow from the dynamics. All derivatives are then those of tau and
        joint wrenches as functions of q, qd, the other coordinates' qdd, wrenches, gravity and parameters: rows of free
        coordinates in the derivatives of tau are zero, and so are their columns in derivatives with respect to qdd. `dqdd_dq`,
        `dqdd_dqd` and `dqdd_dqdd` are the derivatives of the accelerations, by default among the outputs with `qdd`. On request
        `dqdd_dtau` has the derivatives with respect to the efforts of free coordinates. The derivatives of the other
        coordinates' torques by these efforts are entries of -dqdd_dqddᵀ. With `held` frames all derivatives are those of tau
        and contact_wrenches as inverse-dynamics chooses them for q, qd, qdd, wrenches, gravity and parameters, also beyond the
        motions that hold the frames; rows of coordinates without actuator are zero. Limits of contacts that are active stay
        active. `d_contact_wrenches_dq`, `…_dqd` and `…_dqdd` are then among the outputs by default, and derivatives of
        joint_wrenches are not computed. They exist where rates exist (torque-derivative), for models without loops.

        q: Positions, nq entries: rad or m.
        qd: Velocities, nv entries: rad/s or m/s. Default 0.
        qdd: Accelerations, nv entries: rad/s² or m/s². Default 0.
        gravity: m/s², world axes; replaces the model's. One vector for all rows, or one for each: of tilted mounts, whose
        gravity turns with the base, and of a base that is accelerated without turning, whose gravity is g - a. For any motion
        of the base the model has a floating one, whose qdd is given. Rows of gravity or of figures of payloads have the bits of
        single requests; each state is then evaluated alone instead of in lanes: an inverse dynamics of a Panda takes 0.3 µs
        more, and with payloads of rows 1.3 µs more, in which the model with the payload is made. identify, ground-reaction,
        sensors, external-wrench and path-timing take one value for all rows. path with Coulomb friction and limits of the
        effort of mimic joints takes one payload and one set of parameters.
        payload: A rigid body fixed to a link or frame for this request. Each figure is one for all rows, or one for each row.
        On a link that is fixed to the world it has no effect, which is a warning of the answer. The link's gravity_compensation
        applies to it too.
        parameters: Inertial parameters that replace the model's, by the links of bodies: for each link ten numbers m, m c (3),
        Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the origin and in the axes of the link, as `regressor` numbers them, or a row of ten
        for each row of the batch. The parameters of a link are those of its body, whatever is merged into it or mounted on it
        included. A body must be physical. Payloads are added. Cost: as of payloads.
        wrenches: Acts on the link, by the environment.
        friction: false omits joint friction.
        joints: A permutation of velocity_names, the order of coordinates in this request and its answer. The six coordinates of
        a floating base stay first, as in `q` its seven positions, and may be left out of the list. For models none of whose
        joints has a quaternion.
        guess: For models with `loops`: passive coordinates near the intended ones, where several positions close the loops.
        From there the loop error is reduced to zero proportionally, without passing a singular position. An object of some of
        `passive_names`, the others having the values of the model's `reference`, or an array of all of them, or a batch of
        arrays.
        platform: For models with `loops`, instead of q, qd and qdd: pose and motion of a frame, in world axes. The answer
        begins with the corresponding q, and with qd and qdd if rates are given. Without `orientation` the mechanism determines
        the orientation of the frame, and rates are those of its origin alone. The frame moves on the straight line from its
        pose in the model's `reference`; with a `guess` the errors of loops and frame are reduced to zero together, starting
        from the actuated coordinates of the reference and the passive ones of the guess.
        tau: Only with `free`: efforts, nv entries, 0 for coordinates that are not free. Default 0.
        free: The coordinates whose acceleration is computed, by velocity_names; "base": all six of a floating base. Without
        `free` there are no outputs that begin with qdd or dqdd.
        held: Frames in contact, whose wrenches bear the motion; an empty list counts as no `held`. contact_wrenches are then
        among the default outputs; without `held` that output does not exist. Not with `free`.
        locked: Joints that are held at positions, by the names of the joints: a number in rad or m, [x, y, angle] of a planar
        joint, the quaternion [qx, qy, qz, qw] of a spherical one, or the seven positions of a floating one. These joints are
        fixed for this request: they leave `q`, `qd`, `tau` and all other coordinates of the request and of its answer, whose
        order stays; their links belong to the bodies of their parents, and keep their frames. So `joint_wrenches`, parameters
        and limits of the request are those of the reduced model, too. Joints that mimic them stand where they follow. Their
        friction, springs, limits and `rotor_inertia` disappear; a motor on such a joint is a part of the link that carries it.
        `<joint>.motor` of an elastic joint locks its motor alone: the joint then has the spring to the motor's place. Loops
        keep their assembly, the position to which the locked joints move the model's `reference`. A 422: a mimic joint, a
        passive joint of loops, a floating base, all joints together, or some of the joints of a transmission. The first request
        with the same `locked` on a model takes the time to build the reduced model, about 0.1 ms for each link and the closing
        of its loops; the server keeps the last 64, of at most 32 MiB, for the next ones. Of `PUT`, the parameter `locked`
        reduces a model for all requests.
        normalise: Whether quaternions of the request (in `q`, `guess`, `platform` and `orientation`) may have any norm but 0,
        and are normalised. By default a norm that differs from 1 by more than 1e-6 is the 422 bad-quaternion: it is often a
        wrong order or a missing component.
        on_error: Whether a row that cannot be evaluated fails the whole request, or only itself: then it is null (NaN in typed
        arrays of CBOR), and listed in `errors` of the answer. Outputs without numbers, as `dtau_dwrench` without wrenches, stay
        empty.
        outputs
        timeout: of this call, s; the server then stops working on it, too.
        """
        return self._evaluate("sensitivity", SensitivityAnswer, {"q": q, "qd": qd, "qdd": qdd, "gravity": gravity, "payload":
            payload, "parameters": parameters, "wrenches": wrenches, "friction": friction, "joints": joints, "guess": guess,
            "platform": platform, "tau": tau, "free": free, "held": held, "locked": locked, "normalise": normalise, "on_error":
            on_error, "outputs": outputs}, timeout)

    def forward_sensitivity(
            self, q: Optional[Coordinates] = None, *, tau: Coordinates, qd: Optional[Coordinates] = None,
            gravity: Optional[npt.ArrayLike] = None, payload: Optional[Union[Payload, Sequence[Payload]]] = None,
            parameters: Optional[Mapping[str, npt.ArrayLike]] = None, wrenches: Optional[Sequence[Wrench]] = None,
            friction: Optional[bool] = None, joints: Optional[Sequence[str]] = None, guess: Optional[Coordinates] = None,
            platform: Optional[Platform] = None, held: Optional[Sequence[Held]] = None,
            contact_damping: Optional[float] = None, locked: Optional[Mapping[str, npt.ArrayLike]] = None,
            normalise: Optional[bool] = None, on_error: Optional[Literal['request', 'row']] = None,
            outputs: Optional[Sequence[Literal['dqdd_dq', 'dqdd_dqd', 'dqdd_dtau', 'qdd', 'dqdd_dwrench', 'dqdd_dparameters']]]
            = None,
            timeout: Optional[float] = None,
    ) -> ForwardSensitivityAnswer:
        """Derivatives of the accelerations.

        Analytical derivatives of forward-dynamics, dqdd/dx = -M⁻¹ dtau/dx at the acceleration that follows from `tau`. Columns
        for `q`, and the quantities that are constant, are as in sensitivity. Missing `qd` is zero. A mass matrix that is
        singular at the state is a 422 naming the joint. With `held` frames the accelerations are those of forward-dynamics with
        these frames, and dqdd_dtau is (M⁻¹ - M⁻¹Jᵀ(J M⁻¹Jᵀ + δ 1)⁻¹J M⁻¹) with `contact_damping` δ; models with loops are then
        the 422 not-for-loops. `dqdd_dparameters` is -dqdd_dtau Y with the regressor Y at the state and its acceleration, also
        with held frames and with loops; a payload changes the parameters of its link, in the axes and about the origin of which
        they are.

        tau: Joint efforts, nv entries: N m or N.
        q: Positions, nq entries: rad or m.
        qd: Velocities, nv entries: rad/s or m/s. Default 0.
        gravity: m/s², world axes; replaces the model's. One vector for all rows, or one for each: of tilted mounts, whose
        gravity turns with the base, and of a base that is accelerated without turning, whose gravity is g - a. For any motion
        of the base the model has a floating one, whose qdd is given. Rows of gravity or of figures of payloads have the bits of
        single requests; each state is then evaluated alone instead of in lanes: an inverse dynamics of a Panda takes 0.3 µs
        more, and with payloads of rows 1.3 µs more, in which the model with the payload is made. identify, ground-reaction,
        sensors, external-wrench and path-timing take one value for all rows. path with Coulomb friction and limits of the
        effort of mimic joints takes one payload and one set of parameters.
        payload: A rigid body fixed to a link or frame for this request. Each figure is one for all rows, or one for each row.
        On a link that is fixed to the world it has no effect, which is a warning of the answer. The link's gravity_compensation
        applies to it too.
        parameters: Inertial parameters that replace the model's, by the links of bodies: for each link ten numbers m, m c (3),
        Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the origin and in the axes of the link, as `regressor` numbers them, or a row of ten
        for each row of the batch. The parameters of a link are those of its body, whatever is merged into it or mounted on it
        included. A body must be physical. Payloads are added. Cost: as of payloads.
        wrenches: Acts on the link, by the environment.
        friction: false omits joint friction.
        joints: A permutation of velocity_names, the order of coordinates in this request and its answer. The six coordinates of
        a floating base stay first, as in `q` its seven positions, and may be left out of the list. For models none of whose
        joints has a quaternion.
        guess: For models with `loops`: passive coordinates near the intended ones, where several positions close the loops.
        From there the loop error is reduced to zero proportionally, without passing a singular position. An object of some of
        `passive_names`, the others having the values of the model's `reference`, or an array of all of them, or a batch of
        arrays.
        platform: For models with `loops`, instead of q, qd and qdd: pose and motion of a frame, in world axes. The answer
        begins with the corresponding q, and with qd and qdd if rates are given. Without `orientation` the mechanism determines
        the orientation of the frame, and rates are those of its origin alone. The frame moves on the straight line from its
        pose in the model's `reference`; with a `guess` the errors of loops and frame are reduced to zero together, starting
        from the actuated coordinates of the reference and the passive ones of the guess.
        held: Frames in contact; an empty list counts as no `held`. In forward-dynamics and simulate contact_wrenches are then
        among the default outputs; without `held` that output does not exist. In impact `held` is needed. In a phase of rollout
        without `held` no frame is held.
        contact_damping: Damping δ of the contacts of `held`, 1/kg and 1/(kg m²): see forward-dynamics. Missing: none.
        locked: Joints that are held at positions, by the names of the joints: a number in rad or m, [x, y, angle] of a planar
        joint, the quaternion [qx, qy, qz, qw] of a spherical one, or the seven positions of a floating one. These joints are
        fixed for this request: they leave `q`, `qd`, `tau` and all other coordinates of the request and of its answer, whose
        order stays; their links belong to the bodies of their parents, and keep their frames. So `joint_wrenches`, parameters
        and limits of the request are those of the reduced model, too. Joints that mimic them stand where they follow. Their
        friction, springs, limits and `rotor_inertia` disappear; a motor on such a joint is a part of the link that carries it.
        `<joint>.motor` of an elastic joint locks its motor alone: the joint then has the spring to the motor's place. Loops
        keep their assembly, the position to which the locked joints move the model's `reference`. A 422: a mimic joint, a
        passive joint of loops, a floating base, all joints together, or some of the joints of a transmission. The first request
        with the same `locked` on a model takes the time to build the reduced model, about 0.1 ms for each link and the closing
        of its loops; the server keeps the last 64, of at most 32 MiB, for the next ones. Of `PUT`, the parameter `locked`
        reduces a model for all requests.
        normalise: Whether quaternions of the request (in `q`, `guess`, `platform` and `orientation`) may have any norm but 0,
        and are normalised. By default a norm that differs from 1 by more than 1e-6 is the 422 bad-quaternion: it is often a
        wrong order or a missing component.
        on_error: Whether a row that cannot be evaluated fails the whole request, or only itself: then it is null (NaN in typed
        arrays of CBOR), and listed in `errors` of the answer. Outputs without numbers, as `dtau_dwrench` without wrenches, stay
        empty.
        outputs
        timeout: of this call, s; the server then stops working on it, too.
        """
        return self._evaluate("forward-sensitivity", ForwardSensitivityAnswer, {"tau": tau, "q": q, "qd": qd, "gravity":
            gravity, "payload": payload, "parameters": parameters, "wrenches": wrenches, "friction": friction, "joints": joints,
            "guess": guess, "platform": platform, "held": held, "contact_damping": contact_damping, "locked": locked,
            "normalise": normalise, "on_error": on_error, "outputs": outputs}, timeout)

    def gradient(
            self, q: Coordinates, *, multipliers: Coordinates, qd: Optional[Coordinates] = None,
            qdd: Optional[Coordinates] = None, gravity: Optional[npt.ArrayLike] = None,
            payload: Optional[Union[Payload, Sequence[Payload]]] = None,
            parameters: Optional[Mapping[str, npt.ArrayLike]] = None, wrenches: Optional[Sequence[Wrench]] = None,
            friction: Optional[bool] = None, joints: Optional[Sequence[str]] = None, tau: Optional[Coordinates] = None,
            free: Optional[Union[Sequence[str], Literal['base']]] = None, directions: Optional[Directions] = None,
            locked: Optional[Mapping[str, npt.ArrayLike]] = None, normalise: Optional[bool] = None,
            on_error: Optional[Literal['request', 'row']] = None,
            outputs: Optional[Sequence[Literal['gradient_q', 'gradient_qd', 'gradient_qdd', 'tau', 'qdd', 'gradient_tau',
            'gradient_parameters', 'gradient_wrenches', 'gradient_gravity', 'sum_parameters', 'sum_gravity',
            'gradient_q_entries', 'hessian_products_q', 'hessian_products_qd', 'hessian_products_qdd', 'rates',
            'gradient_friction']]] = None,
            timeout: Optional[float] = None,
    ) -> GradientAnswer:
        """One gradient of the torques instead of their matrices.

        The gradient of the scalar λᵀtau, with the `multipliers` λ of the torques of inverse-dynamics: the products λᵀ ∂tau/∂x
        with the derivatives of sensitivity (vector-Jacobian products, VJP), in O(n) time and with nv numbers instead of nv². So
        a cost of the torques, whose own derivative with respect to tau is λ, is differentiated by everything on which they
        depend: `q`, `qd`, `qdd` by default; on request the inertial parameters of all bodies, the wrenches and gravity. For a
        floating base or joint and a spherical joint the gradient by `q` is along p += R e_v, R ← R exp(e_w). Components of
        wrenches, in their named axes, and their points are constant. The derivative of sign(qd) of sharp friction is taken as
        zero. `tau` has the bits of inverse-dynamics. Missing `qd` and `qdd` are zero. `sum_parameters` and `sum_gravity` are
        the sums of these gradients over all rows, in the order of the rows: the gradient of one cost of a batch, without the
        gradients of each row. Rows that fail with on_error are left out, and `errors` lists them. Coordinates named in `free`
        are as in sensitivity: their accelerations follow from the dynamics, the gradient with respect to their qdd is zero, and
        `gradient_tau` is that with respect to their given efforts. Models with loops are the 422 not-for-loops.
        `gradient_q_entries` is the gradient with respect to the nq entries of `q`, for programs that differentiate these. For
        the quaternion r of a floating base or joint or a spherical joint it is the gradient of λᵀtau as a function of r/|r|, at
        the unit quaternion: 2 r (g, 0) with the gradient g along R ← R exp(e), which is orthogonal to r. Where r is not of unit
        length (`normalise`), divide by |r|. For the position of a floating base or joint it is R g with the gradient g along p
        += R e, in the axes in which p is given. Other entries are those of `gradient_q`. `gradient_friction` is the gradient
        with respect to the friction of each joint, then of the motors of elastic joints and of coupled transmissions, also
        where it is zero: with respect to viscous, the Coulomb magnitudes for positive and negative velocity, coulomb_velocity,
        the breakaway magnitudes for both, stribeck_velocity and load, at constant `qdd`. Magnitudes for the other direction,
        coulomb_velocity of sharp friction, the figures of Stribeck's curve where there is none, load of mimics and coupled
        transmissions, and all with `friction: false` have zero. The friction of a motor of a rigid joint acts on the joint's
        rate: the figures are those of the joint alone. With `directions` (e, g, j) of `q`, `qd` and `qdd`, as of the operation
        directional, the answer has Hessian-vector products: `hessian_products_q`, `hessian_products_qd` and
        `hessian_products_qdd` are the rates of the three gradients along each direction, at constant multipliers, in O(n) time
        a direction and without matrices; entry j is the sum over k of the second derivatives (j, k) of hessian times the
        direction. `rates` are those of tau. Along the axes of one joint with a quaternion, which turn with it, derivatives do
        not commute: the products are the rates of the gradient, not the gradient of its product with the direction. Directions
        are not for `free` coordinates.

        q: Positions, nq entries: rad or m.
        multipliers: Multipliers λ of the torques or accelerations, nv entries: one number for each coordinate.
        qd: Velocities, nv entries: rad/s or m/s. Default 0.
        qdd: Accelerations, nv entries: rad/s² or m/s². Default 0.
        gravity: m/s², world axes; replaces the model's. One vector for all rows, or one for each: of tilted mounts, whose
        gravity turns with the base, and of a base that is accelerated without turning, whose gravity is g - a. For any motion
        of the base the model has a floating one, whose qdd is given. Rows of gravity or of figures of payloads have the bits of
        single requests; each state is then evaluated alone instead of in lanes: an inverse dynamics of a Panda takes 0.3 µs
        more, and with payloads of rows 1.3 µs more, in which the model with the payload is made. identify, ground-reaction,
        sensors, external-wrench and path-timing take one value for all rows. path with Coulomb friction and limits of the
        effort of mimic joints takes one payload and one set of parameters.
        payload: A rigid body fixed to a link or frame for this request. Each figure is one for all rows, or one for each row.
        On a link that is fixed to the world it has no effect, which is a warning of the answer. The link's gravity_compensation
        applies to it too.
        parameters: Inertial parameters that replace the model's, by the links of bodies: for each link ten numbers m, m c (3),
        Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the origin and in the axes of the link, as `regressor` numbers them, or a row of ten
        for each row of the batch. The parameters of a link are those of its body, whatever is merged into it or mounted on it
        included. A body must be physical. Payloads are added. Cost: as of payloads.
        wrenches: Acts on the link, by the environment.
        friction: false omits joint friction.
        joints: A permutation of velocity_names, the order of coordinates in this request and its answer. The six coordinates of
        a floating base stay first, as in `q` its seven positions, and may be left out of the list. For models none of whose
        joints has a quaternion.
        tau: Only with `free`: efforts, nv entries, 0 for coordinates that are not free. Default 0.
        free: The coordinates whose acceleration is computed, by velocity_names; "base": all six of a floating base. Without
        `free` there are no outputs that begin with qdd or dqdd.
        directions: Directions of each state, one row of nv numbers for each; all parts have as many rows, and absent parts are
        zero.
        locked: Joints that are held at positions, by the names of the joints: a number in rad or m, [x, y, angle] of a planar
        joint, the quaternion [qx, qy, qz, qw] of a spherical one, or the seven positions of a floating one. These joints are
        fixed for this request: they leave `q`, `qd`, `tau` and all other coordinates of the request and of its answer, whose
        order stays; their links belong to the bodies of their parents, and keep their frames. So `joint_wrenches`, parameters
        and limits of the request are those of the reduced model, too. Joints that mimic them stand where they follow. Their
        friction, springs, limits and `rotor_inertia` disappear; a motor on such a joint is a part of the link that carries it.
        `<joint>.motor` of an elastic joint locks its motor alone: the joint then has the spring to the motor's place. Loops
        keep their assembly, the position to which the locked joints move the model's `reference`. A 422: a mimic joint, a
        passive joint of loops, a floating base, all joints together, or some of the joints of a transmission. The first request
        with the same `locked` on a model takes the time to build the reduced model, about 0.1 ms for each link and the closing
        of its loops; the server keeps the last 64, of at most 32 MiB, for the next ones. Of `PUT`, the parameter `locked`
        reduces a model for all requests.
        normalise: Whether quaternions of the request (in `q`, `guess`, `platform` and `orientation`) may have any norm but 0,
        and are normalised. By default a norm that differs from 1 by more than 1e-6 is the 422 bad-quaternion: it is often a
        wrong order or a missing component.
        on_error: Whether a row that cannot be evaluated fails the whole request, or only itself: then it is null (NaN in typed
        arrays of CBOR), and listed in `errors` of the answer. Outputs without numbers, as `dtau_dwrench` without wrenches, stay
        empty.
        outputs
        timeout: of this call, s; the server then stops working on it, too.
        """
        return self._evaluate("gradient", GradientAnswer, {"q": q, "multipliers": multipliers, "qd": qd, "qdd": qdd, "gravity":
            gravity, "payload": payload, "parameters": parameters, "wrenches": wrenches, "friction": friction, "joints": joints,
            "tau": tau, "free": free, "directions": directions, "locked": locked, "normalise": normalise, "on_error": on_error,
            "outputs": outputs}, timeout)

    def forward_gradient(
            self, q: Coordinates, *, tau: Coordinates, multipliers: Coordinates, qd: Optional[Coordinates] = None,
            gravity: Optional[npt.ArrayLike] = None, payload: Optional[Union[Payload, Sequence[Payload]]] = None,
            parameters: Optional[Mapping[str, npt.ArrayLike]] = None, wrenches: Optional[Sequence[Wrench]] = None,
            friction: Optional[bool] = None, joints: Optional[Sequence[str]] = None,
            directions: Optional[ForwardDirections] = None, locked: Optional[Mapping[str, npt.ArrayLike]] = None,
            normalise: Optional[bool] = None, on_error: Optional[Literal['request', 'row']] = None,
            outputs: Optional[Sequence[Literal['gradient_q', 'gradient_qd', 'gradient_tau', 'qdd', 'gradient_parameters',
            'gradient_wrenches', 'gradient_gravity', 'sum_parameters', 'sum_gravity', 'gradient_q_entries',
            'hessian_products_q', 'hessian_products_qd', 'hessian_products_tau', 'rates', 'gradient_friction']]] = None,
            timeout: Optional[float] = None,
    ) -> ForwardGradientAnswer:
        """One gradient of the accelerations instead of their matrices.

        The gradient of the scalar λᵀqdd, with the `multipliers` λ of the accelerations of forward-dynamics, by `q`, `qd` and
        `tau`; on request by the inertial parameters, the wrenches and gravity: the products λᵀ ∂qdd/∂x with the derivatives of
        forward-sensitivity, in O(n) time. One solve with the mass matrix gives μ = M⁻¹λ, which is the gradient with respect to
        tau; the others are those of the operation gradient with the multipliers -μ. Directions, constant quantities, sums over
        the rows and signs are as there. Missing `qd` is zero. A mass matrix that is singular at the state is a 422 naming the
        joint; models with loops are the 422 not-for-loops. For `held` frames, ask forward-sensitivity. `gradient_q_entries` and
        `gradient_friction` are the gradients with respect to the nq entries of `q` and by the figures of friction, as in
        gradient. With `directions` of `q`, `qd` and `tau`, the answer has the rates of the three gradients along each of them,
        as in gradient: `hessian_products_q`, `hessian_products_qd`, `hessian_products_tau`; `rates` are those of qdd.

        q: Positions, nq entries: rad or m.
        tau: Joint efforts, nv entries: N m or N.
        multipliers: Multipliers λ of the torques or accelerations, nv entries: one number for each coordinate.
        qd: Velocities, nv entries: rad/s or m/s. Default 0.
        gravity: m/s², world axes; replaces the model's. One vector for all rows, or one for each: of tilted mounts, whose
        gravity turns with the base, and of a base that is accelerated without turning, whose gravity is g - a. For any motion
        of the base the model has a floating one, whose qdd is given. Rows of gravity or of figures of payloads have the bits of
        single requests; each state is then evaluated alone instead of in lanes: an inverse dynamics of a Panda takes 0.3 µs
        more, and with payloads of rows 1.3 µs more, in which the model with the payload is made. identify, ground-reaction,
        sensors, external-wrench and path-timing take one value for all rows. path with Coulomb friction and limits of the
        effort of mimic joints takes one payload and one set of parameters.
        payload: A rigid body fixed to a link or frame for this request. Each figure is one for all rows, or one for each row.
        On a link that is fixed to the world it has no effect, which is a warning of the answer. The link's gravity_compensation
        applies to it too.
        parameters: Inertial parameters that replace the model's, by the links of bodies: for each link ten numbers m, m c (3),
        Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the origin and in the axes of the link, as `regressor` numbers them, or a row of ten
        for each row of the batch. The parameters of a link are those of its body, whatever is merged into it or mounted on it
        included. A body must be physical. Payloads are added. Cost: as of payloads.
        wrenches: Acts on the link, by the environment.
        friction: false omits joint friction.
        joints: A permutation of velocity_names, the order of coordinates in this request and its answer. The six coordinates of
        a floating base stay first, as in `q` its seven positions, and may be left out of the list. For models none of whose
        joints has a quaternion.
        directions: Directions of each state, one row of nv numbers for each; all parts have as many rows, and absent parts are
        zero.
        locked: Joints that are held at positions, by the names of the joints: a number in rad or m, [x, y, angle] of a planar
        joint, the quaternion [qx, qy, qz, qw] of a spherical one, or the seven positions of a floating one. These joints are
        fixed for this request: they leave `q`, `qd`, `tau` and all other coordinates of the request and of its answer, whose
        order stays; their links belong to the bodies of their parents, and keep their frames. So `joint_wrenches`, parameters
        and limits of the request are those of the reduced model, too. Joints that mimic them stand where they follow. Their
        friction, springs, limits and `rotor_inertia` disappear; a motor on such a joint is a part of the link that carries it.
        `<joint>.motor` of an elastic joint locks its motor alone: the joint then has the spring to the motor's place. Loops
        keep their assembly, the position to which the locked joints move the model's `reference`. A 422: a mimic joint, a
        passive joint of loops, a floating base, all joints together, or some of the joints of a transmission. The first request
        with the same `locked` on a model takes the time to build the reduced model, about 0.1 ms for each link and the closing
        of its loops; the server keeps the last 64, of at most 32 MiB, for the next ones. Of `PUT`, the parameter `locked`
        reduces a model for all requests.
        normalise: Whether quaternions of the request (in `q`, `guess`, `platform` and `orientation`) may have any norm but 0,
        and are normalised. By default a norm that differs from 1 by more than 1e-6 is the 422 bad-quaternion: it is often a
        wrong order or a missing component.
        on_error: Whether a row that cannot be evaluated fails the whole request, or only itself: then it is null (NaN in typed
        arrays of CBOR), and listed in `errors` of the answer. Outputs without numbers, as `dtau_dwrench` without wrenches, stay
        empty.
        outputs
        timeout: of this call, s; the server then stops working on it, too.
        """
        return self._evaluate("forward-gradient", ForwardGradientAnswer, {"q": q, "tau": tau, "multipliers": multipliers, "qd":
            qd, "gravity": gravity, "payload": payload, "parameters": parameters, "wrenches": wrenches, "friction": friction,
            "joints": joints, "directions": directions, "locked": locked, "normalise": normalise, "on_error": on_error,
            "outputs": outputs}, timeout)

    def directional(
            self, q: Coordinates, *, directions: Directions, qd: Optional[Coordinates] = None,
            qdd: Optional[Coordinates] = None, gravity: Optional[npt.ArrayLike] = None,
            payload: Optional[Union[Payload, Sequence[Payload]]] = None,
            parameters: Optional[Mapping[str, npt.ArrayLike]] = None, wrenches: Optional[Sequence[Wrench]] = None,
            friction: Optional[bool] = None, joints: Optional[Sequence[str]] = None,
            locked: Optional[Mapping[str, npt.ArrayLike]] = None, normalise: Optional[bool] = None,
            on_error: Optional[Literal['request', 'row']] = None,
            outputs: Optional[Sequence[Literal['rates', 'tau']]] = None, timeout: Optional[float] = None,
    ) -> DirectionalAnswer:
        """Rates of the torques along directions, instead of their matrices.

        The rates ∂tau/∂q e + ∂tau/∂qd g + ∂tau/∂qdd j of the torques of inverse-dynamics, along several `directions` (e, g, j)
        of `q`, `qd` and `qdd` for each state: products of the derivatives of sensitivity and vectors (Jacobian-vector products,
        JVP), in O(n) time a direction. Parts that are absent are zero, and those that are given have as many rows. A direction
        of `q` has nv numbers, along p += R e_v, R ← R exp(e_w) for a floating base or joint, as in sensitivity. With the
        multipliers λ of gradient the products λᵀ rates are those of its gradient and the direction. Components of wrenches, in
        their named axes, and their points are constant. The derivative of sign(qd) of sharp friction is taken as zero. Missing
        `qd` and `qdd` are zero. `tau` has the bits of inverse-dynamics. At most as many directions as the limit of rows. Models
        with loops are the 422 not-for-loops.

        q: Positions, nq entries: rad or m.
        directions: Directions of each state, one row of nv numbers for each; all parts have as many rows, and absent parts are
        zero.
        qd: Velocities, nv entries: rad/s or m/s. Default 0.
        qdd: Accelerations, nv entries: rad/s² or m/s². Default 0.
        gravity: m/s², world axes; replaces the model's. One vector for all rows, or one for each: of tilted mounts, whose
        gravity turns with the base, and of a base that is accelerated without turning, whose gravity is g - a. For any motion
        of the base the model has a floating one, whose qdd is given. Rows of gravity or of figures of payloads have the bits of
        single requests; each state is then evaluated alone instead of in lanes: an inverse dynamics of a Panda takes 0.3 µs
        more, and with payloads of rows 1.3 µs more, in which the model with the payload is made. identify, ground-reaction,
        sensors, external-wrench and path-timing take one value for all rows. path with Coulomb friction and limits of the
        effort of mimic joints takes one payload and one set of parameters.
        payload: A rigid body fixed to a link or frame for this request. Each figure is one for all rows, or one for each row.
        On a link that is fixed to the world it has no effect, which is a warning of the answer. The link's gravity_compensation
        applies to it too.
        parameters: Inertial parameters that replace the model's, by the links of bodies: for each link ten numbers m, m c (3),
        Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the origin and in the axes of the link, as `regressor` numbers them, or a row of ten
        for each row of the batch. The parameters of a link are those of its body, whatever is merged into it or mounted on it
        included. A body must be physical. Payloads are added. Cost: as of payloads.
        wrenches: Acts on the link, by the environment.
        friction: false omits joint friction.
        joints: A permutation of velocity_names, the order of coordinates in this request and its answer. The six coordinates of
        a floating base stay first, as in `q` its seven positions, and may be left out of the list. For models none of whose
        joints has a quaternion.
        locked: Joints that are held at positions, by the names of the joints: a number in rad or m, [x, y, angle] of a planar
        joint, the quaternion [qx, qy, qz, qw] of a spherical one, or the seven positions of a floating one. These joints are
        fixed for this request: they leave `q`, `qd`, `tau` and all other coordinates of the request and of its answer, whose
        order stays; their links belong to the bodies of their parents, and keep their frames. So `joint_wrenches`, parameters
        and limits of the request are those of the reduced model, too. Joints that mimic them stand where they follow. Their
        friction, springs, limits and `rotor_inertia` disappear; a motor on such a joint is a part of the link that carries it.
        `<joint>.motor` of an elastic joint locks its motor alone: the joint then has the spring to the motor's place. Loops
        keep their assembly, the position to which the locked joints move the model's `reference`. A 422: a mimic joint, a
        passive joint of loops, a floating base, all joints together, or some of the joints of a transmission. The first request
        with the same `locked` on a model takes the time to build the reduced model, about 0.1 ms for each link and the closing
        of its loops; the server keeps the last 64, of at most 32 MiB, for the next ones. Of `PUT`, the parameter `locked`
        reduces a model for all requests.
        normalise: Whether quaternions of the request (in `q`, `guess`, `platform` and `orientation`) may have any norm but 0,
        and are normalised. By default a norm that differs from 1 by more than 1e-6 is the 422 bad-quaternion: it is often a
        wrong order or a missing component.
        on_error: Whether a row that cannot be evaluated fails the whole request, or only itself: then it is null (NaN in typed
        arrays of CBOR), and listed in `errors` of the answer. Outputs without numbers, as `dtau_dwrench` without wrenches, stay
        empty.
        outputs
        timeout: of this call, s; the server then stops working on it, too.
        """
        return self._evaluate("directional", DirectionalAnswer, {"q": q, "directions": directions, "qd": qd, "qdd": qdd,
            "gravity": gravity, "payload": payload, "parameters": parameters, "wrenches": wrenches, "friction": friction,
            "joints": joints, "locked": locked, "normalise": normalise, "on_error": on_error, "outputs": outputs}, timeout)

    def forward_directional(
            self, q: Coordinates, *, tau: Coordinates, directions: ForwardDirections, qd: Optional[Coordinates] = None,
            gravity: Optional[npt.ArrayLike] = None, payload: Optional[Union[Payload, Sequence[Payload]]] = None,
            parameters: Optional[Mapping[str, npt.ArrayLike]] = None, wrenches: Optional[Sequence[Wrench]] = None,
            friction: Optional[bool] = None, joints: Optional[Sequence[str]] = None,
            locked: Optional[Mapping[str, npt.ArrayLike]] = None, normalise: Optional[bool] = None,
            on_error: Optional[Literal['request', 'row']] = None,
            outputs: Optional[Sequence[Literal['rates', 'qdd']]] = None, timeout: Optional[float] = None,
    ) -> ForwardDirectionalAnswer:
        """Rates of the accelerations along directions, instead of their matrices.

        The rates ∂qdd/∂q e + ∂qdd/∂qd g + ∂qdd/∂tau t of the accelerations of forward-dynamics, along several `directions` (e,
        g, t) of `q`, `qd` and `tau` for each state: products of the derivatives of forward-sensitivity and vectors, in O(n)
        time a direction. Each is one solve M⁻¹ (t - dID) with the rate dID of the operation directional. Directions, constant
        quantities and signs are as there. Missing `qd` is zero. A mass matrix that is singular at the state is a 422 naming the
        joint; models with loops are the 422 not-for-loops. For `held` frames, ask forward-sensitivity.

        q: Positions, nq entries: rad or m.
        tau: Joint efforts, nv entries: N m or N.
        directions: Directions of each state, one row of nv numbers for each; all parts have as many rows, and absent parts are
        zero.
        qd: Velocities, nv entries: rad/s or m/s. Default 0.
        gravity: m/s², world axes; replaces the model's. One vector for all rows, or one for each: of tilted mounts, whose
        gravity turns with the base, and of a base that is accelerated without turning, whose gravity is g - a. For any motion
        of the base the model has a floating one, whose qdd is given. Rows of gravity or of figures of payloads have the bits of
        single requests; each state is then evaluated alone instead of in lanes: an inverse dynamics of a Panda takes 0.3 µs
        more, and with payloads of rows 1.3 µs more, in which the model with the payload is made. identify, ground-reaction,
        sensors, external-wrench and path-timing take one value for all rows. path with Coulomb friction and limits of the
        effort of mimic joints takes one payload and one set of parameters.
        payload: A rigid body fixed to a link or frame for this request. Each figure is one for all rows, or one for each row.
        On a link that is fixed to the world it has no effect, which is a warning of the answer. The link's gravity_compensation
        applies to it too.
        parameters: Inertial parameters that replace the model's, by the links of bodies: for each link ten numbers m, m c (3),
        Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the origin and in the axes of the link, as `regressor` numbers them, or a row of ten
        for each row of the batch. The parameters of a link are those of its body, whatever is merged into it or mounted on it
        included. A body must be physical. Payloads are added. Cost: as of payloads.
        wrenches: Acts on the link, by the environment.
        friction: false omits joint friction.
        joints: A permutation of velocity_names, the order of coordinates in this request and its answer. The six coordinates of
        a floating base stay first, as in `q` its seven positions, and may be left out of the list. For models none of whose
        joints has a quaternion.
        locked: Joints that are held at positions, by the names of the joints: a number in rad or m, [x, y, angle] of a planar
        joint, the quaternion [qx, qy, qz, qw] of a spherical one, or the seven positions of a floating one. These joints are
        fixed for this request: they leave `q`, `qd`, `tau` and all other coordinates of the request and of its answer, whose
        order stays; their links belong to the bodies of their parents, and keep their frames. So `joint_wrenches`, parameters
        and limits of the request are those of the reduced model, too. Joints that mimic them stand where they follow. Their
        friction, springs, limits and `rotor_inertia` disappear; a motor on such a joint is a part of the link that carries it.
        `<joint>.motor` of an elastic joint locks its motor alone: the joint then has the spring to the motor's place. Loops
        keep their assembly, the position to which the locked joints move the model's `reference`. A 422: a mimic joint, a
        passive joint of loops, a floating base, all joints together, or some of the joints of a transmission. The first request
        with the same `locked` on a model takes the time to build the reduced model, about 0.1 ms for each link and the closing
        of its loops; the server keeps the last 64, of at most 32 MiB, for the next ones. Of `PUT`, the parameter `locked`
        reduces a model for all requests.
        normalise: Whether quaternions of the request (in `q`, `guess`, `platform` and `orientation`) may have any norm but 0,
        and are normalised. By default a norm that differs from 1 by more than 1e-6 is the 422 bad-quaternion: it is often a
        wrong order or a missing component.
        on_error: Whether a row that cannot be evaluated fails the whole request, or only itself: then it is null (NaN in typed
        arrays of CBOR), and listed in `errors` of the answer. Outputs without numbers, as `dtau_dwrench` without wrenches, stay
        empty.
        outputs
        timeout: of this call, s; the server then stops working on it, too.
        """
        return self._evaluate("forward-directional", ForwardDirectionalAnswer, {"q": q, "tau": tau, "directions": directions,
            "qd": qd, "gravity": gravity, "payload": payload, "parameters": parameters, "wrenches": wrenches, "friction":
            friction, "joints": joints, "locked": locked, "normalise": normalise, "on_error": on_error, "outputs": outputs},
            timeout)

    def hessian(
            self, q: Coordinates, *, qd: Optional[Coordinates] = None, qdd: Optional[Coordinates] = None,
            multipliers: Optional[Coordinates] = None, gravity: Optional[npt.ArrayLike] = None,
            payload: Optional[Union[Payload, Sequence[Payload]]] = None,
            parameters: Optional[Mapping[str, npt.ArrayLike]] = None, wrenches: Optional[Sequence[Wrench]] = None,
            friction: Optional[bool] = None, joints: Optional[Sequence[str]] = None,
            locked: Optional[Mapping[str, npt.ArrayLike]] = None, normalise: Optional[bool] = None,
            on_error: Optional[Literal['request', 'row']] = None,
            outputs: Optional[Sequence[Literal['hessian_q_q', 'hessian_q_qd', 'hessian_q_qdd', 'hessian_qd_qd',
            'hessian_qd_qdd', 'd2tau_dq_dq', 'd2tau_dq_dqd', 'd2tau_dq_dqdd', 'd2tau_dqd_dqd', 'd2tau_dqd_dqdd']]] = None,
            timeout: Optional[float] = None,
    ) -> HessianAnswer:
        """Second derivatives of the torques.

        Second derivatives of inverse-dynamics, contracted with the `multipliers` λ of the torques: those of the scalar λᵀtau,
        which Newton and SQP methods need for constraints on torques. Row j and column k of `hessian_x_y` are ∂/∂y_k (λᵀ
        ∂tau/∂x_j), with the derivatives of sensitivity. For a floating base or joint and a spherical joint the derivatives with
        respect to `q` are along p += R e_v, R ← R exp(e_w). They are taken first by x_j, then by y_k: within one such joint
        hessian_q_q is not symmetric. Derivatives with respect to qdd twice are zero. Those by qd and qdd, `hessian_qd_qdd`, are
        zero but for friction that depends on the load with a `coulomb_velocity`. The outputs `d2tau_…` are the same matrices
        for every torque, without `multipliers`. Components of wrenches, in their named axes, and their points are constant. The
        second derivative of sign(qd) is taken as zero. Missing `qd` and `qdd` are zero. Models with loops are the 422
        not-for-loops.

        q: Positions, nq entries: rad or m.
        qd: Velocities, nv entries: rad/s or m/s. Default 0.
        qdd: Accelerations, nv entries: rad/s² or m/s². Default 0.
        multipliers: Multipliers λ of the torques or accelerations, nv entries: one number for each coordinate.
        gravity: m/s², world axes; replaces the model's. One vector for all rows, or one for each: of tilted mounts, whose
        gravity turns with the base, and of a base that is accelerated without turning, whose gravity is g - a. For any motion
        of the base the model has a floating one, whose qdd is given. Rows of gravity or of figures of payloads have the bits of
        single requests; each state is then evaluated alone instead of in lanes: an inverse dynamics of a Panda takes 0.3 µs
        more, and with payloads of rows 1.3 µs more, in which the model with the payload is made. identify, ground-reaction,
        sensors, external-wrench and path-timing take one value for all rows. path with Coulomb friction and limits of the
        effort of mimic joints takes one payload and one set of parameters.
        payload: A rigid body fixed to a link or frame for this request. Each figure is one for all rows, or one for each row.
        On a link that is fixed to the world it has no effect, which is a warning of the answer. The link's gravity_compensation
        applies to it too.
        parameters: Inertial parameters that replace the model's, by the links of bodies: for each link ten numbers m, m c (3),
        Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the origin and in the axes of the link, as `regressor` numbers them, or a row of ten
        for each row of the batch. The parameters of a link are those of its body, whatever is merged into it or mounted on it
        included. A body must be physical. Payloads are added. Cost: as of payloads.
        wrenches: Acts on the link, by the environment.
        friction: false omits joint friction.
        joints: A permutation of velocity_names, the order of coordinates in this request and its answer. The six coordinates of
        a floating base stay first, as in `q` its seven positions, and may be left out of the list. For models none of whose
        joints has a quaternion.
        locked: Joints that are held at positions, by the names of the joints: a number in rad or m, [x, y, angle] of a planar
        joint, the quaternion [qx, qy, qz, qw] of a spherical one, or the seven positions of a floating one. These joints are
        fixed for this request: they leave `q`, `qd`, `tau` and all other coordinates of the request and of its answer, whose
        order stays; their links belong to the bodies of their parents, and keep their frames. So `joint_wrenches`, parameters
        and limits of the request are those of the reduced model, too. Joints that mimic them stand where they follow. Their
        friction, springs, limits and `rotor_inertia` disappear; a motor on such a joint is a part of the link that carries it.
        `<joint>.motor` of an elastic joint locks its motor alone: the joint then has the spring to the motor's place. Loops
        keep their assembly, the position to which the locked joints move the model's `reference`. A 422: a mimic joint, a
        passive joint of loops, a floating base, all joints together, or some of the joints of a transmission. The first request
        with the same `locked` on a model takes the time to build the reduced model, about 0.1 ms for each link and the closing
        of its loops; the server keeps the last 64, of at most 32 MiB, for the next ones. Of `PUT`, the parameter `locked`
        reduces a model for all requests.
        normalise: Whether quaternions of the request (in `q`, `guess`, `platform` and `orientation`) may have any norm but 0,
        and are normalised. By default a norm that differs from 1 by more than 1e-6 is the 422 bad-quaternion: it is often a
        wrong order or a missing component.
        on_error: Whether a row that cannot be evaluated fails the whole request, or only itself: then it is null (NaN in typed
        arrays of CBOR), and listed in `errors` of the answer. Outputs without numbers, as `dtau_dwrench` without wrenches, stay
        empty.
        outputs
        timeout: of this call, s; the server then stops working on it, too.
        """
        return self._evaluate("hessian", HessianAnswer, {"q": q, "qd": qd, "qdd": qdd, "multipliers": multipliers, "gravity":
            gravity, "payload": payload, "parameters": parameters, "wrenches": wrenches, "friction": friction, "joints": joints,
            "locked": locked, "normalise": normalise, "on_error": on_error, "outputs": outputs}, timeout)

    def forward_hessian(
            self, q: Coordinates, *, tau: Coordinates, qd: Optional[Coordinates] = None,
            multipliers: Optional[Coordinates] = None, gravity: Optional[npt.ArrayLike] = None,
            payload: Optional[Union[Payload, Sequence[Payload]]] = None,
            parameters: Optional[Mapping[str, npt.ArrayLike]] = None, wrenches: Optional[Sequence[Wrench]] = None,
            friction: Optional[bool] = None, joints: Optional[Sequence[str]] = None,
            locked: Optional[Mapping[str, npt.ArrayLike]] = None, normalise: Optional[bool] = None,
            on_error: Optional[Literal['request', 'row']] = None,
            outputs: Optional[Sequence[Literal['hessian_q_q', 'hessian_q_qd', 'hessian_qd_qd', 'hessian_q_tau',
            'hessian_qd_tau', 'd2qdd_dq_dq', 'd2qdd_dq_dqd', 'd2qdd_dqd_dqd', 'd2qdd_dq_dtau', 'd2qdd_dqd_dtau']]] = None,
            timeout: Optional[float] = None,
    ) -> ForwardHessianAnswer:
        """Second derivatives of the accelerations.

        Second derivatives of forward-dynamics, contracted with the `multipliers` λ of the accelerations: those of λᵀqdd with
        respect to q, qd and tau, in the order and along the directions of hessian. Derivatives with respect to tau twice are
        zero. Those by qd and tau, `hessian_qd_tau`, are zero but for friction that depends on the load with a
        `coulomb_velocity`. The outputs `d2qdd_…` are the same matrices for every acceleration, without `multipliers`. Missing
        `qd` is zero. A mass matrix that is singular at the state is a 422 naming the joint; models with loops are the 422
        not-for-loops.

        q: Positions, nq entries: rad or m.
        tau: Joint efforts, nv entries: N m or N.
        qd: Velocities, nv entries: rad/s or m/s. Default 0.
        multipliers: Multipliers λ of the torques or accelerations, nv entries: one number for each coordinate.
        gravity: m/s², world axes; replaces the model's. One vector for all rows, or one for each: of tilted mounts, whose
        gravity turns with the base, and of a base that is accelerated without turning, whose gravity is g - a. For any motion
        of the base the model has a floating one, whose qdd is given. Rows of gravity or of figures of payloads have the bits of
        single requests; each state is then evaluated alone instead of in lanes: an inverse dynamics of a Panda takes 0.3 µs
        more, and with payloads of rows 1.3 µs more, in which the model with the payload is made. identify, ground-reaction,
        sensors, external-wrench and path-timing take one value for all rows. path with Coulomb friction and limits of the
        effort of mimic joints takes one payload and one set of parameters.
        payload: A rigid body fixed to a link or frame for this request. Each figure is one for all rows, or one for each row.
        On a link that is fixed to the world it has no effect, which is a warning of the answer. The link's gravity_compensation
        applies to it too.
        parameters: Inertial parameters that replace the model's, by the links of bodies: for each link ten numbers m, m c (3),
        Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the origin and in the axes of the link, as `regressor` numbers them, or a row of ten
        for each row of the batch. The parameters of a link are those of its body, whatever is merged into it or mounted on it
        included. A body must be physical. Payloads are added. Cost: as of payloads.
        wrenches: Acts on the link, by the environment.
        friction: false omits joint friction.
        joints: A permutation of velocity_names, the order of coordinates in this request and its answer. The six coordinates of
        a floating base stay first, as in `q` its seven positions, and may be left out of the list. For models none of whose
        joints has a quaternion.
        locked: Joints that are held at positions, by the names of the joints: a number in rad or m, [x, y, angle] of a planar
        joint, the quaternion [qx, qy, qz, qw] of a spherical one, or the seven positions of a floating one. These joints are
        fixed for this request: they leave `q`, `qd`, `tau` and all other coordinates of the request and of its answer, whose
        order stays; their links belong to the bodies of their parents, and keep their frames. So `joint_wrenches`, parameters
        and limits of the request are those of the reduced model, too. Joints that mimic them stand where they follow. Their
        friction, springs, limits and `rotor_inertia` disappear; a motor on such a joint is a part of the link that carries it.
        `<joint>.motor` of an elastic joint locks its motor alone: the joint then has the spring to the motor's place. Loops
        keep their assembly, the position to which the locked joints move the model's `reference`. A 422: a mimic joint, a
        passive joint of loops, a floating base, all joints together, or some of the joints of a transmission. The first request
        with the same `locked` on a model takes the time to build the reduced model, about 0.1 ms for each link and the closing
        of its loops; the server keeps the last 64, of at most 32 MiB, for the next ones. Of `PUT`, the parameter `locked`
        reduces a model for all requests.
        normalise: Whether quaternions of the request (in `q`, `guess`, `platform` and `orientation`) may have any norm but 0,
        and are normalised. By default a norm that differs from 1 by more than 1e-6 is the 422 bad-quaternion: it is often a
        wrong order or a missing component.
        on_error: Whether a row that cannot be evaluated fails the whole request, or only itself: then it is null (NaN in typed
        arrays of CBOR), and listed in `errors` of the answer. Outputs without numbers, as `dtau_dwrench` without wrenches, stay
        empty.
        outputs
        timeout: of this call, s; the server then stops working on it, too.
        """
        return self._evaluate("forward-hessian", ForwardHessianAnswer, {"q": q, "tau": tau, "qd": qd, "multipliers":
            multipliers, "gravity": gravity, "payload": payload, "parameters": parameters, "wrenches": wrenches, "friction":
            friction, "joints": joints, "locked": locked, "normalise": normalise, "on_error": on_error, "outputs": outputs},
            timeout)

    def step(
            self, q: Coordinates, *, tau: Coordinates, step: float, qd: Optional[Coordinates] = None,
            integrator: Optional[Literal['explicit_euler', 'semi_implicit_euler', 'rk4', 'implicit_euler']] = None,
            held: Optional[Sequence[Held]] = None, contact_damping: Optional[float] = None,
            friction_at_rest: Optional[Literal['none', 'stick']] = None, impact: Optional[bool] = None,
            gravity: Optional[npt.ArrayLike] = None, payload: Optional[Union[Payload, Sequence[Payload]]] = None,
            parameters: Optional[Mapping[str, npt.ArrayLike]] = None, wrenches: Optional[Sequence[Wrench]] = None,
            friction: Optional[bool] = None, joints: Optional[Sequence[str]] = None, guess: Optional[Coordinates] = None,
            locked: Optional[Mapping[str, npt.ArrayLike]] = None, normalise: Optional[bool] = None,
            on_error: Optional[Literal['request', 'row']] = None,
            outputs: Optional[Sequence[Literal['q_after', 'qd_after', 'state_matrix', 'input_matrix', 'wrench_matrix',
            'parameter_matrix', 'contact_residual', 'sticking', 'full']]] = None,
            timeout: Optional[float] = None,
    ) -> StepAnswer:
        """One step of integration, with its Jacobians.

        The state x₊ = (q₊, qd₊) after one step of h = `step` seconds with constant `tau` and wrenches, and its exact
        derivatives A = ∂x₊/∂x (`state_matrix`) and B = ∂x₊/∂tau (`input_matrix`), as discrete optimal control needs them. With
        a(q, qd) the acceleration of forward-dynamics, `integrator` is - `semi_implicit_euler`: qd₊ = qd + h a(q, qd), q₊ = q ⊕
        h qd₊, - `explicit_euler`: q₊ = q ⊕ h qd, qd₊ = qd + h a(q, qd), - `rk4`: the classical method of order 4 on the
        manifold of positions (Munthe-Kaas), - `implicit_euler`: qd₊ = qd + h a(q₊, qd₊), q₊ = q ⊕ h qd₊, by Newton's method
        with the exact Jacobian, for stiff joints. If that Jacobian is singular or the method does not converge, the answer is
        the 422 integration-failed. With `held` frames a and its derivatives are those of forward-dynamics with these frames: M
        qdd + … = tau + Jᵀl, J qdd + J̇ qd = 0. Frames that cannot all keep their velocities are the 422 contradictory-contacts.
        With `contact_damping` a and its derivatives are those of damped contacts; `contact_residual` is what remains at the
        start of the step, with implicit_euler at its end. An impact is not damped: its velocities never contradict each other.
        With `impact` the step begins with a plastic impact that stops the held frames: it starts from (q, v) with M (v - qd) =
        Jᵀp and J v = 0, the velocities of the operation impact. The matrices are then derivatives through the impact as well.
        By default Coulomb friction has the sign of the velocity before the step, and may reverse the motion within the step.
        With `"friction_at_rest": "stick"` sharp Coulomb friction, without a `coulomb_velocity`, instead depends on the velocity
        after the step: at most `coulomb` holds a joint, qd₊ = 0 exactly, and other joints have the full friction against their
        motion (the time-stepping of Stewart & Trinkle). Which joints stick is one problem for all joints and the `held` frames,
        whose qd₊ is unique. Rows of qd₊ of joints that stick are zero in the matrices; rows of other joints are derivatives
        while the same joints stick and the others slide on. `sticking` marks the joints that stick and is then among the
        outputs by default. With a `stribeck_velocity` the friction of the step is that of the curve at the rate before the
        step: `breakaway` holds a joint at rest, and where a joint slides, the slope of the curve is in A. "stick" needs the
        explicit or semi-implicit Euler method, no `impact`, and friction; anything else is a 422. Motors of coupled
        `transmissions` stick likewise: their rates after the step, and the derivatives of these rates, are then zero up to
        rounding, and `sticking` has no entry for them. In models with loops sharp friction of passive joints and of such motors
        is the 422 not-supported. On request `wrench_matrix` has the derivatives with respect to the wrenches of the request,
        whose given components and points are constant, and `parameter_matrix` those by the inertial parameters of all bodies,
        ten each as in regressor: m, m·c, then the moments and products of inertia about the link's origin. A payload adds its
        own parameters, about the origin and in the axes of its link, to those of the link, so that the columns of the link are
        those of the payload as well. q ⊕ u is q + u for joints of one coordinate. A spherical or floating joint moves with the
        constant twist u in the axes of its body: R ← R exp(u_w), p ← p + R V(u_w) u_v, with V the left Jacobian of rotations.
        Changes of q and of q₊ have nv entries: for a floating base or joint they are p += R e_v, R ← R exp(e_w), as in
        sensitivity. Rows and columns of the matrices are first those of q, then those of qd. The derivative of sign(qd) is
        taken as zero. Missing `qd` is zero. A mass matrix that is singular is a 422 naming the joint. For models with loops x
        has the actuated coordinates, and a(q, qd) and its derivatives are those of the mechanism whose loops stay closed. Loops
        are closed at the start, as in every operation, and at each position at which the integrator evaluates a, along the
        straight line from the start; where they cannot be closed the answer is the 422 of such a state. q₊ itself is not
        closed: the next step does so. `full` describes the start: its passive coordinates are the `guess` with which the next
        step keeps the assembly; it is not available with held frames. `held` frames and `impact` hold as for other models: a is
        then that of the mechanism with closed loops and held frames.

        q: Positions, nq entries: rad or m.
        tau: Joint efforts, nv entries: N m or N.
        step: The step's duration h, s.
        qd: Velocities, nv entries: rad/s or m/s. Default 0.
        integrator
        held: Frames in contact; an empty list counts as no `held`. In forward-dynamics and simulate contact_wrenches are then
        among the default outputs; without `held` that output does not exist. In impact `held` is needed. In a phase of rollout
        without `held` no frame is held.
        contact_damping: Damping δ of the contacts of `held`, 1/kg and 1/(kg m²): see forward-dynamics. Missing: none.
        friction_at_rest: stick: sharp Coulomb friction can stop joints in the step. none: it has the sign of the velocity
        before the step.
        impact: Whether the step begins with a plastic impact of the held frames.
        gravity: m/s², world axes; replaces the model's. One vector for all rows, or one for each: of tilted mounts, whose
        gravity turns with the base, and of a base that is accelerated without turning, whose gravity is g - a. For any motion
        of the base the model has a floating one, whose qdd is given. Rows of gravity or of figures of payloads have the bits of
        single requests; each state is then evaluated alone instead of in lanes: an inverse dynamics of a Panda takes 0.3 µs
        more, and with payloads of rows 1.3 µs more, in which the model with the payload is made. identify, ground-reaction,
        sensors, external-wrench and path-timing take one value for all rows. path with Coulomb friction and limits of the
        effort of mimic joints takes one payload and one set of parameters.
        payload: A rigid body fixed to a link or frame for this request. Each figure is one for all rows, or one for each row.
        On a link that is fixed to the world it has no effect, which is a warning of the answer. The link's gravity_compensation
        applies to it too.
        parameters: Inertial parameters that replace the model's, by the links of bodies: for each link ten numbers m, m c (3),
        Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the origin and in the axes of the link, as `regressor` numbers them, or a row of ten
        for each row of the batch. The parameters of a link are those of its body, whatever is merged into it or mounted on it
        included. A body must be physical. Payloads are added. Cost: as of payloads.
        wrenches: Acts on the link, by the environment.
        friction: false omits joint friction.
        joints: A permutation of velocity_names, the order of coordinates in this request and its answer. The six coordinates of
        a floating base stay first, as in `q` its seven positions, and may be left out of the list. For models none of whose
        joints has a quaternion.
        guess: For models with `loops`: passive coordinates near the intended ones, where several positions close the loops.
        From there the loop error is reduced to zero proportionally, without passing a singular position. An object of some of
        `passive_names`, the others having the values of the model's `reference`, or an array of all of them, or a batch of
        arrays.
        locked: Joints that are held at positions, by the names of the joints: a number in rad or m, [x, y, angle] of a planar
        joint, the quaternion [qx, qy, qz, qw] of a spherical one, or the seven positions of a floating one. These joints are
        fixed for this request: they leave `q`, `qd`, `tau` and all other coordinates of the request and of its answer, whose
        order stays; their links belong to the bodies of their parents, and keep their frames. So `joint_wrenches`, parameters
        and limits of the request are those of the reduced model, too. Joints that mimic them stand where they follow. Their
        friction, springs, limits and `rotor_inertia` disappear; a motor on such a joint is a part of the link that carries it.
        `<joint>.motor` of an elastic joint locks its motor alone: the joint then has the spring to the motor's place. Loops
        keep their assembly, the position to which the locked joints move the model's `reference`. A 422: a mimic joint, a
        passive joint of loops, a floating base, all joints together, or some of the joints of a transmission. The first request
        with the same `locked` on a model takes the time to build the reduced model, about 0.1 ms for each link and the closing
        of its loops; the server keeps the last 64, of at most 32 MiB, for the next ones. Of `PUT`, the parameter `locked`
        reduces a model for all requests.
        normalise: Whether quaternions of the request (in `q`, `guess`, `platform` and `orientation`) may have any norm but 0,
        and are normalised. By default a norm that differs from 1 by more than 1e-6 is the 422 bad-quaternion: it is often a
        wrong order or a missing component.
        on_error: Whether a row that cannot be evaluated fails the whole request, or only itself: then it is null (NaN in typed
        arrays of CBOR), and listed in `errors` of the answer. Outputs without numbers, as `dtau_dwrench` without wrenches, stay
        empty.
        outputs
        timeout: of this call, s; the server then stops working on it, too.
        """
        return self._evaluate("step", StepAnswer, {"q": q, "tau": tau, "step": step, "qd": qd, "integrator": integrator, "held":
            held, "contact_damping": contact_damping, "friction_at_rest": friction_at_rest, "impact": impact, "gravity":
            gravity, "payload": payload, "parameters": parameters, "wrenches": wrenches, "friction": friction, "joints": joints,
            "guess": guess, "locked": locked, "normalise": normalise, "on_error": on_error, "outputs": outputs}, timeout)

    def rollout(
            self, q: Coordinates, *, torques: npt.ArrayLike, step: float, qd: Optional[Coordinates] = None,
            integrator: Optional[Literal['explicit_euler', 'semi_implicit_euler', 'rk4', 'implicit_euler']] = None,
            held: Optional[Sequence[Held]] = None, contact_damping: Optional[float] = None,
            phases: Optional[Sequence[Phase]] = None, friction_at_rest: Optional[Literal['none', 'stick']] = None,
            gravity: Optional[npt.ArrayLike] = None, payload: Optional[Union[Payload, Sequence[Payload]]] = None,
            parameters: Optional[Mapping[str, npt.ArrayLike]] = None, wrenches: Optional[Sequence[Wrench]] = None,
            friction: Optional[bool] = None, joints: Optional[Sequence[str]] = None, guess: Optional[Coordinates] = None,
            locked: Optional[Mapping[str, npt.ArrayLike]] = None, normalise: Optional[bool] = None,
            on_error: Optional[Literal['request', 'row']] = None, cost: Optional[RolloutCost] = None,
            damping: Optional[float] = None, free: Optional[Union[Sequence[str], Literal['base']]] = None,
            feedback: Optional[Feedback] = None,
            outputs: Optional[Sequence[Literal['q_after', 'qd_after', 'state_matrix', 'input_matrix', 'wrench_matrix',
            'parameter_matrix', 'contact_residual', 'sticking', 'full', 'gains', 'feed_forward', 'value_gradient',
            'value_hessian', 'expected_changes', 'damping', 'costs', 'tau']]] = None,
            timeout: Optional[float] = None,
    ) -> RolloutAnswer:
        """Many steps of integration, with the Jacobians of each.

        N steps of the operation step in a row, from the state (q, qd) of each row of the request, under the `torques` of N
        nodes. Outputs are those of step with an axis of N nodes before the others: `q_after` and `qd_after` of node n are the
        state of node n + 1, and the matrices are those of the step from node n. So one answer has what iLQR and multiple
        shooting ask of the dynamics. `torques` are N × nv for all rows, or rows × N × nv. Wrenches are constant in each row. A
        problem of a step names its node, counted from 0. The frames of `held` are held at all nodes. With `phases` instead, the
        held frames change from phase to phase. A phase that holds a frame along an axis along which the phase before does not
        hold it begins with a plastic impact of all its frames: its first node is a step with `impact`. The `qd_after` before
        that node are the velocities before the impact. The first phase begins without an impact. `contact_damping` applies to
        all phases; the rows of `contact_residual` are the held frames of the node's phase, with rows of zeros behind up to the
        longest list. Rows × N is at most the limit of states of a request. The loops of a model with loops are closed at every
        node. Those of node 0 are closed as in every operation, from the model's reference or from `guess`; the passive
        coordinates of each node are the guess of the next one, so that mechanisms keep their assembly. `full` has them for all
        nodes. Node n has the bits of a step from the state and with the guess of node n - 1.

        q: Positions, nq entries: rad or m.
        torques: N × nv, or rows × N × nv: joint efforts of the nodes, N m or N.
        step: The step's duration h, s.
        qd: Velocities, nv entries: rad/s or m/s. Default 0.
        integrator
        held: Frames in contact; an empty list counts as no `held`. In forward-dynamics and simulate contact_wrenches are then
        among the default outputs; without `held` that output does not exist. In impact `held` is needed. In a phase of rollout
        without `held` no frame is held.
        contact_damping: Damping δ of the contacts of `held`, 1/kg and 1/(kg m²): see forward-dynamics. Missing: none.
        phases: Which frames are held at the nodes, in place of `held`. The steps of all phases add up to N.
        friction_at_rest: stick: sharp Coulomb friction can stop joints in the step. none: it has the sign of the velocity
        before the step.
        gravity: m/s², world axes; replaces the model's. One vector for all rows, or one for each: of tilted mounts, whose
        gravity turns with the base, and of a base that is accelerated without turning, whose gravity is g - a. For any motion
        of the base the model has a floating one, whose qdd is given. Rows of gravity or of figures of payloads have the bits of
        single requests; each state is then evaluated alone instead of in lanes: an inverse dynamics of a Panda takes 0.3 µs
        more, and with payloads of rows 1.3 µs more, in which the model with the payload is made. identify, ground-reaction,
        sensors, external-wrench and path-timing take one value for all rows. path with Coulomb friction and limits of the
        effort of mimic joints takes one payload and one set of parameters.
        payload: A rigid body fixed to a link or frame for this request. Each figure is one for all rows, or one for each row.
        On a link that is fixed to the world it has no effect, which is a warning of the answer. The link's gravity_compensation
        applies to it too.
        parameters: Inertial parameters that replace the model's, by the links of bodies: for each link ten numbers m, m c (3),
        Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the origin and in the axes of the link, as `regressor` numbers them, or a row of ten
        for each row of the batch. The parameters of a link are those of its body, whatever is merged into it or mounted on it
        included. A body must be physical. Payloads are added. Cost: as of payloads.
        wrenches: Acts on the link, by the environment.
        friction: false omits joint friction.
        joints: A permutation of velocity_names, the order of coordinates in this request and its answer. The six coordinates of
        a floating base stay first, as in `q` its seven positions, and may be left out of the list. For models none of whose
        joints has a quaternion.
        guess: For models with `loops`: passive coordinates near the intended ones, where several positions close the loops.
        From there the loop error is reduced to zero proportionally, without passing a singular position. An object of some of
        `passive_names`, the others having the values of the model's `reference`, or an array of all of them, or a batch of
        arrays.
        locked: Joints that are held at positions, by the names of the joints: a number in rad or m, [x, y, angle] of a planar
        joint, the quaternion [qx, qy, qz, qw] of a spherical one, or the seven positions of a floating one. These joints are
        fixed for this request: they leave `q`, `qd`, `tau` and all other coordinates of the request and of its answer, whose
        order stays; their links belong to the bodies of their parents, and keep their frames. So `joint_wrenches`, parameters
        and limits of the request are those of the reduced model, too. Joints that mimic them stand where they follow. Their
        friction, springs, limits and `rotor_inertia` disappear; a motor on such a joint is a part of the link that carries it.
        `<joint>.motor` of an elastic joint locks its motor alone: the joint then has the spring to the motor's place. Loops
        keep their assembly, the position to which the locked joints move the model's `reference`. A 422: a mimic joint, a
        passive joint of loops, a floating base, all joints together, or some of the joints of a transmission. The first request
        with the same `locked` on a model takes the time to build the reduced model, about 0.1 ms for each link and the closing
        of its loops; the server keeps the last 64, of at most 32 MiB, for the next ones. Of `PUT`, the parameter `locked`
        reduces a model for all requests.
        normalise: Whether quaternions of the request (in `q`, `guess`, `platform` and `orientation`) may have any norm but 0,
        and are normalised. By default a norm that differs from 1 by more than 1e-6 is the 422 bad-quaternion: it is often a
        wrong order or a missing component.
        on_error: Whether a row that cannot be evaluated fails the whole request, or only itself: then it is null (NaN in typed
        arrays of CBOR), and listed in `errors` of the answer. Outputs without numbers, as `dtau_dwrench` without wrenches, stay
        empty.
        cost
        damping: Added to the diagonal of the second derivatives with respect to the torques.
        free: Coordinates whose torques are not chosen, by velocity_names; "base": all six of a floating base.
        feedback: Torques that are added in proportion to the difference from a reference motion, as of an LQR regulator.
        outputs: With a cost the default is q_after, qd_after, gains, feed_forward, expected_changes and costs; with feedback,
        tau in addition.
        timeout: of this call, s; the server then stops working on it, too.
        """
        return self._evaluate("rollout", RolloutAnswer, {"q": q, "torques": torques, "step": step, "qd": qd, "integrator":
            integrator, "held": held, "contact_damping": contact_damping, "phases": phases, "friction_at_rest":
            friction_at_rest, "gravity": gravity, "payload": payload, "parameters": parameters, "wrenches": wrenches,
            "friction": friction, "joints": joints, "guess": guess, "locked": locked, "normalise": normalise, "on_error":
            on_error, "cost": cost, "damping": damping, "free": free, "feedback": feedback, "outputs": outputs}, timeout)

    def rollout_gradient(
            self, q: Coordinates, *, torques: npt.ArrayLike, step: float, qd: Optional[Coordinates] = None,
            integrator: Optional[Literal['explicit_euler', 'semi_implicit_euler', 'rk4', 'implicit_euler']] = None,
            cost: Optional[RolloutCost] = None, multipliers_q: Optional[npt.ArrayLike] = None,
            multipliers_qd: Optional[npt.ArrayLike] = None, directions: Optional[RolloutDirections] = None,
            gravity: Optional[npt.ArrayLike] = None, payload: Optional[Union[Payload, Sequence[Payload]]] = None,
            parameters: Optional[Mapping[str, npt.ArrayLike]] = None, wrenches: Optional[Sequence[Wrench]] = None,
            friction: Optional[bool] = None, joints: Optional[Sequence[str]] = None,
            locked: Optional[Mapping[str, npt.ArrayLike]] = None, normalise: Optional[bool] = None,
            on_error: Optional[Literal['request', 'row']] = None,
            outputs: Optional[Sequence[Literal['gradient_torques', 'gradient_q', 'gradient_qd', 'cost', 'q_after', 'qd_after',
            'gradient_parameters', 'gradient_wrenches', 'gradient_gravity', 'sum_parameters', 'sum_gravity',
            'gradient_q_entries', 'hessian_products_torques', 'hessian_products_q', 'hessian_products_qd', 'rates_q',
            'rates_qd']]] = None,
            timeout: Optional[float] = None,
    ) -> RolloutGradientAnswer:
        """The gradient of a cost of many steps of integration.

        N steps of the operation step from the state (q, qd) of each row, under the `torques` of N nodes, and the gradient of
        one cost of them, with respect to the torques of all nodes, the initial state and, on request, inertial parameters,
        wrenches and gravity. The answer has N nv + 2 nv numbers a row where the matrices of rollout have 6 N nv²; the server
        keeps nq + nv numbers a node and evaluates each step again on the way back. All integrators of step are differentiated
        exactly, as the matrices of step are. The differentiated scalar is λ_qᵀ e + λ_vᵀ qd at the states after the steps, with
        e along p += R e_v, R ← R exp(e_w) and the q of other joints: `multipliers_q` and `multipliers_qd` have one row of nv
        numbers for each step, or a single row for the last state. Or it is a quadratic `cost`, which the server evaluates and
        answers: ½ Σ w (x - x_reference)² over q and qd of the states after the steps and tau of the nodes, with the weights w
        of each coordinate; `final_q` and `final_qd` are further weights of the last state. References have one row for each
        step, or a single row for all; without one they are zero. The cost is a plain sum: multiply the weights by the step for
        an integral. For a floating base, floating and spherical joints q - q_reference is the difference on the tangent space:
        R_refᵀ(p - p_ref) and the rotation vector of R_refᵀ R. Their references have nq numbers, as `q`; without one the
        reference is the origin. Matrices of weights add to these sums: `state_weights` Q, 2 nv × 2 nv, has ½ dxᵀ Q dx with dx
        of the differences of q, then of qd, after each step; `final_state_weights` has such a term of the last state, and
        `tau_weights` R, nv × nv, ½ duᵀ R du with the differences du of tau. They have the same references, must be symmetric,
        and count beside the weights of coordinates. Multipliers and cost may be given together. With `directions` of `torques`,
        `q` and `qd`, the answer has Hessian-vector products of the scalar: `hessian_products_torques`, `hessian_products_q` and
        `hessian_products_qd` are the exact rates of the three gradients along each direction, by a tangent sweep forward and an
        adjoint sweep back, without matrices: O(N nv) a direction. `rates_q` and `rates_qd` are the rates of the states after
        the steps. A direction of q is along p += R e_v, R ← R exp(e_w), and gradients by q are along these axes, which turn
        with the body: derivatives along two axes of one joint with a quaternion do not commute, and the products by q are the
        rates of the gradient g. There ⟨a, H b⟩ - ⟨b, H a⟩ = ⟨g, [b, a]⟩ with the bracket of the twists of each joint at the
        start; otherwise, and by torques and qd, the products are symmetric. Multipliers λ are constant along their axes, which
        turn: those of joints with a quaternion subtract ⟨λ, [b₊, a₊]⟩ with the rates of their state. The derivative of the sign
        of sharp Coulomb friction is 0. Directions are for the explicit and semi-implicit Euler integrators and RK4. Wrenches
        are constant in each row. N is at most the limit of rows of a request. A problem of a step names its node, counted from
        0. Models with loops are the 422 not-for-loops; held frames, phases and friction_at_rest are not taken here.

        q: Positions, nq entries: rad or m.
        torques: N × nv, or rows × N × nv: joint efforts of the nodes, N m or N.
        step: The step's duration h, s.
        qd: Velocities, nv entries: rad/s or m/s. Default 0.
        integrator
        cost
        multipliers_q: N × nv or 1 × nv, or rows × these: multipliers of changes of q after each step, or after the last.
        multipliers_qd: As multipliers_q, of qd.
        directions: Directions of the torques, of q and of qd. Each part lists the same number of directions; a part that is
        missing is zero.
        gravity: m/s², world axes; replaces the model's. One vector for all rows, or one for each: of tilted mounts, whose
        gravity turns with the base, and of a base that is accelerated without turning, whose gravity is g - a. For any motion
        of the base the model has a floating one, whose qdd is given. Rows of gravity or of figures of payloads have the bits of
        single requests; each state is then evaluated alone instead of in lanes: an inverse dynamics of a Panda takes 0.3 µs
        more, and with payloads of rows 1.3 µs more, in which the model with the payload is made. identify, ground-reaction,
        sensors, external-wrench and path-timing take one value for all rows. path with Coulomb friction and limits of the
        effort of mimic joints takes one payload and one set of parameters.
        payload: A rigid body fixed to a link or frame for this request. Each figure is one for all rows, or one for each row.
        On a link that is fixed to the world it has no effect, which is a warning of the answer. The link's gravity_compensation
        applies to it too.
        parameters: Inertial parameters that replace the model's, by the links of bodies: for each link ten numbers m, m c (3),
        Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the origin and in the axes of the link, as `regressor` numbers them, or a row of ten
        for each row of the batch. The parameters of a link are those of its body, whatever is merged into it or mounted on it
        included. A body must be physical. Payloads are added. Cost: as of payloads.
        wrenches: Acts on the link, by the environment.
        friction: false omits joint friction.
        joints: A permutation of velocity_names, the order of coordinates in this request and its answer. The six coordinates of
        a floating base stay first, as in `q` its seven positions, and may be left out of the list. For models none of whose
        joints has a quaternion.
        locked: Joints that are held at positions, by the names of the joints: a number in rad or m, [x, y, angle] of a planar
        joint, the quaternion [qx, qy, qz, qw] of a spherical one, or the seven positions of a floating one. These joints are
        fixed for this request: they leave `q`, `qd`, `tau` and all other coordinates of the request and of its answer, whose
        order stays; their links belong to the bodies of their parents, and keep their frames. So `joint_wrenches`, parameters
        and limits of the request are those of the reduced model, too. Joints that mimic them stand where they follow. Their
        friction, springs, limits and `rotor_inertia` disappear; a motor on such a joint is a part of the link that carries it.
        `<joint>.motor` of an elastic joint locks its motor alone: the joint then has the spring to the motor's place. Loops
        keep their assembly, the position to which the locked joints move the model's `reference`. A 422: a mimic joint, a
        passive joint of loops, a floating base, all joints together, or some of the joints of a transmission. The first request
        with the same `locked` on a model takes the time to build the reduced model, about 0.1 ms for each link and the closing
        of its loops; the server keeps the last 64, of at most 32 MiB, for the next ones. Of `PUT`, the parameter `locked`
        reduces a model for all requests.
        normalise: Whether quaternions of the request (in `q`, `guess`, `platform` and `orientation`) may have any norm but 0,
        and are normalised. By default a norm that differs from 1 by more than 1e-6 is the 422 bad-quaternion: it is often a
        wrong order or a missing component.
        on_error: Whether a row that cannot be evaluated fails the whole request, or only itself: then it is null (NaN in typed
        arrays of CBOR), and listed in `errors` of the answer. Outputs without numbers, as `dtau_dwrench` without wrenches, stay
        empty.
        outputs: With a cost, `cost` is among the default outputs; with directions the three products are.
        timeout: of this call, s; the server then stops working on it, too.
        """
        return self._evaluate("rollout-gradient", RolloutGradientAnswer, {"q": q, "torques": torques, "step": step, "qd": qd,
            "integrator": integrator, "cost": cost, "multipliers_q": multipliers_q, "multipliers_qd": multipliers_qd,
            "directions": directions, "gravity": gravity, "payload": payload, "parameters": parameters, "wrenches": wrenches,
            "friction": friction, "joints": joints, "locked": locked, "normalise": normalise, "on_error": on_error, "outputs":
            outputs}, timeout)

    def coriolis(
            self, q: Optional[Coordinates] = None, *, qd: Optional[Coordinates] = None,
            payload: Optional[Union[Payload, Sequence[Payload]]] = None,
            parameters: Optional[Mapping[str, npt.ArrayLike]] = None, joints: Optional[Sequence[str]] = None,
            guess: Optional[Coordinates] = None, platform: Optional[Platform] = None,
            locked: Optional[Mapping[str, npt.ArrayLike]] = None, normalise: Optional[bool] = None,
            on_error: Optional[Literal['request', 'row']] = None,
            outputs: Optional[Sequence[Literal['coriolis_matrix', 'christoffel']]] = None, timeout: Optional[float] = None,
    ) -> CoriolisAnswer:
        """The Coriolis matrix and Christoffel symbols.

        C with C qd the Coriolis vector and dM/dt - 2C skew-symmetric: C_ij = Σ_k Γ_ijk qd_k with Γ_ijk = ½(∂_k M_ij + ∂_j M_ik
        - ∂_i M_jk), and for each floating base or joint and spherical joint, whose velocities are a body's, beside that
        ½(⟨[E_k,E_j],E_i⟩ - ⟨[E_j,E_i],E_k⟩ + ⟨[E_i,E_k],E_j⟩) with the brackets of its axes and ⟨a,b⟩ = aᵀ M b.

        q: Positions, nq entries: rad or m.
        qd: Velocities, nv entries: rad/s or m/s. Default 0.
        payload: A rigid body fixed to a link or frame for this request. Each figure is one for all rows, or one for each row.
        On a link that is fixed to the world it has no effect, which is a warning of the answer. The link's gravity_compensation
        applies to it too.
        parameters: Inertial parameters that replace the model's, by the links of bodies: for each link ten numbers m, m c (3),
        Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the origin and in the axes of the link, as `regressor` numbers them, or a row of ten
        for each row of the batch. The parameters of a link are those of its body, whatever is merged into it or mounted on it
        included. A body must be physical. Payloads are added. Cost: as of payloads.
        joints: A permutation of velocity_names, the order of coordinates in this request and its answer. The six coordinates of
        a floating base stay first, as in `q` its seven positions, and may be left out of the list. For models none of whose
        joints has a quaternion.
        guess: For models with `loops`: passive coordinates near the intended ones, where several positions close the loops.
        From there the loop error is reduced to zero proportionally, without passing a singular position. An object of some of
        `passive_names`, the others having the values of the model's `reference`, or an array of all of them, or a batch of
        arrays.
        platform: For models with `loops`, instead of q, qd and qdd: pose and motion of a frame, in world axes. The answer
        begins with the corresponding q, and with qd and qdd if rates are given. Without `orientation` the mechanism determines
        the orientation of the frame, and rates are those of its origin alone. The frame moves on the straight line from its
        pose in the model's `reference`; with a `guess` the errors of loops and frame are reduced to zero together, starting
        from the actuated coordinates of the reference and the passive ones of the guess.
        locked: Joints that are held at positions, by the names of the joints: a number in rad or m, [x, y, angle] of a planar
        joint, the quaternion [qx, qy, qz, qw] of a spherical one, or the seven positions of a floating one. These joints are
        fixed for this request: they leave `q`, `qd`, `tau` and all other coordinates of the request and of its answer, whose
        order stays; their links belong to the bodies of their parents, and keep their frames. So `joint_wrenches`, parameters
        and limits of the request are those of the reduced model, too. Joints that mimic them stand where they follow. Their
        friction, springs, limits and `rotor_inertia` disappear; a motor on such a joint is a part of the link that carries it.
        `<joint>.motor` of an elastic joint locks its motor alone: the joint then has the spring to the motor's place. Loops
        keep their assembly, the position to which the locked joints move the model's `reference`. A 422: a mimic joint, a
        passive joint of loops, a floating base, all joints together, or some of the joints of a transmission. The first request
        with the same `locked` on a model takes the time to build the reduced model, about 0.1 ms for each link and the closing
        of its loops; the server keeps the last 64, of at most 32 MiB, for the next ones. Of `PUT`, the parameter `locked`
        reduces a model for all requests.
        normalise: Whether quaternions of the request (in `q`, `guess`, `platform` and `orientation`) may have any norm but 0,
        and are normalised. By default a norm that differs from 1 by more than 1e-6 is the 422 bad-quaternion: it is often a
        wrong order or a missing component.
        on_error: Whether a row that cannot be evaluated fails the whole request, or only itself: then it is null (NaN in typed
        arrays of CBOR), and listed in `errors` of the answer. Outputs without numbers, as `dtau_dwrench` without wrenches, stay
        empty.
        outputs
        timeout: of this call, s; the server then stops working on it, too.
        """
        return self._evaluate("coriolis", CoriolisAnswer, {"q": q, "qd": qd, "payload": payload, "parameters": parameters,
            "joints": joints, "guess": guess, "platform": platform, "locked": locked, "normalise": normalise, "on_error":
            on_error, "outputs": outputs}, timeout)

    def regressor(
            self, q: Optional[Coordinates] = None, *, qd: Optional[Coordinates] = None, qdd: Optional[Coordinates] = None,
            qd_reference: Optional[Coordinates] = None, qdd_reference: Optional[Coordinates] = None,
            gravity: Optional[npt.ArrayLike] = None, joints: Optional[Sequence[str]] = None,
            guess: Optional[Coordinates] = None, platform: Optional[Platform] = None,
            locked: Optional[Mapping[str, npt.ArrayLike]] = None, normalise: Optional[bool] = None,
            on_error: Optional[Literal['request', 'row']] = None,
            outputs: Optional[Sequence[Literal['regressor', 'joint_regressor', 'base_parameters', 'base_regressor',
            'kinetic_regressor', 'potential_regressor', 'momentum_regressor', 'joint_kinetic_regressor',
            'joint_momentum_regressor']]] = None,
            timeout: Optional[float] = None,
    ) -> RegressorAnswer:
        """Inverse dynamics as a matrix times the robot's parameters.

        tau = regressor · (inertial parameters) + joint_regressor · (joint parameters), without springs and wrenches, friction
        sharp, equal in both directions and the same under every load. The ten parameters of each body of the model are m, m·c
        (3), Ixx, Ixy, Iyy, Ixz, Iyz, Izz about its link's origin, in link axes, motors' rotors locked; the three of each moving
        joint are rotor_inertia, viscous, coulomb (of spherical and floating joints rotor_inertia alone, else zeros for joints
        of several coordinates); those of each motor coordinate `<joint>.motor` follow after all joints. The rotor_inertia of a
        floating base is in none of them. Of a joint with a motor, rotor_inertia stands for its spin_inertia, at the joint or,
        if that is elastic, at its motor coordinate; elasticity counts as a spring. Missing `qd` and `qdd` are zero. With
        `qd_reference` or `qdd_reference`, in place of `qdd`, the torque is that of inverse-dynamics with the same reference.
        Energies and momentum are linear in the same parameters: kinetic = kinetic_regressor · (inertial parameters) +
        joint_kinetic_regressor · (joint parameters), likewise momentum; potential = potential_regressor · (inertial parameters)
        without springs. The momentum's angular part is about the world's origin, since the centre of mass moves with the
        parameters: with com and momentum of `energy` it is momentum[3:] + com × momentum[:3]. These rows need `q` and `qd`; a
        reference has no effect on them. They identify parameters without accelerations: over time, kinetic + potential grow by
        the work of tau less that of friction. Motion cannot distinguish all inertial parameters, only the base parameters β:
        regressor · (inertial parameters) = base_regressor · β at every state. They are computed numerically, once per model,
        for its own gravity (a request with another `gravity` is a 422) and for up to 100 moving bodies. The first request for
        them waits, some tenths of a second with 50 bodies; with a shorter `Request-Timeout` it fails and a later request
        computes them. Parameters that appear in no β have no effect. The base parameters of a model with loops hold for the
        assembly of its `reference`, and for others that move alike.

        q: Positions, nq entries: rad or m.
        qd: Velocities, nv entries: rad/s or m/s. Default 0.
        qdd: Accelerations, nv entries: rad/s² or m/s². Default 0.
        qd_reference: Reference velocities of a controller, nv entries: rad/s or m/s. Default 0 beside `qdd_reference`.
        qdd_reference: Reference accelerations of a controller, nv entries: rad/s² or m/s². Default 0 beside `qd_reference`.
        gravity: m/s², world axes; replaces the model's. One vector for all rows, or one for each: of tilted mounts, whose
        gravity turns with the base, and of a base that is accelerated without turning, whose gravity is g - a. For any motion
        of the base the model has a floating one, whose qdd is given. Rows of gravity or of figures of payloads have the bits of
        single requests; each state is then evaluated alone instead of in lanes: an inverse dynamics of a Panda takes 0.3 µs
        more, and with payloads of rows 1.3 µs more, in which the model with the payload is made. identify, ground-reaction,
        sensors, external-wrench and path-timing take one value for all rows. path with Coulomb friction and limits of the
        effort of mimic joints takes one payload and one set of parameters.
        joints: A permutation of velocity_names, the order of coordinates in this request and its answer. The six coordinates of
        a floating base stay first, as in `q` its seven positions, and may be left out of the list. For models none of whose
        joints has a quaternion.
        guess: For models with `loops`: passive coordinates near the intended ones, where several positions close the loops.
        From there the loop error is reduced to zero proportionally, without passing a singular position. An object of some of
        `passive_names`, the others having the values of the model's `reference`, or an array of all of them, or a batch of
        arrays.
        platform: For models with `loops`, instead of q, qd and qdd: pose and motion of a frame, in world axes. The answer
        begins with the corresponding q, and with qd and qdd if rates are given. Without `orientation` the mechanism determines
        the orientation of the frame, and rates are those of its origin alone. The frame moves on the straight line from its
        pose in the model's `reference`; with a `guess` the errors of loops and frame are reduced to zero together, starting
        from the actuated coordinates of the reference and the passive ones of the guess.
        locked: Joints that are held at positions, by the names of the joints: a number in rad or m, [x, y, angle] of a planar
        joint, the quaternion [qx, qy, qz, qw] of a spherical one, or the seven positions of a floating one. These joints are
        fixed for this request: they leave `q`, `qd`, `tau` and all other coordinates of the request and of its answer, whose
        order stays; their links belong to the bodies of their parents, and keep their frames. So `joint_wrenches`, parameters
        and limits of the request are those of the reduced model, too. Joints that mimic them stand where they follow. Their
        friction, springs, limits and `rotor_inertia` disappear; a motor on such a joint is a part of the link that carries it.
        `<joint>.motor` of an elastic joint locks its motor alone: the joint then has the spring to the motor's place. Loops
        keep their assembly, the position to which the locked joints move the model's `reference`. A 422: a mimic joint, a
        passive joint of loops, a floating base, all joints together, or some of the joints of a transmission. The first request
        with the same `locked` on a model takes the time to build the reduced model, about 0.1 ms for each link and the closing
        of its loops; the server keeps the last 64, of at most 32 MiB, for the next ones. Of `PUT`, the parameter `locked`
        reduces a model for all requests.
        normalise: Whether quaternions of the request (in `q`, `guess`, `platform` and `orientation`) may have any norm but 0,
        and are normalised. By default a norm that differs from 1 by more than 1e-6 is the 422 bad-quaternion: it is often a
        wrong order or a missing component.
        on_error: Whether a row that cannot be evaluated fails the whole request, or only itself: then it is null (NaN in typed
        arrays of CBOR), and listed in `errors` of the answer. Outputs without numbers, as `dtau_dwrench` without wrenches, stay
        empty.
        outputs
        timeout: of this call, s; the server then stops working on it, too.
        """
        return self._evaluate("regressor", RegressorAnswer, {"q": q, "qd": qd, "qdd": qdd, "qd_reference": qd_reference,
            "qdd_reference": qdd_reference, "gravity": gravity, "joints": joints, "guess": guess, "platform": platform,
            "locked": locked, "normalise": normalise, "on_error": on_error, "outputs": outputs}, timeout)

    def task_space(
            self, q: Optional[Coordinates] = None, *, qd: Optional[Coordinates] = None,
            gravity: Optional[npt.ArrayLike] = None, payload: Optional[Union[Payload, Sequence[Payload]]] = None,
            parameters: Optional[Mapping[str, npt.ArrayLike]] = None, wrenches: Optional[Sequence[Wrench]] = None,
            friction: Optional[bool] = None, joints: Optional[Sequence[str]] = None, guess: Optional[Coordinates] = None,
            platform: Optional[Platform] = None, frame: Optional[str] = None,
            axes: Optional[Sequence[Literal['x', 'y', 'z', 'rx', 'ry', 'rz']]] = None,
            frames: Optional[Sequence[TaskSpaceFramesItem]] = None, damping: Optional[float] = None,
            locked: Optional[Mapping[str, npt.ArrayLike]] = None, normalise: Optional[bool] = None,
            on_error: Optional[Literal['request', 'row']] = None,
            outputs: Optional[Sequence[Literal['inertia', 'jacobian', 'jacobian_dot_qd', 'jacobian_inverse', 'bias',
            'ellipsoid', 'condition']]] = None,
            timeout: Optional[float] = None,
    ) -> TaskSpaceAnswer:
        """The dynamics seen at one frame or at several.

        The operational-space formulation (Khatib): along the k `axes` of `frame` (world axes at its origin; default all six),
        with J the k × nv Jacobian, a force F at the frame (tau = Jᵀ F) accelerates it by ẍ: F = Λ ẍ + bias, with Λ = (J M⁻¹ Jᵀ
        + damping²)⁻¹, bias = J̄ᵀ h - Λ J̇ q̇, h being the output of the operation bias, and J̄ = M⁻¹ Jᵀ Λ the dynamically
        consistent inverse. Friction that depends on the load is in h as at qdd = 0: F = Λ ẍ + bias then leaves out how it
        changes with ẍ. If the frame cannot move along all of the axes, the answer is a 422: choose fewer axes, or give
        `damping`. Missing `qd` is zero. In place of `frame` and `axes`, `frames` lists up to 8 frames with their axes. J then
        has the rows of one frame after those of another, k in all, and Λ the blocks between frames: forces F at all frames
        together accelerate them by ẍ with the same equations.

        q: Positions, nq entries: rad or m.
        qd: Velocities, nv entries: rad/s or m/s. Default 0.
        gravity: m/s², world axes; replaces the model's. One vector for all rows, or one for each: of tilted mounts, whose
        gravity turns with the base, and of a base that is accelerated without turning, whose gravity is g - a. For any motion
        of the base the model has a floating one, whose qdd is given. Rows of gravity or of figures of payloads have the bits of
        single requests; each state is then evaluated alone instead of in lanes: an inverse dynamics of a Panda takes 0.3 µs
        more, and with payloads of rows 1.3 µs more, in which the model with the payload is made. identify, ground-reaction,
        sensors, external-wrench and path-timing take one value for all rows. path with Coulomb friction and limits of the
        effort of mimic joints takes one payload and one set of parameters.
        payload: A rigid body fixed to a link or frame for this request. Each figure is one for all rows, or one for each row.
        On a link that is fixed to the world it has no effect, which is a warning of the answer. The link's gravity_compensation
        applies to it too.
        parameters: Inertial parameters that replace the model's, by the links of bodies: for each link ten numbers m, m c (3),
        Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the origin and in the axes of the link, as `regressor` numbers them, or a row of ten
        for each row of the batch. The parameters of a link are those of its body, whatever is merged into it or mounted on it
        included. A body must be physical. Payloads are added. Cost: as of payloads.
        wrenches: Acts on the link, by the environment.
        friction: false omits joint friction.
        joints: A permutation of velocity_names, the order of coordinates in this request and its answer. The six coordinates of
        a floating base stay first, as in `q` its seven positions, and may be left out of the list. For models none of whose
        joints has a quaternion.
        guess: For models with `loops`: passive coordinates near the intended ones, where several positions close the loops.
        From there the loop error is reduced to zero proportionally, without passing a singular position. An object of some of
        `passive_names`, the others having the values of the model's `reference`, or an array of all of them, or a batch of
        arrays.
        platform: For models with `loops`, instead of q, qd and qdd: pose and motion of a frame, in world axes. The answer
        begins with the corresponding q, and with qd and qdd if rates are given. Without `orientation` the mechanism determines
        the orientation of the frame, and rates are those of its origin alone. The frame moves on the straight line from its
        pose in the model's `reference`; with a `guess` the errors of loops and frame are reduced to zero together, starting
        from the actuated coordinates of the reference and the passive ones of the guess.
        frame: A link or frame of the model.
        axes: Directions of translation and axes of rotation of the task; the answer has their order.
        frames: Several frames, in place of `frame` and `axes`.
        damping: Bounds Λ near singular states, by damping⁻².
        locked: Joints that are held at positions, by the names of the joints: a number in rad or m, [x, y, angle] of a planar
        joint, the quaternion [qx, qy, qz, qw] of a spherical one, or the seven positions of a floating one. These joints are
        fixed for this request: they leave `q`, `qd`, `tau` and all other coordinates of the request and of its answer, whose
        order stays; their links belong to the bodies of their parents, and keep their frames. So `joint_wrenches`, parameters
        and limits of the request are those of the reduced model, too. Joints that mimic them stand where they follow. Their
        friction, springs, limits and `rotor_inertia` disappear; a motor on such a joint is a part of the link that carries it.
        `<joint>.motor` of an elastic joint locks its motor alone: the joint then has the spring to the motor's place. Loops
        keep their assembly, the position to which the locked joints move the model's `reference`. A 422: a mimic joint, a
        passive joint of loops, a floating base, all joints together, or some of the joints of a transmission. The first request
        with the same `locked` on a model takes the time to build the reduced model, about 0.1 ms for each link and the closing
        of its loops; the server keeps the last 64, of at most 32 MiB, for the next ones. Of `PUT`, the parameter `locked`
        reduces a model for all requests.
        normalise: Whether quaternions of the request (in `q`, `guess`, `platform` and `orientation`) may have any norm but 0,
        and are normalised. By default a norm that differs from 1 by more than 1e-6 is the 422 bad-quaternion: it is often a
        wrong order or a missing component.
        on_error: Whether a row that cannot be evaluated fails the whole request, or only itself: then it is null (NaN in typed
        arrays of CBOR), and listed in `errors` of the answer. Outputs without numbers, as `dtau_dwrench` without wrenches, stay
        empty.
        outputs
        timeout: of this call, s; the server then stops working on it, too.
        """
        return self._evaluate("task-space", TaskSpaceAnswer, {"q": q, "qd": qd, "gravity": gravity, "payload": payload,
            "parameters": parameters, "wrenches": wrenches, "friction": friction, "joints": joints, "guess": guess, "platform":
            platform, "frame": frame, "axes": axes, "frames": frames, "damping": damping, "locked": locked, "normalise":
            normalise, "on_error": on_error, "outputs": outputs}, timeout)

    def identify(
            self, q: Coordinates, *, qd: Coordinates, qdd: Coordinates, tau: Coordinates,
            weights: Optional[Coordinates] = None, gravity: Optional[npt.ArrayLike] = None,
            payload: Optional[Union[Payload, Sequence[Payload]]] = None, wrenches: Optional[Sequence[Wrench]] = None,
            friction: Optional[bool] = None, joints: Optional[Sequence[str]] = None, guess: Optional[Coordinates] = None,
            rotor: Optional[bool] = None, consistent: Optional[bool] = None,
            unknown: Optional[Sequence[Literal['payload', 'payload.mass', 'payload.com', 'payload.inertia', 'friction',
            'rotors', 'load', 'stribeck']]] = None,
            frame: Optional[str] = None, prior: Optional[IdentifyPrior] = None, huber: Optional[float] = None,
            locked: Optional[Mapping[str, npt.ArrayLike]] = None, normalise: Optional[bool] = None,
            on_error: Optional[Literal['request', 'row']] = None,
            outputs: Optional[Sequence[Literal['base_parameters', 'parameters', 'residual', 'noise', 'condition',
            'unobservable', 'payload', 'model', 'fit', 'observability']]] = None,
            timeout: Optional[float] = None,
    ) -> IdentifyAnswer:
        """The robot's parameters from measured motion and torques.

        Each row of `q`, `qd`, `qdd` and `tau` is an instant of a motion with the measured torques. These are compared with the
        torques of the model (with `payload`, `wrenches`, springs and dampers, which are known), and the base parameters β are
        estimated by weighted least squares: the combinations of parameters that motion can distinguish, grouped as in the
        operation regressor. They hold for the model's own gravity; another `gravity` is a 422, as is a model of more than 100
        moving bodies. In a model with loops they are the combinations that affect the actuated joints, of all its bodies and
        joints, passive ones included. `rotor: true` also estimates the rotor inertias of the joints; otherwise the model's are
        taken as known. `friction: true` also estimates viscous and Coulomb friction of the joints, sharp and different in both
        directions; without `friction` the model's is taken as known, and `friction: false` means that the torques contain none.
        Parameters are named `<link>.m`, mcx, mcy, mcz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz (about the link's origin, in its axes;
        links merged into it included) and `<joint>.rotor_inertia`, viscous, coulomb_positive, coulomb_negative. Without
        `weights` the noise is taken to be independent, with one standard deviation per coordinate. It is estimated from the
        residual of a solution, over the degrees of freedom, and the rows are weighted with it, until no deviation changes by
        more than 1e-4 of itself (60 times at most). `deviation` accounts for the uncertainty of these weights. (With fewer
        states than twice the number of base parameters, or than 16, all coordinates have equal weight.) With `weights`, each
        row of the equations is multiplied by its weight (1 / standard deviation, up to a common factor; 0 omits it). `huber: k`
        is for torques with outliers: a residual r beyond k standard deviations counts linearly, as k |r| instead of r²/2
        (Huber's loss). The standard deviation of each coordinate is then the median of |r| / 0.6745, over the degrees of
        freedom; with `weights` it is one for all coordinates. k = 1.345 loses 5 % of the precision where the noise is normal.
        All rows are held in memory. `prior` says how far the robot may be from the model, where the rows alone tell too little:
        the parameters are taken to be independent and normal about those of the model, with the standard deviations `bodies` (a
        share r of each body's mass m: mass r m, first moments r m a, inertias r m a², with the root mean square distance a of
        the body's mass from the origin of its link; a body without mass has the mean of all bodies), `rotors` (kg m², prismatic
        joints kg) and `friction` (viscous N m s/rad, Coulomb N m; prismatic joints N s/m and N). What the rows do not show
        stays near the model, and `deviation` then is that of the prior. The prior weighs against the estimated noise of the
        rows. A kind that is not given has no prior. `consistent: true` also returns all parameters of a physically possible
        robot: positive masses, positive definite pseudo-inertias, positive rotor inertias. Among those that fit the data within
        their noise they are close to the model's own: they minimise half the squared weighted error plus 0.01 times the
        log-determinant divergence of each body's pseudo-inertia (and rotor inertia) from the model's, plus 0.01 times half the
        squared differences of friction parameters. For bodies whose figures in the model are not physically possible, the
        nearest possible figures take their place. The output `model` is the model's document with the identified parameters:
        those of all bodies, physically possible as with `consistent`, or those that `unknown` lists. PUT takes it as a new
        model. A body's `inertial` is that of its own link; links merged into it and motors on it have none. Friction of a motor
        that drives a rigid joint is written to the joint. Friction and rotor inertias below zero are written as zero.
        Identified friction is all of a joint's friction: a Stribeck curve of the model that `unknown` does not list is left
        out, since the torques were fitted without it. A document with `screws` holds no friction and no rotor inertias, and an
        elastic joint without an entry in `motors` no friction of its drive: then `model` is a 422. In a model with
        `transmissions`, `friction` and `rotor` (or `unknown`) estimate those of the coupled motors, named `<motor>.viscous` and
        so on, on the motor's side: friction acts on the motor's rate, N m s/rad and N m at its shaft. A joint of a transmission
        has friction and a rotor inertia of its own only if the model gives it some; else they could not be told from those of
        the motors. The output `fit` says how well the torques of `model`, `parameters` or `payload` fit, which are physically
        possible and so may fit worse than the base parameters: the root mean square of the residuals, of all rows and of each
        coordinate. Much more than `residual` and `noise` means that no real body has the measured torques (those of the bundled
        `hua`, whose published inertias are not those of real bodies, for example). Where a joint has a `coulomb_velocity`,
        `model` keeps it, but the friction was fitted as sharp, and `fit` counts it so: rows at rates of about that velocity
        have other torques with `model`. An unknown payload is the body that carries `frame`, and the model's own figures of
        that body are known. Its parameters are estimated as far as the rows show them. Those that they show only in
        combinations are grouped in `base_parameters` with their coefficients; those that they do not show at all are left out.
        `observability` lists each parameter that is sought, and how `these_rows` and `any_motion` of the robot show it:
        `alone`, `combined` with others, or `none`. `unobservable` are those that no motion shows: a SCARA does not show the
        height of its payload's centre, a Delta only the mass, and a robot at rest shows mass and centre, but no inertia. The
        output `payload` is a real body (positive mass, positive definite pseudo-inertia) that a request takes as `payload`: the
        estimate where it shows all ten parameters and is one; else the body that fits the rows and departs least, in the
        divergence of `consistent`, from a ball of 1000 kg/m³ with the mass and the centre that the rows show, or else the mean
        mass of the model's bodies and the origin of `frame`. `payload.mass` and `payload.com` in `unknown`, always together,
        are the same without an `inertia` in `payload`: an inertia that the rows show is estimated beside them, not taken to be
        zero. With `unknown`, parameters that no motion tells apart (friction of a joint and of its mimic) are grouped, as base
        parameters are. In `model` they are those nearest to the model's own. Load coefficients and Stribeck's curves, which
        `unknown` may list, have parameters `<joint>.load`, breakaway_positive, breakaway_negative and stribeck_velocity.
        Torques are linear in all but the last, since the torque without friction is that of the known bodies. The velocity of
        each joint is the best one between a thousandth of its largest rate and that rate. Deviations are those of the equations
        linearised about it. A model whose friction depends on the load is a 422 unless `unknown` lists load, or `friction` is
        false. Too few rows, or rows in which a base parameter has no effect or cannot be distinguished from others (a joint
        that does not move, or in one direction only), are a 422 `rank-deficient` that names these parameters: another motion
        would show them. It is no error of an unknown payload, nor of what has a `prior`. Parameters that no motion can
        determine are never an error: they are listed in `unobservable`.

        q: Positions, nq entries: rad or m.
        qd: Velocities, nv entries: rad/s or m/s. Default 0.
        qdd: Accelerations, nv entries: rad/s² or m/s². Default 0.
        tau: Joint efforts, nv entries: N m or N.
        weights: nv entries, not negative: one set for each row, or one for all rows.
        gravity: m/s², world axes; replaces the model's.
        payload: A rigid body fixed to a link or frame for this request. Each figure is one for all rows, or one for each row.
        On a link that is fixed to the world it has no effect, which is a warning of the answer. The link's gravity_compensation
        applies to it too.
        wrenches: Acts on the link, by the environment.
        friction: true: estimated. false: tau contains none. Absent: the model's, known.
        joints: A permutation of velocity_names, the order of coordinates in this request and its answer. The six coordinates of
        a floating base stay first, as in `q` its seven positions, and may be left out of the list. For models none of whose
        joints has a quaternion.
        guess: For models with `loops`: passive coordinates near the intended ones, where several positions close the loops.
        From there the loop error is reduced to zero proportionally, without passing a singular position. An object of some of
        `passive_names`, the others having the values of the model's `reference`, or an array of all of them, or a batch of
        arrays.
        rotor: true: rotor inertias are estimated. false: the model's, known.
        consistent: true: also the output parameters.
        unknown: What is estimated, while everything else of the model is known: the inertial parameters of a payload at `frame`
        (or only its mass and centre of mass, `payload.mass` and `payload.com` together; with `payload.inertia` they are
        `payload`); viscous and Coulomb friction of all joints; their rotor inertias. Absent: the bodies' base parameters. Not
        with `rotor` and `consistent`. With friction and without payload and rotors also: load coefficients (`friction.load`);
        Stribeck's curves, `breakaway` and `stribeck_velocity`, if the model has no mimics. These two are for models without
        `loops`.
        frame: The link or frame that an unknown payload is fixed to.
        prior: Standard deviations of the robot's parameters about the model's. Only kinds that are estimated; `bodies` without
        `unknown`.
        huber: Threshold of Huber's loss in standard deviations, such as 1.345. Absent: all residuals count squared. Not with
        load and stribeck.
        locked: Joints that are held at positions, by the names of the joints: a number in rad or m, [x, y, angle] of a planar
        joint, the quaternion [qx, qy, qz, qw] of a spherical one, or the seven positions of a floating one. These joints are
        fixed for this request: they leave `q`, `qd`, `tau` and all other coordinates of the request and of its answer, whose
        order stays; their links belong to the bodies of their parents, and keep their frames. So `joint_wrenches`, parameters
        and limits of the request are those of the reduced model, too. Joints that mimic them stand where they follow. Their
        friction, springs, limits and `rotor_inertia` disappear; a motor on such a joint is a part of the link that carries it.
        `<joint>.motor` of an elastic joint locks its motor alone: the joint then has the spring to the motor's place. Loops
        keep their assembly, the position to which the locked joints move the model's `reference`. A 422: a mimic joint, a
        passive joint of loops, a floating base, all joints together, or some of the joints of a transmission. The first request
        with the same `locked` on a model takes the time to build the reduced model, about 0.1 ms for each link and the closing
        of its loops; the server keeps the last 64, of at most 32 MiB, for the next ones. Of `PUT`, the parameter `locked`
        reduces a model for all requests.
        normalise: Whether quaternions of the request (in `q`, `guess`, `platform` and `orientation`) may have any norm but 0,
        and are normalised. By default a norm that differs from 1 by more than 1e-6 is the 422 bad-quaternion: it is often a
        wrong order or a missing component.
        on_error: Whether a row that cannot be evaluated fails the whole request, or only itself: then it is null (NaN in typed
        arrays of CBOR), and listed in `errors` of the answer. Outputs without numbers, as `dtau_dwrench` without wrenches, stay
        empty.
        outputs: With an unknown payload also payload, fit and observability; with a prior also observability; with `consistent`
        also parameters and fit.
        timeout: of this call, s; the server then stops working on it, too.
        """
        return self._evaluate("identify", IdentifyAnswer, {"q": q, "qd": qd, "qdd": qdd, "tau": tau, "weights": weights,
            "gravity": gravity, "payload": payload, "wrenches": wrenches, "friction": friction, "joints": joints, "guess":
            guess, "rotor": rotor, "consistent": consistent, "unknown": unknown, "frame": frame, "prior": prior, "huber": huber,
            "locked": locked, "normalise": normalise, "on_error": on_error, "outputs": outputs}, timeout)

    def trajectory(
            self, *, degree: int, duration: npt.ArrayLike, control_points: npt.ArrayLike,
            knots: Optional[npt.ArrayLike] = None, samples: Optional[int] = None, times: Optional[npt.ArrayLike] = None,
            dense: Optional[bool] = None, points: Optional[Sequence[KinematicsPointsItem]] = None,
            kinds: Optional[Sequence[Literal['position', 'velocity', 'effort', 'effort_rate', 'acceleration', 'jerk',
            'effort_speed']]] = None,
            free: Optional[Union[Sequence[str], Literal['base']]] = None, input: Optional[TrajectoryInput] = None,
            gravity: Optional[npt.ArrayLike] = None, payload: Optional[Union[Payload, Sequence[Payload]]] = None,
            parameters: Optional[Mapping[str, npt.ArrayLike]] = None, wrenches: Optional[Sequence[WrenchOverTime]] = None,
            friction: Optional[bool] = None, joints: Optional[Sequence[str]] = None, guess: Optional[Coordinates] = None,
            locked: Optional[Mapping[str, npt.ArrayLike]] = None, normalise: Optional[bool] = None,
            on_error: Optional[Literal['request', 'row']] = None, outputs: Optional[Sequence[str]] = None,
            timeout: Optional[float] = None,
    ) -> TrajectoryAnswer:
        """The dynamics along a joint motion, with gradients for planners.

        The motion is one B-spline for all joints. With the fraction f = t / T of its `duration` T, q(t) = Σ_k B_k(f) c_k,
        dʳq/dtʳ = Σ_k b_rk c_k, b_rk = B_k⁽ʳ⁾(f) / Tʳ, where c_k are the `control_points` and B_k the basis functions of
        `degree` p over the `knots`. The unit of knots is arbitrary: f runs from knot p to knot m, counted from 0, m being the
        number of control points. Derivatives that jump at a knot have the value after it, at the end of the motion the value
        before it; the jerk of a cubic is piecewise constant. Control points always have nv entries. At a spherical joint they
        are a rotation vector x, for the rotation R = exp([x]×) from the joint's zero position; at a floating base or joint the
        position p, in the same axes as in q, then x. The spline is that of p and x, |x| ≤ 2π; `q` of the answer has the
        quaternion, and `qd`, `qdd` and `qddd` are the velocity [Rᵀṗ; J(x)ẋ] in the moving axes and its time derivatives, with J
        the right Jacobian of rotations. The gradients are those with respect to the entries of control points. Models with
        loops need nq = nv. Samples are evenly spaced (`samples` of them, both ends included) or at the given `times`. Every
        output has one more dimension for them: the first, or the second after that of a batch. The rows of a batch are motions:
        B × m × nv `control_points`, B `duration`s, B rows of a wrench; a field given once is shared by all. Wrenches keep their
        points along the motion. `force` and `torque` are constant, or signals as in simulate; their rates enter `tau_dot` and
        its gradients. Sampled values with `times`, and sinusoids, are functions of the time t in seconds, and `times` must
        cover the longest duration. Values without times, and B-splines, are functions of f: they stretch with the motion.
        Derivatives with respect to the duration keep f constant and follow each signal accordingly. Where a signal jumps, a
        sample has the value after the jump. Gradients are analytical. Of m control points only p + 1 affect a sample; gradients
        with respect to control points have these alone, from `first_control_point` on, or with `dense` all of them, mostly
        zeros: `dtau_dcontrol_points[n][i][k][j]` is the derivative of tau_i at sample n with respect to joint j of control
        point first_control_point[n] + k. Gradients with respect to the duration keep the fraction f of each sample, whether it
        comes from `samples` or `times`: samples move with T. At a constant time, d tau/dT = dtau_dduration - tau_dot t/T.
        `basis` has the b_rk, which are the gradients of q, qd, qdd and qddd of any joint with one coordinate with respect to
        its own control points; those with respect to the duration are -r/T times dʳq/dtʳ. With `points` the answer describes
        points fixed to links, as kinematics does in world axes, at all samples:
        d_point_positions_dcontrol_points[n][p][i][k][j] is the derivative of coordinate i of point p. Positions do not depend
        on the duration, since a sample keeps its fraction f. With `free` the accelerations of some coordinates, such as a
        floating base or joints without a motor, follow from their efforts. At each sample positions and velocities of all
        coordinates are those of the spline; accelerations and jerks of the free coordinates are those that the efforts and
        their rates in `input` (default 0) require, as in inverse-dynamics. `qdd`, `qddd`, tau, tau_dot, joint wrenches and
        accelerations of points are those of this motion; the spline's accelerations of free coordinates have no effect.
        Gradients account for it, and dqdd_dcontrol_points, dqdd_dduration and dqdd_dknots are those of `qdd`. Where `qdd`
        equals the spline's accelerations, which the same request without `free` returns, the spline is a motion of the robot
        under these efforts: a planner takes the difference as its constraint. A free coordinate without inertia is the 422
        `singular-mass-matrix`. dtau_dparameters[n][i] has the derivatives of tau_i at sample n with respect to the inertial
        parameters of all bodies, ten each, as in sensitivity; dtau_dot_dparameters those of tau_dot_i, as in torque-derivative.
        The outputs that end in `_dknots` are derivatives with respect to each of the m + p + 1 knots, at a constant fraction f.
        A sample depends on the 2p knots around it, and on knots p and m. dmotion_dknots[n][r][j][i] is the derivative of dʳ/dtʳ
        of entry j of the spline. Where knots coincide, one of them is moved and the others stay. `margins` tells how far joints
        are from their `limits` at each sample, as in the operation margins, with the same gradients as torques; `kinds` chooses
        the limits, whose margins are then default outputs. `least_margins` has of each limit the least margin of a motion, and
        `least_gradients` its derivatives with respect to all control points, duration and knots: those at the sample that has
        it, the first one if several have it. Mimic joints and passive joints of loops are in the list. Gradients of effort
        rates, like those of tau_dot, are for models without `loops`: they would need the third derivatives of the loops'
        conditions. It is not available in evaluate.

        degree: Of the B-spline; 3 is cubic.
        duration: T, s, greater than 0: one, or one for each motion.
        control_points: m × nv, or B × m × nv, m at least degree + 1: rad or m. At joints with a quaternion: position and
        rotation vector.
        knots: m + degree + 1 numbers that do not decrease. At most `degree` coincide, at the ends one more. Default: from 0 to
        1, inner knots evenly spaced, end knots repeated, so that the motion starts at the first control point and ends at the
        last. Knots that differ are at least 1e-100, the first and the last at most 1e100 apart.
        samples: N, evenly spaced from 0 to the duration.
        times: N times from 0 to the duration, in any order, s.
        dense: Gradients with respect to all control points.
        points: Points fixed to links or frames, for the outputs whose names begin with `point_` or `d_point_`. With `points`
        the default of `outputs` contains point_positions.
        kinds: Of limits; default all.
        free: The coordinates whose acceleration is computed, by velocity_names; "base": all six of a floating base. Without
        `free` there are no outputs that begin with dqdd.
        input: Only with `free`.
        gravity: m/s², world axes; replaces the model's. One vector for all rows, or one for each: of tilted mounts, whose
        gravity turns with the base, and of a base that is accelerated without turning, whose gravity is g - a. For any motion
        of the base the model has a floating one, whose qdd is given. Rows of gravity or of figures of payloads have the bits of
        single requests; each state is then evaluated alone instead of in lanes: an inverse dynamics of a Panda takes 0.3 µs
        more, and with payloads of rows 1.3 µs more, in which the model with the payload is made. identify, ground-reaction,
        sensors, external-wrench and path-timing take one value for all rows. path with Coulomb friction and limits of the
        effort of mimic joints takes one payload and one set of parameters.
        payload: A rigid body fixed to a link or frame for this request. Each figure is one for all rows, or one for each row.
        On a link that is fixed to the world it has no effect, which is a warning of the answer. The link's gravity_compensation
        applies to it too.
        parameters: Inertial parameters that replace the model's, by the links of bodies: for each link ten numbers m, m c (3),
        Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the origin and in the axes of the link, as `regressor` numbers them, or a row of ten
        for each row of the batch. The parameters of a link are those of its body, whatever is merged into it or mounted on it
        included. A body must be physical. Payloads are added. Cost: as of payloads.
        wrenches: A wrench whose components may be signals.
        friction: false omits joint friction.
        joints: A permutation of velocity_names, the order of coordinates in this request and its answer. The six coordinates of
        a floating base stay first, as in `q` its seven positions, and may be left out of the list. For models none of whose
        joints has a quaternion.
        guess: For models with `loops`: passive coordinates near the intended ones, where several positions close the loops.
        From there the loop error is reduced to zero proportionally, without passing a singular position. An object of some of
        `passive_names`, the others having the values of the model's `reference`, or an array of all of them, or a batch of
        arrays.
        locked: Joints that are held at positions, by the names of the joints: a number in rad or m, [x, y, angle] of a planar
        joint, the quaternion [qx, qy, qz, qw] of a spherical one, or the seven positions of a floating one. These joints are
        fixed for this request: they leave `q`, `qd`, `tau` and all other coordinates of the request and of its answer, whose
        order stays; their links belong to the bodies of their parents, and keep their frames. So `joint_wrenches`, parameters
        and limits of the request are those of the reduced model, too. Joints that mimic them stand where they follow. Their
        friction, springs, limits and `rotor_inertia` disappear; a motor on such a joint is a part of the link that carries it.
        `<joint>.motor` of an elastic joint locks its motor alone: the joint then has the spring to the motor's place. Loops
        keep their assembly, the position to which the locked joints move the model's `reference`. A 422: a mimic joint, a
        passive joint of loops, a floating base, all joints together, or some of the joints of a transmission. The first request
        with the same `locked` on a model takes the time to build the reduced model, about 0.1 ms for each link and the closing
        of its loops; the server keeps the last 64, of at most 32 MiB, for the next ones. Of `PUT`, the parameter `locked`
        reduces a model for all requests.
        normalise: Whether quaternions of the request (in `q`, `guess`, `platform` and `orientation`) may have any norm but 0,
        and are normalised. By default a norm that differs from 1 by more than 1e-6 is the 422 bad-quaternion: it is often a
        wrong order or a missing component.
        on_error: Whether a row that cannot be evaluated fails the whole request, or only itself: then it is null (NaN in typed
        arrays of CBOR), and listed in `errors` of the answer. Outputs without numbers, as `dtau_dwrench` without wrenches, stay
        empty.
        outputs
        timeout: of this call, s; the server then stops working on it, too.
        """
        return self._evaluate("trajectory", TrajectoryAnswer, {"degree": degree, "duration": duration, "control_points":
            control_points, "knots": knots, "samples": samples, "times": times, "dense": dense, "points": points, "kinds":
            kinds, "free": free, "input": input, "gravity": gravity, "payload": payload, "parameters": parameters, "wrenches":
            wrenches, "friction": friction, "joints": joints, "guess": guess, "locked": locked, "normalise": normalise,
            "on_error": on_error, "outputs": outputs}, timeout)

    def trajectory_hessian(
            self, *, degree: int, duration: npt.ArrayLike, control_points: npt.ArrayLike, torque_multipliers: npt.ArrayLike,
            knots: Optional[npt.ArrayLike] = None, samples: Optional[int] = None, times: Optional[npt.ArrayLike] = None,
            gravity: Optional[npt.ArrayLike] = None, payload: Optional[Union[Payload, Sequence[Payload]]] = None,
            parameters: Optional[Mapping[str, npt.ArrayLike]] = None, wrenches: Optional[Sequence[Wrench]] = None,
            friction: Optional[bool] = None, joints: Optional[Sequence[str]] = None,
            locked: Optional[Mapping[str, npt.ArrayLike]] = None, normalise: Optional[bool] = None,
            on_error: Optional[Literal['request', 'row']] = None,
            outputs: Optional[Sequence[Literal['hessian_control_points']]] = None, timeout: Optional[float] = None,
    ) -> TrajectoryHessianAnswer:
        """Second derivatives of torques along a joint motion by its control points.

        With the `torque_multipliers` λ_n of the torques at sample n, this is the Hessian of Σ_n λ_nᵀ tau(t_n) with respect to
        the control points, which bounds on torques along a motion add to the Hessian of a Lagrangian. The motion is that of the
        operation trajectory. `hessian_control_points[k][i][l][j]` is the second derivative by joint i of control point k and
        joint j of control point l; it is symmetric, and zero where |k - l| exceeds the degree. The rows of a batch are motions:
        B × m × nv `control_points`, B `duration`s, B × N × nv `torque_multipliers`, B rows of a wrench; a field given once is
        shared by all. Wrenches are constant along the motion. The operation needs nq = nv; models with loops are the 422
        not-for-loops. It is not available in evaluate.

        degree: Of the B-spline; 3 is cubic.
        duration: T, s, greater than 0: one, or one for each motion.
        control_points: m × nv, or B × m × nv, m at least degree + 1: rad or m.
        torque_multipliers: N × nv, or B × N × nv: λ_n of each sample, one number for each torque.
        knots: m + degree + 1 numbers that do not decrease. At most `degree` coincide, at the ends one more. Default: from 0 to
        1, inner knots evenly spaced, end knots repeated, so that the motion starts at the first control point and ends at the
        last. Knots that differ are at least 1e-100, the first and the last at most 1e100 apart.
        samples: N, evenly spaced from 0 to the duration.
        times: N times from 0 to the duration, in any order, s.
        gravity: m/s², world axes; replaces the model's. One vector for all rows, or one for each: of tilted mounts, whose
        gravity turns with the base, and of a base that is accelerated without turning, whose gravity is g - a. For any motion
        of the base the model has a floating one, whose qdd is given. Rows of gravity or of figures of payloads have the bits of
        single requests; each state is then evaluated alone instead of in lanes: an inverse dynamics of a Panda takes 0.3 µs
        more, and with payloads of rows 1.3 µs more, in which the model with the payload is made. identify, ground-reaction,
        sensors, external-wrench and path-timing take one value for all rows. path with Coulomb friction and limits of the
        effort of mimic joints takes one payload and one set of parameters.
        payload: A rigid body fixed to a link or frame for this request. Each figure is one for all rows, or one for each row.
        On a link that is fixed to the world it has no effect, which is a warning of the answer. The link's gravity_compensation
        applies to it too.
        parameters: Inertial parameters that replace the model's, by the links of bodies: for each link ten numbers m, m c (3),
        Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the origin and in the axes of the link, as `regressor` numbers them, or a row of ten
        for each row of the batch. The parameters of a link are those of its body, whatever is merged into it or mounted on it
        included. A body must be physical. Payloads are added. Cost: as of payloads.
        wrenches: Acts on the link, by the environment.
        friction: false omits joint friction.
        joints: A permutation of velocity_names, the order of coordinates in this request and its answer. The six coordinates of
        a floating base stay first, as in `q` its seven positions, and may be left out of the list. For models none of whose
        joints has a quaternion.
        locked: Joints that are held at positions, by the names of the joints: a number in rad or m, [x, y, angle] of a planar
        joint, the quaternion [qx, qy, qz, qw] of a spherical one, or the seven positions of a floating one. These joints are
        fixed for this request: they leave `q`, `qd`, `tau` and all other coordinates of the request and of its answer, whose
        order stays; their links belong to the bodies of their parents, and keep their frames. So `joint_wrenches`, parameters
        and limits of the request are those of the reduced model, too. Joints that mimic them stand where they follow. Their
        friction, springs, limits and `rotor_inertia` disappear; a motor on such a joint is a part of the link that carries it.
        `<joint>.motor` of an elastic joint locks its motor alone: the joint then has the spring to the motor's place. Loops
        keep their assembly, the position to which the locked joints move the model's `reference`. A 422: a mimic joint, a
        passive joint of loops, a floating base, all joints together, or some of the joints of a transmission. The first request
        with the same `locked` on a model takes the time to build the reduced model, about 0.1 ms for each link and the closing
        of its loops; the server keeps the last 64, of at most 32 MiB, for the next ones. Of `PUT`, the parameter `locked`
        reduces a model for all requests.
        normalise: Whether quaternions of the request (in `q`, `guess`, `platform` and `orientation`) may have any norm but 0,
        and are normalised. By default a norm that differs from 1 by more than 1e-6 is the 422 bad-quaternion: it is often a
        wrong order or a missing component.
        on_error: Whether a row that cannot be evaluated fails the whole request, or only itself: then it is null (NaN in typed
        arrays of CBOR), and listed in `errors` of the answer. Outputs without numbers, as `dtau_dwrench` without wrenches, stay
        empty.
        outputs
        timeout: of this call, s; the server then stops working on it, too.
        """
        return self._evaluate("trajectory-hessian", TrajectoryHessianAnswer, {"degree": degree, "duration": duration,
            "control_points": control_points, "torque_multipliers": torque_multipliers, "knots": knots, "samples": samples,
            "times": times, "gravity": gravity, "payload": payload, "parameters": parameters, "wrenches": wrenches, "friction":
            friction, "joints": joints, "locked": locked, "normalise": normalise, "on_error": on_error, "outputs": outputs},
            timeout)

    def simulate(
            self, q: Coordinates, *, duration: float, qd: Optional[Coordinates] = None, step: Optional[float] = None,
            tolerance: Optional[float] = None, stiff: Optional[bool] = None,
            integrator: Optional[Literal['rk4', 'dopri5', 'esdirk5']] = None,
            input: Optional[Union[TorqueInput, TorqueInputGiven]] = None, prescribed: Optional[Prescribed] = None,
            samples: Optional[int] = None, times: Optional[npt.ArrayLike] = None, gravity: Optional[npt.ArrayLike] = None,
            payload: Optional[Union[Payload, Sequence[Payload]]] = None,
            parameters: Optional[Mapping[str, npt.ArrayLike]] = None, wrenches: Optional[Sequence[WrenchOverTime]] = None,
            friction: Optional[bool] = None, joints: Optional[Sequence[str]] = None, guess: Optional[Coordinates] = None,
            held: Optional[Sequence[Held]] = None, contact_damping: Optional[float] = None,
            contacts: Optional[Sequence[ContactPoint]] = None, locked: Optional[Mapping[str, npt.ArrayLike]] = None,
            normalise: Optional[bool] = None, on_error: Optional[Literal['request', 'row']] = None,
            outputs: Optional[Sequence[Literal['times', 'q', 'qd', 'qdd', 'tau', 'kinetic', 'potential', 'actuator_work',
            'friction_work', 'wrench_work', 'position_error', 'velocity_error', 'steps', 'contact_wrenches', 'limits',
            'least_margins', 'motor_tau', 'contact_residual', 'contact_forces', 'contact_events']]] = None,
            timeout: Optional[float] = None,
    ) -> SimulateAnswer:
        """Motions under given torques or under a controller.

        The equation of motion is integrated from `q` and `qd` (default 0) over `duration` seconds and sampled at N instants:
        evenly spaced (`samples` of them, both ends included) or at `times`, which must not decrease. Every output has one more
        dimension for the samples: the first, or the second after that of a batch. The rows of a batch are simulations: B rows
        of `q`, `qd`, a wrench, or of the signals in `input`; a field given once is shared by all. Steps. With `step` they have
        a fixed length. With `tolerance` the root mean square of the local errors of positions and velocities, relative to 1 +
        |y|, stays within it; every simulation chooses its own steps, the same alone and in a batch. Steps end at every sample,
        and wherever the input or a wrench is not smooth; a fixed step that does not divide an interval is shortened evenly.
        Quaternions are projected on the unit sphere after every step. A simulation has at most 10 million steps. `integrator`
        names the method. `rk4` needs `step`: the classical Runge-Kutta method of order 4. `dopri5` needs `tolerance`: the
        explicit pair of order 5(4) of Dormand and Prince. `esdirk5` needs `tolerance`: the implicit pair ESDIRK5(4)7L[2]SA2 of
        Kennedy and Carpenter, for stiff springs, gains or friction. The pairs are those of ARKODE (SUNDIALS). Without
        `integrator` the method is `rk4` with `step`, `dopri5` with `tolerance`, and `esdirk5` with `tolerance` and `"stiff":
        true`. A motion that diverges ends the simulation with a 422 `integration-failed` that gives the time and the
        coordinate: a joint, active or passive, faster than 1e5 rad/s or m/s, or an acceleration above 1e12 rad/s² or m/s². So
        does a step that becomes too short for the tolerance, or so short that the rest would need more than 10 million steps.
        Friction. Joints with sharp Coulomb friction stop, stick and break loose, also in models with loops and beside `held`
        frames: while a joint sticks its velocity is zero, and friction has the value that this needs, up to `coulomb` or
        `breakaway`, plus load |T| where friction depends on the load. With a tolerance the instants are located. With fixed
        steps a step is divided where a joint comes to rest, and a joint breaks loose at the end of a step. Which joints stick
        is decided as in forward-dynamics with `"friction_at_rest": "stick"`; so are the `contact_wrenches` of samples at which
        joints stick. Three kinds of sharp friction do not stick: that of passive joints of loops, of motors of coupled
        `transmissions`, and in models with loops friction that depends on the load. It has the sign of the velocity. A joint
        that should stick then oscillates with a velocity of about step × coulomb / inertia, and steps with a tolerance become
        very short, down to a 422 `integration-failed` that names the joint; with motors of transmissions they are a 422
        `not-supported`. Give such joints a `coulomb_velocity`. `input` holds `tau`, or a controller: `{"controller", "kp",
        "kd", "ki"?, "reference"}`. With the feedback u = kp (r - q) + kd (r' - q') + ki z, where z is the integral of r - q,
        the controller `pid` has the torques u; `pd_gravity` u + g(q); `computed_torque` those of the acceleration r'' + u; and
        `pd_feed_forward` u + the torques of inverse-dynamics at the reference, for rigid robots without loops, all of whose
        joints are actuated. Gains are a number, or one for each velocity. z starts at 0, and stays as it is while the torque of
        the coordinate is clipped and z would move it further from the clipped one, so that it does not wind up. Controllers use
        the stored model with the request's `gravity` and `friction`, but without `wrenches`, and without `payload` and
        `parameters` unless `"knows_payload": true` is given; with `"knows_friction": false` they compensate no friction. With
        `model`, the name of another stored model, they use that in place of the robot's own, as the control of a real robot
        does: its coordinates have the same names in the same order, while masses, lengths, axes, springs and friction may
        differ. Gains, limits and measured states stay those of the robot. Both models are without loops, no frames are `held`,
        and `knows_payload` is left out. A client whose token is limited to some models needs both. With `period` the controller
        is sampled as by a computer: the torques that it finds from the state at time k `period`, k = 0, 1, ..., act from
        `delay` (default 0) later until the next ones arrive; those of time 0 act from the start. z then grows by `period` (r -
        q) after each sample. At most 100 000 samples are taken, and a delay is at most 1000 periods. Controllers act on
        actuated coordinates alone: those of joints with `"actuated": true`; of an elastic joint, that of its motor. The efforts
        of a floating base, of other joints and of the link's side of an elastic joint are zero, and entries of gains and
        reference that belong to them are ignored. With such passive coordinates `computed_torque` is partial feedback
        linearisation (collocated): actuated coordinates get the acceleration above, passive ones follow the dynamics.
        `pd_gravity` gives the motor of an elastic joint the gravity torque of its link as well. Actuated joints with a
        quaternion are refused, except with `state_feedback`, and a robot without any actuated joint (`not-supported`). With
        `held` frames and passive coordinates p, `pd_gravity` gives the torques of static equilibrium: tau = kp (r - q) + kd (r'
        - q') + g - Jᵀ l with the l of least norm (N and N m) that solves J_pᵀ l = g_p, by least squares where no equilibrium
        exists. `computed_torque` gives the torques of the held robot whose actuated coordinates get the acceleration above, by
        least squares where held frames prevent it. A robot all of whose coordinates are actuated gets the same torques as
        without `held`. The torques of a controller are clipped at the limits `effort` and `effort_speed` of joints, and then
        those of the motors of `transmissions` at theirs if the controller drives all their joints, unless `"clip": false` is
        given; torques given as `tau` are not clipped, and efforts of mimic joints are compared only. Where torques reach a
        limit the acceleration has a kink: steps with a tolerance become short there, fixed steps lose their order. `limits`
        lists the joints and motors that exceeded a limit: of effort, before clipping; of position and of velocity, which are
        not enforced. The list is that of margins, mimic joints and passive joints of loops included, but for effort rates,
        accelerations and jerks; the effort of a motor is compared if the input drives all its joints. It gives the largest
        excess over the limit and its time, among the start, the ends of all steps and both sides of every jump of the input.
        The list is empty if no limit was exceeded. `least_margins` has for every limit, kept or not, the least distance to it
        among the same times; for its gradients along a motion that is given, see margins. Without `input` all torques are zero.
        `{"controller": "state_feedback", "gain_matrix", "q", "qd"?, "tau"?}` is a linear regulator, such as that of LQR, about
        the constant state `q`, `qd`: tau = `tau` + K [e; qd - q'], where K, the `gain_matrix`, has nv rows of 2 nv gains: a
        torque may depend on all coordinates, and the K of a regulator u = -K x is given as it is. e is `q` - q for a coordinate
        of its own. For a joint with a quaternion and a floating base it is the negative of the difference that `feedback` of
        rollout has: R_refᵀ (p_ref - p), and -log(R_refᵀ R), at most π long. `gains` of rollout are for that difference, and
        have the opposite sign. Actuated joints with a quaternion are driven as well. Torques act on actuated coordinates alone,
        of elastic joints on the motors: the rows of all others must be zeros, while their columns count. `tau` is a signal of
        nv torques, zero by default. `period`, `delay` and `clip` are as above. The controller knows no model. Its position and
        velocity errors are e and `qd` - q'. `{"controller": "hua", "kp", "kd", "filter"?, "reference"}` is the inverse dynamics
        controller of Hua, Poursina & Sanfilippo, (37)-(49), for robots with elastic joints, all of them actuated. Gains and
        reference have nv entries; entries of the reference for motor coordinates are ignored. With Λ = kp/kd, q'_r = r' + Λ (r
        - q) and σ = q'_r - q', the desired torque is τ_c = M q''_r + S θ'' + C q'_r + C₁ θ' + g + friction + springs + kd σ.
        The motor of a rigid joint exerts it; the motor of an elastic joint is driven to θ_d = q - rest + (τ_c - damping (θ' -
        q'))/stiffness with Sᵀ q'' + B θ''_r + C₂ q' + friction + τ_c + kd σ_θ, where θ'_r = θ'_d + Λ (θ_d - θ) + σ and σ_θ =
        θ'_r - θ'. θ'_d and θ''_d are those of a filter that follows θ_d, x'' = ω² (θ_d - x) - 2 ω x' with ω = `filter`,
        initially at rest at θ_d; q'' and θ'' are the robot's accelerations at that instant, as if measured. The controller
        drives motors only: the tau of the joint coordinate of an elastic joint is zero. Errors of motor coordinates are θ_d - θ
        and θ'_d - θ'. Fixed steps must be well below 1/ω. Torques, references, and the `force` and `torque` of wrenches are
        signals: nv numbers (3 for a wrench), constant; or `{"values": K × nv, "times"?, "interpolation": "hold" | "linear"
        (default) | "cubic"}`, sampled, at times that start at 0 and increase (default: evenly spaced over the duration; held
        values last equally long), `cubic` being the natural cubic spline; or `{"degree", "control_points", "knots"?}`, a
        B-spline over the duration as in trajectory; or `{"amplitude", "angular_frequency", "offset"?, "phase"?}`, offset +
        amplitude sin(angular_frequency t + phase), where one number as angular_frequency counts for all coordinates. Each may
        be a batch, with the simulations as an additional first dimension. Points of wrenches are constant. `prescribed`
        coordinates follow a given motion, `{"coordinates": names, "motion": signal}` with one position for each of these
        velocity names. All others, such as a floating base, passive and elastic joints, are integrated (hybrid dynamics). `tau`
        has the torques that the motion needs, which are not clipped. Position and velocity of the motion must not jump: held
        values and linear ones with more than two points are refused. In `q` and `qd` the entries of prescribed coordinates are
        0 or those of the motion at time 0, in `input.tau` they are 0; a controller drives the other actuated coordinates.
        Coordinates of joints with a quaternion cannot be prescribed. With a tolerance the local errors of the work are kept
        within it as well. Where held frames do not allow the motion, the answer is a 422 `contradictory-contacts`. `held`
        frames stay in place as in forward-dynamics; `contact_wrenches` are the wrenches on them, which do no work. At the start
        they must be at rest along their axes (otherwise a 422: use impact first). After every step positions, then velocities,
        are corrected by the least change in the metric of the mass matrix, so that nothing drifts: along axes of the world,
        along all three axes of any frame, and for a complete orientation. A frame held along one or two of its own axes, or
        about one or two, keeps its velocity only, as skates do. A rolling frame keeps the velocity of its contact point and the
        height of this point above its plane. With `contact_damping` the accelerations are those of forward-dynamics, and
        nothing is corrected after a step: the frames may start with velocities along the held axes and drift along them, and
        their wrenches do work. `contacts` are points of the robot that planes push out. With the depth d ≥ 0 of a point below
        its plane and its velocity v, the plane pushes by N = max(0, stiffness × d (1 - dissipation × n·v)) along its normal n
        (Hunt & Crossley), and rubs by friction_coefficient × N against the velocity along the plane, v_t, times |v_t| /
        √(|v_t|² + slip_velocity²). The normal force is continuous at touch and never pulls; an impact at the speed u ends at e
        u, with dissipation × u (1 + e) = ln((1 + dissipation × u) / (1 - dissipation × e u)) where no other force acts. Below
        the slip velocity a point creeps: a block on a slope with tangent t moves by slip_velocity × t / √(friction_coefficient²
        - t²). There are no shapes and no contacts between bodies; a corner of a box is a point. A contact lasts about π √(mass
        / stiffness): fixed steps must be well below. Steps with a tolerance shrink while it lasts, and are at most half of
        √(mass of the robot / largest stiffness); a touch shorter than a step may be missed. `wrench_work` has the work of the
        contacts too. `contact_forces` are the forces at the samples. With `"rigid": true` the plane does not let the point in
        (at most 32 such contacts, a tolerance instead of a step; not beside `held`, `prescribed`, joints that stick by sharp
        Coulomb friction, and friction that depends on the load). The point moves freely until its gap is zero: an event, whose
        time is located. There, all contacts without gap solve one impact: the impulse along the normal is not negative and
        along the plane at most friction_coefficient times that, against the sliding velocity after the impact; a point that
        came with the speed u leaves with restitution × u, or faster if other contacts push it. Where these laws would create
        energy, as Newton's and Coulomb's can together, all restitutions of the impact are reduced by the largest factor that
        does not, which the event has as restitution_factor. A point that leaves more slowly than resting_speed closes: it loses
        that speed and stays on the plane until its force would pull. This ends the infinitely many impacts of a bouncing body.
        A closed contact sticks, or slides with the friction friction_coefficient × N against its velocity; it begins to slide
        where friction no longer holds it. Forces that are not unique, as those of four feet, are those with the least sum of
        squares if all friction cones hold them. After every step positions and velocities are corrected to the closed contacts
        as to held frames. Steps are at most 10 ms. A start may be up to 1e-6 m below a plane; otherwise it is refused. Where no
        forces satisfy the laws (Painlevé's paradox), the answer is a 422 `contradictory-contacts`. `contact_events` lists, of
        rigid contacts, each `impact` with its impulse, `make` and `break` (a contact closes or opens), and `stick` and `slide`
        (a closed contact with friction begins to), also those of the start. Up to 256 events are listed; more are a 422
        `integration-failed` if the output is asked for. A sample at the time of an event has the state after it. `wrench_work`
        has the energy that impacts take too. `tau` is the driving torque just after the sample. `actuator_work`,
        `friction_work` (of joint friction and dampers, never positive) and `wrench_work` are the work done on the robot since
        the start: kinetic + potential = their sum at time 0 + the three. With `contact_damping` the work of the contact
        wrenches, which is not listed, adds to them. Errors are the reference minus the motion. It is not available in evaluate.

        q: Positions, nq entries: rad or m.
        duration: s.
        qd: Velocities, nv entries: rad/s or m/s. Default 0.
        step: Fixed length, s; at most the duration.
        tolerance: Of local errors.
        stiff: With a tolerance: the integrator esdirk5, if none is named.
        integrator: Default: the first of these that fits the fields step, tolerance and stiff.
        input
        prescribed
        samples: N, evenly spaced from 0 to the duration.
        times: N times from 0 to the duration, not decreasing, s.
        gravity: m/s², world axes; replaces the model's. One vector for all rows, or one for each: of tilted mounts, whose
        gravity turns with the base, and of a base that is accelerated without turning, whose gravity is g - a. For any motion
        of the base the model has a floating one, whose qdd is given. Rows of gravity or of figures of payloads have the bits of
        single requests; each state is then evaluated alone instead of in lanes: an inverse dynamics of a Panda takes 0.3 µs
        more, and with payloads of rows 1.3 µs more, in which the model with the payload is made. identify, ground-reaction,
        sensors, external-wrench and path-timing take one value for all rows. path with Coulomb friction and limits of the
        effort of mimic joints takes one payload and one set of parameters.
        payload: A rigid body fixed to a link or frame for this request. Each figure is one for all rows, or one for each row.
        On a link that is fixed to the world it has no effect, which is a warning of the answer. The link's gravity_compensation
        applies to it too.
        parameters: Inertial parameters that replace the model's, by the links of bodies: for each link ten numbers m, m c (3),
        Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the origin and in the axes of the link, as `regressor` numbers them, or a row of ten
        for each row of the batch. The parameters of a link are those of its body, whatever is merged into it or mounted on it
        included. A body must be physical. Payloads are added. Cost: as of payloads.
        wrenches: A wrench whose components may be signals.
        friction: false omits joint friction.
        joints: A permutation of velocity_names, the order of coordinates in this request and its answer. The six coordinates of
        a floating base stay first, as in `q` its seven positions, and may be left out of the list. For models none of whose
        joints has a quaternion.
        guess: For models with `loops`: passive coordinates near the intended ones, where several positions close the loops.
        From there the loop error is reduced to zero proportionally, without passing a singular position. An object of some of
        `passive_names`, the others having the values of the model's `reference`, or an array of all of them, or a batch of
        arrays.
        held: Frames in contact; an empty list counts as no `held`. In forward-dynamics and simulate contact_wrenches are then
        among the default outputs; without `held` that output does not exist. In impact `held` is needed. In a phase of rollout
        without `held` no frame is held.
        contact_damping: Damping δ of the contacts of `held`, 1/kg and 1/(kg m²): see forward-dynamics. Missing: none.
        contacts: Points that planes push out. An empty list counts as no `contacts`; else contact_forces, and with a rigid
        contact contact_events, are among the default outputs.
        locked: Joints that are held at positions, by the names of the joints: a number in rad or m, [x, y, angle] of a planar
        joint, the quaternion [qx, qy, qz, qw] of a spherical one, or the seven positions of a floating one. These joints are
        fixed for this request: they leave `q`, `qd`, `tau` and all other coordinates of the request and of its answer, whose
        order stays; their links belong to the bodies of their parents, and keep their frames. So `joint_wrenches`, parameters
        and limits of the request are those of the reduced model, too. Joints that mimic them stand where they follow. Their
        friction, springs, limits and `rotor_inertia` disappear; a motor on such a joint is a part of the link that carries it.
        `<joint>.motor` of an elastic joint locks its motor alone: the joint then has the spring to the motor's place. Loops
        keep their assembly, the position to which the locked joints move the model's `reference`. A 422: a mimic joint, a
        passive joint of loops, a floating base, all joints together, or some of the joints of a transmission. The first request
        with the same `locked` on a model takes the time to build the reduced model, about 0.1 ms for each link and the closing
        of its loops; the server keeps the last 64, of at most 32 MiB, for the next ones. Of `PUT`, the parameter `locked`
        reduces a model for all requests.
        normalise: Whether quaternions of the request (in `q`, `guess`, `platform` and `orientation`) may have any norm but 0,
        and are normalised. By default a norm that differs from 1 by more than 1e-6 is the 422 bad-quaternion: it is often a
        wrong order or a missing component.
        on_error: Whether a row that cannot be evaluated fails the whole request, or only itself: then it is null (NaN in typed
        arrays of CBOR), and listed in `errors` of the answer. Outputs without numbers, as `dtau_dwrench` without wrenches, stay
        empty.
        outputs
        timeout: of this call, s; the server then stops working on it, too.
        """
        return self._evaluate("simulate", SimulateAnswer, {"q": q, "duration": duration, "qd": qd, "step": step, "tolerance":
            tolerance, "stiff": stiff, "integrator": integrator, "input": input, "prescribed": prescribed, "samples": samples,
            "times": times, "gravity": gravity, "payload": payload, "parameters": parameters, "wrenches": wrenches, "friction":
            friction, "joints": joints, "guess": guess, "held": held, "contact_damping": contact_damping, "contacts": contacts,
            "locked": locked, "normalise": normalise, "on_error": on_error, "outputs": outputs}, timeout)

    def ground_reaction(
            self, q: Coordinates, *, qd: Optional[Coordinates] = None, qdd: Optional[Coordinates] = None,
            gravity: Optional[npt.ArrayLike] = None, payload: Optional[Union[Payload, Sequence[Payload]]] = None,
            wrenches: Optional[Sequence[Wrench]] = None, friction: Optional[bool] = None,
            joints: Optional[Sequence[str]] = None, guess: Optional[Coordinates] = None,
            feet: Optional[Sequence[KinematicsPointsItem]] = None,
            supports: Optional[Union[Literal['both', 'first', 'second'], Sequence[Literal['both', 'first', 'second']]]] = None,
            plane: Optional[Plane] = None, locked: Optional[Mapping[str, npt.ArrayLike]] = None,
            normalise: Optional[bool] = None, on_error: Optional[Literal['request', 'row']] = None,
            outputs: Optional[Sequence[Literal['resultant', 'zero_moment_point', 'foot_wrenches', 'tau', 'd_resultant_dq',
            'd_resultant_dqd', 'd_resultant_dqdd', 'd_zero_moment_point_dq', 'd_zero_moment_point_dqd',
            'd_zero_moment_point_dqdd', 'd_foot_wrenches_dq', 'd_foot_wrenches_dqd', 'd_foot_wrenches_dqdd', 'dtau_dq',
            'dtau_dqd', 'dtau_dqdd']]] = None,
            timeout: Optional[float] = None,
    ) -> GroundReactionAnswer:
        """Ground reaction forces, foot wrenches and the zero-moment point of a motion.

        The ground exerts the efforts that the first six coordinates would need. This is for models with a floating base, and
        for models whose first six joints form a chain of three prismatic and three revolute joints. With the given gravity,
        payload and wrenches, in two steps (Barman 2020, chapter 5, after Xiang et al. 2009): 1. From the motion without any
        ground: `resultant` [force; moment], the wrench by the ground, moment about the world's origin, world axes; and the
        `zero_moment_point`, the point of the `plane` about which the resultant's moment is along the plane's normal. The plane
        goes through `point` (default the world's origin); its normal points out of the ground (any length; default against
        gravity). 2. The `feet`, one or two points of links, carry it. Each of two feet carries the part w of the whole
        resultant, force and moment: w₁ = d₂ / (d₁ + d₂), w₂ = d₁ / (d₁ + d₂), where d₁ and d₂ are the feet's distances from the
        zero-moment point. `foot_wrenches` has the part of each foot, moment about its own point, world axes: as wrenches on
        their links they add up to the resultant. `tau` has the joint efforts with these wrenches; its first six entries are
        zero except for rounding. Without feet only `resultant` and `zero_moment_point` and their derivatives are available, and
        `outputs` must name them. Derivatives with respect to q have nv columns, as in sensitivity; the request's wrenches are
        constant. Where one of two feet is exactly at the zero-moment point, its share has no derivative: a 422. `supports`
        lifts one of two feet, row by row: w is then 1 for the foot that stands, and 0 for the other. At a switch between
        supports the derivatives are those of the row's own support: supports do not change with the state, and foot wrenches,
        `tau` and their derivatives jump there, while `resultant` and `zero_moment_point` do not depend on them. Foot wrenches
        and `tau` are continuous where the zero-moment point is at the foot that stands on both sides of the switch; their
        derivatives are not. Without a pressing normal force (more than a billionth of weight and resultant) there is no
        zero-moment point: 422 `no-zero-moment-point`. A model without such a base, or a state in which its three revolute axes
        lie in one plane, is a 422 `no-free-base`. Loops within the robot are allowed; a loop that joins it with the world would
        carry a part of the resultant: 422 `not-for-loops`. Friction that depends on the load of one of the first six joints,
        which the ground moves, is a 422 `not-supported`.

        q: Positions, nq entries: rad or m.
        qd: Velocities, nv entries: rad/s or m/s. Default 0.
        qdd: Accelerations, nv entries: rad/s² or m/s². Default 0.
        gravity: m/s², world axes; replaces the model's.
        payload: A rigid body fixed to a link or frame for this request. Each figure is one for all rows, or one for each row.
        On a link that is fixed to the world it has no effect, which is a warning of the answer. The link's gravity_compensation
        applies to it too.
        wrenches: Acts on the link, by the environment.
        friction: false omits joint friction.
        joints: A permutation of velocity_names, the order of coordinates in this request and its answer. The six coordinates of
        a floating base stay first, as in `q` its seven positions, and may be left out of the list. For models none of whose
        joints has a quaternion.
        guess: For models with `loops`: passive coordinates near the intended ones, where several positions close the loops.
        From there the loop error is reduced to zero proportionally, without passing a singular position. An object of some of
        `passive_names`, the others having the values of the model's `reference`, or an array of all of them, or a batch of
        arrays.
        feet: Needed for foot_wrenches, tau and their derivatives. Links or frames that descend from the base.
        supports: Which of two feet stand: one for all rows, or one for each row. The other foot is lifted and its wrench is
        zero.
        plane
        locked: Joints that are held at positions, by the names of the joints: a number in rad or m, [x, y, angle] of a planar
        joint, the quaternion [qx, qy, qz, qw] of a spherical one, or the seven positions of a floating one. These joints are
        fixed for this request: they leave `q`, `qd`, `tau` and all other coordinates of the request and of its answer, whose
        order stays; their links belong to the bodies of their parents, and keep their frames. So `joint_wrenches`, parameters
        and limits of the request are those of the reduced model, too. Joints that mimic them stand where they follow. Their
        friction, springs, limits and `rotor_inertia` disappear; a motor on such a joint is a part of the link that carries it.
        `<joint>.motor` of an elastic joint locks its motor alone: the joint then has the spring to the motor's place. Loops
        keep their assembly, the position to which the locked joints move the model's `reference`. A 422: a mimic joint, a
        passive joint of loops, a floating base, all joints together, or some of the joints of a transmission. The first request
        with the same `locked` on a model takes the time to build the reduced model, about 0.1 ms for each link and the closing
        of its loops; the server keeps the last 64, of at most 32 MiB, for the next ones. Of `PUT`, the parameter `locked`
        reduces a model for all requests.
        normalise: Whether quaternions of the request (in `q`, `guess`, `platform` and `orientation`) may have any norm but 0,
        and are normalised. By default a norm that differs from 1 by more than 1e-6 is the 422 bad-quaternion: it is often a
        wrong order or a missing component.
        on_error: Whether a row that cannot be evaluated fails the whole request, or only itself: then it is null (NaN in typed
        arrays of CBOR), and listed in `errors` of the answer. Outputs without numbers, as `dtau_dwrench` without wrenches, stay
        empty.
        outputs
        timeout: of this call, s; the server then stops working on it, too.
        """
        return self._evaluate("ground-reaction", GroundReactionAnswer, {"q": q, "qd": qd, "qdd": qdd, "gravity": gravity,
            "payload": payload, "wrenches": wrenches, "friction": friction, "joints": joints, "guess": guess, "feet": feet,
            "supports": supports, "plane": plane, "locked": locked, "normalise": normalise, "on_error": on_error, "outputs":
            outputs}, timeout)

    def inverse_kinematics(
            self, q: Optional[Coordinates] = None, *,
            tasks: Optional[Sequence[Union[InverseKinematicsTasksItem, InverseKinematicsTasksItemGiven]]] = None,
            sequence: Optional[bool] = None, guess: Optional[Coordinates] = None, joints: Optional[Sequence[str]] = None,
            frame: Optional[str] = None, position: Optional[npt.ArrayLike] = None,
            orientation: Optional[npt.ArrayLike] = None, direction: Optional[npt.ArrayLike] = None,
            axis: Optional[npt.ArrayLike] = None, velocity: Optional[npt.ArrayLike] = None,
            acceleration: Optional[npt.ArrayLike] = None, limits: Optional[bool] = None, starts: Optional[int] = None,
            tolerance: Optional[float] = None, damping: Optional[float] = None,
            locked: Optional[Mapping[str, npt.ArrayLike]] = None, normalise: Optional[bool] = None,
            on_error: Optional[Literal['request', 'row']] = None,
            outputs: Optional[Sequence[Literal['q', 'qd', 'qdd', 'distance', 'angle', 'iterations', 'starts_needed',
            'at_limits', 'task_errors']]] = None,
            timeout: Optional[float] = None,
    ) -> InverseKinematicsAnswer:
        """Coordinates at which a frame has a given position, direction or pose.

        The origin of `frame` goes to `position`. With `orientation` the frame gets the whole pose; with `direction` its `axis`
        points there and the rotation about it is free. Coordinates that the goal does not determine stay near the start. Damped
        Newton steps lead from the start `q` to the goal, within the position limits of the joints, of those with `mimic` as
        well. A search that stops elsewhere begins again, at up to `starts` positions in all: the given one, then positions
        spread over the limits, which are the same for every request. A batch of `q` beside a single `position` has several
        guesses for one goal: the search of each row begins at the row's own guess, and with `starts` 1 at no other position. A
        goal that is not reached within `tolerance` is a 422 (`out-of-reach`) with the distance and the angle that remain, or
        with `on_error` a row that fails alone; the message names the limits in the way, those beyond which the frame would come
        nearer. `at_limits` lists the joints that the found position leaves at a limit. Different starts lead to different
        solutions. The motor of an elastic joint is placed where the spring is unwound, at q - rest, and moves with the joint:
        coordinates and rates are those of the geometry alone. feed-forward has the motor positions that carry a load.
        `velocity` and `acceleration` of the frame, in world axes, give `qd` of least norm and `qdd`. Where the frame cannot
        have them, as in singular positions, the answer is a 422; with `damping` it has the rates that come nearest: the least
        |J qd - velocity|² + damping² |qd|², with the linear rows in units of the distance along the chain of joints, from one
        joint axis to the next. In place of `frame` and its goal, of models with up to 128 velocities, passive joints of loops
        included, `tasks` lists up to 16 goals of frames and of the centre of mass: positions, orientations, and directions of
        an axis, which aim it. Tasks of `priority` 0, the default, are met within the tolerance, or the row fails. Those of
        later priorities are met as well as the earlier ones allow: they end at a local minimum of the sum of weight times
        squared error, in m and rad, among the positions that keep the minima of the earlier ones within the limits.
        `task_errors` has what is left. The priorities are sought one after the other, the later ones by Newton steps for models
        with up to 64 velocities. A search with one that has not settled after 1500 iterations is the 422 out-of-reach, too.
        With `sequence` each row of a path begins at the result of the row before, the first one at `q`; a row that fails leaves
        the start to the next one. Rows of a sequence are searched one after the other, on one thread. A model with `loops`
        takes `tasks`, with q, at which the search begins, and `guess`; the goal of a single frame can also be the `platform` of
        any other operation. Each step moves the actuated joints and closes the loops, along a path from the position before;
        limits of passive joints are kept to 1e-9. At the end the loops are closed once more on the way to the q that was found
        from the `reference`, or with the `guess`, as in every operation: `task_errors` are those of this position, whose loops
        are closed to 1e-12. Where it is another assembly, the row is the 422 out-of-reach and says so.

        tasks: Goals of several frames, in place of `frame` to `acceleration` and `damping`.
        sequence: Each row begins at the result of the row before. Only with `tasks`.
        q: The start, nq entries: rad or m. Default: the middle of each joint's limits, 0 without limits; models with `loops`
        need it.
        guess: For models with `loops`: passive coordinates near the intended ones, where several positions close the loops.
        From there the loop error is reduced to zero proportionally, without passing a singular position. An object of some of
        `passive_names`, the others having the values of the model's `reference`, or an array of all of them, or a batch of
        arrays.
        joints: A permutation of velocity_names, the order of coordinates in this request and its answer. The six coordinates of
        a floating base stay first, as in `q` its seven positions, and may be left out of the list. For models none of whose
        joints has a quaternion.
        frame: A frame or link that a joint moves.
        position: m, world axes.
        orientation: Quaternions [x, y, z, w] that rotate the frame's axes to world axes.
        direction: World axes, of any length but 0. Not with `orientation`.
        axis: In the frame's axes, only with `direction`: points along it.
        velocity: 6: [linear; angular], m/s and rad/s; 3, linear, without `orientation`. Not with `direction`.
        acceleration: Its time derivative. Default 0.
        limits: Whether the position limits of joints are kept.
        starts: Starting positions that are tried at most.
        tolerance: m and rad.
        damping: Of the rates; 0.01 to 0.1 is usual.
        locked: Joints that are held at positions, by the names of the joints: a number in rad or m, [x, y, angle] of a planar
        joint, the quaternion [qx, qy, qz, qw] of a spherical one, or the seven positions of a floating one. These joints are
        fixed for this request: they leave `q`, `qd`, `tau` and all other coordinates of the request and of its answer, whose
        order stays; their links belong to the bodies of their parents, and keep their frames. So `joint_wrenches`, parameters
        and limits of the request are those of the reduced model, too. Joints that mimic them stand where they follow. Their
        friction, springs, limits and `rotor_inertia` disappear; a motor on such a joint is a part of the link that carries it.
        `<joint>.motor` of an elastic joint locks its motor alone: the joint then has the spring to the motor's place. Loops
        keep their assembly, the position to which the locked joints move the model's `reference`. A 422: a mimic joint, a
        passive joint of loops, a floating base, all joints together, or some of the joints of a transmission. The first request
        with the same `locked` on a model takes the time to build the reduced model, about 0.1 ms for each link and the closing
        of its loops; the server keeps the last 64, of at most 32 MiB, for the next ones. Of `PUT`, the parameter `locked`
        reduces a model for all requests.
        normalise: Whether quaternions of the request (in `q`, `guess`, `platform` and `orientation`) may have any norm but 0,
        and are normalised. By default a norm that differs from 1 by more than 1e-6 is the 422 bad-quaternion: it is often a
        wrong order or a missing component.
        on_error: Whether a row that cannot be evaluated fails the whole request, or only itself: then it is null (NaN in typed
        arrays of CBOR), and listed in `errors` of the answer. Outputs without numbers, as `dtau_dwrench` without wrenches, stay
        empty.
        outputs: With velocity or acceleration also the rates they determine.
        timeout: of this call, s; the server then stops working on it, too.
        """
        return self._evaluate("inverse-kinematics", InverseKinematicsAnswer, {"tasks": tasks, "sequence": sequence, "q": q,
            "guess": guess, "joints": joints, "frame": frame, "position": position, "orientation": orientation, "direction":
            direction, "axis": axis, "velocity": velocity, "acceleration": acceleration, "limits": limits, "starts": starts,
            "tolerance": tolerance, "damping": damping, "locked": locked, "normalise": normalise, "on_error": on_error,
            "outputs": outputs}, timeout)

    def differential_inverse_kinematics(
            self, q: Coordinates, *,
            tasks: Sequence[Union[DifferentialInverseKinematicsTasksItem, DifferentialInverseKinematicsTasksItemGiven]],
            step: float, guess: Optional[Coordinates] = None, qd: Optional[Coordinates] = None,
            joints: Optional[Sequence[str]] = None, damping: Optional[float] = None,
            kinds: Optional[Sequence[Literal['position', 'velocity', 'acceleration']]] = None,
            locked: Optional[Mapping[str, npt.ArrayLike]] = None, normalise: Optional[bool] = None,
            on_error: Optional[Literal['request', 'row']] = None,
            outputs: Optional[Sequence[Literal['qd', 'task_errors', 'limited']]] = None, timeout: Optional[float] = None,
    ) -> DifferentialInverseKinematicsAnswer:
        """Velocities that move several frames as asked, within limits, for one step of time.

        For models with up to 128 velocities, passive joints of `loops` included. `qd` has the least sum of weight times |J qd -
        velocity|², over the `tasks` of the first priority; then that of each later priority among the velocities that keep the
        J qd of the earlier ones; then the least norm: it is unique. It keeps the limits of the joints over the `step` h: those
        of velocity, those of acceleration from the velocities `qd` of the step before, and those of position, d / h at the
        distance d. A joint with a limit a of acceleration moves towards a limit of position at most with the v of v h + v² / (2
        a) = d, so that it can stop before it. Where the limits contradict each other, that of acceleration goes before that of
        velocity, and this before that of position. Limits of joints with `mimic` bound their leaders; those of motors of
        `transmissions` are the 422 not-supported, unless `kinds` leaves them out. The motor of an elastic joint moves with the
        joint. In models with loops the passive joints move as the loops demand, and keep their limits too; the norm counts
        those that have limits.

        q: Positions, nq entries: rad or m.
        tasks: The velocity of a frame or of the centre of mass.
        step: s, for which the velocities last.
        guess: For models with `loops`: passive coordinates near the intended ones, where several positions close the loops.
        From there the loop error is reduced to zero proportionally, without passing a singular position. An object of some of
        `passive_names`, the others having the values of the model's `reference`, or an array of all of them, or a batch of
        arrays.
        qd: Velocities of the step before, nv entries: rad/s or m/s, from which limits of acceleration count. Default 0.
        joints: A permutation of velocity_names, the order of coordinates in this request and its answer. The six coordinates of
        a floating base stay first, as in `q` its seven positions, and may be left out of the list. For models none of whose
        joints has a quaternion.
        damping: damping² |qd|² is added to the squared errors of each priority.
        kinds: Of limits that are kept; default all.
        locked: Joints that are held at positions, by the names of the joints: a number in rad or m, [x, y, angle] of a planar
        joint, the quaternion [qx, qy, qz, qw] of a spherical one, or the seven positions of a floating one. These joints are
        fixed for this request: they leave `q`, `qd`, `tau` and all other coordinates of the request and of its answer, whose
        order stays; their links belong to the bodies of their parents, and keep their frames. So `joint_wrenches`, parameters
        and limits of the request are those of the reduced model, too. Joints that mimic them stand where they follow. Their
        friction, springs, limits and `rotor_inertia` disappear; a motor on such a joint is a part of the link that carries it.
        `<joint>.motor` of an elastic joint locks its motor alone: the joint then has the spring to the motor's place. Loops
        keep their assembly, the position to which the locked joints move the model's `reference`. A 422: a mimic joint, a
        passive joint of loops, a floating base, all joints together, or some of the joints of a transmission. The first request
        with the same `locked` on a model takes the time to build the reduced model, about 0.1 ms for each link and the closing
        of its loops; the server keeps the last 64, of at most 32 MiB, for the next ones. Of `PUT`, the parameter `locked`
        reduces a model for all requests.
        normalise: Whether quaternions of the request (in `q`, `guess`, `platform` and `orientation`) may have any norm but 0,
        and are normalised. By default a norm that differs from 1 by more than 1e-6 is the 422 bad-quaternion: it is often a
        wrong order or a missing component.
        on_error: Whether a row that cannot be evaluated fails the whole request, or only itself: then it is null (NaN in typed
        arrays of CBOR), and listed in `errors` of the answer. Outputs without numbers, as `dtau_dwrench` without wrenches, stay
        empty.
        outputs
        timeout: of this call, s; the server then stops working on it, too.
        """
        return self._evaluate("differential-inverse-kinematics", DifferentialInverseKinematicsAnswer, {"q": q, "tasks": tasks,
            "step": step, "guess": guess, "qd": qd, "joints": joints, "damping": damping, "kinds": kinds, "locked": locked,
            "normalise": normalise, "on_error": on_error, "outputs": outputs}, timeout)

    def configuration(
            self, q: Optional[Coordinates] = None, *, displacement: Optional[Coordinates] = None,
            q_target: Optional[Coordinates] = None, fraction: Optional[npt.ArrayLike] = None, count: Optional[int] = None,
            seed: Optional[int] = None, range: Optional[float] = None, joints: Optional[Sequence[str]] = None,
            guess: Optional[Coordinates] = None, locked: Optional[Mapping[str, npt.ArrayLike]] = None,
            normalise: Optional[bool] = None, on_error: Optional[Literal['request', 'row']] = None,
            outputs: Optional[Sequence[Literal['integrated', 'difference', 'interpolated', 'normalised', 'neutral', 'random']]]
            = None,
            timeout: Optional[float] = None,
    ) -> ConfigurationAnswer:
        """Sums, differences, interpolation and random draws of positions with quaternions.

        Positions with quaternions are no vectors: these are the sums and differences that respect their form. A displacement u
        has nv entries, in the coordinates of `qd`. A joint of one coordinate moves by q + u. A joint with a quaternion, and a
        floating base, moves for one unit of time with the constant twist u = (v, w) in its own moving axes, as in step: R
        exp([w]), and p + R V v with V = ∫ exp(s [w]) ds over s from 0 to 1. | output | needs | meaning | |---|---|---| |
        integrated | q, displacement | q moved by the displacement. | | difference | q, q_target | The displacement from q to
        q_target, with the least turns: `integrated` of it is q_target. | | interpolated | q, q_target, fraction | q moved by
        `fraction` times the difference; beyond 0 and 1 it extrapolates. | | normalised | q | q with unit quaternions; those of
        another norm need `normalise`. | | neutral | | Zeros and unit quaternions, whatever the limits. | | random | | Drawn
        within the position limits of the joints, those with `mimic` as well. | Quaternions of the answer have unit norm and w ≥
        0. Angles of one coordinate do not wrap: their difference may be more than a turn. Of two quaternions a half turn apart
        the difference is one of the two half turns. Without `outputs` the fields choose: `displacement` integrated; `q_target`
        difference, with `fraction` interpolated; `count`, `seed` or `range` random; `q` alone normalised; none of them neutral.
        Random positions are uniform between the limits of each coordinate, and uniform over all rotations. An angle without
        limits is between -π and π, a length without limits between -`range` and `range`; with one limit the interval of that
        width begins there. The motor of an elastic joint is where the spring is unwound, at q - rest. The numbers of row i
        depend on `seed` and i alone, and are the same on every machine. Models with `loops` need q, and have no random.

        q: Positions, nq entries: rad or m.
        displacement: nv entries: rad or m, those of a quaternion in the axes of its body.
        q_target: Positions, nq entries: rad or m.
        fraction: Of the way from q to q_target: a number, or one for each row.
        count: The number of rows that are drawn; without it one, or as many as another batch has.
        seed: The number from which random positions follow.
        range: m: bound of random lengths without limits, such as the position of a floating base.
        joints: A permutation of velocity_names, the order of coordinates in this request and its answer. The six coordinates of
        a floating base stay first, as in `q` its seven positions, and may be left out of the list. For models none of whose
        joints has a quaternion.
        guess: For models with `loops`: passive coordinates near the intended ones, where several positions close the loops.
        From there the loop error is reduced to zero proportionally, without passing a singular position. An object of some of
        `passive_names`, the others having the values of the model's `reference`, or an array of all of them, or a batch of
        arrays.
        locked: Joints that are held at positions, by the names of the joints: a number in rad or m, [x, y, angle] of a planar
        joint, the quaternion [qx, qy, qz, qw] of a spherical one, or the seven positions of a floating one. These joints are
        fixed for this request: they leave `q`, `qd`, `tau` and all other coordinates of the request and of its answer, whose
        order stays; their links belong to the bodies of their parents, and keep their frames. So `joint_wrenches`, parameters
        and limits of the request are those of the reduced model, too. Joints that mimic them stand where they follow. Their
        friction, springs, limits and `rotor_inertia` disappear; a motor on such a joint is a part of the link that carries it.
        `<joint>.motor` of an elastic joint locks its motor alone: the joint then has the spring to the motor's place. Loops
        keep their assembly, the position to which the locked joints move the model's `reference`. A 422: a mimic joint, a
        passive joint of loops, a floating base, all joints together, or some of the joints of a transmission. The first request
        with the same `locked` on a model takes the time to build the reduced model, about 0.1 ms for each link and the closing
        of its loops; the server keeps the last 64, of at most 32 MiB, for the next ones. Of `PUT`, the parameter `locked`
        reduces a model for all requests.
        normalise: Whether quaternions of the request (in `q`, `guess`, `platform` and `orientation`) may have any norm but 0,
        and are normalised. By default a norm that differs from 1 by more than 1e-6 is the 422 bad-quaternion: it is often a
        wrong order or a missing component.
        on_error: Whether a row that cannot be evaluated fails the whole request, or only itself: then it is null (NaN in typed
        arrays of CBOR), and listed in `errors` of the answer. Outputs without numbers, as `dtau_dwrench` without wrenches, stay
        empty.
        outputs: Other fields choose other defaults, as described above.
        timeout: of this call, s; the server then stops working on it, too.
        """
        return self._evaluate("configuration", ConfigurationAnswer, {"q": q, "displacement": displacement, "q_target": q_target,
            "fraction": fraction, "count": count, "seed": seed, "range": range, "joints": joints, "guess": guess, "locked":
            locked, "normalise": normalise, "on_error": on_error, "outputs": outputs}, timeout)

    def sensors(
            self, q: Optional[Coordinates] = None, *, qd: Optional[Coordinates] = None, qdd: Optional[Coordinates] = None,
            gravity: Optional[npt.ArrayLike] = None, payload: Optional[Union[Payload, Sequence[Payload]]] = None,
            wrenches: Optional[Sequence[Wrench]] = None, friction: Optional[bool] = None,
            joints: Optional[Sequence[str]] = None, guess: Optional[Coordinates] = None, platform: Optional[Platform] = None,
            force_torque: Optional[Sequence[ForceTorqueSensor]] = None, inertial: Optional[Union[str, Sequence[str]]] = None,
            locked: Optional[Mapping[str, npt.ArrayLike]] = None, normalise: Optional[bool] = None,
            on_error: Optional[Literal['request', 'row']] = None,
            outputs: Optional[Sequence[Literal['wrenches', 'specific_forces', 'angular_velocities']]] = None,
            timeout: Optional[float] = None,
    ) -> SensorsAnswer:
        """Readings of force-torque sensors, accelerometers and gyroscopes.

        `force_torque` lists joints through which a wrench is wanted: fixed ones, such as those of a sensor at the flange or of
        a bolted tool, or moving ones. The wrench is the one that the parent exerts on the link beyond the joint and on all that
        the link carries: the links fixed to it, moving joints behind them, payloads, the request's wrenches and the rotors of
        `motors` there. A sensor that measures what the tool exerts on the robot shows the negative. The moment is about the
        origin of `frame`, and the axes are those of `frame`; by default it is the frame of the link that the joint carries. A
        `frame` alone names the joint that carries its link. Through a moving joint the wrench is that of the output
        joint_wrenches of inverse-dynamics, about the origin of the frame also with standard DH. `inertial` lists frames with an
        accelerometer, which measures the specific force, the acceleration of the frame's origin minus gravity, and a gyroscope,
        both in the axes of the frame. At rest the specific force points up. Links that fixed joints connect are one body; the
        model's `attached_bodies` has what each fixed joint carries. In a model with `loops` the wrench through a fixed joint
        whose body is part of a loop is the 422 not-for-loops.

        q: Positions, nq entries: rad or m.
        qd: Velocities, nv entries: rad/s or m/s. Default 0.
        qdd: Accelerations, nv entries: rad/s² or m/s². Default 0.
        gravity: m/s², world axes; replaces the model's. One vector for all rows, or one for each: of tilted mounts, whose
        gravity turns with the base, and of a base that is accelerated without turning, whose gravity is g - a. For any motion
        of the base the model has a floating one, whose qdd is given. Rows of gravity or of figures of payloads have the bits of
        single requests; each state is then evaluated alone instead of in lanes: an inverse dynamics of a Panda takes 0.3 µs
        more, and with payloads of rows 1.3 µs more, in which the model with the payload is made. identify, ground-reaction,
        sensors, external-wrench and path-timing take one value for all rows. path with Coulomb friction and limits of the
        effort of mimic joints takes one payload and one set of parameters.
        payload: A rigid body fixed to a link or frame for this request. Each figure is one for all rows, or one for each row.
        On a link that is fixed to the world it has no effect, which is a warning of the answer. The link's gravity_compensation
        applies to it too.
        wrenches: Acts on the link, by the environment.
        friction: false omits joint friction.
        joints: A permutation of velocity_names, the order of coordinates in this request and its answer. The six coordinates of
        a floating base stay first, as in `q` its seven positions, and may be left out of the list. For models none of whose
        joints has a quaternion.
        guess: For models with `loops`: passive coordinates near the intended ones, where several positions close the loops.
        From there the loop error is reduced to zero proportionally, without passing a singular position. An object of some of
        `passive_names`, the others having the values of the model's `reference`, or an array of all of them, or a batch of
        arrays.
        platform: For models with `loops`, instead of q, qd and qdd: pose and motion of a frame, in world axes. The answer
        begins with the corresponding q, and with qd and qdd if rates are given. Without `orientation` the mechanism determines
        the orientation of the frame, and rates are those of its origin alone. The frame moves on the straight line from its
        pose in the model's `reference`; with a `guess` the errors of loops and frame are reduced to zero together, starting
        from the actuated coordinates of the reference and the passive ones of the guess.
        force_torque: Joints through which the wrench is computed.
        inertial: Links or frames with an accelerometer and a gyroscope.
        locked: Joints that are held at positions, by the names of the joints: a number in rad or m, [x, y, angle] of a planar
        joint, the quaternion [qx, qy, qz, qw] of a spherical one, or the seven positions of a floating one. These joints are
        fixed for this request: they leave `q`, `qd`, `tau` and all other coordinates of the request and of its answer, whose
        order stays; their links belong to the bodies of their parents, and keep their frames. So `joint_wrenches`, parameters
        and limits of the request are those of the reduced model, too. Joints that mimic them stand where they follow. Their
        friction, springs, limits and `rotor_inertia` disappear; a motor on such a joint is a part of the link that carries it.
        `<joint>.motor` of an elastic joint locks its motor alone: the joint then has the spring to the motor's place. Loops
        keep their assembly, the position to which the locked joints move the model's `reference`. A 422: a mimic joint, a
        passive joint of loops, a floating base, all joints together, or some of the joints of a transmission. The first request
        with the same `locked` on a model takes the time to build the reduced model, about 0.1 ms for each link and the closing
        of its loops; the server keeps the last 64, of at most 32 MiB, for the next ones. Of `PUT`, the parameter `locked`
        reduces a model for all requests.
        normalise: Whether quaternions of the request (in `q`, `guess`, `platform` and `orientation`) may have any norm but 0,
        and are normalised. By default a norm that differs from 1 by more than 1e-6 is the 422 bad-quaternion: it is often a
        wrong order or a missing component.
        on_error: Whether a row that cannot be evaluated fails the whole request, or only itself: then it is null (NaN in typed
        arrays of CBOR), and listed in `errors` of the answer. Outputs without numbers, as `dtau_dwrench` without wrenches, stay
        empty.
        outputs: Without it those whose sensors are given.
        timeout: of this call, s; the server then stops working on it, too.
        """
        return self._evaluate("sensors", SensorsAnswer, {"q": q, "qd": qd, "qdd": qdd, "gravity": gravity, "payload": payload,
            "wrenches": wrenches, "friction": friction, "joints": joints, "guess": guess, "platform": platform, "force_torque":
            force_torque, "inertial": inertial, "locked": locked, "normalise": normalise, "on_error": on_error, "outputs":
            outputs}, timeout)

    def external_wrench(
            self, q: Coordinates, *, tau: Coordinates, qd: Optional[Coordinates] = None, qdd: Optional[Coordinates] = None,
            gravity: Optional[npt.ArrayLike] = None, payload: Optional[Union[Payload, Sequence[Payload]]] = None,
            wrenches: Optional[Sequence[Wrench]] = None, friction: Optional[bool] = None,
            joints: Optional[Sequence[str]] = None, guess: Optional[Coordinates] = None, frame: Optional[str] = None,
            axes: Optional[Sequence[Literal['x', 'y', 'z', 'rx', 'ry', 'rz']]] = None,
            reference: Optional[Literal['world', 'frame']] = None, gain: Optional[npt.ArrayLike] = None,
            step: Optional[float] = None, noise: Optional[npt.ArrayLike] = None,
            locked: Optional[Mapping[str, npt.ArrayLike]] = None, normalise: Optional[bool] = None,
            on_error: Optional[Literal['request', 'row']] = None,
            outputs: Optional[Sequence[Literal['tau_external', 'wrench', 'covariance', 'remainder']]] = None,
            timeout: Optional[float] = None,
    ) -> ExternalWrenchAnswer:
        """External torques and the wrench at a frame, estimated from measured torques.

        Unknown external forces, of a collision, a hand or a tool, add tau_external to the equation of motion: M qdd + C qd + g
        + friction + springs = tau + Σ JᵀW + tau_external with the measured `tau` and the known `wrenches` W. Without `gain`
        each state is estimated by itself: tau_external is the left side minus tau and Σ JᵀW, and needs the measured `qdd`
        (default 0, for robots at rest). With `gain` and `step` the rows are samples in time, `step` seconds apart, and
        tau_external is the residual r of a momentum observer (De Luca & Mattone), which needs no accelerations. With p = M qd
        and p' = u + tau_external, u = tau + Σ JᵀW + Cᵀ qd - g - friction - springs, it follows tau_external through a filter of
        first order: r' = gain (tau_external - r). Between samples, by the trapezoidal rule with x = gain step / 2, r+ = ((1 -
        x) r + gain (p+ - p - step (u + u+) / 2)) / (1 + x); r is 0 at the first sample. gain · step must be less than 2. A push
        shows after some 1/gain seconds; higher gains pass more noise. Thresholds are the client's. With a `frame`, `wrench` is
        the wrench on its link about its origin, along `axes`, by least squares: the least sum of ((tau_external - Jᵀ wrench) /
        noise)². `noise` are standard deviations of tau; without it all torques count equally, whatever their unit. `remainder`
        is tau_external - Jᵀ wrench: large where the force acts elsewhere or the model is wrong. `covariance` is that of
        `wrench` for white noise in tau; with a gain, that of the observer since its first sample. Torques that do not determine
        the wrench are the 422 singular-jacobian: a push at the elbow of an arm moves few joints, and one along a line through
        their axes none. Sharp Coulomb friction counts as 0 at rest, so that sticking joints appear as external torques up to
        their friction. Friction that depends on the load is the 422 not-supported. With a gain and `on_error` the samples after
        a failed one fail with it.

        q: Positions, nq entries: rad or m.
        tau: Joint efforts, nv entries: N m or N.
        qd: Velocities, nv entries: rad/s or m/s. Default 0.
        qdd: Accelerations, nv entries: rad/s² or m/s². Default 0. Not with `gain`.
        gravity: m/s², world axes; replaces the model's. One vector for all rows, or one for each: of tilted mounts, whose
        gravity turns with the base, and of a base that is accelerated without turning, whose gravity is g - a. For any motion
        of the base the model has a floating one, whose qdd is given. Rows of gravity or of figures of payloads have the bits of
        single requests; each state is then evaluated alone instead of in lanes: an inverse dynamics of a Panda takes 0.3 µs
        more, and with payloads of rows 1.3 µs more, in which the model with the payload is made. identify, ground-reaction,
        sensors, external-wrench and path-timing take one value for all rows. path with Coulomb friction and limits of the
        effort of mimic joints takes one payload and one set of parameters.
        payload: A rigid body fixed to a link or frame for this request. Each figure is one for all rows, or one for each row.
        On a link that is fixed to the world it has no effect, which is a warning of the answer. The link's gravity_compensation
        applies to it too.
        wrenches: Acts on the link, by the environment.
        friction: false omits joint friction.
        joints: A permutation of velocity_names, the order of coordinates in this request and its answer. The six coordinates of
        a floating base stay first, as in `q` its seven positions, and may be left out of the list. For models none of whose
        joints has a quaternion.
        guess: For models with `loops`: passive coordinates near the intended ones, where several positions close the loops.
        From there the loop error is reduced to zero proportionally, without passing a singular position. An object of some of
        `passive_names`, the others having the values of the model's `reference`, or an array of all of them, or a batch of
        arrays.
        frame: A link or frame that a joint moves, at whose origin a wrench is estimated.
        axes: Directions of translation and axes of rotation of the task; the answer has their order.
        reference: The axes of the outputs other than `poses`.
        gain: 1/s, of the momentum observer: one for all coordinates, or nv.
        step: s between the rows, for the momentum observer.
        noise: Standard deviations of tau, N m or N: one for all coordinates, or nv.
        locked: Joints that are held at positions, by the names of the joints: a number in rad or m, [x, y, angle] of a planar
        joint, the quaternion [qx, qy, qz, qw] of a spherical one, or the seven positions of a floating one. These joints are
        fixed for this request: they leave `q`, `qd`, `tau` and all other coordinates of the request and of its answer, whose
        order stays; their links belong to the bodies of their parents, and keep their frames. So `joint_wrenches`, parameters
        and limits of the request are those of the reduced model, too. Joints that mimic them stand where they follow. Their
        friction, springs, limits and `rotor_inertia` disappear; a motor on such a joint is a part of the link that carries it.
        `<joint>.motor` of an elastic joint locks its motor alone: the joint then has the spring to the motor's place. Loops
        keep their assembly, the position to which the locked joints move the model's `reference`. A 422: a mimic joint, a
        passive joint of loops, a floating base, all joints together, or some of the joints of a transmission. The first request
        with the same `locked` on a model takes the time to build the reduced model, about 0.1 ms for each link and the closing
        of its loops; the server keeps the last 64, of at most 32 MiB, for the next ones. Of `PUT`, the parameter `locked`
        reduces a model for all requests.
        normalise: Whether quaternions of the request (in `q`, `guess`, `platform` and `orientation`) may have any norm but 0,
        and are normalised. By default a norm that differs from 1 by more than 1e-6 is the 422 bad-quaternion: it is often a
        wrong order or a missing component.
        on_error: Whether a row that cannot be evaluated fails the whole request, or only itself: then it is null (NaN in typed
        arrays of CBOR), and listed in `errors` of the answer. Outputs without numbers, as `dtau_dwrench` without wrenches, stay
        empty.
        outputs: With a frame also wrench, with noise then covariance.
        timeout: of this call, s; the server then stops working on it, too.
        """
        return self._evaluate("external-wrench", ExternalWrenchAnswer, {"q": q, "tau": tau, "qd": qd, "qdd": qdd, "gravity":
            gravity, "payload": payload, "wrenches": wrenches, "friction": friction, "joints": joints, "guess": guess, "frame":
            frame, "axes": axes, "reference": reference, "gain": gain, "step": step, "noise": noise, "locked": locked,
            "normalise": normalise, "on_error": on_error, "outputs": outputs}, timeout)

    def margins(
            self, q: Optional[Coordinates] = None, *, qd: Optional[Coordinates] = None, qdd: Optional[Coordinates] = None,
            qddd: Optional[Coordinates] = None, gravity: Optional[npt.ArrayLike] = None,
            payload: Optional[Union[Payload, Sequence[Payload]]] = None,
            parameters: Optional[Mapping[str, npt.ArrayLike]] = None, wrenches: Optional[Sequence[Wrench]] = None,
            friction: Optional[bool] = None, joints: Optional[Sequence[str]] = None, guess: Optional[Coordinates] = None,
            platform: Optional[Platform] = None,
            kinds: Optional[Sequence[Literal['position', 'velocity', 'effort', 'effort_rate', 'acceleration', 'jerk',
            'effort_speed']]] = None,
            locked: Optional[Mapping[str, npt.ArrayLike]] = None, normalise: Optional[bool] = None,
            on_error: Optional[Literal['request', 'row']] = None,
            outputs: Optional[Sequence[Literal['limits', 'margins', 'dmargins_dq', 'dmargins_dqd', 'dmargins_dqdd',
            'dmargins_dqddd', 'least', 'least_gradients']]] = None,
            timeout: Optional[float] = None,
    ) -> MarginsAnswer:
        """How far joints and motors are from their limits, with gradients.

        The margin of a quantity x between `lower` and `upper` is min(x - lower, upper - x), negative beyond the limit. `limits`
        lists the limits of all joints in the order of the model's `joints`, then those of the motors of `transmissions`: | kind
        | x | |---|---| | position | Position of the joint. Of a joint with `mimic`: multiplier q + offset. Of a passive joint
        of a loop: the position that closes the loops, as in `full`. | | velocity | Its time derivative. Of a motor: its entry
        of P qd, with the rates qd of all joints. | | effort | The joint's entry of tau; of an elastic joint, that of its motor;
        of a motor its entry of matrix^T tau, as in `motor_tau`. | | effort_rate | dtau/dt along a motion with the jerk `qddd`,
        as in torque-derivative. | | acceleration, jerk | Time derivatives of the velocity. | | effort_speed | The effort above;
        its margin is lower by slope times the magnitude of the drive's velocity, `upper` being the effort at rest. | The effort
        of a joint with `mimic` acts at its own axis: the tau that inverse-dynamics would answer for it if it had a coordinate
        of its own and moved in the same way, its own friction, spring and rotor included. It is what the coupling or the
        joint's own drive exerts there. The tau of its leader moves the whole group: that of the leader's own joint plus
        multiplier times the efforts of its followers. A passive joint of a loop has no motor: its effort and effort rate are 0,
        since friction and springs are on the other side of the equation of motion, and its gradients are 0. A joint of a tree
        with `"actuated": false` has the tau that the given motion needs. The effort of a motor that drives a passive joint is
        not determined and is not listed. A robot without limits, or without limits of the `kinds`, has empty lists. Gradients
        are those of the nearer side; where both are equally near, of the upper one. Sharp Coulomb friction, and |velocity| of
        effort_speed at rest, have slope 0. Missing `qd`, `qdd`, `qddd` are zero. Gradients of effort rates are for models
        without `loops` and with as many positions as velocities. `least` has the least margins of all rows, and
        `least_gradients` their derivatives: those at the row that has the least margin, the first one if several have it;
        derivatives with respect to the states of other rows are zero. Where rows are equally near, the least margin has no
        derivative, and this is that of one side.

        q: Positions, nq entries: rad or m.
        qd: Velocities, nv entries: rad/s or m/s. Default 0.
        qdd: Accelerations, nv entries: rad/s² or m/s². Default 0.
        qddd: Jerks, nv entries: rad/s³ or m/s³. Default 0.
        gravity: m/s², world axes; replaces the model's. One vector for all rows, or one for each: of tilted mounts, whose
        gravity turns with the base, and of a base that is accelerated without turning, whose gravity is g - a. For any motion
        of the base the model has a floating one, whose qdd is given. Rows of gravity or of figures of payloads have the bits of
        single requests; each state is then evaluated alone instead of in lanes: an inverse dynamics of a Panda takes 0.3 µs
        more, and with payloads of rows 1.3 µs more, in which the model with the payload is made. identify, ground-reaction,
        sensors, external-wrench and path-timing take one value for all rows. path with Coulomb friction and limits of the
        effort of mimic joints takes one payload and one set of parameters.
        payload: A rigid body fixed to a link or frame for this request. Each figure is one for all rows, or one for each row.
        On a link that is fixed to the world it has no effect, which is a warning of the answer. The link's gravity_compensation
        applies to it too.
        parameters: Inertial parameters that replace the model's, by the links of bodies: for each link ten numbers m, m c (3),
        Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the origin and in the axes of the link, as `regressor` numbers them, or a row of ten
        for each row of the batch. The parameters of a link are those of its body, whatever is merged into it or mounted on it
        included. A body must be physical. Payloads are added. Cost: as of payloads.
        wrenches: Acts on the link, by the environment.
        friction: false omits joint friction.
        joints: A permutation of velocity_names, the order of coordinates in this request and its answer. The six coordinates of
        a floating base stay first, as in `q` its seven positions, and may be left out of the list. For models none of whose
        joints has a quaternion.
        guess: For models with `loops`: passive coordinates near the intended ones, where several positions close the loops.
        From there the loop error is reduced to zero proportionally, without passing a singular position. An object of some of
        `passive_names`, the others having the values of the model's `reference`, or an array of all of them, or a batch of
        arrays.
        platform: For models with `loops`, instead of q, qd and qdd: pose and motion of a frame, in world axes. The answer
        begins with the corresponding q, and with qd and qdd if rates are given. Without `orientation` the mechanism determines
        the orientation of the frame, and rates are those of its origin alone. The frame moves on the straight line from its
        pose in the model's `reference`; with a `guess` the errors of loops and frame are reduced to zero together, starting
        from the actuated coordinates of the reference and the passive ones of the guess.
        kinds: Of limits; default all.
        locked: Joints that are held at positions, by the names of the joints: a number in rad or m, [x, y, angle] of a planar
        joint, the quaternion [qx, qy, qz, qw] of a spherical one, or the seven positions of a floating one. These joints are
        fixed for this request: they leave `q`, `qd`, `tau` and all other coordinates of the request and of its answer, whose
        order stays; their links belong to the bodies of their parents, and keep their frames. So `joint_wrenches`, parameters
        and limits of the request are those of the reduced model, too. Joints that mimic them stand where they follow. Their
        friction, springs, limits and `rotor_inertia` disappear; a motor on such a joint is a part of the link that carries it.
        `<joint>.motor` of an elastic joint locks its motor alone: the joint then has the spring to the motor's place. Loops
        keep their assembly, the position to which the locked joints move the model's `reference`. A 422: a mimic joint, a
        passive joint of loops, a floating base, all joints together, or some of the joints of a transmission. The first request
        with the same `locked` on a model takes the time to build the reduced model, about 0.1 ms for each link and the closing
        of its loops; the server keeps the last 64, of at most 32 MiB, for the next ones. Of `PUT`, the parameter `locked`
        reduces a model for all requests.
        normalise: Whether quaternions of the request (in `q`, `guess`, `platform` and `orientation`) may have any norm but 0,
        and are normalised. By default a norm that differs from 1 by more than 1e-6 is the 422 bad-quaternion: it is often a
        wrong order or a missing component.
        on_error: Whether a row that cannot be evaluated fails the whole request, or only itself: then it is null (NaN in typed
        arrays of CBOR), and listed in `errors` of the answer. Outputs without numbers, as `dtau_dwrench` without wrenches, stay
        empty.
        outputs
        timeout: of this call, s; the server then stops working on it, too.
        """
        return self._evaluate("margins", MarginsAnswer, {"q": q, "qd": qd, "qdd": qdd, "qddd": qddd, "gravity": gravity,
            "payload": payload, "parameters": parameters, "wrenches": wrenches, "friction": friction, "joints": joints, "guess":
            guess, "platform": platform, "kinds": kinds, "locked": locked, "normalise": normalise, "on_error": on_error,
            "outputs": outputs}, timeout)

    def path(
            self, q: Coordinates, *, qd: Coordinates, qdd: Optional[Coordinates] = None, qddd: Optional[Coordinates] = None,
            gravity: Optional[npt.ArrayLike] = None, payload: Optional[Union[Payload, Sequence[Payload]]] = None,
            parameters: Optional[Mapping[str, npt.ArrayLike]] = None, wrenches: Optional[Sequence[Wrench]] = None,
            friction: Optional[bool] = None, joints: Optional[Sequence[str]] = None, guess: Optional[Coordinates] = None,
            locked: Optional[Mapping[str, npt.ArrayLike]] = None, normalise: Optional[bool] = None,
            on_error: Optional[Literal['request', 'row']] = None,
            outputs: Optional[Sequence[Literal['tau_a', 'tau_b', 'tau_c', 'tau_d', 'dtau_a_ds', 'dtau_b_ds', 'dtau_c_ds',
            'dtau_d_ds', 'smooth_friction', 'jumps', 'joint_wrenches_a', 'joint_wrenches_b', 'joint_wrenches_c',
            'd_joint_wrenches_a_ds', 'd_joint_wrenches_b_ds', 'd_joint_wrenches_c_ds', 'motor_jumps']]] = None,
            timeout: Optional[float] = None,
    ) -> PathAnswer:
        """Coefficients of torques and torque rates along a path.

        For a path q(s) with s = s(t). The rows are positions on it; `qd`, `qdd` and `qddd` are dq/ds, d²q/ds² and d³q/ds³, as
        if s were the time: `trajectory` gives them for a B-spline with its duration as the range of s. For ṡ > 0, tau = a s̈ +
        b ṡ² + d ṡ + c dtau/dt = a s⃛ + (da/ds + 2 b) ṡ s̈ + db/ds ṡ³ + d s̈ + dd/ds ṡ² + dc/ds ṡ with a = `tau_a` and so on. d
        contains viscous friction and dampers, c gravity, springs, wrenches and Coulomb friction. Wrenches are constant along
        the path. Joint wrenches have the same form without d. Sharp Coulomb friction enters c by the sign of dq/ds, and dc/ds
        is without the jumps of c: `jumps` has their places. Friction with a `coulomb_velocity` or a `stribeck_velocity` is no
        polynomial in ṡ and not in c. `smooth_friction` lists it: tau of the joint also has p tanh(v / velocity), with v = dq/ds
        ṡ and p = `positive` where v > 0, `negative` where v < 0; p sign(v) if `velocity` is 0. With a `stribeck_velocity` p is
        positive + (breakaway_positive - positive) exp(-(v / stribeck_velocity)²) where v > 0, and likewise where v < 0. The
        friction f of a motor of `transmissions` depends on its rate v = P dq/ds ṡ in the same way, and adds P^T f to tau; its
        `joint` is the name of the motor. Friction that depends on the load is in the same list: with `load`, p also contains
        load |T|, where T is the torque without friction, of the coefficients that the same request with `friction` false gives.
        While v and T keep their signs and `velocity` is 0, tau = (1 + g sign(T)) T + f, with f the rest and g the sum of load
        sign(v) of the joint: tau grows with T, so that tau ≤ limit is T ≤ (limit - f) / (1 + g sign(limit - f)). With a
        floating base or spherical joints the derivatives are those of velocities at ṡ = 1. With elastic joints the path is one
        of all coordinates, those of motors included. Models with `loops` have no joint wrenches and no Coulomb friction here.
        Missing `qdd` and `qddd` are zero.

        q: Positions, nq entries: rad or m.
        qd: Velocities, nv entries: rad/s or m/s. Default 0.
        qdd: Accelerations, nv entries: rad/s² or m/s². Default 0.
        qddd: Jerks, nv entries: rad/s³ or m/s³. Default 0.
        gravity: m/s², world axes; replaces the model's. One vector for all rows, or one for each: of tilted mounts, whose
        gravity turns with the base, and of a base that is accelerated without turning, whose gravity is g - a. For any motion
        of the base the model has a floating one, whose qdd is given. Rows of gravity or of figures of payloads have the bits of
        single requests; each state is then evaluated alone instead of in lanes: an inverse dynamics of a Panda takes 0.3 µs
        more, and with payloads of rows 1.3 µs more, in which the model with the payload is made. identify, ground-reaction,
        sensors, external-wrench and path-timing take one value for all rows. path with Coulomb friction and limits of the
        effort of mimic joints takes one payload and one set of parameters.
        payload: A rigid body fixed to a link or frame for this request. Each figure is one for all rows, or one for each row.
        On a link that is fixed to the world it has no effect, which is a warning of the answer. The link's gravity_compensation
        applies to it too.
        parameters: Inertial parameters that replace the model's, by the links of bodies: for each link ten numbers m, m c (3),
        Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the origin and in the axes of the link, as `regressor` numbers them, or a row of ten
        for each row of the batch. The parameters of a link are those of its body, whatever is merged into it or mounted on it
        included. A body must be physical. Payloads are added. Cost: as of payloads.
        wrenches: Acts on the link, by the environment.
        friction: false omits joint friction.
        joints: A permutation of velocity_names, the order of coordinates in this request and its answer. The six coordinates of
        a floating base stay first, as in `q` its seven positions, and may be left out of the list. For models none of whose
        joints has a quaternion.
        guess: For models with `loops`: passive coordinates near the intended ones, where several positions close the loops.
        From there the loop error is reduced to zero proportionally, without passing a singular position. An object of some of
        `passive_names`, the others having the values of the model's `reference`, or an array of all of them, or a batch of
        arrays.
        locked: Joints that are held at positions, by the names of the joints: a number in rad or m, [x, y, angle] of a planar
        joint, the quaternion [qx, qy, qz, qw] of a spherical one, or the seven positions of a floating one. These joints are
        fixed for this request: they leave `q`, `qd`, `tau` and all other coordinates of the request and of its answer, whose
        order stays; their links belong to the bodies of their parents, and keep their frames. So `joint_wrenches`, parameters
        and limits of the request are those of the reduced model, too. Joints that mimic them stand where they follow. Their
        friction, springs, limits and `rotor_inertia` disappear; a motor on such a joint is a part of the link that carries it.
        `<joint>.motor` of an elastic joint locks its motor alone: the joint then has the spring to the motor's place. Loops
        keep their assembly, the position to which the locked joints move the model's `reference`. A 422: a mimic joint, a
        passive joint of loops, a floating base, all joints together, or some of the joints of a transmission. The first request
        with the same `locked` on a model takes the time to build the reduced model, about 0.1 ms for each link and the closing
        of its loops; the server keeps the last 64, of at most 32 MiB, for the next ones. Of `PUT`, the parameter `locked`
        reduces a model for all requests.
        normalise: Whether quaternions of the request (in `q`, `guess`, `platform` and `orientation`) may have any norm but 0,
        and are normalised. By default a norm that differs from 1 by more than 1e-6 is the 422 bad-quaternion: it is often a
        wrong order or a missing component.
        on_error: Whether a row that cannot be evaluated fails the whole request, or only itself: then it is null (NaN in typed
        arrays of CBOR), and listed in `errors` of the answer. Outputs without numbers, as `dtau_dwrench` without wrenches, stay
        empty.
        outputs
        timeout: of this call, s; the server then stops working on it, too.
        """
        return self._evaluate("path", PathAnswer, {"q": q, "qd": qd, "qdd": qdd, "qddd": qddd, "gravity": gravity, "payload":
            payload, "parameters": parameters, "wrenches": wrenches, "friction": friction, "joints": joints, "guess": guess,
            "locked": locked, "normalise": normalise, "on_error": on_error, "outputs": outputs}, timeout)

    def path_timing(
            self, *, degree: int, control_points: npt.ArrayLike, samples: int, knots: Optional[npt.ArrayLike] = None,
            intervals: Optional[int] = None,
            kinds: Optional[Sequence[Literal['position', 'velocity', 'effort', 'effort_rate', 'acceleration', 'jerk',
            'effort_speed']]] = None,
            joint_limits: Optional[PathTimingJointLimits] = None, frame_limits: Optional[Sequence[FrameLimits]] = None,
            held: Optional[Sequence[HeldContact]] = None, gravity: Optional[npt.ArrayLike] = None,
            payload: Optional[Union[Payload, Sequence[Payload]]] = None, wrenches: Optional[Sequence[Wrench]] = None,
            friction: Optional[bool] = None, joints: Optional[Sequence[str]] = None,
            locked: Optional[Mapping[str, npt.ArrayLike]] = None, normalise: Optional[bool] = None,
            on_error: Optional[Literal['request', 'row']] = None,
            outputs: Optional[Sequence[Literal['times', 's', 'sd', 'sdd', 'q', 'qd', 'qdd', 'tau', 'active', 'limits',
            'duration', 'sddd', 'qddd', 'tau_dot', 'second_order_duration', 'dduration_dlimits', 'contact_wrenches']]] = None,
            timeout: Optional[float] = None,
    ) -> PathTimingAnswer:
        """The fastest timing of a path within limits.

        A path q(s), 0 ≤ s ≤ 1, is a B-spline as that of trajectory, or a batch of them. The answer is the timing s(t) from rest
        to rest that is fastest within the limits of positions, velocities, accelerations and efforts, at `samples` places
        evenly spaced in s, with the motion and the torques there. s̈ is constant in each of `intervals` intervals, and jumps
        between them; at the places between, and at both ends of an interval with its own s̈, all limits hold. Without
        `intervals` an interval leads from each place to the next: the grid of TOPP-RA (Pham & Pham 2018) with the limits of
        both ends. Then a limit may be exceeded between two places, by an amount that falls with the square of their distance.
        With fewer intervals the limits hold at the places in between, too. `sdd`, `qdd`, `tau` and `active` of a place belong
        to the interval that begins there or contains it; at the end to the last. With a limit of jerk or effort_rate s̈ is
        continuous and s⃛ jumps between intervals. The places are then evenly spaced in r with s = 10 r³ - 15 r⁴ + 6 r⁵, dense
        at both ends, or with s = r where all paths have three equal control points at both ends and so rest there by
        themselves, and (dr/dt)² is a cubic polynomial of r in each interval, of 4 to 10 parts unless `intervals` is given.
        Limits hold at all places and, up to 1e-6 of their size, between them and at both sides of each knot, where the jerk of
        a cubic spline jumps; only where a joint with sharp friction turns back between two places, its effort may exceed a
        limit by an amount that falls with their distance. The problem is not convex: the timing is a local optimum.
        `second_order_duration` is the duration without limits of jerk and effort_rate, of which the optimum on these places is
        found: a lower bound up to its discretisation. The robot must be able to stand on all of the path. A limit of
        effort_speed holds at the faster end of an interval: from rest, where the speed rises steeply, the duration is above the
        fastest one by an amount that falls with the width of the intervals, 0.7 % for one joint and 400 intervals. The limits
        are those of the model, of the kinds that `kinds` lists. `joint_limits` replaces all limits of a kind by one for each
        coordinate: a number for all, or nv numbers. `frame_limits` bounds the motion of frames: the magnitudes of the velocity
        of a frame's origin, of its acceleration, and of the angular velocity and acceleration. A magnitude does not depend on
        axes. Limits of frames are exact at all places: that of a speed bounds ṡ, and that of an acceleration is an ellipse in
        s̈ and ṡ², which is not replaced by a polyhedron. They hold beside limits of jerk and effort_rate, too. `limits` lists
        what was applied, those of frames last, and `active` has for each place the index of the limit that is reached there
        within 1e-6 of its size, the one with the least room; -1 for none. With `held` frames a robot with legs, or one that
        pushes, moves along the path while these frames rest, as in inverse-dynamics: no actuator moves the floating base, and
        the torques follow from contact wrenches, which may be any within the limits of the contacts. The wrenches, s̈ and ṡ²
        that the limits of contacts and efforts allow at a place are a polytope, and the pairs (s̈, ṡ²) in it a polygon, which
        is found exactly, edge by edge (Bretl & Lall 2008), up to 64 edges; of a polygon with more, that of 64 vertices is
        taken, inside it. A friction cone without `facets` counts as a pyramid of 16 edges inside it, at most 2 % of the
        coefficient. `limits` lists the limits of contacts last, with frame and kind: least_normal_force with `lower`,
        friction_coefficient and torsional_friction_coefficient with `upper`, and sole. An edge mostly follows from several
        limits at once; `active` names the one with the largest multiplier. `contact_wrenches`, among the outputs by default,
        are those of least norm within all limits, those of efforts too, and `tau` goes with them. A path that moves a held
        frame by more than 1e-6 of its motion is 422 held-frame-accelerates with frame, axis and residual: a spline through
        postures of inverse kinematics needs a high degree and many control points. `held` is not taken with limits of jerk,
        effort_rate and effort_speed, viscous friction or damping, rolling frames, and the output dduration_dlimits.
        `dduration_dlimits` has for each limit the derivative of the duration by the size of the limit, its cost: how much
        shorter the motion becomes for a unit more of the limit, by all places where it is reached. 0 means that the limit costs
        nothing. Both sides of a limit move outwards, and of effort_speed the stall effort moves. Without gravity and friction
        the sum of limit times derivative, times 2 for accelerations and efforts and 3 for jerks and effort rates, is minus the
        duration. With a limit of jerk or effort_rate the derivatives are the multipliers of the local optimum, from which
        durations differ by what keeps the limits between places, as said above: they agree with differences of durations to
        about 1 % of the duration, and better with more places. 422 no-timing names the place and the limits: those that
        contradict each other, one that keeps the robot from slowing down in time, a path outside the limits of position, or a
        place at which nothing limits the speed. Efforts of mimic joints, and friction with a `coulomb_velocity`, a
        `stribeck_velocity` or a `load`, are not taken: 422 not-supported. Sharp Coulomb friction has the sign of dq/ds. A limit
        of effort_rate and sharp friction that jumps on the way have no timing. The path needs a continuous first derivative,
        and with limits of jerk or effort_rate a continuous second one. Wrenches are constant along the path. Models with
        `loops` are the 422 not-for-loops.

        degree: Of the B-spline; 3 is cubic.
        control_points: m × nv, or B × m × nv, m at least degree + 1: rad or m. At joints with a quaternion: position and
        rotation vector.
        samples: N, places evenly spaced in s, from 0 to 1.
        knots: m + degree + 1 numbers, as in trajectory. s goes from 0 to 1 over their range.
        intervals: Number of intervals; divides N - 1 into at most 100 parts each. Default: N - 1; with limits of jerk or
        effort_rate at least 4 parts, 10 if possible.
        kinds: Of limits; default all.
        joint_limits: Limits in place of those of the model, for each kind that is named.
        frame_limits: Limits of the motion of frames, each frame once.
        held: Frames in contact, whose wrenches bear the motion; an empty list counts as no `held`. contact_wrenches are then
        among the default outputs; without `held` that output does not exist. Not with `free`.
        gravity: m/s², world axes; replaces the model's. One vector for all rows, or one for each: of tilted mounts, whose
        gravity turns with the base, and of a base that is accelerated without turning, whose gravity is g - a. For any motion
        of the base the model has a floating one, whose qdd is given. Rows of gravity or of figures of payloads have the bits of
        single requests; each state is then evaluated alone instead of in lanes: an inverse dynamics of a Panda takes 0.3 µs
        more, and with payloads of rows 1.3 µs more, in which the model with the payload is made. identify, ground-reaction,
        sensors, external-wrench and path-timing take one value for all rows. path with Coulomb friction and limits of the
        effort of mimic joints takes one payload and one set of parameters.
        payload: A rigid body fixed to a link or frame for this request. Each figure is one for all rows, or one for each row.
        On a link that is fixed to the world it has no effect, which is a warning of the answer. The link's gravity_compensation
        applies to it too.
        wrenches: Acts on the link, by the environment.
        friction: false omits joint friction.
        joints: A permutation of velocity_names, the order of coordinates in this request and its answer. The six coordinates of
        a floating base stay first, as in `q` its seven positions, and may be left out of the list. For models none of whose
        joints has a quaternion.
        locked: Joints that are held at positions, by the names of the joints: a number in rad or m, [x, y, angle] of a planar
        joint, the quaternion [qx, qy, qz, qw] of a spherical one, or the seven positions of a floating one. These joints are
        fixed for this request: they leave `q`, `qd`, `tau` and all other coordinates of the request and of its answer, whose
        order stays; their links belong to the bodies of their parents, and keep their frames. So `joint_wrenches`, parameters
        and limits of the request are those of the reduced model, too. Joints that mimic them stand where they follow. Their
        friction, springs, limits and `rotor_inertia` disappear; a motor on such a joint is a part of the link that carries it.
        `<joint>.motor` of an elastic joint locks its motor alone: the joint then has the spring to the motor's place. Loops
        keep their assembly, the position to which the locked joints move the model's `reference`. A 422: a mimic joint, a
        passive joint of loops, a floating base, all joints together, or some of the joints of a transmission. The first request
        with the same `locked` on a model takes the time to build the reduced model, about 0.1 ms for each link and the closing
        of its loops; the server keeps the last 64, of at most 32 MiB, for the next ones. Of `PUT`, the parameter `locked`
        reduces a model for all requests.
        normalise: Whether quaternions of the request (in `q`, `guess`, `platform` and `orientation`) may have any norm but 0,
        and are normalised. By default a norm that differs from 1 by more than 1e-6 is the 422 bad-quaternion: it is often a
        wrong order or a missing component.
        on_error: Whether a row that cannot be evaluated fails the whole request, or only itself: then it is null (NaN in typed
        arrays of CBOR), and listed in `errors` of the answer. Outputs without numbers, as `dtau_dwrench` without wrenches, stay
        empty.
        outputs: With a limit of jerk or effort_rate sddd, qddd, tau_dot and second_order_duration are answered by default, too,
        and with held contact_wrenches; without them they do not exist.
        timeout: of this call, s; the server then stops working on it, too.
        """
        return self._evaluate("path-timing", PathTimingAnswer, {"degree": degree, "control_points": control_points, "samples":
            samples, "knots": knots, "intervals": intervals, "kinds": kinds, "joint_limits": joint_limits, "frame_limits":
            frame_limits, "held": held, "gravity": gravity, "payload": payload, "wrenches": wrenches, "friction": friction,
            "joints": joints, "locked": locked, "normalise": normalise, "on_error": on_error, "outputs": outputs}, timeout)

    def feed_forward(
            self, q: Coordinates, *, qd: Optional[Coordinates] = None, qdd: Optional[Coordinates] = None,
            qddd: Optional[Coordinates] = None, qdddd: Optional[Coordinates] = None,
            higher_derivatives: Optional[Sequence[Coordinates]] = None, gravity: Optional[npt.ArrayLike] = None,
            payload: Optional[Union[Payload, Sequence[Payload]]] = None,
            parameters: Optional[Mapping[str, npt.ArrayLike]] = None, wrenches: Optional[Sequence[Wrench]] = None,
            friction: Optional[bool] = None, joints: Optional[Sequence[str]] = None,
            locked: Optional[Mapping[str, npt.ArrayLike]] = None, normalise: Optional[bool] = None,
            on_error: Optional[Literal['request', 'row']] = None, times: Optional[npt.ArrayLike] = None,
            motor_positions: Optional[Literal['settled', 'given']] = None,
            outputs: Optional[Sequence[Literal['q', 'qd', 'qdd', 'tau', 'qdd_errors']]] = None,
            timeout: Optional[float] = None,
    ) -> FeedForwardAnswer:
        """Positions and torques of motors that move elastic joints along a given motion.

        The motion of the links, with its derivatives up to `qdddd`, determines the motion of every motor whose spring has no
        damper: the spring of an elastic joint transmits what inverse dynamics asks of the joint. The answer has q, qd and qdd
        with the coordinates of the motors (`<joint>.motor`), and the torques of all joints; an elastic joint's is that of its
        motor, and that of the link's side is 0. Entries of the request that belong to such motors have no effect. Missing
        derivatives up to `qdddd` are zero; sharp Coulomb friction has slope 0. All effects of the motors are included, those of
        their mounting on moving links, too. Friction that depends on the load is that of the motor of an elastic joint: T is
        the torque of its spring and rotor. With a damper, θ depends on the past of the motion: stiffness (q - θ - rest) +
        damping (q̇ - θ̇) is what inverse dynamics asks of the joint, a differential equation of θ that forgets its start with
        the time constant damping / stiffness. Torques of such a robot are computed in one of two ways. - `motor_positions`
        "given": each row is a state, whose `q` contains θ, for example as measured. θ̇ and θ̈ follow from derivatives of q up
        to `qddd`. An error of θ counts stiffness / damping times in θ̇, and the square of that in θ̈. - `times`: the rows are
        instants of one motion, along which θ is integrated. `qd` to `qdddd` are needed. Between two rows the torque of the
        spring is the polynomial of degree 5 with its values and first two derivatives at both, whose integral is exact, however
        stiff the spring is; so the answer tends to that without dampers as they become small. The first row begins with a
        settled spring: θ is that after a long rest if the motion begins at rest, else that after a torque that has long been
        changing as it does in the first row. With `motor_positions` "given" it begins with the θ of `q` of that row, for
        example the one where an earlier request ended. `qdd_errors` estimates the error of θ̈ by a second integration along
        every other row, and is usually many times too large. Denser rows reduce the error, with the third power of the interval
        if it is long beside the time constant, with up to the sixth if it is short; derivatives of q that do not belong to one
        motion, or are noisy, increase it. Joints with and without dampers and rigid joints may be mixed. Robots without dampers
        need neither field. The torque of an elastic joint that moves motors of other elastic joints depends on higher
        derivatives, which `higher_derivatives` gives: on those up to the sixth if these joints move no motors of elastic joints
        themselves, on those up to the eighth if they move such joints' motors, and on two more for each further joint of the
        chain; with given positions of motors on one less for each joint with a damper. If one is missing, 422 `missing-field`
        names the joint and the order. More than the joints need have no effect. 422 `not-supported`: an elastic joint with
        damping without either of the fields, negative damping with `times`, `times` with a wrench, payload or gravity that
        differs from row to row or with `on_error`, or a joint whose torque depends on derivatives above the 24th, as those of
        two joints that move each other's motors do. For models without `loops`.

        q: Positions, nq entries: rad or m.
        qd: Velocities, nv entries: rad/s or m/s. Default 0.
        qdd: Accelerations, nv entries: rad/s² or m/s². Default 0.
        qddd: Jerks, nv entries: rad/s³ or m/s³. Default 0.
        qdddd: Time derivatives of the jerks, nv entries: rad/s⁴ or m/s⁴. Default 0.
        higher_derivatives: Time derivatives of q of orders 5, 6, …, nv entries each, every one in the form of `qdddd`: rad/s⁵
        or m/s⁵, rad/s⁶ or m/s⁶, … Elastic joints that move motors of elastic joints need them.
        gravity: m/s², world axes; replaces the model's. One vector for all rows, or one for each: of tilted mounts, whose
        gravity turns with the base, and of a base that is accelerated without turning, whose gravity is g - a. For any motion
        of the base the model has a floating one, whose qdd is given. Rows of gravity or of figures of payloads have the bits of
        single requests; each state is then evaluated alone instead of in lanes: an inverse dynamics of a Panda takes 0.3 µs
        more, and with payloads of rows 1.3 µs more, in which the model with the payload is made. identify, ground-reaction,
        sensors, external-wrench and path-timing take one value for all rows. path with Coulomb friction and limits of the
        effort of mimic joints takes one payload and one set of parameters.
        payload: A rigid body fixed to a link or frame for this request. Each figure is one for all rows, or one for each row.
        On a link that is fixed to the world it has no effect, which is a warning of the answer. The link's gravity_compensation
        applies to it too.
        parameters: Inertial parameters that replace the model's, by the links of bodies: for each link ten numbers m, m c (3),
        Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the origin and in the axes of the link, as `regressor` numbers them, or a row of ten
        for each row of the batch. The parameters of a link are those of its body, whatever is merged into it or mounted on it
        included. A body must be physical. Payloads are added. Cost: as of payloads.
        wrenches: Acts on the link, by the environment.
        friction: false omits joint friction.
        joints: A permutation of velocity_names, the order of coordinates in this request and its answer. The six coordinates of
        a floating base stay first, as in `q` its seven positions, and may be left out of the list. For models none of whose
        joints has a quaternion.
        locked: Joints that are held at positions, by the names of the joints: a number in rad or m, [x, y, angle] of a planar
        joint, the quaternion [qx, qy, qz, qw] of a spherical one, or the seven positions of a floating one. These joints are
        fixed for this request: they leave `q`, `qd`, `tau` and all other coordinates of the request and of its answer, whose
        order stays; their links belong to the bodies of their parents, and keep their frames. So `joint_wrenches`, parameters
        and limits of the request are those of the reduced model, too. Joints that mimic them stand where they follow. Their
        friction, springs, limits and `rotor_inertia` disappear; a motor on such a joint is a part of the link that carries it.
        `<joint>.motor` of an elastic joint locks its motor alone: the joint then has the spring to the motor's place. Loops
        keep their assembly, the position to which the locked joints move the model's `reference`. A 422: a mimic joint, a
        passive joint of loops, a floating base, all joints together, or some of the joints of a transmission. The first request
        with the same `locked` on a model takes the time to build the reduced model, about 0.1 ms for each link and the closing
        of its loops; the server keeps the last 64, of at most 32 MiB, for the next ones. Of `PUT`, the parameter `locked`
        reduces a model for all requests.
        normalise: Whether quaternions of the request (in `q`, `guess`, `platform` and `orientation`) may have any norm but 0,
        and are normalised. By default a norm that differs from 1 by more than 1e-6 is the 422 bad-quaternion: it is often a
        wrong order or a missing component.
        on_error: Whether a row that cannot be evaluated fails the whole request, or only itself: then it is null (NaN in typed
        arrays of CBOR), and listed in `errors` of the answer. Outputs without numbers, as `dtau_dwrench` without wrenches, stay
        empty.
        times: s, increasing, one for each row: the rows are instants of one motion, along which motors of elastic joints with
        damping are integrated. With `times` qdd_errors is among the default outputs.
        motor_positions: Source of the positions of the motors of elastic joints with damping. given: `q` of each row, with
        `times` of the first row. settled: only with `times`, the first row begins with a settled spring.
        outputs
        timeout: of this call, s; the server then stops working on it, too.
        """
        return self._evaluate("feed-forward", FeedForwardAnswer, {"q": q, "qd": qd, "qdd": qdd, "qddd": qddd, "qdddd": qdddd,
            "higher_derivatives": higher_derivatives, "gravity": gravity, "payload": payload, "parameters": parameters,
            "wrenches": wrenches, "friction": friction, "joints": joints, "locked": locked, "normalise": normalise, "on_error":
            on_error, "times": times, "motor_positions": motor_positions, "outputs": outputs}, timeout)

    def evaluate(
            self, q: Optional[Coordinates] = None, *, operations: Evaluations, qd: Optional[Coordinates] = None,
            qdd: Optional[Coordinates] = None, qddd: Optional[Coordinates] = None, qdddd: Optional[Coordinates] = None,
            higher_derivatives: Optional[Sequence[Coordinates]] = None, tau: Optional[Coordinates] = None,
            qd_reference: Optional[Coordinates] = None, qdd_reference: Optional[Coordinates] = None,
            multipliers: Optional[Coordinates] = None, gravity: Optional[npt.ArrayLike] = None,
            payload: Optional[Union[Payload, Sequence[Payload]]] = None,
            parameters: Optional[Mapping[str, npt.ArrayLike]] = None, wrenches: Optional[Sequence[WrenchWithRates]] = None,
            friction: Optional[bool] = None, joints: Optional[Sequence[str]] = None, guess: Optional[Coordinates] = None,
            platform: Optional[Platform] = None, locked: Optional[Mapping[str, npt.ArrayLike]] = None,
            normalise: Optional[bool] = None, on_error: Optional[Literal['request', 'row']] = None,
            timeout: Optional[float] = None,
    ) -> EvaluateAnswer:
        """Several operations on one state or batch.

        `operations` has, for each operation, its fields other than the state: `outputs`, `frame` and so on. The state,
        `gravity`, `payload`, `wrenches`, `friction` and `joints` are given once, at the top.

        operations
        q: Positions, nq entries: rad or m.
        qd: Velocities, nv entries: rad/s or m/s. Default 0.
        qdd: Accelerations, nv entries: rad/s² or m/s². Default 0.
        qddd: Jerks, nv entries: rad/s³ or m/s³. Default 0.
        qdddd: Time derivatives of the jerks, nv entries: rad/s⁴ or m/s⁴. Default 0.
        higher_derivatives: Time derivatives of q of orders 5, 6, …, nv entries each, every one in the form of `qdddd`: rad/s⁵
        or m/s⁵, rad/s⁶ or m/s⁶, … Elastic joints that move motors of elastic joints need them.
        tau: Joint efforts, nv entries: N m or N.
        qd_reference: Reference velocities of a controller, nv entries: rad/s or m/s. Default 0 beside `qdd_reference`.
        qdd_reference: Reference accelerations of a controller, nv entries: rad/s² or m/s². Default 0 beside `qd_reference`.
        multipliers: Multipliers λ of the torques or accelerations, nv entries: one number for each coordinate.
        gravity: m/s², world axes; replaces the model's. One vector for all rows, or one for each: of tilted mounts, whose
        gravity turns with the base, and of a base that is accelerated without turning, whose gravity is g - a. For any motion
        of the base the model has a floating one, whose qdd is given. Rows of gravity or of figures of payloads have the bits of
        single requests; each state is then evaluated alone instead of in lanes: an inverse dynamics of a Panda takes 0.3 µs
        more, and with payloads of rows 1.3 µs more, in which the model with the payload is made. identify, ground-reaction,
        sensors, external-wrench and path-timing take one value for all rows. path with Coulomb friction and limits of the
        effort of mimic joints takes one payload and one set of parameters.
        payload: A rigid body fixed to a link or frame for this request. Each figure is one for all rows, or one for each row.
        On a link that is fixed to the world it has no effect, which is a warning of the answer. The link's gravity_compensation
        applies to it too.
        parameters: Inertial parameters that replace the model's, by the links of bodies: for each link ten numbers m, m c (3),
        Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the origin and in the axes of the link, as `regressor` numbers them, or a row of ten
        for each row of the batch. The parameters of a link are those of its body, whatever is merged into it or mounted on it
        included. A body must be physical. Payloads are added. Cost: as of payloads.
        wrenches: With rates, if torque-derivative is among the operations.
        friction: false omits joint friction.
        joints: A permutation of velocity_names, the order of coordinates in this request and its answer. The six coordinates of
        a floating base stay first, as in `q` its seven positions, and may be left out of the list. For models none of whose
        joints has a quaternion.
        guess: For models with `loops`: passive coordinates near the intended ones, where several positions close the loops.
        From there the loop error is reduced to zero proportionally, without passing a singular position. An object of some of
        `passive_names`, the others having the values of the model's `reference`, or an array of all of them, or a batch of
        arrays.
        platform: For models with `loops`, instead of q, qd and qdd: pose and motion of a frame, in world axes. The answer
        begins with the corresponding q, and with qd and qdd if rates are given. Without `orientation` the mechanism determines
        the orientation of the frame, and rates are those of its origin alone. The frame moves on the straight line from its
        pose in the model's `reference`; with a `guess` the errors of loops and frame are reduced to zero together, starting
        from the actuated coordinates of the reference and the passive ones of the guess.
        locked: Joints that are held at positions, by the names of the joints: a number in rad or m, [x, y, angle] of a planar
        joint, the quaternion [qx, qy, qz, qw] of a spherical one, or the seven positions of a floating one. These joints are
        fixed for this request: they leave `q`, `qd`, `tau` and all other coordinates of the request and of its answer, whose
        order stays; their links belong to the bodies of their parents, and keep their frames. So `joint_wrenches`, parameters
        and limits of the request are those of the reduced model, too. Joints that mimic them stand where they follow. Their
        friction, springs, limits and `rotor_inertia` disappear; a motor on such a joint is a part of the link that carries it.
        `<joint>.motor` of an elastic joint locks its motor alone: the joint then has the spring to the motor's place. Loops
        keep their assembly, the position to which the locked joints move the model's `reference`. A 422: a mimic joint, a
        passive joint of loops, a floating base, all joints together, or some of the joints of a transmission. The first request
        with the same `locked` on a model takes the time to build the reduced model, about 0.1 ms for each link and the closing
        of its loops; the server keeps the last 64, of at most 32 MiB, for the next ones. Of `PUT`, the parameter `locked`
        reduces a model for all requests.
        normalise: Whether quaternions of the request (in `q`, `guess`, `platform` and `orientation`) may have any norm but 0,
        and are normalised. By default a norm that differs from 1 by more than 1e-6 is the 422 bad-quaternion: it is often a
        wrong order or a missing component.
        on_error: Whether a row that cannot be evaluated fails the whole request, or only itself: then it is null (NaN in typed
        arrays of CBOR), and listed in `errors` of the answer. Outputs without numbers, as `dtau_dwrench` without wrenches, stay
        empty.
        timeout: of this call, s; the server then stops working on it, too.
        """
        return self._evaluate("evaluate", EvaluateAnswer, {"operations": operations, "q": q, "qd": qd, "qdd": qdd, "qddd": qddd,
            "qdddd": qdddd, "higher_derivatives": higher_derivatives, "tau": tau, "qd_reference": qd_reference, "qdd_reference":
            qdd_reference, "multipliers": multipliers, "gravity": gravity, "payload": payload, "parameters": parameters,
            "wrenches": wrenches, "friction": friction, "joints": joints, "guess": guess, "platform": platform, "locked":
            locked, "normalise": normalise, "on_error": on_error}, timeout)
