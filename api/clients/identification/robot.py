"""A simulated robot in place of a real one: its bodies, friction and payload differ from the model, and it is measured with noise.

The joints follow a planned motion with a lag of first order, so that the motion which is measured is not the one that was
planned. Encoders have steps; torques have normal noise, in proportion to the effort limits.
"""
import copy

import numpy as np

from fourier import Fourier
from measurements import Record

LAG = 0.01                      # s
STEP = 2 * np.pi / 2 ** 17      # rad or m, of the encoders
NOISE = 0.005                   # standard deviation of a measured torque, share of the effort limit
TOOL = {"mass": 1.5, "com": [0.01, -0.02, 0.05], "inertia": {"xx": 0.006, "yy": 0.007, "zz": 0.004}}


def document(known, effort, draw):
    """Another robot of the same kinematics, from the document of the model. effort: nv limits."""
    real = copy.deepcopy(known)
    for link, limit in zip(real["links"], effort):
        inertial, scale = link["inertial"], draw.uniform(0.85, 1.15)
        inertial["mass"] *= scale
        inertial["com"] = (np.array(inertial["com"]) + draw.uniform(-0.01, 0.01, 3)).tolist()
        inertial["inertia"] = {key: scale * x for key, x in inertial["inertia"].items()}
        size = 0.02 * limit
        link["joint"]["friction"] = {"viscous": size * draw.uniform(0.3, 1), "coulomb_velocity": 0.002,
                                     "coulomb": {"positive": size * draw.uniform(0.5, 1), "negative": size * draw.uniform(0.5, 1)}}
    real["links"].append({"name": "tool", "parent": real["links"][-1]["name"], "inertial": TOOL, "joint": {
        "name": "tool_mount", "type": "fixed", "origin": {"xyz": [0, 0, 0.107]}}})
    return real


def followed(motion):
    """The motion that joints follow with the lag, as a Fourier series of its own: each harmonic times 1 / (1 + i l w LAG)."""
    h, c = motion.harmonics, motion.coefficients
    x = LAG * 2 * np.pi / motion.period * np.arange(1, h + 1)[:, None]
    sine, cosine = c[1:h + 1], c[h + 1:]
    return Fourier(motion.period, np.vstack([c[:1], (sine + x * cosine) / (1 + x ** 2), (cosine - x * sine) / (1 + x ** 2)]))


def record(service, real, motion, periods, rate):
    """Returns the record, without noise, of the robot `real` that repeats the motion."""
    n = round(rate * motion.period)
    states = followed(motion).states(np.arange(n) / rate)
    tau = service.ask(real.inverse_dynamics, **states).tau
    q, tau = np.tile(states["q"], (periods, 1)), np.tile(tau, (periods, 1))
    return Record(rate, STEP * np.round(q / STEP), tau)


def with_noise(clean, effort, draw):
    """Returns the record with noise of the torques, a part of the greatest efforts."""
    return Record(clean.rate, clean.q, clean.tau + NOISE * effort * draw.normal(size=clean.tau.shape))
