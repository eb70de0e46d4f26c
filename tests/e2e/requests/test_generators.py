"""Tests the generators of models and requests: no number in them may always be absent, 0, 1, of one sign, or equal to
another number of the same object, since such a number hides faults. Prints the statistics."""
import collections
import json
import unittest

import numpy as np
import tap
from combination_requests import NEEDED, OPERATIONS, request_of
from combinations import FEATURES, MODEL_FEATURES, SIGNED, Case, document
from samples import branched, chain, states

DRAWS = 60
# Names of fields that may have the same value in all requests: settings and the reference position.
STEADY = {"step", "duration", "samples", "degree", "home"}


class Seen:
    """Statistics of one field's values."""

    def __init__(self):
        self.values, self.zero, self.one, self.positive, self.negative, self.equal, self.absent = set(), 0, 0, 0, 0, 0, 0

    def add(self, value, others):
        self.values.add(value)
        self.zero += value == 0
        self.one += value == 1
        self.positive += value > 0
        self.negative += value < 0
        self.equal += value != 0 and others.count(value) > 1

    def __str__(self):
        return (f"{len(self.values):6} values  0: {self.zero:6}  1: {self.one:5}  +: {self.positive:6}  -: {self.negative:6}  "
                f"equal: {self.equal:5}  absent: {self.absent:5}")


def numbers(value):
    """Returns all numbers in nested lists, except those in objects."""
    if isinstance(value, list):
        return [number for entry in value for number in numbers(entry)]
    return [] if isinstance(value, (bool, str, dict)) or value is None else [value]


class Fields:
    """Statistics of the fields of objects at the same place in many documents."""

    def __init__(self):
        self.seen, self.objects, self.present = collections.defaultdict(Seen), collections.Counter(), collections.Counter()

    def collect(self, value, place=""):
        if isinstance(value, list) and any(isinstance(entry, dict) for entry in value):
            for entry in value:
                self.collect(entry, place)
        elif isinstance(value, dict):
            self.objects[place] += 1
            own = [number for entry in value.values() if not isinstance(entry, dict) for number in numbers(entry)]
            for key, entry in value.items():
                self.present[place, key] += 1
                self.collect(entry, f"{place}/{key}")
                for number in numbers(entry):
                    self.seen[f"{place}/{key}"].add(float(number), own)

    def finish(self):
        for (place, key), count in self.present.items():
            if f"{place}/{key}" in self.seen:
                self.seen[f"{place}/{key}"].absent = self.objects[place] - count
        return self.seen


class Generators(unittest.TestCase):
    def report(self, what, fields):
        seen = fields.finish()
        print(f"# {what}")
        for place, one in sorted(seen.items()):
            print(f"#   {place:46} {one}", flush=True)
        for place, one in seen.items():
            if place.rsplit("/", 1)[1] in STEADY:
                continue
            with self.subTest(field=place):
                self.assertGreater(len(one.values), 3, f"{place} never varies: {one}")
                self.assertGreater(len(one.values - {0.0, 1.0}), 2, f"{place} is 0 or 1: {one}")
                if place.rsplit("/", 1)[1] in SIGNED:
                    self.assertTrue(one.positive and one.negative, f"{place} has one sign: {one}")
                self.assertLess(one.equal, one.positive + one.negative, f"{place} is always equal to another field: {one}")
        return seen

    def drawn(self):
        choose = np.random.default_rng(5)
        for _ in range(DRAWS):
            yield tuple(feature for feature in FEATURES if choose.random() < 0.5)

    def test_combined_models(self):
        fields = Fields()
        for features in self.drawn():
            fields.collect(document([feature for feature in MODEL_FEATURES if feature in features]))
        seen = self.report("documents of combinations", fields)
        for name in ("/links/joint/rotor_inertia", "/links/joint/friction/load", "/links/joint/friction/viscous", "/links/joint/friction/coulomb_velocity"):
            self.assertGreater(seen[name].absent, 0, name)
        for name in ("/links/joint/mimic/multiplier", "/links/joint/origin/xyz", "/transmissions/matrix"):
            self.assertGreater(seen[name].negative, 0, name)

    def test_combined_models_differ_from_each_other(self):
        texts = [json.dumps(document(features)) for features in ((), ("viscous",), ("load",), ("viscous", "load"))]
        masses = [[link["inertial"]["mass"] for link in json.loads(text)["links"]] for text in texts]
        self.assertEqual(len({mass for own in masses for mass in own}), 16)

    def test_sampled_models(self):
        """Links of a chain differ from each other."""
        for count in (4, 9):
            links = chain(count)["links"]
            for entries in ([link["inertial"]["mass"] for link in links], [tuple(link["inertial"]["com"]) for link in links],
                            [tuple(link["joint"]["origin"]["xyz"]) for link in links[1:]]):
                self.assertGreater(len(set(entries)), 2, entries)
        fields = Fields()
        for base in ("fixed", "floating"):
            fields.collect(branched(base))
        fields.collect(chain(9))
        seen = fields.finish()
        print("# documents of samples")
        for place, one in sorted(seen.items()):
            print(f"#   {place:46} {one}", flush=True)
        for place in ("/links/inertial/mass", "/links/inertial/com", "/links/joint/origin/xyz", "/links/joint/origin/rpy"):
            self.assertGreater(len(seen[place].values), 5, place)

    def test_sampled_states(self):
        """Arrays of a state differ from each other in every entry and have entries of both signs."""
        rows = states(9, 4, seed=11)
        arrays = {name: np.array(value) for name, value in rows.items()}
        for name, own in arrays.items():
            self.assertTrue((own > 0).any() and (own < 0).any(), name)
            for other, values in arrays.items():
                self.assertTrue(name == other or (own * values < 0).any() and not (own == values).any(), (name, other))

    def test_requests(self):
        """Checks the fields in the requests of each operation."""
        for operation in OPERATIONS:
            fields = Fields()
            for features in self.drawn():
                features = tuple({*features, *NEEDED.get(operation, ())} - {"failing", "elastic", "damped", "loop"})
                floating = "floating" in features
                names = [f"base.{k}" for k in range(6)] * floating + ["shoulder", "elbow", "slide", "wrist"]
                fields.collect(request_of(operation, Case("robot", features, names)))
            self.report(operation, fields)


if __name__ == "__main__":
    tap.main()
