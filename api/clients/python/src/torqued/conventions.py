"""Convert states and forces between torqued and libraries with other conventions for quaternions and floating bases.

A state of torqued begins, for a floating base, with q = [x,y,z, qx,qy,qz,qw] and qd = [v; w], the velocity of the base's origin
and the angular velocity, both in the axes of the base. qdd has the derivatives of these components, tau the force and the
moment about the origin in the same axes. Pinocchio uses the same. R below is the rotation matrix of the base.

Every function takes one state or rows of states, and returns new arrays.
"""
from __future__ import annotations

from typing import Optional

import numpy as np
import numpy.typing as npt

from .answers import Array
from .arrays import real
from .described import Described


def xyzw(quaternion: npt.ArrayLike) -> Array:
    """[w,x,y,z] as [x,y,z,w]."""
    return np.roll(real(quaternion, "quaternion").astype(float), -1, axis=-1)


def wxyz(quaternion: npt.ArrayLike) -> Array:
    """[x,y,z,w] as [w,x,y,z]."""
    return np.roll(real(quaternion, "quaternion").astype(float), 1, axis=-1)


def rotation(quaternion: npt.ArrayLike) -> Array:
    """The rotation matrix of [x,y,z,w]."""
    x, y, z, w = np.moveaxis(real(quaternion, "quaternion").astype(float), -1, 0) / np.linalg.norm(quaternion, axis=-1)
    rows = [[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def from_mujoco(model: Described, qpos: npt.ArrayLike, qvel: Optional[npt.ArrayLike] = None,
                qacc: Optional[npt.ArrayLike] = None) -> dict[str, Array]:
    """q, qd and qdd of a state of MuJoCo. The free joint has the quaternion [w,x,y,z] and the linear velocity in the axes of
    the world: v = Rᵀ v_world, v' = Rᵀ v'_world - w × v. Quaternions of ball joints are reordered."""
    q = _quaternions(model, real(qpos, "qpos").astype(float))
    if model.description["base"] == "fixed":
        return _given(q, qvel, qacc)
    return _given(q, *_in_base(rotation(q[..., 3:7]), slice(0, 3), slice(3, 6), qvel, qacc, spin_in_world=False))


def to_mujoco_forces(model: Described, q: npt.ArrayLike, tau: npt.ArrayLike) -> Array:
    """Generalized forces of MuJoCo, such as qfrc_inverse, of `tau` at the state q of torqued: the force on a free joint is in
    the axes of the world."""
    forces = real(tau, "tau").astype(float)
    if model.description["base"] == "floating":
        forces[..., :3] = _turned(rotation(real(q, "q").astype(float)[..., 3:7]), forces[..., :3])
    return forces


def from_drake(model: Described, q: npt.ArrayLike, v: Optional[npt.ArrayLike] = None,
               vdot: Optional[npt.ArrayLike] = None) -> dict[str, Array]:
    """q, qd and qdd of a state of Drake. The floating base has q = [qw,qx,qy,qz, x,y,z] and v = [w; v], both in the axes of the
    world. The order of the joints is left as it is."""
    given = real(q, "q").astype(float)
    if model.description["base"] == "fixed":
        return _given(given, v, vdot)
    taken = np.concatenate([given[..., 4:7], xyzw(given[..., :4]), given[..., 7:]], axis=-1)
    return _given(taken, *_in_base(rotation(taken[..., 3:7]), slice(3, 6), slice(0, 3), v, vdot, spin_in_world=True))


def to_drake_forces(model: Described, q: npt.ArrayLike, tau: npt.ArrayLike) -> Array:
    """Generalized forces of Drake of `tau` at the state q of torqued: moment, then force on the floating base, in the axes of
    the world."""
    forces = real(tau, "tau").astype(float)
    if model.description["base"] == "floating":
        turn = rotation(real(q, "q").astype(float)[..., 3:7])
        forces[..., :3], forces[..., 3:6] = _turned(turn, np.array(forces[..., 3:6])), _turned(turn, np.array(forces[..., :3]))
    return forces


def _given(q: Array, qd: Optional[npt.ArrayLike], qdd: Optional[npt.ArrayLike]) -> dict[str, Array]:
    state = {"q": q}
    if qd is not None:
        state["qd"] = real(qd, "qd").astype(float)
    if qdd is not None:
        state["qdd"] = real(qdd, "qdd").astype(float)
    return state


def _in_base(turn: Array, linear: slice, angular: slice, velocity: Optional[npt.ArrayLike],
             acceleration: Optional[npt.ArrayLike], *, spin_in_world: bool) -> tuple[Optional[Array], Optional[Array]]:
    """Velocity and acceleration as [v; w, joints] in base axes. `linear` and `angular` are the places of the base's parts."""
    if velocity is None:
        if acceleration is not None:
            raise ValueError("an acceleration of a floating base needs the velocity, since its axes rotate")
        return None, None
    back = np.swapaxes(turn, -1, -2)
    given = real(velocity, "velocity").astype(float)
    v = _turned(back, given[..., linear])
    w = _turned(back, given[..., angular]) if spin_in_world else given[..., angular]
    qd = np.concatenate([v, w, given[..., 6:]], axis=-1)
    if acceleration is None:
        return qd, None
    rates = real(acceleration, "acceleration").astype(float)
    a = _turned(back, rates[..., linear]) - np.cross(w, v)
    alpha = _turned(back, rates[..., angular]) if spin_in_world else rates[..., angular]
    return qd, np.concatenate([a, alpha, rates[..., 6:]], axis=-1)


def _turned(matrices: Array, vectors: Array) -> Array:
    turned: Array = np.einsum("...ij,...j->...i", matrices, vectors)
    return turned


def _quaternions(model: Described, q: Array) -> Array:
    """q with every quaternion [w,x,y,z] as [x,y,z,w]: its four names end in qx, qy, qz and qw."""
    for at, name in enumerate(model.position_names):
        if name.endswith(".qx") and model.position_names[at + 3:at + 4] == [name[:-1] + "w"]:
            q[..., at:at + 4] = xyzw(q[..., at:at + 4])
    return q
