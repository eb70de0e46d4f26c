"""Tests reading and printing of numbers against dragonbox, fast_float and the C library, by tests/oracle/numbers.cc."""
import os
import subprocess
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "e2e", "support"))
import tap  # noqa: E402

ORACLE = os.path.join(ROOT, os.environ.get("BUILD", "build"), "tests", "oracle", "numbers")
SOAK = "SOAK_SECONDS" in os.environ


class Numbers(unittest.TestCase):
    def run_oracle(self, *arguments):
        done = subprocess.run([ORACLE, *map(str, arguments)], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    def test_random_numbers_of_each_kind(self):
        self.run_oracle(200_000_000 if SOAK else 400_000)

    def test_all_exponents_and_patterns_of_mantissas(self):
        """2^32 doubles in `make soak`, otherwise every 16385th of them."""
        self.run_oracle("structured", 0, 1 if SOAK else 2 ** 14 + 1)


if __name__ == "__main__":
    tap.main()
