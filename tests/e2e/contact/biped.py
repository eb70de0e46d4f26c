"""A humanoid robot of the proportions of PAL Robotics' TALOS: 1.75 m, 95 kg, six joints a leg, two in the torso, seven an arm, two in
the neck, with Coulomb and viscous friction at every joint. The figures are of this project: no two bodies weigh the same."""

LEG = (("hip_yaw", [0, 0, 1], [-0.02, 0.085, -0.271]), ("hip_roll", [1, 0, 0], [0, 0, 0]), ("hip_pitch", [0, 1, 0], [0, 0, 0]),
       ("knee", [0, 1, 0], [0, 0, -0.38]), ("ankle_pitch", [0, 1, 0], [0, 0, -0.325]), ("ankle_roll", [1, 0, 0], [0, 0, 0]))
ARM = (("shoulder_yaw", [0, 0, 1], [0, 0.1575, 0.232]), ("shoulder_roll", [1, 0, 0], [0, 0.0051, 0]),
       ("upper_arm_yaw", [0, 0, 1], [0, 0.0025, 0]), ("elbow", [0, 1, 0], [0.02, 0, -0.273]),
       ("forearm_yaw", [0, 0, 1], [-0.02, 0, -0.2643]), ("wrist_roll", [1, 0, 0], [0, 0, 0]), ("wrist_pitch", [0, 1, 0], [0, 0, 0]))
TORSO = (("torso_yaw", [0, 0, 1], [0, 0, 0.0722]), ("torso_pitch", [0, 1, 0], [0, 0, 0]))
NECK = (("neck_pitch", [0, 1, 0], [0.02, 0, 0.321]), ("neck_yaw", [0, 0, 1], [0, 0, 0]))
# kg, m, and radii of gyration, m
BODIES = {"pelvis": (13.7, (-0.05, 0.002, -0.026), (0.11, 0.09, 0.12)), "torso_yaw": (3.1, (0.001, -0.003, -0.04), (0.06, 0.055, 0.05)),
          "torso_pitch": (17.4, (-0.046, -0.004, 0.19), (0.14, 0.13, 0.12)), "neck_pitch": (0.72, (-0.012, 0.001, 0.03), (0.04, 0.045, 0.03)),
          "neck_yaw": (1.42, (0.012, 0.004, 0.14), (0.06, 0.05, 0.055)), "hip_yaw": (2.05, (0.022, 0.001, 0.01), (0.06, 0.05, 0.045)),
          "hip_roll": (1.62, (-0.01, 0.014, 0.001), (0.05, 0.045, 0.048)), "hip_pitch": (6.2, (0.005, 0.038, -0.18), (0.12, 0.125, 0.06)),
          "knee": (3.75, (0.014, 0.02, -0.131), (0.11, 0.105, 0.045)), "ankle_pitch": (1.27, (-0.012, 0.002, 0.04), (0.04, 0.045, 0.03)),
          "ankle_roll": (1.61, (-0.005, 0.001, -0.061), (0.04, 0.06, 0.055)), "shoulder_yaw": (2.72, (-0.003, 0.12, 0.04), (0.06, 0.045, 0.05)),
          "shoulder_roll": (2.42, (0.025, 0.003, -0.07), (0.055, 0.06, 0.035)), "upper_arm_yaw": (2.2, (0.006, -0.025, -0.17), (0.075, 0.08, 0.04)),
          "elbow": (0.87, (-0.03, 0.008, -0.04), (0.045, 0.05, 0.03)), "forearm_yaw": (1.88, (0.002, 0.001, 0.05), (0.055, 0.06, 0.034)),
          "wrist_roll": (0.41, (0.001, 0.003, -0.01), (0.02, 0.025, 0.021)), "wrist_pitch": (0.31, (0.002, 0.001, -0.07), (0.03, 0.032, 0.022))}
# Coulomb friction, N m; viscous friction, N m s; inertia of the rotor at the joint, kg m^2
DRIVES = {"hip": (1.1, 1.2, 0.11), "knee": (1.4, 1.1, 0.16), "ankle": (0.9, 0.8, 0.07), "torso": (1.3, 1.5, 0.12), "neck": (0.2, 0.3, 0.012),
          "shoulder": (0.8, 0.9, 0.06), "upper": (0.6, 0.7, 0.05), "elbow": (0.5, 0.6, 0.04), "forearm": (0.3, 0.4, 0.03),
          "wrist": (0.15, 0.2, 0.015)}
SOLE = [0, 0, -0.107]


def inertial(name, side, factor):
    mass, (x, y, z), gyration = BODIES[name]
    mass *= factor
    moments = {axes: mass * radius ** 2 for axes, radius in zip(("xx", "yy", "zz"), gyration)}
    return {"mass": mass, "com": [x, side * y, z], "inertia": {**moments, "xz": 0.02 * side * moments["zz"]}}


def limb(joints, parent, prefix="", side=1):
    """Returns the links of a limb or of the spine. A right limb mirrors the left one, and is 2 % lighter."""
    links = []
    for name, axis, (x, y, z) in joints:
        coulomb, viscous, rotor = next(figures for part, figures in DRIVES.items() if name.startswith(part))
        links.append({"name": prefix + name + "_link", "parent": parent, "inertial": inertial(name, side, 1 if side > 0 else 0.98), "joint": {
            "name": prefix + name, "type": "revolute", "axis": axis, "origin": {"xyz": [x, side * y, z]},
            "friction": {"coulomb": {"positive": coulomb, "negative": 0.93 * coulomb}, "viscous": viscous},
            "rotor_inertia": rotor}})
        parent = prefix + name + "_link"
    return links


def biped():
    """The model's document."""
    links = limb(TORSO, "pelvis") + limb(NECK, "torso_pitch_link")
    for prefix, side in (("left_", 1), ("right_", -1)):
        links += limb(ARM, "torso_pitch_link", prefix, side) + limb(LEG, "pelvis", prefix, side)
    return {"base": {"type": "floating", "link": "pelvis", "inertial": inertial("pelvis", 1, 1)}, "links": links,
            "frames": [{"name": f"{side}_sole", "link": f"{side}_ankle_roll_link", "xyz": SOLE} for side in ("left", "right")]}
