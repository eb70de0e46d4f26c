"""Tests scale.py of deploy/: its output is the tables in SCALE.md, and its simulation agrees with the throughput known
in two limits: servers that are never idle, and clients that never wait."""
import os
import sys
import unittest

import tap
from deploy import DEPLOY, read, run

sys.path.insert(0, DEPLOY)
import scale  # noqa: E402  (the path is set first)


class Scale(unittest.TestCase):
    def test_the_page_has_the_tables(self):
        printed = run(sys.executable, os.path.join(DEPLOY, "scale.py"), check=True).stdout
        for table in printed.strip().split("\n\n"):
            self.assertIn(table, read("SCALE.md"))

    def test_servers_that_are_never_idle(self):
        for servers in (1, 2, 4):
            self.assertAlmostEqual(scale.simulate(servers, 8, 0.01, 0) * 0.01 / servers, 1, delta=0.01)

    def test_clients_that_never_wait_for_each_other(self):
        self.assertAlmostEqual(scale.simulate(4, 2, 0.01, 0.03) * (0.01 + 0.03) / 2, 1, delta=0.01)

    def test_what_binds(self):
        self.assertEqual(scale.needs(1e9, "CBOR")["bound"], "network")
        self.assertEqual(scale.change(3)["rate"], 1 / scale.COMMIT)
        self.assertLess(scale.change(1000)["rate"], 1 / scale.COMMIT)


if __name__ == "__main__":
    tap.main()
