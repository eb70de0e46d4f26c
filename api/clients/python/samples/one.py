"""Ask for the torques that move a Puma 560 as wanted."""
import os

import numpy as np
import torqued

puma = torqued.Client(os.environ.get("TORQUED_URL", "http://127.0.0.1:8088")).model("puma560")
q = [0, 0.7853981633974483, 3.141592653589793, 0, 0.7853981633974483, 0]      # rad
print(*puma.inverse_dynamics(q, qd=np.ones(6), qdd=np.ones(6)).tau, sep=",")    # N m
