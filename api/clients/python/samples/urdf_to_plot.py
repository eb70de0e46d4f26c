"""From a URDF file to a plot of the torques along a motion: run it beside arm.urdf, or paste it into a notebook."""
import numpy as np
import torqued
from torqued.plotting import plot

server = torqued.serve()                        # or torqued.Client("http://127.0.0.1:8088")
arm = server.put("arm", "arm.urdf")
for line in arm.report:
    print(line["severity"], line["where"], line["text"])
start, end = np.zeros(3), arm.positions({"yaw": 1.5, "lift": 1.2, "elbow": -1})
points = np.array([start, start, start, end, end, end])     # at rest without acceleration at both ends
motion = arm.trajectory(degree=5, duration=1.2, control_points=points, samples=200)
plot(arm, {"q": motion.q, "qd": motion.qd, "tau": motion.tau, "tau_dot": motion.tau_dot}, motion.times).savefig("arm.png")
print("largest torques / N m:", np.abs(motion.tau).max(axis=0).round(2), "of", arm.limits("effort"))
