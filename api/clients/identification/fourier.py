"""Periodic joint motions as finite Fourier series, at rest where a period begins (Swevers et al. 1997).

    q(t) = offset + sum_l s_l sin(l w t) + c_l cos(l w t),   w = 2 pi / period,   l = 1 ... harmonics

The velocity sum_l l w s_l and the acceleration -sum_l (l w)^2 c_l at t = 0 are zero, so that the motion starts from rest, may be
repeated without a jump, and ends at rest where it started.
"""
import json
from dataclasses import dataclass

import numpy as np
from scipy.linalg import block_diag, null_space


@dataclass(frozen=True)
class Fourier:
    """period in s; coefficients: (2 harmonics + 1) x nv, rows offset, s_1 ... s_h, c_1 ... c_h, in rad or m."""
    period: float
    coefficients: np.ndarray

    @property
    def harmonics(self):
        return (len(self.coefficients) - 1) // 2

    def states(self, times):
        """q, qd, qdd at these times, each instants x nv."""
        return {name: matrix @ self.coefficients
                for name, matrix in zip(("q", "qd", "qdd"), matrices(self.period, self.harmonics, times))}

    def save(self, path, model):
        """Writes the motion as JSON, with the name of the model that it is for."""
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"model": model, "period": self.period, "coefficients": self.coefficients.tolist()}, file, indent=1)

    @classmethod
    def load(cls, path):
        """The motion of a file, and the name of its model."""
        with open(path, encoding="utf-8") as file:
            saved = json.load(file)
        return cls(float(saved["period"]), np.array(saved["coefficients"], float)), saved["model"]


def matrices(period, harmonics, times):
    """P, V, A, instants x (2 harmonics + 1), such that q = P c, qd = V c and qdd = A c for coefficients c."""
    w = 2 * np.pi / period * np.arange(1, harmonics + 1)
    sine, cosine = np.sin(np.outer(times, w)), np.cos(np.outer(times, w))
    one = np.ones((len(times), 1))
    return (np.hstack([one, sine, cosine]), np.hstack([0 * one, w * cosine, -w * sine]),
            np.hstack([0 * one, -w ** 2 * sine, -w ** 2 * cosine]))


def at_rest(harmonics):
    """Z, (2 harmonics + 1) x (2 harmonics - 1): coefficients Z x are at rest at t = 0, for every x. The first of x is the offset.
    All others have about the same effect on velocities: no velocity within +-v needs one beyond bound(period, harmonics) v."""
    l = np.arange(1, harmonics + 1)
    sine, cosine = (null_space(rest[None, :]) / l[:, None] for rest in (np.ones(harmonics), l))
    return block_diag(1, sine, cosine)


def bound(period, harmonics):
    """The amplitude of a harmonic of a velocity within +-v is at most 4/pi v; x are combinations of `harmonics` of them."""
    return 4 / np.pi * np.sqrt(harmonics) * period / (2 * np.pi)
