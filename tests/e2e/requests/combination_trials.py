"""Tries an operation with each feature, with every pair, with every pair on a model with held frames or free
coordinates, and with many random combinations. Finds the fewest features that cause each refusal. Provides the requests
and comparisons that the checks of answers (combination_checks.py) use."""
import itertools

import cbor2
import combination_checks as at_once
import combination_checks_in_time as in_time
import numpy as np
from combination_requests import NEEDED, request_of
from combinations import FEATURES, MODEL_FEATURES, Case, document, implied
from harness import ServerCase

CBOR = {"Content-Type": "application/cbor", "Accept": "application/cbor"}
CHECKS = {**at_once.CHECKS, **in_time.CHECKS}
RANDOM, SHARE = 24, 0.35  # number of random combinations of many features, and the probability of each feature in one


def plain(value):
    """Converts a CBOR answer to the form of JSON: typed arrays become nested lists."""
    if isinstance(value, dict):
        return {key: plain(entry) for key, entry in value.items()}
    if isinstance(value, cbor2.CBORTag):
        return unpacked(value)
    if isinstance(value, list):
        return [plain(entry) for entry in value]
    return value


def unpacked(tag):
    """Decodes the tags of RFC 8746: 86 is an array of doubles, 40 a multi-dimensional array."""
    if tag.tag == 40:
        shape, data = tag.value
        return np.array(plain(data)).reshape(shape).tolist()
    assert tag.tag == 86, tag
    return np.frombuffer(tag.value, "<f8").tolist()


def same(a, b):
    """Compares bits. A failed row is null in JSON and NaN throughout in CBOR."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if a is None:
        return b is None or np.isnan(np.array(b, float)).all()
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    return a == b


def contains(features, refused):
    """True if some known refusal needs no features but these and what they imply."""
    return any(few and set(few) <= implied(features) for few in refused)


class Trials(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.models, cls.impossible = {}, None
        cls.answered = 0

    # --- combinations

    def try_models(self):
        """Finds the models that are refused, tried with up to three features. Returns {fewest features: (code,
        detail)}."""
        if self.impossible is None:
            refused = type(self).impossible = {}
            for features in itertools.chain(*(itertools.combinations(MODEL_FEATURES, size) for size in (1, 2, 3))):
                answer = self.client.put("/v1/models/tried", document(features))
                if answer.status == 422 and not contains(features, refused):
                    refused[features] = answer.json()["code"], answer.json()["detail"]
                elif answer.status != 422:
                    self.assertIn(answer.status, (200, 201), answer)
        return self.impossible

    def try_operation(self, operation, compare=True):
        """Finds the refusals of an operation. Returns {fewest features: (code, detail)}."""
        refused, needed = {}, NEEDED.get(operation, ())
        if needed:
            refused[()] = self.refusal(operation, ())
        others = [feature for feature in FEATURES if feature not in needed]
        draw = np.random.default_rng(len(operation))
        many = (tuple(f for f in others if draw.random() < SHARE) for _ in range(RANDOM))
        threes = ((*two, given) for two in itertools.combinations(MODEL_FEATURES, 2) for given in ("held", "free"))
        for features in itertools.chain(*(itertools.combinations(others, size) for size in (0, 1, 2)), threes, self.allowed(many, refused)):
            if contains(features, refused) or contains((*features, *needed), self.try_models()):
                continue
            with self.subTest(features="+".join(features)):
                problem = self.try_one(operation, (*features, *needed), compare)
                if problem:
                    few = self.fewest(operation, features, needed, problem)
                    refused[few] = self.refusal(operation, (*few, *needed))
        return refused

    @staticmethod
    def allowed(many, refused):
        """Yields the combinations, without those that contain a feature that is refused by itself."""
        for features in many:
            yield tuple(feature for feature in features if (feature,) not in refused)

    def fewest(self, operation, features, needed, problem):
        for feature in features:
            less = tuple(other for other in features if other != feature)
            again = self.try_one(operation, (*less, *needed), False)
            if again and again["code"] == problem["code"]:
                features = less
        return features

    def refusal(self, operation, features):
        """Returns code and detail of a refusal, with "the model" in place of the model's name, so that combinations can
        be compared."""
        problem = self.try_one(operation, features, False)
        name = self.model(features)[0]
        return problem["code"], problem["detail"].replace(f'"{name}"', "the model").replace(name, "the model")

    def model(self, features):
        """Returns name, velocity names and bodies of the model with these features, and puts the model if it is new."""
        features = tuple(feature for feature in MODEL_FEATURES if feature in features)
        if features not in self.models:
            name = f"robot{len(self.models)}"
            self.put_model(name, document(features))
            about = self.ok(self.client.get(f"/v1/models/{name}"))
            self.models[features] = name, about["velocity_names"], about["bodies"]
        return self.models[features]

    def try_one(self, operation, features, compare):
        """Returns the problem with which a combination is refused, or None. Compares the bits of both encodings."""
        name, velocities, self.bodies = self.model(features)
        case = self.case = Case(name, features, velocities)
        request, path = request_of(operation, case), f"/v1/models/{name}/{operation}"
        answer = self.client.post(path, request)
        if answer.status == 422:
            return answer.json()
        values = self.ok(answer)
        if compare:
            binary = self.client.request("POST", path, cbor2.dumps(request), CBOR)
            self.assertTrue(same(values, plain(cbor2.loads(binary.body))), "JSON and CBOR differ")
            if case.has("failing") and operation != "identify":
                self.assertEqual([error["row"] for error in values["errors"]], [1], operation)
            CHECKS[operation](self, case, values)
            type(self).answered += 1
        return None

    # --- requests of the checks

    def ask_model(self, operation, request):
        return self.ask(self.case.name, operation, request)

    def matrix(self, values):
        """Reorders rows of nv x nv matrices from the request's order of coordinates to the model's."""
        back, values = np.argsort(self.case.order), np.array(values, float)
        return values[:, back][:, :, back]

    def trajectory(self, points, **more):
        request = {**request_of("trajectory", self.case), "control_points": self.case.field(points), **more}
        request.pop("on_error", None)
        return self.ask_model("trajectory", request)

    def trajectory_tau(self, points):
        return self.case.taken(self.trajectory(points, outputs=["tau"]), "tau", ".v")

    def trajectory_gradient(self, points, multipliers):
        answer = self.trajectory(points, outputs=["dtau_dcontrol_points"])
        return np.einsum("rni,rnikj->rkj", multipliers, self.case.taken(answer, "dtau_dcontrol_points", "v.v"))

    # --- comparisons

    def near(self, name, given, expected, tolerance, least=0.0):
        """Compares the rows that do not fail, relative to the largest expected entry."""
        self.near_rows(name, given, expected, tolerance, np.isin(np.arange(self.case.rows), self.case.good()), least)

    def near_rows(self, name, given, expected, tolerance, which, least=0.0):
        given, expected = np.array(given)[which], np.array(expected)[which]
        self.assertEqual(given.shape, expected.shape, name)
        size = max(np.abs(expected).max(initial=0), least, 1e-3)
        worst = np.abs(given - expected).max(initial=0)
        if not worst <= tolerance * size:
            self.fail(f"{name}: off by {worst / size:.3g} of {size:.3g}\ngiven {given.tolist()}\nexpected {expected.tolist()}"[:3000])

    def less(self, name, value, most):
        self.assertLess(value, most, name)

    def same(self, name, given, expected):
        self.assertTrue(same(given, expected), f"{name}: {given} {expected}"[:3000])
