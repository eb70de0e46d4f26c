"""The quadruped Solo12 as an optimal controller sees it: states x = (q, qd) with a quaternion, changes of states on the
tangent space, and feet that are held on the ground from phase to phase."""
import numpy as np

from service import Dynamics, torqued

FEET = ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT")
HELD = [{"frame": foot, "axes": ["x", "y", "z"]} for foot in FEET]
NQ, NV = 19, 18
KNEE = 1.8      # rad, in the standing pose


def standing(x=0.0):
    """The pose with all feet on the ground below the hips, and the base moved by x."""
    legs = [0, KNEE / 2, -KNEE] * 2 + [0, -KNEE / 2, KNEE] * 2
    return np.array([x, 0, 0.32 * np.cos(KNEE / 2), 0, 0, 0, 1, *legs])


def rotation(r):
    """The rotation matrices of quaternions (rows, 4) x y z w."""
    x, y, z, w = r.T
    return np.moveaxis(np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                                 [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                                 [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]]), (0, 1), (-2, -1))


def turned(reference, r):
    """The quaternions (rows, 4) of the turns from references to r, with w >= 0."""
    v, w = reference[:, :3], reference[:, 3:]
    turn = np.hstack([w * r[:, :3] - r[:, 3:] * v - np.cross(v, r[:, :3]),
                      w * r[:, 3:] + (v * r[:, :3]).sum(axis=1, keepdims=True)])
    return turn * np.where(turn[:, 3:] < 0, -1, 1)


def difference(x, reference):
    """The changes (rows, 36) on the tangent space from reference states to the states x (rows, 37)."""
    turn = turned(reference[:, 3:7], x[:, 3:7])
    size = np.linalg.norm(turn[:, :3], axis=1, keepdims=True)
    angle = 2 * np.arctan2(size, turn[:, 3:])
    return np.hstack([np.einsum("nji,nj->ni", rotation(reference[:, 3:7]), x[:, :3] - reference[:, :3]),
                      turn[:, :3] * np.where(size > 0, angle / np.maximum(size, 1e-300), 2), (x - reference)[:, 7:]])


def moved(x, change):
    """The states x changed on the tangent space."""
    half = np.linalg.norm(change[:, 3:6], axis=1, keepdims=True) / 2
    turn, w = 0.5 * np.sinc(half / np.pi) * change[:, 3:6], np.cos(half)
    v, s = x[:, 3:6], x[:, 6:7]
    r = np.hstack([s * turn + w * v + np.cross(v, turn), s * w - (v * turn).sum(axis=1, keepdims=True)])
    place = x[:, :3] + np.einsum("nij,nj->ni", rotation(x[:, 3:7]), change[:, :3])
    return np.hstack([place, r / np.linalg.norm(r, axis=1, keepdims=True), x[:, 7:] + change[:, 6:]])


class Quadruped(Dynamics):
    """x+ = f(x, u) of all nodes under the twelve torques u of the joints, and its Jacobians, with the feet of the phases
    held. A phase that holds feet after one without begins with an impact."""

    def __init__(self, url, step, phases):
        """`phases`: pairs of a number of nodes and whether the feet are on the ground."""
        self.model = torqued.Client(url).model("solo12")
        self.settings = {"step": step, "integrator": "rk4"}
        self.phases = [{"steps": steps, **({"held": HELD} if stands else {})} for steps, stands in phases]
        self.stands = np.repeat([stands for _, stands in phases], [steps for steps, _ in phases])
        landing = self.stands & ~np.roll(self.stands, 1) & (np.arange(len(self.stands)) > 0)
        self.kinds = [({}, ~self.stands), ({"held": HELD}, self.stands & ~landing), ({"held": HELD, "impact": True}, landing)]
        self.start_clock()

    def nodes(self, x, u):
        """x+, A and B of all nodes, by one batch of steps for each kind of node."""
        after, A, B = np.empty_like(x), np.empty((len(x), 2 * NV, 2 * NV)), np.empty((len(x), 2 * NV, 12))
        for frames, rows in self.kinds:
            answer = self._ask(self.model.step, q=x[rows, :NQ], qd=x[rows, NQ:], tau=self.efforts(u[rows]), **frames)
            after[rows] = np.hstack([answer.q_after, answer.qd_after])
            A[rows], B[rows] = answer.state_matrix, answer.input_matrix[:, :, 6:]
        return after, A, B

    def roll(self, x, u):
        """The states (N + 1, 37) from x under torques (N, 12), by one rollout with phases."""
        answer = self._ask(self.model.rollout, q=x[:NQ], qd=x[NQ:], torques=self.efforts(u), phases=self.phases,
                           outputs=["q_after", "qd_after"])
        return np.vstack([x, np.hstack([answer.q_after, answer.qd_after])])

    @staticmethod
    def efforts(u):
        """Efforts of all coordinates: nothing drives the base."""
        return np.hstack([np.zeros((len(u), 6)), u])

    def feet(self, q):
        """Positions (rows, 4, 3) of the feet and their Jacobians (rows, 4, 3, 18)."""
        answer = self._ask(self.model.kinematics, {}, q=q, points=[{"frame": foot} for foot in FEET],
                           outputs=["point_positions", "point_jacobians"])
        return np.asarray(answer.point_positions), np.asarray(answer.point_jacobians)[:, :, :3]

    def forces(self, x, u):
        """Forces (nodes, 4, 3) of the ground on the feet at the nodes, N; zeros in flight."""
        forces, (_, _), (_, resting), (_, landing) = np.zeros((len(u), 4, 3)), *self.kinds
        qd = x[:-1, NQ:].copy()
        if landing.any():
            qd[landing] = self._ask(self.model.impact, {}, q=x[:-1][landing, :NQ], qd=qd[landing], held=HELD).qd_after
        held = resting | landing
        answer = self._ask(self.model.forward_dynamics, {}, q=x[:-1][held, :NQ], qd=qd[held], tau=self.efforts(u[held]),
                           held=HELD, outputs=["contact_wrenches"])
        forces[held] = np.asarray(answer.contact_wrenches)[:, :, :3]
        return forces
