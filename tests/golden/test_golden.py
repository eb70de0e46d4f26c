"""Tests that 600 requests over the operations have the bits of tests/golden/answers.txt, in both arithmetic classes and with every
target of this machine. Operations whose last bits come from LAPACK are left out, each with its reason."""
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(ROOT, "tests", "e2e", "support"), os.path.join(ROOT, "tests", "compatibility")]
import compatibility  # noqa: E402
import golden  # noqa: E402
import golden_requests  # noqa: E402
import tap  # noqa: E402
from harness import BINARY, SANITIZED  # noqa: E402
from subprocess import run  # noqa: E402

FEW = 25  # one of so many answers is compared with targets other than the fastest of a class


def machine_targets():
    return golden.targets(run([BINARY, "--target", "none"], capture_output=True, text=True).stderr)


class Golden(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.answers = golden.read()

    def compare(self, arithmetic, target, step):
        asked = golden.Asked(target)
        self.addCleanup(asked.server.kill)
        other = [label for label in list(self.answers)[::step]
                 if asked.hash(label, self.answers[label][0]) != self.answers[label][1][arithmetic]]
        self.assertEqual(other, [], f"{target}: other bits; `make golden` if the changelog says why")
        self.assertIsNone(asked.close())

    def test_every_target_gives_these_bits(self):
        """For the fastest target of a class all answers are compared, for the other targets a sample."""
        here = machine_targets()
        for arithmetic, targets in golden.CLASSES.items():
            first = True
            for target in targets:
                if target in here:
                    with self.subTest(target=target):
                        self.compare(arithmetic, target, 1 if first and not SANITIZED else FEW)
                    first = False

    def test_the_file_has_all_requests(self):
        self.assertEqual(list(self.answers), list(golden_requests.labels()))
        self.assertEqual(len(self.answers), 600)

    def test_hashes_tell_answers_apart(self):
        """The hashes of an operation's requests must differ from each other, and the hashes of the two classes must differ for robots with
        revolute joints."""
        hashes = [hashes["fused"] for _, hashes in self.answers.values()]
        self.assertEqual(len(set(hashes)), len(hashes))
        self.assertGreater(sum(both["fused"] != both["unfused"] for _, both in self.answers.values()), 400)

    def test_one_bit_changes_a_hash(self):
        self.assertNotEqual(golden.digest({"tau": [1.0, 0.1]}, ["tau"]), golden.digest({"tau": [1.0, 0.10000000000000002]}, ["tau"]))
        self.assertNotEqual(golden.digest({"tau": [0.0, 1]}, ["tau"]), golden.digest({"tau": [-0.0, 1]}, ["tau"]))

    def test_operations_of_the_last_release_are_here(self):
        """Each operation of the contract's baseline must be in OPERATIONS or in LEFT_OUT with a reason."""
        prefix = "contract: POST /v1/models/{model}/"
        released = {name.removeprefix(prefix) for name in compatibility.read_baseline()[1] if name.startswith(prefix)}
        self.assertGreater(len(released), 25)
        self.assertEqual(released - golden_requests.OPERATIONS.keys() - golden_requests.LEFT_OUT.keys(), set())

    def test_a_change_needs_a_reason_in_the_changelog(self):
        self.assertIsNone(golden.refusal([], ""))
        self.assertIn("REASON", golden.refusal(["bias two_link 2"], ""))
        self.assertIn("REASON", golden.refusal(["bias two_link 2"], "no line of the changelog says this"))


if __name__ == "__main__":
    tap.main()
