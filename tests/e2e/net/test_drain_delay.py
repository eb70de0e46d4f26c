"""Tests --drain-delay: after SIGTERM /readyz answers 503 while the server still accepts connections and answers all
other requests."""
import time
import unittest

import tap
from harness import PATIENCE, Server
from samples import ASK, PUMA, slider


class DrainDelay(unittest.TestCase):
    def draining(self, *arguments):
        """Returns a server that has received SIGTERM and answers 503 on /readyz."""
        server = Server(*arguments)
        self.addCleanup(server.kill)
        server.terminate()
        give_up = time.monotonic() + PATIENCE
        while (ready := server.client().get("/readyz")).status == 200:
            self.assertLess(time.monotonic(), give_up)
            time.sleep(0.01)
        self.assertEqual(ready.status, 503)
        self.assertEqual(ready.json()["code"], "draining")
        return server

    def test_new_connections_are_served(self):
        server = self.draining("--drain-delay", "3600")
        self.assertEqual(server.client().post(ASK, PUMA).status, 200)
        self.assertEqual(server.client().put("/v1/models/slider", slider()).status, 201)
        self.assertEqual(server.client().get("/livez").status, 200)
        self.assertIn("torqued_ready 0\n", server.client().get("/metrics").body.decode())
        server.reload()
        self.assertEqual(server.client().get("/readyz").status, 503)
        self.assertIsNone(server.process.poll())

    def test_a_second_signal_ends_the_delay(self):
        server = self.draining("--drain-delay", "3600")
        self.assertIsNone(server.stop())

    def test_the_delay_ends_by_itself(self):
        server = Server("--drain-delay", "0.2")
        self.addCleanup(server.kill)
        server.terminate()
        self.assertEqual(server.wait(), 0)
        self.assertIn('"event":"stopped"', server.log())


if __name__ == "__main__":
    tap.main()
