"""Tests the exit statuses of all sub-commands: 1 with a message if standard output cannot be written, 2 for invalid
arguments."""
import os
import resource
import shutil
import subprocess
import tempfile
import unittest

import tap
from command_line import torqued
from harness import BINARY, MODELS, ROOT, ServerCase

ARM = os.path.join(ROOT, "models", "two_link.json")
MOTION = ("two_link", "simulate", "q=[0.3,0.2]", "duration=1", "step=0.1", "samples=5")


class Case(ServerCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.variables = {k: v for k, v in os.environ.items() if not k.startswith("TORQUED_")}
        self.variables.update(TORQUED_URL=self.server.url(), XDG_STATE_HOME=self.folder)
        if MODELS:
            self.variables["TORQUED_MODELS"] = MODELS[1]

    def run_to(self, output, *arguments, given=b'{"q":[0,0]}', **options):
        return subprocess.run([BINARY, *arguments], stdout=output, input=given, stderr=subprocess.PIPE, env=self.variables, cwd=self.folder,
                              timeout=120, **options)


class StandardOutput(Case):
    def commands(self):
        """Yields every command that prints, with its standard input."""
        self.server.client().put("/v1/models/short_lived", {"links": []})
        yield from (("--help",), ("--version",), ("--settings-table",), ("serve", "--help"), ("man",), ("check", ARM), ("check", ARM, "nothing.json"),
                    ("convert", ARM), ("convert", "--to", "urdf", ARM), ("eval", ARM, "inverse-dynamics"), ("eval", "two_link", "inverse-dynamics"),
                    ("eval", ARM, "regressor"), ("backup", "-"), ("verify",), ("token", "planner", "evaluate"), ("models",), ("models", "--names"), ("models", "--json"),
                    ("put", "another", ARM), ("delete", "another"), ("call", "two_link", "bias", "q=[0,0]"), ("bench", "--requests", "2"))
        yield from (("call", "two_link", "bias", "q=[[0,0],[0,1]]", "--to", form) for form in ("json", "jsonl", "csv", "npz"))
        yield from (("completion", shell) for shell in ("bash", "zsh", "fish"))
        yield from ((command, "--help") for command in ("check", "call", "plot", "healthcheck"))
        if shutil.which("gnuplot"):
            yield ("plot", *MOTION)

    def test_a_full_disk(self):
        for arguments in self.commands():
            with open("/dev/full", "wb") as full:
                done = self.run_to(full, *arguments)
            self.assertEqual(done.returncode, 1, (arguments, done))
            self.assertEqual(done.stderr.count(b"cannot write standard output: "), 1, (arguments, done.stderr))

    def test_reasons(self):
        for arguments in (("eval", ARM, "inverse-dynamics"), ("check", ARM), ("--version",), ("completion", "bash")):
            with open("/dev/full", "wb") as full:
                self.assertIn(b"torqued: cannot write standard output", self.run_to(full, *arguments).stderr)
            done = self.run_to(None, *arguments, preexec_fn=lambda: os.close(1))
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, b"^torqued: cannot write standard output: (Bad file descriptor|a part of it is lost)\n$")

    def test_the_limit_of_file_sizes(self):
        for arguments in (("man",), ("models",), ("call", "two_link", "bias", "q=[0,0]"), ("completion", "zsh")):
            with open(os.path.join(self.folder, "out"), "wb") as output:
                done = self.run_to(output, *arguments, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10)))
            self.assertEqual(done.returncode, 1, (arguments, done))
            self.assertIn(b"cannot write", done.stderr)

    def test_nothing_to_write(self):
        """A command that prints nothing succeeds although standard output cannot be written."""
        with open("/dev/full", "wb") as full:
            done = self.run_to(full, "healthcheck")
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            done = self.run_to(full, "delete", "nobody")
            self.assertEqual(done.returncode, 1)
            self.assertIn(b"no-such-model", done.stderr)

    def test_no_token_without_its_line(self):
        with open("/dev/full", "wb") as full:
            done = self.run_to(full, "token", "planner", "evaluate")
        self.assertEqual((done.returncode, done.stderr), (1, b"torqued: cannot write standard output: No space left on device\n"))


class InvalidArguments(Case):
    def test_status(self):
        call = ("call", "two_link", "bias")
        for arguments in ((*call, "--chunk", "0"), (*call, "--chunk", "x"), (*call, "--chunk", "1e10"), (*call, "--timeout", "0"), (*call, "--timeout", "-1"),
                          (*call, "--url", "127.0.0.1:8088"), (*call, "--url", "ftp://x"), (*call, "--url", "unix:"), (*call, "a.csv", "b.csv"),
                          (*call, "q=[0"), (*call, "states.dat"), (*call, "--to", "xml"), (*call, "--from", "xml"), (*call, "--chunk"), (*call, "--nothing"),
                          ("call", "two_link"), ("models", "--timeout", "0"), ("models", "--url", "x"), ("models", "extra"), ("put", "a", ARM, "--timeout", "0"),
                          ("put", "a", "nothing.json", "--url", "x"), ("put", "a"), ("delete",), ("delete", "a", "--timeout", "x"), ("healthcheck", "--url", "x"),
                          ("bench", "--requests", "0"), ("bench", "--timeout", "0"), ("plot", *MOTION, "--output", "x.pdf"), ("plot", *MOTION, "--chunk", "0"),
                          ("plot", *MOTION, "a.csv", "b.csv"), ("token", "planner"), ("token", "planner", "king"), ("token", "planner", "evaluate", "--days", "0"),
                          ("eval", "two_link"), ("eval", "two_link", "bias", "--base", "floating"), ("eval", "two_link", "bias", "--max-rows", "x"),
                          ("backup", "-", "--store", ""), ("backup", "-", "--max-rows", "0"), ("backup",), ("store", "nothing"), ("completion", "sh"), ("check",),
                          ("convert", ARM, "--to", "x3d"), ("--max-rows", "x"), ("serve", "--nothing"), ("nothing",)):
            done = self.run_to(subprocess.PIPE, *arguments)
            self.assertEqual((done.returncode, done.stdout), (2, b""), (arguments, done))
            self.assertTrue(done.stderr.startswith(b"torqued: "), done.stderr)

    def test_failures_are_no_misuse(self):
        for arguments in (("call", "two_link", "bias", "nothing.csv"), ("call", "nobody", "bias", "q=[0]"), ("put", "a", "nothing.json"), ("check", "nothing.json"),
                          ("eval", "nobody", "bias"), ("models", "--token-file", "nothing"), ("models", "--url", "http://127.0.0.1:1")):
            self.assertEqual(self.run_to(subprocess.PIPE, *arguments).returncode, 1, arguments)

    def test_help_says_so(self):
        self.assertIn(b"exit status: 0 on success, 1 on failure, 2 for invalid arguments.", torqued("call", "--help").stdout)


if __name__ == "__main__":
    tap.main()
