"""Motions that excite all joints, robots with changed parameters, noise, and parameters by name, for the tests of
identification."""
import json
import math
import os
import random

from harness import ROOT, ServerCase

PARAMETERS = ["m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz"]


def bundled(name):
    with open(os.path.join(ROOT, "models", name + ".json")) as file:
        return json.load(file)


def inertial_parameters(inertial):
    """Returns the inertial parameters of a document's link about the link's origin: I_o = I_c + m (c.c 1 - c c^T)."""
    m, c = inertial.get("mass", 0), inertial.get("com", [0, 0, 0])
    about = inertial.get("inertia", {})
    square = sum(x * x for x in c)
    tensor = {a + b: about.get(a + b, 0) + m * ((square if a == b else 0) - c["xyz".index(a)] * c["xyz".index(b)])
              for a, b in ("xx", "xy", "yy", "xz", "yz", "zz")}
    return dict(zip(PARAMETERS, [m, *(m * x for x in c), *(tensor[key] for key in ("xx", "xy", "yy", "xz", "yz", "zz"))]))


def truth(document):
    """Returns all parameters, by name, of a robot without merged links."""
    figures = {}
    for link in document["links"]:
        figures |= {f"{link['name']}.{key}": x for key, x in inertial_parameters(link.get("inertial", {})).items()}
        joint, friction = link["joint"], link["joint"].get("friction", {})
        coulomb = friction.get("coulomb", 0)
        if not isinstance(coulomb, dict):
            coulomb = {"positive": coulomb, "negative": coulomb}
        figures |= {f"{joint['name']}.rotor_inertia": joint.get("rotor_inertia", 0),
                    f"{joint['name']}.viscous": friction.get("viscous", 0),
                    f"{joint['name']}.coulomb_positive": coulomb["positive"],
                    f"{joint['name']}.coulomb_negative": coulomb["negative"]}
    return figures


def grouped(entry, figures):
    group = entry["grouping"]
    return figures[group["parameter"]] + sum(part["coefficient"] * figures[part["parameter"]] for part in group["with"])


def fourier(joints, samples, seed, amplitude=1.0, harmonics=5, period=10.0):
    """Draws a periodic motion that excites all joints: a Fourier series, as usual in identification (Swevers et al.
    1997)."""
    choose = random.Random(seed)
    w = 2 * math.pi / period
    terms = [[(choose.uniform(-1, 1), choose.uniform(-1, 1)) for _ in range(harmonics)] for _ in range(joints)]
    offset = [choose.uniform(-1, 1) for _ in range(joints)]
    rows = {"q": [], "qd": [], "qdd": []}
    for k in range(samples):
        t = period * k / samples
        at = [[(h + 1) * w * t for h in range(harmonics)] for _ in range(joints)]
        rows["q"].append([offset[j] + amplitude * sum((a * math.sin(x) - b * math.cos(x)) / (h + 1)
                          for h, ((a, b), x) in enumerate(zip(terms[j], at[j]))) for j in range(joints)])
        rows["qd"].append([amplitude * w * sum(a * math.cos(x) + b * math.sin(x)
                           for (a, b), x in zip(terms[j], at[j])) for j in range(joints)])
        rows["qdd"].append([amplitude * w * w * sum((h + 1) * (b * math.cos(x) - a * math.sin(x))
                            for h, ((a, b), x) in enumerate(zip(terms[j], at[j]))) for j in range(joints)])
    return rows


def rms(values):
    values = list(values)
    return math.sqrt(sum(x * x for x in values) / len(values))


def other_robot(document, seed):
    """Returns a robot with the same kinematics and other inertial parameters: the real robot, from which the model's
    parameters deviate."""
    choose, other = random.Random(seed), json.loads(json.dumps(document))
    for link in other["links"]:
        inertial, joint = link.setdefault("inertial", {}), link["joint"]
        inertial["mass"] = inertial.get("mass", 0) * choose.uniform(0.8, 1.2)
        inertial["com"] = [x + choose.uniform(-0.01, 0.01) for x in inertial.get("com", [0, 0, 0])]
        scale = choose.uniform(0.8, 1.2)
        inertial["inertia"] = {key: x * scale for key, x in inertial.get("inertia", {}).items()}
        joint["rotor_inertia"] = (joint.get("rotor_inertia") or 0.1) * choose.uniform(0.8, 1.2)
        joint["friction"] = {"viscous": choose.uniform(0.5, 2),
                             "coulomb": {"positive": choose.uniform(1, 3), "negative": choose.uniform(1, 3)}}
    return other


def pick(rows, indices):
    return {name: [field[i] for i in indices] if isinstance(field[0], list) else field for name, field in rows.items()}


def add_noise(rows, deviations, seed):
    choose = random.Random(seed)
    rows["tau"] = [[x + choose.gauss(0, s) for x, s in zip(row, deviations)] for row in rows["tau"]]


def values(answer):
    return [entry["value"] for entry in answer["base_parameters"]]


class Identify(ServerCase):
    ALL = {"friction": True, "rotor": True}

    def simulated(self, model, rows, **options):
        """Returns the rows with torques that the server computes for the model."""
        motion = {name: rows[name] for name in ("q", "qd", "qdd")}
        return {**motion, "tau": self.ask(model, "inverse-dynamics", {**motion, **options})["tau"]}

    def refused(self, model, request, code, pointer=None, row=None):
        answer = self.client.post(f"/v1/models/{model}/identify", request)
        problem = self.assertProblem(answer, 422, pointer, row)
        self.assertEqual(problem["code"], code, problem)
        return problem["detail"]
