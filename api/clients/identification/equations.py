"""The equations tau = W beta that a motion gives for the base parameters, how well they determine these, and the gradient.

W has nv rows for each instant: the base regressor of the server, with friction also the columns of viscous and Coulomb
friction. A row is divided by the standard deviation that is expected of its torque.

    condition     log of the ratio of the largest and the smallest singular value of W with columns of unit length (Gautier
                  & Khalil 1992), smoothed: (log sum_i x_i^k + log sum_i x_i^-k) / 2k for eigenvalues x_i of the normed WT W
    determinant   -1/2p log det WT W for p columns: D-optimality, the log of the geometric mean of the semi-axes of the
                  confidence ellipsoid of beta (Swevers et al. 1997)
"""
import numpy as np

ANGLE = 1e-6        # rad, rad/s: of the forward differences by q and qd. The regressor is linear in qdd
POWER = 6           # k of the smoothed condition
UNDETERMINED = "the motion does not determine all base parameters: give more harmonics or more samples"


class Equations:
    def __init__(self, service, model, deviation, friction):
        """deviation: nv, expected of torques, up to a common factor."""
        self.service, self.model, self.deviation, self.friction = service, model, deviation, friction

    def matrix(self, states):
        """W as instants x nv x columns."""
        outputs = ["base_regressor"] + (["joint_regressor"] if self.friction else [])
        answer = self.service.ask(self.model.regressor, **states, outputs=outputs)
        columns = [answer.base_regressor]
        if self.friction:
            columns += [answer.joint_regressor[:, :, 1::3], answer.joint_regressor[:, :, 2::3]]
        return np.concatenate(columns, axis=2) / self.deviation[:, None]

    def pull_back(self, W, slope, states):
        """Gradients by q, qd and qdd, each instants x nv, of a function whose gradient by W is `slope`. The rates of
        Coulomb friction's columns are left out: their signs change at instants."""
        inertial, nv = W.shape[2] - (2 * self.model.nv if self.friction else 0), self.model.nv
        gradient = {name: np.empty(states[name].shape) for name in states}
        for name, step in (("q", ANGLE), ("qd", ANGLE), ("qdd", 1.0)):
            for j in range(nv):
                moved = {**states, name: states[name] + step * np.eye(nv)[j]}
                answer = self.service.ask(self.model.regressor, **moved, outputs=["base_regressor"])
                change = answer.base_regressor / self.deviation[:, None] - W[:, :, :inertial]
                gradient[name][:, j] = np.einsum("nvp,nvp->n", slope[:, :, :inertial], change) / step
        if self.friction:
            viscous = slope[:, :, inertial:inertial + nv]
            gradient["qd"] += np.diagonal(viscous, axis1=1, axis2=2) / self.deviation
        return gradient


def condition_number(W):
    """Condition number of the equations with columns of unit length, as the server's identify returns it."""
    flat = W.reshape(-1, W.shape[2])
    return np.linalg.cond(flat / np.linalg.norm(flat, axis=0))


def condition(W):
    """The smoothed log of the condition number, and its gradient by W."""
    flat = W.reshape(-1, W.shape[2])
    length = np.linalg.norm(flat, axis=0)
    normed = flat / length
    x, axes = np.linalg.eigh(normed.T @ normed)
    if x[0] <= 0:
        raise ValueError(UNDETERMINED)
    up, down = (x / x[-1]) ** POWER, (x[0] / x) ** POWER
    value = (np.log(up.sum()) + np.log(down.sum())) / (2 * POWER) + np.log(x[-1] / x[0]) / 2
    by_x = (up / up.sum() - down / down.sum()) / (2 * x)
    slope = 2 * normed @ (axes * by_x) @ axes.T         # by the normed columns
    slope -= normed * (normed * slope).sum(axis=0)      # the length of a column stays 1
    return value, (slope / length).reshape(W.shape)


def determinant(W):
    """-1/2p log det WT W for p columns, and its gradient by W."""
    flat = W.reshape(-1, W.shape[2])
    length, p = np.linalg.norm(flat, axis=0), W.shape[2]
    gram = (flat / length).T @ (flat / length)
    sign, log = np.linalg.slogdet(gram)
    if sign <= 0:
        raise ValueError(UNDETERMINED)
    slope = -np.linalg.solve(gram, (flat / length).T).T / (p * length)
    return (-log / 2 - np.log(length).sum()) / p, slope.reshape(W.shape)


CRITERIA = {"condition": condition, "determinant": determinant}
