"""Prints tables of a stride and of the time that each part of the program took."""
import numpy as np


def table_of_extremes(stride):
    """Prints the least and largest angles, torques and forces along the stride."""
    weight = stride.weight
    rows = [(f"{joint} flexion / degrees", np.degrees(values)) for joint, values in stride.angles.items()]
    rows += [(f"{joint} torque / N m", values) for joint, values in stride.torques.items()]
    rows += [(f"{name} ground force / % of weight", 100 * stride.ground[:, column] / weight)
             for name, column in (("lateral", 1), ("vertical", 2), ("fore-aft", 0))]
    rows += [(f"{joint} internal force / N", values) for joint, values in stride.forces.items()]
    print(f"{'':36}{'least':>10}{'largest':>10}")
    for name, values in rows:
        print(f"{name:36}{values.min():10.1f}{values.max():10.1f}")


def table_of_seconds(clock, walker):
    """Prints the seconds of each part of the program so far."""
    total, known = clock.total(), sum(clock.seconds.values())
    print(f"{walker.client.requests} requests, {walker.states} states\n{'seconds':36}{'':>10}{'share':>10}")
    for label, seconds in sorted(clock.seconds.items(), key=lambda item: -item[1]) + [("the rest", total - known)]:
        print(f"{label:36}{seconds:10.3f}{seconds / total:10.1%}")
    print(f"{'total':36}{total:10.3f}")
