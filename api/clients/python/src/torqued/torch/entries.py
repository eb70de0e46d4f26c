"""Derivatives by the entries of q, where a quaternion r stands for the rotation of r/|r|.

On the tangent of q a direction e moves a quaternion along r/|r| · exp(e/2) and the position of a floating base or joint along
p += R e. Arrays have the axes of q before their last one.
"""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..client import Model
from ..conventions import rotation


class Place(NamedTuple):
    """First entries of the coordinates of a joint with a quaternion: of the quaternion in q, of the angular velocity in qd. The
    linear ones of a floating joint are the three before both."""
    q: int
    v: int
    floats: bool


class Layout:
    """Where the coordinates of a model are in q and in qd."""

    def __init__(self, model: Model) -> None:
        names = model.position_names
        self.n_q, self.n_v = len(names), len(model.velocity_names)
        self.places: list[Place] = []
        self.single: list[tuple[int, int]] = []
        q = v = 0
        while q < self.n_q:
            floats = names[q].endswith(".x") and names[q + 3:q + 4] == [names[q][:-1] + "qx"]
            if floats or names[q].endswith(".qx"):
                linear = 3 if floats else 0
                self.places.append(Place(q + linear, v + linear, floats))
                q, v = q + linear + 4, v + linear + 3
            else:
                self.single.append((q, v))
                q, v = q + 1, v + 1

    def tangent(self, q: Any, along: Any) -> Any:
        """The direction on the tangent of a change `along` of the entries."""
        e = self._singles(along, np.empty(along.shape[:-1] + (self.n_v,)), (0, 1))
        for p in self.places:
            r, norm = _unit(q, p)
            e[..., p.v:p.v + 3] = 2 * _product(_conjugate(r), along[..., p.q:p.q + 4])[..., :3] / norm
            if p.floats:
                e[..., p.v - 3:p.v] = (along[..., None, p.q - 3:p.q] @ rotation(r))[..., 0, :]
        return e

    def entries(self, q: Any, gradient: Any) -> Any:
        """The gradient by the entries of one on the tangent."""
        g = self._singles(gradient, np.empty(gradient.shape[:-1] + (self.n_q,)), (1, 0))
        for p in self.places:
            r, norm = _unit(q, p)
            g[..., p.q:p.q + 4] = 2 * _product(r, _pure(gradient[..., p.v:p.v + 3])) / norm
            if p.floats:
                g[..., p.q - 3:p.q] = (rotation(r) @ gradient[..., p.v - 3:p.v, None])[..., 0]
        return g

    def second(self, q: Any, along: Any, gradient: Any, product: Any) -> Any:
        """The gradient, by the entries, of `along` times the gradient by the entries. `gradient` is that on the tangent, and
        `product` its rate along tangent(q, along) and other directions. The tangent direction changes with q:

            de_w = -(s/|r|) n - n × e_w / 2,   de_v = -n × e_v   along n, with s = along · r/|r|,

        derivatives along two axes differ by those along their bracket, and g · along is homogeneous in r of degree -1."""
        e = self.tangent(q, along)
        c = product.copy()
        for p in self.places:
            r, norm = _unit(q, p)
            e_w, g_w = e[..., p.v:p.v + 3], gradient[..., p.v:p.v + 3]
            s = (along[..., p.q:p.q + 4] * r).sum(-1, keepdims=True)
            c[..., p.v:p.v + 3] += 0.5 * np.cross(e_w, g_w) - s / norm * g_w
            if p.floats:
                c[..., p.v - 3:p.v] += np.cross(e_w, gradient[..., p.v - 3:p.v])
        by = self.entries(q, c)
        for p in self.places:
            r, norm = _unit(q, p)
            by[..., p.q:p.q + 4] -= (e[..., p.v:p.v + 3] * gradient[..., p.v:p.v + 3]).sum(-1, keepdims=True) * r / norm
        return by

    def _singles(self, given: Any, to: Any, order: tuple[int, int]) -> Any:
        for pair in self.single:
            to[..., pair[order[1]]] = given[..., pair[order[0]]]
        return to


def _unit(q: Any, place: Place) -> tuple[Any, Any]:
    r = q[..., place.q:place.q + 4]
    norm = np.linalg.norm(r, axis=-1, keepdims=True)
    return r / norm, norm


def _conjugate(r: Any) -> Any:
    return r * np.array([-1.0, -1, -1, 1])


def _pure(x: Any) -> Any:
    return np.concatenate([x, np.zeros(x.shape[:-1] + (1,))], -1)


def _product(a: Any, b: Any) -> Any:
    """The product of quaternions [x,y,z,w]."""
    u, s, v, t = a[..., :3], a[..., 3:], b[..., :3], b[..., 3:]
    return np.concatenate([s * v + t * u + np.cross(u, v), s * t - (u * v).sum(-1, keepdims=True)], -1)
