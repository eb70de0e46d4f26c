"""Tensors as arrays of a request, and arrays of an answer as tensors."""
from __future__ import annotations

from typing import Any

import numpy as np
import torch

from ..client import Model


def save(context: Any, model: Model, fields: dict[str, Any], tensors: tuple[torch.Tensor, ...]) -> None:
    context.model, context.fields = model, fields
    context.save_for_backward(*tensors)


def arrays(tensors: tuple[torch.Tensor, ...]) -> list[Any]:
    """The numbers of the tensors, which NumPy shares unless they are not contiguous."""
    return [x.detach().contiguous().numpy() for x in tensors]


def tensor(array: Any) -> torch.Tensor:
    """A tensor of its own memory: the arrays of an answer are views that share it."""
    return torch.from_numpy(np.array(array))


def checked(model: Model, **tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """The tensors of q, of rates and of the torques of all nodes, whose types and shapes are refused by name."""
    positions, velocities = len(model.position_names), len(model.velocity_names)
    rows = tensors["q"].shape[:-1]
    for name, x in tensors.items():
        entries = positions if name == "q" else velocities
        if x.dtype != torch.float64 or x.device.type != "cpu":
            raise TypeError(f"{name} is of {x.dtype} on {x.device}; expected torch.float64 on the CPU")
        if name == "torques" and x.dim() == len(rows) + 2 and x.shape[:-2] == rows and x.shape[-1] == entries:
            continue
        if name == "torques":
            raise ValueError(f"torques have the shape {tuple(x.shape)}; expected (N, {entries}) or (rows, N, {entries}), with the rows of q")
        if x.dim() not in (1, 2) or x.shape != (*rows, entries):
            raise ValueError(f"{name} has the shape {tuple(x.shape)}; expected ({entries},) or (rows, {entries}), with the rows of q")
    return tuple(tensors.values())
