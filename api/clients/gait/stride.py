"""A stride, two steps of which the second is the mirror image of the first, on a dense grid: angles, torques, ground forces, internal
forces of joints, zero-moment point and points for pictures. All of the left leg, from its heel strike to its next one.
"""
from dataclasses import dataclass

import numpy as np

from joint_forces import BODIES, forces
from motion import Step
from schedule import Schedule
from walker import SIDES

JOINTS = {"hip": ("thigh", -1), "knee": ("shank", 1), "ankle": ("foot", -1)}    # body; sign that makes flexion positive
INSTANTS = 50       # intervals of a step
FIGURE = [("crown", "thorax", "pelvis"), ("thorax", "left_shoulder", "left_elbow", "left_wrist"),
          ("thorax", "right_shoulder", "right_elbow", "right_wrist"),
          ("pelvis", "left_hip", "left_knee", "left_ankle", "left_heel", "left_ball", "left_toe_tip"),
          ("pelvis", "right_hip", "right_knee", "right_ankle", "right_heel", "right_ball", "right_toe_tip")]
PLACES = {"crown": {"frame": "crown"}, "thorax": {"link": "neck"}, "pelvis": {"link": "pelvis"},
          **{f"{side}_{name}": {"link": f"{side}_{link}"} for side in SIDES for name, link in (
              ("shoulder", "upper_arm"), ("elbow", "forearm"), ("wrist", "hand"), ("hip", "thigh"), ("knee", "shank"), ("ankle", "foot"))},
          **{f"{side}_{name}": {"frame": f"{side}_{name}"} for side in SIDES for name in ("heel", "ball", "toe_tip")}}


@dataclass
class Stride:
    """share: of the stride, 0 to 1. By joint of the left leg: angles (rad), torques (N m), forces (N, norms). ground: of the left
    foot (N); zero_moment, of the step (m); places: of all points of FIGURE by name (m); time: of the step's instants (s)."""
    share: np.ndarray
    angles: dict
    torques: dict
    forces: dict
    ground: np.ndarray
    zero_moment: np.ndarray
    places: dict
    time: np.ndarray
    weight: float
    schedule: Schedule


def stride(walker, step, schedule, x):
    """The stride of a solution."""
    switch = round(schedule.double * INSTANTS)
    fractions = np.concatenate([np.linspace(0, schedule.double, switch + 1), np.linspace(schedule.double, 1, INSTANTS - switch + 1)])
    basis = walker.basis(schedule.knots, [*fractions, 0.0, 1.0], schedule.duration)
    states = Step(step.mirror, step.names, basis, step.continuity, schedule.length).states(x)
    phases = slice(0, switch + 1), slice(switch + 1, None)
    grounds = [walker.feet(states[:, phase], feet) for phase, feet in zip(phases, schedule.feet())]
    internal = np.concatenate([forces(walker, states[:, phase], feet) for phase, feet in zip(phases, schedule.feet())])
    norms = dict(zip(BODIES, np.linalg.norm(internal, axis=2).T))
    both = {side: _of_side(walker, side, states, grounds, norms) for side in SIDES}
    ground = np.concatenate([both["left"]["ground"], both["right"]["ground"] * (1, -1, 1)])
    places = walker.positions(states[0], list(PLACES.values()))
    joined = {kind: {joint: np.concatenate([both["left"][kind][joint], both["right"][kind][joint]]) for joint in JOINTS}
              for kind in ("angles", "torques", "forces")}
    return Stride(np.concatenate([fractions, 1 + fractions]) / 2, **joined, ground=ground,
                  zero_moment=np.concatenate([each["zero_moment_point"] for each in grounds]),
                  places={name: places[:, i] for i, name in enumerate(PLACES)}, time=fractions * schedule.duration,
                  weight=walker.weight, schedule=schedule)


def _of_side(walker, side, states, grounds, norms):
    """Angles, torques and forces of one leg, and the ground's force on its foot, along the step."""
    column = {joint: walker.names.index(f"{side}_{joint}_flexion") for joint in JOINTS}
    tau = np.concatenate([ground["tau"] for ground in grounds])
    force = [ground["foot_wrenches"][:, SIDES.index(side), :3] if side == "left" or ground["foot_wrenches"].shape[1] > 1
             else np.zeros((len(ground["tau"]), 3)) for ground in grounds]
    return {"angles": {joint: sign * states[0][:, column[joint]] for joint, (_, sign) in JOINTS.items()},
            "torques": {joint: sign * tau[:, column[joint]] for joint, (_, sign) in JOINTS.items()},
            "forces": {joint: norms[f"{side}_{body}"] for joint, (body, _) in JOINTS.items()},
            "ground": np.concatenate(force)}
