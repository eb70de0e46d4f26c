"""Tests each operation on states with every single feature of models and requests, with every pair of features and with many random sets of
features, in both encodings. Answers are compared with an independent reference or with other operations, refusals with api/COMBINATIONS.md."""
import os

import combination_page
import tap
import yaml
from combination_requests import OPERATIONS
from combination_trials import Trials
from harness import ROOT

IN_TIME = ("step", "rollout", "rollout-gradient", "trajectory", "trajectory-hessian", "path-timing", "simulate", "sensitivity", "path", "feed-forward", "torque-derivative")


def compare_section(test, name, text):
    test.assertEqual(combination_page.sections()[name], text.rstrip("\n"), "`make reference` writes api/COMBINATIONS.md")


class Combinations(Trials):
    def test_every_operation_of_the_contract(self):
        with open(os.path.join(ROOT, "api", "openapi.yaml"), encoding="utf-8") as file:
            paths = yaml.load(file, yaml.CSafeLoader)["paths"]
        prefix = "/v1/models/{model}/"
        named = [path[len(prefix):] for path, item in paths.items() if path.startswith(prefix) and "post" in item]
        self.assertEqual(set(named), set(OPERATIONS))
        self.assertLess(set(IN_TIME), set(named))
        self.assertEqual(list(combination_page.sections()), ["Models", *OPERATIONS])

    def test_models(self):
        compare_section(self, "Models", combination_page.models_section(self.try_models()))


def trial(operation):
    def test(self):
        before = self.answered
        refused = self.try_operation(operation)
        self.assertGreater(self.answered - before, 15, "most combinations of what the operation takes are answered")
        compare_section(self, operation, combination_page.section(operation, refused))
    return test


def add_tests(to, operations):
    for operation in operations:
        setattr(to, "test_" + operation.replace("-", "_"), trial(operation))


add_tests(Combinations, [operation for operation in OPERATIONS if operation not in IN_TIME])

if __name__ == "__main__":
    tap.main()
