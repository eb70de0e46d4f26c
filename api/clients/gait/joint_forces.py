"""Internal forces of hips, knees and ankles under the wrenches of the ground, and the gradients of their squares.

The force on a body through its joint is the rate of change of the momentum of the body and of its descendants, minus weight, minus
the force of the ground on the foot. The server gives it and its gradients for constant wrenches; those of the ground depend on the
motion, which adds -R' df for every joint of the leg that stands (R: orientation of the body, f: force of the ground, world axes).
"""
import numpy as np

from walker import SIDES

BODIES = [f"{side}_{body}" for side in SIDES for body in ("thigh", "shank", "foot")]     # the bodies behind hip, knee and ankle


def forces(walker, states, feet):
    """Joint forces of BODIES, N x 6 x 3, in link axes."""
    wrenches, _ = walker.foot_wrenches(states, feet, gradients=False)
    return walker.joint_forces(states, on_feet(feet, wrenches), BODIES)[0]


def squares(walker, states, feet):
    """Squared norms of the forces, N x 6, and their gradients by q, qd and qdd, each N x 6 x coordinates."""
    wrenches, by_motion = walker.foot_wrenches(states, feet)
    force, gradients = walker.joint_forces(states, on_feet(feet, wrenches), BODIES, gradients=True)
    world = np.einsum("nbij,nbj->nbi", walker.orientations(states[0], BODIES), force)
    slopes = []
    for direct, ground in zip(gradients, by_motion):
        slope = np.einsum("nbi,nbij->nbj", force, direct)
        for k, foot in enumerate(feet):
            leg = [body.startswith(foot["frame"].split("_")[0]) for body in BODIES]
            slope[:, leg] -= world[:, leg] @ ground[:, k, :3]
        slopes.append(2 * slope)
    return (force ** 2).sum(axis=2), slopes


def on_feet(feet, wrenches):
    """Wrenches of a request, with a row for each state."""
    return [{"link": foot["frame"], "force": wrenches[:, k, :3], "torque": wrenches[:, k, 3:]} for k, foot in enumerate(feet)]
