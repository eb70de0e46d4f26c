"""Writes api/COMBINATIONS.md: which combinations of features each operation refuses, with code and reason."""
import os
import re
import sys
import unittest

from combination_requests import NEEDED, OPERATIONS
from combination_trials import Trials
from combinations import MODEL_FEATURES, REQUEST_FEATURES
from harness import ROOT

PATH = os.path.join(ROOT, "api", "COMBINATIONS.md")
HEAD = """# Combinations

<!-- Made by tests/e2e/requests/combination_page.py from the server's answers: `make reference` writes it. -->

Every operation is tried with each feature, with every two, with every two of a model together with `held` frames or `free`
coordinates, and with many at random, in JSON and CBOR. What is not listed here is answered, and the answers are compared with an
independent reference or with each other (`tests/e2e/requests/test_combinations.py`, `tests/e2e/requests/test_combinations_in_time.py`).

- Features of models: {models}.
- Features of requests: {requests}.

A refusal is listed with the fewest features that it needs. It is an answer of status 422 with the `code`.
"""
MEANING = {
    "mimic": "a joint that mimics another", "loop": "a closed loop with passive joints", "elastic": "an elastic joint", "damped": "an elastic joint with damping",
    "transmission": "two motors that drive two joints together", "viscous": "viscous friction", "coulomb": "sharp Coulomb friction",
    "smooth": "Coulomb friction with `coulomb_velocity`", "stribeck": "a Stribeck curve", "load": "friction that depends on the load",
    "compensated": "a link with `gravity_compensation`",
    "floating": "a floating base", "payload": "`payload`", "wrenches": "`wrenches`", "held": "`held` frames", "free": "`free` coordinates",
    "permuted": "`joints` in another order", "failing": "a row that fails, with `on_error` row", "batch": "several rows"}


def listed(features):
    return ", ".join(MEANING[feature] for feature in features)


def models_section(refused):
    return "\n".join(["## Models\n", "Refused when they are put.\n", *table(refused)])


def table(refused):
    return ["| features | code | reason |", "|---|---|---|",
            *(f"| {' + '.join(MEANING[f] for f in few)} | `{code}` | {detail.replace('|', chr(92) + '|')} |" for few, (code, detail) in refused.items()), ""]


def section(operation, refused):
    """Formats one operation; `refused` is {features: (code, detail)}."""
    lines = [f"## {operation}\n"]
    if NEEDED.get(operation):
        lines.append(f"Tried with {listed(NEEDED[operation])}; without: `{refused[()][0]}`.\n")
    unknown = [few[0] for few, (code, _) in refused.items() if code == "unknown-field" and len(few) == 1]
    if unknown:
        lines.append(f"Does not take (`unknown-field`): {listed(unknown)}.\n")
    rows = {few: why for few, why in refused.items() if few and (why[0] != "unknown-field" or len(few) > 1)}
    if rows:
        lines += table(rows)
    if not unknown and not rows:
        lines.append("Refuses none.\n")
    return "\n".join(lines)


def sections():
    """Reads the sections of the page that is in the tree."""
    if not os.path.exists(PATH):
        return {}
    with open(PATH, encoding="utf-8") as file:
        parts = re.split(r"^(?=## )", file.read(), flags=re.M)[1:]
    return {re.match(r"## (\S+)", part).group(1): part.rstrip("\n") for part in parts}


def main():
    class Writer(Trials, unittest.TestCase):
        def runTest(self):
            """Writes the page. unittest never calls this method: Writer borrows the methods of a test case."""
    Writer.setUpClass()
    trials = Writer()
    text = HEAD.format(models=listed(MODEL_FEATURES), requests=listed(REQUEST_FEATURES))
    parts = [models_section(trials.try_models()),
             *(section(operation, trials.try_operation(operation, compare=False)) for operation in OPERATIONS)]
    Writer.tearDownClass()
    with open(PATH, "w", encoding="utf-8") as file:
        file.write("\n".join([text, *(part.rstrip("\n") + "\n" for part in parts)]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
