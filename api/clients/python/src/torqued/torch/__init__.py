"""Differentiable dynamics for PyTorch: inverse and forward dynamics as functions of tensors, whose backward asks the server for
one gradient (the operations gradient and forward-gradient).

    from torqued.torch import inverse_dynamics
    tau = inverse_dynamics(model, q, qd, qdd)
    tau.square().sum().backward()

Tensors are of float64 on the CPU, one state or rows of states, all of one shape. Models have as many positions as velocities: a
quaternion has four entries, its gradient three. A second derivative is refused by PyTorch; the operation hessian has those.
"""
from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.autograd.function import once_differentiable

from ..client import Model


def inverse_dynamics(model: Model, q: torch.Tensor, qd: torch.Tensor, qdd: torch.Tensor, **fields: Any) -> torch.Tensor:
    """tau of the motion. `fields` are further fields of the request that are no tensors: gravity, payload, wrenches, friction."""
    return _InverseDynamics.apply(model, fields, *_checked(model, q=q, qd=qd, qdd=qdd))     # type: ignore[no-any-return]


def forward_dynamics(model: Model, q: torch.Tensor, qd: torch.Tensor, tau: torch.Tensor, **fields: Any) -> torch.Tensor:
    """qdd under the efforts tau. `fields` as of inverse_dynamics."""
    return _ForwardDynamics.apply(model, fields, *_checked(model, q=q, qd=qd, tau=tau))     # type: ignore[no-any-return]


class _InverseDynamics(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, model: Model, fields: dict[str, Any],     # type: ignore[override]
                *state: torch.Tensor) -> torch.Tensor:
        _save(context, model, fields, state)
        q, qd, qdd = _arrays(state)
        return _tensor(model.inverse_dynamics(q, qd=qd, qdd=qdd, **fields).tau)

    @staticmethod
    @once_differentiable
    def backward(context: Any, multipliers: torch.Tensor) -> tuple[Any, ...]:      # type: ignore[override]
        q, qd, qdd, along = _arrays((*context.saved_tensors, multipliers))
        by = context.model.gradient(q, qd=qd, qdd=qdd, multipliers=along, **context.fields)
        return (None, None, *map(_tensor, (by.gradient_q, by.gradient_qd, by.gradient_qdd)))


class _ForwardDynamics(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, model: Model, fields: dict[str, Any],     # type: ignore[override]
                *state: torch.Tensor) -> torch.Tensor:
        _save(context, model, fields, state)
        q, qd, tau = _arrays(state)
        return _tensor(model.forward_dynamics(q, qd=qd, tau=tau, **fields).qdd)

    @staticmethod
    @once_differentiable
    def backward(context: Any, multipliers: torch.Tensor) -> tuple[Any, ...]:      # type: ignore[override]
        q, qd, tau, along = _arrays((*context.saved_tensors, multipliers))
        by = context.model.forward_gradient(q, qd=qd, tau=tau, multipliers=along, **context.fields)
        return (None, None, *map(_tensor, (by.gradient_q, by.gradient_qd, by.gradient_tau)))


def _save(context: Any, model: Model, fields: dict[str, Any], state: tuple[torch.Tensor, ...]) -> None:
    context.model, context.fields = model, fields
    context.save_for_backward(*state)


def _arrays(tensors: tuple[torch.Tensor, ...]) -> list[Any]:
    """The numbers of the tensors, which NumPy shares unless they are not contiguous."""
    return [tensor.detach().contiguous().numpy() for tensor in tensors]


def _tensor(array: Any) -> torch.Tensor:
    """A tensor of its own memory: the arrays of an answer are views that share it."""
    return torch.from_numpy(np.array(array))


def _checked(model: Model, **tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
    positions, velocities = len(model.position_names), len(model.velocity_names)
    if positions != velocities:
        raise ValueError(f"{model.name} has {positions} positions and {velocities} velocities: the gradient by a quaternion has no "
                         f"entry for each of its entries; call model.gradient, whose gradient_q has one for each velocity")
    shape = tensors["q"].shape
    for name, tensor in tensors.items():
        if tensor.dtype != torch.float64 or tensor.device.type != "cpu":
            raise TypeError(f"{name} is of {tensor.dtype} on {tensor.device}; expected torch.float64 on the CPU")
        if tensor.shape != shape or tensor.dim() not in (1, 2) or tensor.shape[-1] != velocities:
            raise ValueError(f"{name} has the shape {tuple(tensor.shape)}; expected ({velocities},) or (rows, {velocities}), as of q")
    return tuple(tensors.values())
