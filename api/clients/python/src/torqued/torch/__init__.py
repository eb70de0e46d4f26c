"""Differentiable dynamics for PyTorch: inverse and forward dynamics as functions of tensors, whose backward asks the server for
one gradient (the operations gradient and forward-gradient), and whose second backward asks for one Hessian-vector product.

    from torqued.torch import inverse_dynamics
    tau = inverse_dynamics(model, q, qd, qdd)
    tau.square().sum().backward()

Tensors are of float64 on the CPU, one state or rows of states, all of one shape. Models have as many positions as velocities: a
quaternion has four entries, its gradient three. Gradients are differentiable once more (create_graph=True); a third derivative is
refused by PyTorch.
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
    def backward(context: Any, multipliers: torch.Tensor) -> tuple[Any, ...]:      # type: ignore[override]
        return (None, None, *_Gradient.apply(context.model, context.fields, "qdd", *context.saved_tensors, multipliers))


class _ForwardDynamics(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, model: Model, fields: dict[str, Any],     # type: ignore[override]
                *state: torch.Tensor) -> torch.Tensor:
        _save(context, model, fields, state)
        q, qd, tau = _arrays(state)
        return _tensor(model.forward_dynamics(q, qd=qd, tau=tau, **fields).qdd)

    @staticmethod
    def backward(context: Any, multipliers: torch.Tensor) -> tuple[Any, ...]:      # type: ignore[override]
        return (None, None, *_Gradient.apply(context.model, context.fields, "tau", *context.saved_tensors, multipliers))


class _Gradient(torch.autograd.Function):
    """The gradient of multipliers · tau by q, qd and qdd or, if `third` is "tau", of multipliers · qdd by q, qd and tau."""

    @staticmethod
    def forward(context: Any, model: Model, fields: dict[str, Any], third: str,     # type: ignore[override]
                *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        _save(context, model, fields, tensors)
        context.third = third
        by = _ask(context, tensors, {})
        return tuple(_tensor(by[f"gradient_{name}"]) for name in ("q", "qd", third))

    @staticmethod
    @once_differentiable
    def backward(context: Any, *along: torch.Tensor) -> tuple[Any, ...]:      # type: ignore[override]
        names = ("q", "qd", context.third)
        outputs = [f"hessian_products_{name}" for name in names] + ["rates"]
        directions = {name: x[..., None, :] for name, x in zip(names, _arrays(along))}
        by = _ask(context, context.saved_tensors, {"directions": directions, "outputs": outputs})
        return (None, None, None, *(_tensor(by[name][..., 0, :]) for name in outputs))


def _ask(context: Any, tensors: tuple[torch.Tensor, ...], more: dict[str, Any]) -> Any:
    q, qd, x, multipliers = _arrays(tensors)
    ask = context.model.gradient if context.third == "qdd" else context.model.forward_gradient
    return ask(q, qd=qd, multipliers=multipliers, **{context.third: x}, **context.fields, **more)


def _save(context: Any, model: Model, fields: dict[str, Any], tensors: tuple[torch.Tensor, ...]) -> None:
    context.model, context.fields = model, fields
    context.save_for_backward(*tensors)


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
