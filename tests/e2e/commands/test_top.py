"""Tests `torqued top`: the figures that it prints to a pipe, and its screen on a pseudo-terminal."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import tempfile
import termios
import time
import unittest

import tap
from harness import BINARY, PATIENCE, Server, ServerCase


def run(*arguments, **keywords):
    return subprocess.run([BINARY, "top", *arguments], capture_output=True, text=True, timeout=PATIENCE, **keywords)


class Once(ServerCase):
    def test_one_snapshot(self):
        """Standard output is a pipe, so the command prints the figures since the start once."""
        for _ in range(30):
            self.client.post("/v1/models/puma560/bias", {"q": [[0.1] * 6] * 100})
        self.client.get("/nowhere")
        done = run(self.server.url())
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertNotIn("\x1b", done.stdout)
        lines = done.stdout.splitlines()
        self.assertRegex(lines[0], f"^torqued [0-9.]+ at {re.escape(self.server.url())}  .* since the start$")
        self.assertEqual(lines[1], "ready")
        self.assertRegex(done.stdout, r"\nmodels +\[#*\.+\] [1-9]\d+ of 1024, ")
        self.assertRegex(done.stdout, r"\nqueue +0 requests wait, no work is admitted\n")
        self.assertRegex(done.stdout, r"\nbias +[\d.]+k? +0 +[\d.]+k? +[\d.]+ [mu]s +[\d.]+ [mu]s +[\d.]+ m?u?s\n")
        self.assertRegex(done.stdout, r"\n127\.0\.0\.1 +[\d.]+ +[\d.]+ +\d\.\d{3} +[\d.]+ [KMG]?i?B\n")

    def test_the_option_and_the_variable(self):
        done = run("--once", env={**os.environ, "TORQUED_URL": self.server.url()})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(self.server.url(), done.stdout)

    def test_mistakes(self):
        for arguments, status, said in ((("http://127.0.0.1:1",), 1, "no server answers"), (("ftp://x",), 2, "expected http://"),
                                        (("--interval", "0", self.server.url()), 2, "--interval"),
                                        ((self.server.url(), self.server.url()), 2, "")):
            done = run(*arguments)
            self.assertEqual((done.returncode, done.stdout), (status, ""), done)
            self.assertIn(said, done.stderr)


class WithoutToken(unittest.TestCase):
    def test_it_is_said(self):
        server = Server("--tokens", self.tokens())
        self.addCleanup(server.kill)
        done = run(server.url())
        self.assertEqual(done.returncode, 1)
        self.assertIn("--token-file names the file with the token", done.stderr)

    def tokens(self):
        file = self.enterContext(tempfile.NamedTemporaryFile("w", suffix=".tokens"))
        file.write(f"planner evaluate sha256:{'0' * 64}\n")
        file.flush()
        return file.name


class Screen(unittest.TestCase):
    def setUp(self):
        self.server = Server("--trusted-proxy", "127.0.0.1")
        self.addCleanup(self.server.kill)
        self.terminal, inner = pty.openpty()
        self.addCleanup(os.close, self.terminal)
        self.resize(90, 30)
        self.before = termios.tcgetattr(inner)
        self.process = subprocess.Popen([BINARY, "top", self.server.url(), "--interval", "0.1", "--timeout", "1"], stdin=inner,
                                        stdout=inner, stderr=inner, env={**os.environ, "TERM": "xterm"})
        self.addCleanup(self.process.wait)
        self.addCleanup(self.process.kill)
        self.inner, self.output = inner, ""
        self.addCleanup(os.close, inner)

    def resize(self, columns, rows):
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self):
        while select.select([self.terminal], [], [], 0.05)[0]:
            self.output += os.read(self.terminal, 65536).decode()

    def await_screen(self, pattern):
        """Returns the last complete screen once it has the pattern."""
        give_up = time.monotonic() + PATIENCE
        while True:
            self.read()
            screens = [text for text in self.output.split("\x1b[H")[1:] if "\x1b[J" in text]
            if screens and re.search(pattern, screens[-1]):
                return screens[-1]
            self.assertLess(time.monotonic(), give_up, self.output[-3000:])

    def end(self, status):
        self.assertEqual(self.process.wait(PATIENCE), status)
        self.read()
        self.assertTrue(self.output.endswith("\x1b[?25h\x1b[?1049l"), self.output[-200:])
        self.assertEqual(termios.tcgetattr(self.inner), self.before)

    def test_it_follows_the_server(self):
        client = self.server.client()
        first = self.await_screen("ready")
        self.assertNotIn("192.0.2.7", first)
        give_up = time.monotonic() + PATIENCE
        while not re.search(r"192\.0\.2\.7 +[1-9]", self.output):
            client.post("/v1/models/puma560/energy", {"q": [0.1] * 6, "qd": [0.1] * 6}, x_forwarded_for="192.0.2.7")
            self.read()
            self.assertLess(time.monotonic(), give_up, self.output[-3000:])
        self.assertRegex(self.output, r"\nenergy +[\d.]+|\renergy +[\d.]+")
        self.await_screen(r"\n127\.0\.0\.1 ")  # from here on only `top` itself sends requests
        os.write(self.terminal, b"q")
        self.end(0)
        self.assertTrue(self.output.startswith("\x1b[?1049h\x1b[?25l"))

    def test_it_fits_the_terminal(self):
        self.await_screen("ready")
        self.resize(40, 12)
        give_up = time.monotonic() + PATIENCE
        while True:
            self.output = ""
            screen = self.await_screen("ready")
            lines = re.sub(r"\x1b\[[0-9;]*[a-zA-Z]", "", screen).replace("\r", "").rstrip("\n").split("\n")
            if max(map(len, lines)) <= 40 and len(lines) <= 11:
                break
            self.assertLess(time.monotonic(), give_up, screen)
        self.process.send_signal(signal.SIGINT)
        self.end(0)

    def test_a_server_that_goes_and_comes(self):
        self.await_screen("ready")
        self.server.process.send_signal(signal.SIGSTOP)
        self.await_screen("no answer: the figures below are old")
        self.server.process.send_signal(signal.SIGCONT)
        self.await_screen(r"\x1b\[1;32mready")
        self.process.send_signal(signal.SIGTERM)
        self.end(0)


if __name__ == "__main__":
    tap.main()
