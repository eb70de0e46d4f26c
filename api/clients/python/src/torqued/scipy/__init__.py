"""Functions of a model for scipy.optimize, with derivatives that the server computes without matrices.

    from scipy.optimize import minimize, least_squares
    from torqued.scipy import RolloutCost, Torques
    cost = RolloutCost(model, q, qd, steps=50, step=0.02, cost={"tau": 1e-3, "final_q": 100, "q_reference": [goal]})
    found = minimize(cost, cost.zeros(), jac=True, method="L-BFGS-B")
    torques = cost.torques(found.x)

One call is one request. Models have as many positions as velocities: no quaternions.
"""
from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse.linalg import LinearOperator

from ..answers import Array
from ..client import Model


class RolloutCost:
    """The quadratic cost of a rollout from (q, qd) as a function of its torques, steps × nv numbers: minimize(..., jac=True).

    `cost` and `step` are those of rollout-gradient; `fields` are further fields of it: integrator, gravity, payload, wrenches.
    """

    def __init__(self, model: Model, q: npt.ArrayLike, qd: npt.ArrayLike, *, steps: int, step: float, cost: dict[str, Any],
                 **fields: Any) -> None:
        _no_quaternions(model)
        self._model, self._shape = model, (steps, len(model.velocity_names))
        self._request: dict[str, Any] = {"qd": qd, "step": step, "cost": cost, **fields}
        self._q = q

    def zeros(self) -> Array:
        """Torques of zero, to begin with."""
        return np.zeros(self._shape[0] * self._shape[1])

    def torques(self, x: Array) -> Array:
        """The torques, steps × nv, of the vector x."""
        return x.reshape(self._shape)

    def __call__(self, x: Array) -> tuple[float, Array]:
        """The cost and its gradient."""
        answer = self._model.rollout_gradient(self._q, torques=self.torques(x), outputs=["cost", "gradient_torques"], **self._request)
        return float(answer.cost), np.array(answer.gradient_torques).ravel()


class Torques:
    """tau - target of inverse dynamics in `rows` states as a function of their q, qd and qdd, 3 × rows × nv numbers:
    least_squares(torques, x, torques.jacobian), whose Jacobian multiplies vectors by the operations directional and gradient.

    `fields` are further fields of inverse-dynamics that are no states: gravity, payload, wrenches, friction.
    """

    def __init__(self, model: Model, rows: int, target: npt.ArrayLike = 0.0, **fields: Any) -> None:
        _no_quaternions(model)
        self._model, self._fields, self._target = model, fields, target
        self._shape = (rows, len(model.velocity_names))

    def state(self, x: Array) -> dict[str, Any]:
        """q, qd and qdd, rows × nv each, of the vector x."""
        return dict(zip(("q", "qd", "qdd"), x.reshape(3, *self._shape)))

    def __call__(self, x: Array) -> Array:
        tau = self._model.inverse_dynamics(**self.state(x), **self._fields).tau
        return np.asarray(tau - np.asarray(self._target)).ravel()

    def jacobian(self, x: Array) -> LinearOperator:
        """The derivative of tau at x, as an operator."""
        state, size = self.state(np.array(x)), self._shape[0] * self._shape[1]

        def along(v: Array) -> Array:
            directions: Any = {name: part[:, None, :] for name, part in self.state(v).items()}
            return np.array(self._model.directional(**state, directions=directions, **self._fields).rates).ravel()

        def transposed(v: Array) -> Array:
            by = self._model.gradient(**state, multipliers=v.reshape(self._shape), **self._fields)
            return np.concatenate([np.ravel(part) for part in (by.gradient_q, by.gradient_qd, by.gradient_qdd)])

        return LinearOperator((size, 3 * size), matvec=along, rmatvec=transposed, dtype=np.float64)


def _no_quaternions(model: Model) -> None:
    if len(model.position_names) != len(model.velocity_names):
        raise ValueError(f"{model.name} has quaternions, whose entries scipy.optimize would change one by one: use torqued.torch, "
                         "or rotation vectors of your own")
