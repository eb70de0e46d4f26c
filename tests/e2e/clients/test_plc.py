"""Tests the gateway of api/clients/plc: telegrams in both byte orders get the server's torques to the last bit;
malformed telegrams, bursts, and a server that disappears and returns."""
import os
import random
import re
import signal
import socket
import struct
import subprocess
import tempfile
import time

import tap
from harness import PATIENCE, ROOT, Server, ServerCase
from samples import ASK, PUMA
from test_c_client import SANITIZERS, warnings

CLIENTS = os.path.join(ROOT, "api", "clients")
MAGIC = 0x54514431
OK, MALFORMED, REFUSED, UNREACHABLE = range(4)


def telegram(order, counter, q, qd, qdd, command=1, joints=None):
    return struct.pack(f"{order}IIHHI{3 * len(q)}d", MAGIC, counter, len(q) if joints is None else joints, command, 0, *q, *qd, *qdd)


class Gateway(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.program = os.path.join(folder.name, "gateway")
        built = subprocess.run(["gcc", "-std=gnu11", *warnings(), *SANITIZERS, "-o", cls.program,
                                os.path.join(CLIENTS, "plc", "gateway.c"), os.path.join(CLIENTS, "c", "torqued.c"),
                                "-lcurl", "-lpthread"], capture_output=True, text=True)
        if built.returncode != 0:
            raise AssertionError(built.stderr)

    def start(self, *arguments):
        process = subprocess.Popen([self.program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.stop, process)
        return process

    def stop(self, process):
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0, said)

    def gateway(self, url=None, model="puma560", timeout=PATIENCE):
        """Starts a gateway. Returns a socket connected to it, and its process."""
        process = self.start("127.0.0.1:0", model, url or self.server.url(), str(timeout))
        port = int(re.search(r"port ([0-9]+)", process.stdout.readline())[1])
        plc = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.addCleanup(plc.close)
        plc.settimeout(PATIENCE)
        plc.connect(("127.0.0.1", port))
        return plc, process

    def exchange(self, plc, request, order="<"):
        plc.send(request)
        return self.read(plc.recv(4096), order)

    def read(self, answer, order="<"):
        magic, counter, joints, status, _ = struct.unpack_from(order + "IIHHI", answer)
        self.assertEqual(magic, MAGIC)
        self.assertEqual(len(answer), 16 + (8 * joints if status == OK else 0))
        return counter, status, list(struct.unpack_from(f"{order}{joints if status == OK else 0}d", answer, 16))

    def test_both_byte_orders(self):
        plc, _ = self.gateway()
        expected = self.client.post(ASK, PUMA).json()["tau"]
        for counter, order in enumerate("<><>"):
            request = telegram(order, counter, PUMA["q"], PUMA["qd"], PUMA["qdd"])
            self.assertEqual(self.exchange(plc, request, order), (counter, OK, expected))

    def test_malformed(self):
        plc, _ = self.gateway()
        good = telegram("<", 7, [0.0] * 6, [0.0] * 6, [0.0] * 6)
        for silent in (b"", b"TQD", b"\0" * 160, good[1:], good[:15]):
            plc.send(silent)
        for bad in (good[:16], good[:-1], good + b"\0", good[:10] + b"\2" + good[11:], good[:8] + b"\0\0" + good[10:],
                    good[:8] + b"\x41\0" + good[10:], good + b"\0" * 5000, telegram("<", 7, [], [], [])):
            counter, status, tau = self.exchange(plc, bad)
            self.assertEqual((counter, status, tau), (7, MALFORMED, []))
        for refused in ([0.0] * 5, [float("nan")] * 6, [1e9] * 6):
            self.assertEqual(self.exchange(plc, telegram("<", 9, refused, refused, refused))[:2], (9, REFUSED))
        rng = random.Random(1)
        for _ in range(300):
            noise = bytearray(good)
            for _ in range(rng.randrange(4)):
                noise[rng.randrange(4, len(noise))] = rng.randrange(256)
            plc.send(noise[:rng.randrange(4, 170)])
        plc.settimeout(0.5)
        try:
            while True:
                plc.recv(4096)
        except TimeoutError:
            pass
        plc.settimeout(PATIENCE)
        self.assertEqual(self.exchange(plc, good)[:2], (7, OK))

    def test_the_newest_of_a_burst(self):
        plc, process = self.gateway()
        zero = [0.0] * 6
        self.exchange(plc, telegram("<", 0, zero, zero, zero))
        process.send_signal(signal.SIGSTOP)
        for counter in range(1, 51):
            plc.send(telegram("<", counter, zero, zero, zero))
        process.send_signal(signal.SIGCONT)
        self.assertEqual(self.read(plc.recv(4096))[:2], (50, OK))
        self.assertEqual(self.exchange(plc, telegram("<", 51, zero, zero, zero))[:2], (51, OK))

    def test_the_duration_is_in_microseconds(self):
        """A server that takes connections and never answers costs the whole timeout."""
        silent = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(silent.close)
        plc, _ = self.gateway(f"http://127.0.0.1:{silent.getsockname()[1]}", timeout=0.2)
        plc.send(telegram("<", 7, [0.1] * 6, [0.0] * 6, [0.0] * 6))
        _, counter, _, status, duration = struct.unpack_from("<IIHHI", plc.recv(4096))
        self.assertEqual((counter, status), (7, UNREACHABLE))
        self.assertGreaterEqual(duration, 200000)
        self.assertLess(duration, 1e6 * PATIENCE)

    def test_a_server_that_goes_and_comes(self):
        server = Server()
        self.addCleanup(server.kill)
        plc, process = self.gateway(server.url())
        request = telegram("<", 1, [0.1] * 6, [0.0] * 6, [0.0] * 6)
        before = self.exchange(plc, request)
        self.assertEqual(before[1], OK)
        self.assertIsNone(server.stop())
        for _ in range(3):
            self.assertEqual(self.exchange(plc, request)[1], UNREACHABLE)
        again = Server("--listen", f"127.0.0.1:{server.port}")
        self.addCleanup(again.kill)
        give_up = time.monotonic() + PATIENCE
        while self.exchange(plc, request) != before:
            self.assertLess(time.monotonic(), give_up)
        self.assertIsNone(again.stop())
        self.stop(process)

    def test_arguments(self):
        for arguments in ((), ("127.0.0.1", "m", "http://h"), ("127.0.0.1:x9", "m", "ftp://h"), ("nowhere:1", "m", "http://h"),
                          ("127.0.0.1:99999", "m", "http://h"), ("127.0.0.1:0", "m", "http://h", "-1"), ("x" * 99 + ":1", "m", "http://h")):
            done = subprocess.run([self.program, *arguments], capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertTrue(done.stderr)


if __name__ == "__main__":
    tap.main()
