"""One awaited method for each operation of the contract.

Made by api/clients/python/generate.py from api/openapi.yaml: change that, then `make reference`.
"""

from __future__ import annotations

from typing import Any, Awaitable, Mapping, Optional, Type

from ..answers import A
from ..awaited import awaited
from .operations import Operations


class AsyncOperations:
    """What a model answers. Fields that are None are not sent."""

    def _evaluate(self, operation: str, kind: Type[A], request: Mapping[str, Any],
                  timeout: Optional[float]) -> Awaitable[A]:
        raise NotImplementedError

    inverse_dynamics = awaited(Operations.inverse_dynamics)
    forward_dynamics = awaited(Operations.forward_dynamics)
    impact = awaited(Operations.impact)
    mass_matrix = awaited(Operations.mass_matrix)
    bias = awaited(Operations.bias)
    kinematics = awaited(Operations.kinematics)
    energy = awaited(Operations.energy)
    torque_derivative = awaited(Operations.torque_derivative)
    sensitivity = awaited(Operations.sensitivity)
    forward_sensitivity = awaited(Operations.forward_sensitivity)
    gradient = awaited(Operations.gradient)
    forward_gradient = awaited(Operations.forward_gradient)
    directional = awaited(Operations.directional)
    forward_directional = awaited(Operations.forward_directional)
    hessian = awaited(Operations.hessian)
    forward_hessian = awaited(Operations.forward_hessian)
    step = awaited(Operations.step)
    rollout = awaited(Operations.rollout)
    rollout_gradient = awaited(Operations.rollout_gradient)
    coriolis = awaited(Operations.coriolis)
    regressor = awaited(Operations.regressor)
    task_space = awaited(Operations.task_space)
    identify = awaited(Operations.identify)
    trajectory = awaited(Operations.trajectory)
    trajectory_hessian = awaited(Operations.trajectory_hessian)
    simulate = awaited(Operations.simulate)
    ground_reaction = awaited(Operations.ground_reaction)
    inverse_kinematics = awaited(Operations.inverse_kinematics)
    differential_inverse_kinematics = awaited(Operations.differential_inverse_kinematics)
    configuration = awaited(Operations.configuration)
    sensors = awaited(Operations.sensors)
    external_wrench = awaited(Operations.external_wrench)
    margins = awaited(Operations.margins)
    path = awaited(Operations.path)
    path_timing = awaited(Operations.path_timing)
    feed_forward = awaited(Operations.feed_forward)
    evaluate = awaited(Operations.evaluate)
