"""Requests of a torqued server about the model gait55: coordinates, limits, contact points, and batches of states."""
import os
import re
import sys

import numpy as np

from schedule import BALL, HALF_WIDTH, TIP

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python", "src"))    # unless it is installed
import torqued  # noqa: E402

MODEL = "gait55"
GLOBAL = ("global_x", "global_y", "global_z", "global_yaw", "global_roll", "global_pitch")
# The thesis freezes upper spine, neck, clavicles and wrists and has 38 coordinates left, without a list of them. 17 coordinates
# are frozen here; of the upper spine the rotations about its axis remain.
FROZEN = ("neck", "clavicle", "wrist", "spine_3_flexion", "spine_3_bending", "spine_4_flexion", "spine_4_bending")
# N m, for joints without an effort limit in the model, whose sources have none: chosen here, by part and direction.
CHOSEN_EFFORT = {("spine", "bending"): 300, ("spine", "rotation"): 150, ("neck", "flexion"): 50, ("neck", "bending"): 50,
                 ("neck", "rotation"): 20, ("clavicle", "protraction"): 100, ("clavicle", "elevation"): 100,
                 ("shoulder", "bending"): 100, ("hip", "bending"): 130, ("hip", "rotation"): 60, ("ankle", "inversion"): 40,
                 ("toe", "flexion"): 30}
SIDES = ("left", "right")
SOLE, TOE_SOLE = -0.08, -0.02       # m, heights of the soles below ankle and toe joint
Refused = torqued.Problem           # a request that the server refuses, such as one whose feet would have to pull
Failed = torqued.Error              # anything that goes wrong between client and server


def contact_points():
    """(name, point of a request of kinematics): of both feet, where they touch the ground, and of the limbs' joints."""
    points = []
    for side in SIDES:
        foot, toes = f"{side}_foot", f"{side}_toes"
        points += [(f"{side}_heel", {"frame": f"{side}_heel"}), (f"{side}_ball", {"link": toes, "point": [0, 0, TOE_SOLE]})]
        for name, beside in (("inner", -HALF_WIDTH), ("outer", HALF_WIDTH)):
            points += [(f"{side}_{name}", {"link": foot, "point": [BALL, beside, SOLE]}),
                       (f"{side}_toe_{name}", {"link": toes, "point": [TIP - BALL, beside, TOE_SOLE]})]
        points += [(f"{side}_hip", {"link": f"{side}_thigh"}), (f"{side}_ankle", {"link": foot}),
                   (f"{side}_shoulder", {"link": f"{side}_upper_arm"}), (f"{side}_wrist", {"link": f"{side}_hand"})]
    return points


def chosen_effort(name):
    """N m: the table's entry for a joint."""
    parts = [part for part in name.split("_") if part not in (*SIDES, "lower", "upper")]
    return CHOSEN_EFFORT[parts[0], parts[-1]]


class Client(torqued.Client):
    """A client that tells a clock which part of its time the server needed, by the header Server-Timing."""

    def __init__(self, url, clock):
        super().__init__(url)
        self.clock, self.requests = clock, 0

    def send(self, call, timeout=None):
        with self.clock("wire and CBOR"):
            response = super().send(call, timeout)
        self.requests += 1
        steps = re.findall(r"dur=([0-9.]+)", response.field("Server-Timing") or "")
        self.clock.move("wire and CBOR", "server", sum(map(float, steps)) / 1000)
        return response


