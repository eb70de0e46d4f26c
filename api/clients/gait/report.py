"""Prints what a step is like: joint angles, torques, ground forces, and where the seconds went."""
import numpy as np

from walker import SIDES

ANGLES = (("hip", -1), ("knee", 1), ("ankle", -1))      # flexion, and dorsiflexion of the ankle, positive


def energy_and_forces(walker, step, schedule, result):
    """Extremes over the instants of the step; both legs together are a stride."""
    state = result.values.state
    rows = []
    for joint, sign in ANGLES:
        columns = [walker.names.index(f"{side}_{joint}_flexion") for side in SIDES]
        angle = np.degrees(sign * state.states[0][:, columns])
        rows.append((f"{joint} flexion / degrees", angle.min(), angle.max()))
    resultant = np.concatenate([ground["resultant"][0] for ground in state.grounds])[:, :3] / walker.weight * 100
    for name, column in (("lateral", 1), ("vertical", 2), ("fore-aft", 0)):
        rows.append((f"{name} ground force / % of weight", resultant[:, column].min(), resultant[:, column].max()))
    share = np.concatenate([ground["tau"][0][:, walker.joints] for ground in state.grounds]) / walker.effort
    rows.append(("torque / limit", share.min(), share.max()))
    print(f"{'':36}{'least':>10}{'largest':>10}")
    for name, low, high in rows:
        print(f"{name:36}{low:10.2f}{high:10.2f}")


def table_of_seconds(clock, walker):
    """Every second of the program so far."""
    total, known = clock.total(), sum(clock.seconds.values())
    print(f"{walker.client.requests} requests, {walker.states} states\n{'seconds':36}{'':>10}{'share':>10}")
    for label, seconds in sorted(clock.seconds.items(), key=lambda item: -item[1]) + [("the rest", total - known)]:
        print(f"{label:36}{seconds:10.3f}{seconds / total:10.1%}")
    print(f"{'total':36}{total:10.3f}")
