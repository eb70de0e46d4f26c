"""The states of a rollout as a function of the torques and the initial state (the operations rollout and rollout-gradient), with a
second backward by Hessian-vector products."""
from __future__ import annotations

from typing import Any

import torch
from torch.autograd.function import once_differentiable

from ..client import Model
from .tensors import arrays, checked, save, tensor

FIELDS = {"integrator", "gravity", "payload", "parameters", "wrenches", "friction"}
PRODUCTS = ("hessian_products_q", "hessian_products_qd", "hessian_products_torques", "rates_q", "rates_qd")


def rollout(model: Model, q: torch.Tensor, qd: torch.Tensor, torques: torch.Tensor, *, step: float,
            **fields: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """q and qd after each of N steps of `step` seconds, (N, nv) or (rows, N, nv), under `torques` of the same shape. `fields`
    are further fields of the request that are no tensors: integrator, gravity, payload, parameters, wrenches, friction."""
    if len(model.position_names) != len(model.velocity_names):
        raise ValueError(f"{model.name} has quaternions: rollout is for robots without them; ask the operation rollout-gradient, whose "
                         "multipliers and gradients are on the tangent space")
    if unknown := sorted(set(fields) - FIELDS):
        raise TypeError(f"{', '.join(unknown)}: rollout takes {', '.join(sorted(FIELDS))}")
    state = checked(model, q=q, qd=qd, torques=torques)
    return _Rollout.apply(model, {"step": step, **fields}, *state)     # type: ignore[no-any-return]


class _Rollout(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, model: Model, fields: dict[str, Any],     # type: ignore[override]
                *state: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        save(context, model, fields, state)
        q, qd, torques = arrays(state)
        answer = model.rollout(q, qd=qd, torques=torques, outputs=["q_after", "qd_after"], **fields)
        return tensor(answer.q_after), tensor(answer.qd_after)

    @staticmethod
    def backward(context: Any, *multipliers: torch.Tensor) -> tuple[Any, ...]:      # type: ignore[override]
        return (None, None, *_Gradient.apply(context.model, context.fields, *context.saved_tensors, *multipliers))


class _Gradient(torch.autograd.Function):
    """The gradient of multipliers of all states by the initial q and qd and by the torques."""

    @staticmethod
    def forward(context: Any, model: Model, fields: dict[str, Any],     # type: ignore[override]
                *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        save(context, model, fields, tensors)
        by = _ask(context, tensors, {})
        return tensor(by.gradient_q), tensor(by.gradient_qd), tensor(by.gradient_torques)

    @staticmethod
    @once_differentiable
    def backward(context: Any, *along: torch.Tensor) -> tuple[Any, ...]:      # type: ignore[override]
        by_q, by_qd, by_torques = arrays(along)
        directions = {"q": by_q[..., None, :], "qd": by_qd[..., None, :], "torques": by_torques[..., None, :, :]}
        by = _ask(context, context.saved_tensors, {"directions": directions, "outputs": [*PRODUCTS]})
        axis = by_q.ndim - 1
        return (None, None, *(tensor(by[name].take(0, axis)) for name in PRODUCTS))


def _ask(context: Any, tensors: tuple[torch.Tensor, ...], more: dict[str, Any]) -> Any:
    q, qd, torques, by_q, by_qd = arrays(tensors)
    return context.model.rollout_gradient(q, qd=qd, torques=torques, multipliers_q=by_q, multipliers_qd=by_qd, **context.fields, **more)