class Walker:
    """The server at `url`. everything: all 55 coordinates move, otherwise 38."""

    def __init__(self, url, clock, everything=False):
        self.clock, self.states, self.client = clock, 0, Client(url, clock)
        self.document, self.model = self.client.document(MODEL), self.client.model(MODEL)
        description = self.model.description
        self.bodies = list(description["bodies"])
        self.weight = description["mass"] * np.linalg.norm(description["gravity"])
        self.all_names = list(description["velocity_names"])
        self.names = [name for name in self.all_names if everything or not any(part in name for part in FROZEN)]
        self.columns = np.array([self.all_names.index(name) for name in self.names])
        limits = {joint["name"]: joint.get("limits", {}) for joint in description["joints"]}
        self.position = np.array([limits[name].get("position", (-np.inf, np.inf)) for name in self.names], float)
        self.joints = np.arange(len(GLOBAL), len(self.names))       # the coordinates that have torques
        self.effort = np.array([limits[name].get("effort") or chosen_effort(name) for name in self.names[len(GLOBAL):]], float)
        self.points = contact_points()
        self.index = {name: i for i, (name, _) in enumerate(self.points)}

    def _ask(self, operation, **fields):
        with self.clock("wire and CBOR"):
            return operation(**fields)

    def _ask_states(self, operation, states, **fields):
        q, qd, qdd = (self.whole(rows) for rows in states)
        self.states += len(q)
        return self._ask(operation, q=q, qd=qd, qdd=qdd, **fields)

    def whole(self, rows):
        """Rows of all 55 coordinates from those that move."""
        whole = np.zeros((len(rows), len(self.all_names)))
        whole[:, self.columns] = rows
        return whole

    def basis(self, knots, fractions, duration):
        """Values and first two derivatives by time of all cubic basis functions at the fractions of the duration, N x 3 x m."""
        count = len(knots) - 4
        answer = self._ask(self.model.trajectory, degree=3, duration=duration, knots=knots,
                             control_points=np.zeros((count, len(self.all_names))), times=np.asarray(fractions) * duration,
                             outputs=["basis", "first_control_point"])
        full = np.zeros((len(fractions), 3, count))
        for row, first, values in zip(full, answer["first_control_point"].astype(int), answer["basis"]):
            row[:, first:first + 4] = values[:3]
        return full

    def kinematics(self, q):
        """Positions of all points, N x points x 3, and their Jacobians, N x points x 6 x coordinates."""
        answer = self._ask(self.model.kinematics, q=self.whole(q),
                             points=[point for _, point in self.points], outputs=["point_positions", "point_jacobians"])
        self.states += len(q)
        return answer["point_positions"], answer["point_jacobians"][..., self.columns]

    def ground(self, states, feet):
        """{output: (value, [gradients by q, qd, qdd])} of tau (N x coordinates) and resultant (N x 6) with these feet."""
        names = ["tau", "resultant"]
        slopes = {name: [f"d{'' if name == 'tau' else '_'}{name}_d{by}" for by in ("q", "qd", "qdd")] for name in names}
        answer = self._ask_states(self.model.ground_reaction, states, feet=feet,
                                  outputs=names + slopes["tau"] + slopes["resultant"])
        found = {name: (answer[name], [answer[text][..., self.columns] for text in slopes[name]]) for name in names}
        tau, by = found["tau"]
        found["tau"] = tau[:, self.columns], [gradient[:, self.columns] for gradient in by]
        return found

    def feet(self, states, feet):
        """tau (N x coordinates), zero_moment_point and foot_wrenches (N x feet x 6) of `ground-reaction`."""
        answer = self._ask_states(self.model.ground_reaction, states, feet=feet,
                                  outputs=["tau", "zero_moment_point", "foot_wrenches"])
        return {**answer, "tau": answer["tau"][:, self.columns]}

    def foot_wrenches(self, states, feet, gradients=True):
        """Wrenches of the ground on the feet, N x feet x 6, and their gradients by q, qd and qdd, N x feet x 6 x coordinates."""
        slopes = [f"d_foot_wrenches_d{by}" for by in ("q", "qd", "qdd")] if gradients else []
        answer = self._ask_states(self.model.ground_reaction, states, feet=feet, outputs=["foot_wrenches", *slopes])
        return answer["foot_wrenches"], [answer[name][..., self.columns] for name in slopes]

    def joint_forces(self, states, wrenches, bodies, gradients=False):
        """Forces on bodies through their joints in link axes, N x bodies x 3, under wrenches with N rows; gradients by q, qd and
        qdd, N x bodies x 3 x coordinates, where the wrenches stay the same."""
        rows = [self.bodies.index(body) for body in bodies]
        slopes = [f"d_joint_wrenches_d{by}" for by in ("q", "qd", "qdd")] if gradients else []
        operation = self.model.sensitivity if gradients else self.model.inverse_dynamics
        answer = self._ask_states(operation, states, wrenches=wrenches, outputs=["joint_wrenches", *slopes])
        return answer["joint_wrenches"][:, rows, :3], [answer[name][:, rows, :3][..., self.columns] for name in slopes]

    def orientations(self, q, bodies):
        """Rotation matrices from link to world axes, N x bodies x 3 x 3."""
        poses = self._ask(self.model.kinematics, q=self.whole(q), frames=bodies, outputs=["poses"])["poses"]
        x, y, z, w = np.array([poses[body]["orientation"] for body in bodies]).transpose(2, 1, 0)
        return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                         [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                         [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]).transpose(2, 3, 0, 1)

    def positions(self, q, points):
        """Positions of the points of a request of kinematics, N x points x 3."""
        self.states += len(q)
        return self._ask(self.model.kinematics, q=self.whole(q), points=points, outputs=["point_positions"])["point_positions"]
