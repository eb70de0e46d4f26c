"""Moves coordinates by a small change in velocities; a floating base is also rotated."""
import math

import numpy as np


def turned(q, change):
    """Moves the q of a floating-base robot by `change`, nv components: p += R v, R <- R exp(w)."""
    x, y, z, w = q[3:7]
    R = np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                  [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                  [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]])
    half = np.array(change[3:6]) / 2
    length = np.linalg.norm(half)
    a, b, c = half * (math.sin(length) / length if length else 1)
    d = math.cos(length)
    turn = [w * a + x * d + y * c - z * b, w * b - x * c + y * d + z * a, w * c + x * b - y * a + z * d,
            w * d - x * a - y * b - z * c]
    return list(np.array(q[:3]) + R @ np.array(change[:3])) + turn + list(np.array(q[7:]) + np.array(change[6:]))


def moved(q, change):
    return turned(q, change) if len(q) > len(change) else list(np.array(q) + np.array(change))
