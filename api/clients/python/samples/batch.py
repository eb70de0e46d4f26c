"""Plot the torques of a Panda along a motion of 10 000 states, and print them as CSV."""
import os
import sys

import numpy as np
import torqued
from torqued.plotting import plot

panda = torqued.Client(os.environ.get("TORQUED_URL", "http://127.0.0.1:8088")).model("panda")
start = np.array([0, -0.5, 0, -2, 0, 1.5, 0.5])     # rad
way = np.array([1, 0.5, -0.5, -1, 0.5, 2, -0.5]) - start
s = (np.arange(10000) / 9999)[:, None]      # from rest to rest in 2 s, the jerk as small as possible
q = start + way * (s * s * s * (10 + s * (6 * s - 15)))
qd = way * (30 * s * s * (1 - s) * (1 - s) / 2)
qdd = way * (60 * s * (1 - s) * (1 - 2 * s) / 4)
tau = panda.inverse_dynamics(q, qd=qd, qdd=qdd).tau
np.savetxt(sys.stdout, np.hstack([s * 2, tau]), "%.17g", ",", header="t,tau1,tau2,tau3,tau4,tau5,tau6,tau7", comments="")
if "TORQUED_PLOT" in os.environ:
    plot(panda, {"tau": tau}, s[:, 0] * 2).savefig(os.environ["TORQUED_PLOT"])
