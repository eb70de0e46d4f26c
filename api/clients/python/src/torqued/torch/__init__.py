"""Differentiable dynamics for PyTorch: inverse dynamics, forward dynamics and rollouts as functions of tensors, whose backward asks the
server for one gradient (the operations gradient, forward-gradient and rollout-gradient), and whose second backward asks for one
Hessian-vector product.

    from torqued.torch import inverse_dynamics
    tau = inverse_dynamics(model, q, qd, qdd)
    tau.square().sum().backward()

Tensors are of float64 on the CPU, one state or rows of states. Gradients by q are by its entries: a quaternion r stands for the
rotation of r/|r|, so its gradient is orthogonal to r, and an optimizer that changes the entries need not keep |r| = 1. Gradients
are differentiable once more (create_graph=True); a third derivative is refused by PyTorch.
"""
from __future__ import annotations

from typing import Any

import torch
from torch.autograd.function import once_differentiable

from ..client import Model
from .entries import Layout
from .rollouts import rollout
from .tensors import arrays, checked, save, tensor

__all__ = ["forward_dynamics", "inverse_dynamics", "rollout"]


def inverse_dynamics(model: Model, q: torch.Tensor, qd: torch.Tensor, qdd: torch.Tensor, **fields: Any) -> torch.Tensor:
    """tau of the motion. `fields` are further fields of the request that are no tensors: gravity, payload, wrenches, friction."""
    return _InverseDynamics.apply(model, fields, *checked(model, q=q, qd=qd, qdd=qdd))     # type: ignore[no-any-return]


def forward_dynamics(model: Model, q: torch.Tensor, qd: torch.Tensor, tau: torch.Tensor, **fields: Any) -> torch.Tensor:
    """qdd under the efforts tau. `fields` as of inverse_dynamics."""
    return _ForwardDynamics.apply(model, fields, *checked(model, q=q, qd=qd, tau=tau))     # type: ignore[no-any-return]


class _InverseDynamics(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, model: Model, fields: dict[str, Any],     # type: ignore[override]
                *state: torch.Tensor) -> torch.Tensor:
        save(context, model, fields, state)
        q, qd, qdd = arrays(state)
        return tensor(model.inverse_dynamics(q, qd=qd, qdd=qdd, normalise=True, **fields).tau)

    @staticmethod
    def backward(context: Any, multipliers: torch.Tensor) -> tuple[Any, ...]:      # type: ignore[override]
        return (None, None, *_Gradient.apply(context.model, context.fields, "qdd", *context.saved_tensors, multipliers))


class _ForwardDynamics(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, model: Model, fields: dict[str, Any],     # type: ignore[override]
                *state: torch.Tensor) -> torch.Tensor:
        save(context, model, fields, state)
        q, qd, tau = arrays(state)
        return tensor(model.forward_dynamics(q, qd=qd, tau=tau, normalise=True, **fields).qdd)

    @staticmethod
    def backward(context: Any, multipliers: torch.Tensor) -> tuple[Any, ...]:      # type: ignore[override]
        return (None, None, *_Gradient.apply(context.model, context.fields, "tau", *context.saved_tensors, multipliers))


class _Gradient(torch.autograd.Function):
    """The gradient of multipliers · tau by q, qd and qdd or, if `third` is "tau", of multipliers · qdd by q, qd and tau."""

    @staticmethod
    def forward(context: Any, model: Model, fields: dict[str, Any], third: str,     # type: ignore[override]
                *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        save(context, model, fields, tensors)
        context.third = third
        by = _ask(context, tensors, {})
        q = tensors[0].detach().numpy()
        return (tensor(Layout(model).entries(q, by.gradient_q)), tensor(by.gradient_qd), tensor(by[f"gradient_{third}"]))

    @staticmethod
    @once_differentiable
    def backward(context: Any, *along: torch.Tensor) -> tuple[Any, ...]:      # type: ignore[override]
        layout, q, third = Layout(context.model), context.saved_tensors[0].detach().numpy(), context.third
        by_q, by_qd, by_third = arrays(along)
        directions = {"q": layout.tangent(q, by_q), "qd": by_qd, third: by_third}
        products = [f"hessian_products_{name}" for name in directions]
        by = _ask(context, context.saved_tensors, {"directions": {name: x[..., None, :] for name, x in directions.items()},
                                                   "outputs": ["gradient_q", *products, "rates"]})
        first, *others = [by[name][..., 0, :] for name in (*products, "rates")]
        return (None, None, None, tensor(layout.second(q, by_q, by.gradient_q, first)), *map(tensor, others))


def _ask(context: Any, tensors: tuple[torch.Tensor, ...], more: dict[str, Any]) -> Any:
    q, qd, x, multipliers = arrays(tensors)
    ask = context.model.gradient if context.third == "qdd" else context.model.forward_gradient
    return ask(q, qd=qd, multipliers=multipliers, normalise=True, **{context.third: x}, **context.fields, **more)
