"""Computes torque and pose of a robot with one body on one joint in closed form, for tests of how each attribute of a model file changes
them."""
import math

import numpy as np


def turn(rpy):
    (cr, sr), (cp, sp), (cy, sy) = ((math.cos(a), math.sin(a)) for a in rpy)
    return np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]]) @ np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]]) @ np.array(
        [[1, 0, 0], [0, cr, -sr], [0, sr, cr]])


def about(u, angle):
    K = np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])
    return np.eye(3) + math.sin(angle) * K + (1 - math.cos(angle)) * K @ K


STATE = (0.3, 0.7, -0.4)


def pendulum(mass=1.5, tensor=((0.3, 0, 0), (0, 0.4, 0), (0, 0, 0.5)), com=(0, 0, 0), R=np.eye(3), place=(0, 0, 0), R_inertia=np.eye(3),
             axis=(0.48, 0.6, 0.64), damping=0, friction=0, rotor=0, slides=False, gravity=(0, 0, -9.81), stiffness=0, rest=0):
    """Returns the torque of one body on a joint (Newton and Euler about the axis), and the position of a point of the
    body."""
    q, qd, qdd = STATE
    u = np.array(axis) / np.linalg.norm(axis)
    T = R_inertia @ np.array(tensor) @ R_inertia.T
    losses = damping * qd + friction * np.sign(qd) + rotor * qdd + stiffness * (q - rest)
    if slides:
        return mass * (qdd - R @ u @ np.array(gravity)) + losses, np.array(place) + R @ u * q
    c = about(u, q) @ np.array(com)
    arm = np.cross(u, c)
    # The axis is fixed, so tau = u . (I u) qdd - moment of the weight.
    I = u @ T @ u + mass * arm @ arm
    return I * qdd - R @ arm @ (mass * np.array(gravity)) + losses, np.array(place)
