"""Runs each fuzzer for a while from its seeds: every fuzz_*.c is a fuzzer, and seeds/<name> are its seeds. All fuzzers
run side by side, longer with SOAK_SECONDS. Inputs that a fuzzer finds are printed, to be kept as seeds with the repair.
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests", "e2e", "support"))
import framing  # noqa: E402
import tap  # noqa: E402

FOLDER = os.path.join(ROOT, os.environ.get("BUILD", "build"), "fuzz")
NAMES = sorted(os.path.basename(path)[5:-2] for path in glob.glob(os.path.join(HERE, "fuzz_*.c")))
OPTIONS = {"states": ["-close_fd_mask=2"],  # closes standard error of this fuzzer, which would print thousands of messages
           "framing": ["-max_len=16384"]}  # longer than the longest head
MORE_SEEDS = {"document": [os.path.join(ROOT, "models")]}
PARSERS = ("document", "urdf", "mjcf", "sdf")  # parsers of whole files from clients run longer


def write_framing_shapes(folder):
    """Writes the request shapes as seeds of the fuzzer of server/framing, cut into pieces of 1, 7 and 64 bytes in turn.
    """
    for shape in framing.shapes():
        with open(os.path.join(folder, shape.name), "wb") as file:
            file.write(b"\x02\x00\x06\x3f" + shape.bytes)


class Fuzzer:
    """A running fuzzer with a folder of its own."""

    def __init__(self, name):
        self.seconds = int(os.environ.get("SOAK_SECONDS", 60 if name in PARSERS else 20))
        self.folder = tempfile.mkdtemp(prefix="torqued-fuzz-")
        self.log = os.path.join(self.folder, "log")
        corpus = os.path.join(self.folder, "corpus")
        os.mkdir(corpus)
        if name == "framing":
            write_framing_shapes(corpus)
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [os.path.join(FOLDER, "fuzz_" + name), f"-max_total_time={self.seconds}", "-max_len=4096", "-timeout=20",
                 "-rss_limit_mb=2048", "-print_final_stats=1", f"-artifact_prefix={self.folder}/", "-seed=1",
                 f"-dict={HERE}/words.dict", *OPTIONS.get(name, []), corpus, os.path.join(HERE, "seeds", name), *MORE_SEEDS.get(name, [])],
                stdout=log, stderr=subprocess.STDOUT, env={**os.environ, "UBSAN_OPTIONS": "print_stacktrace=1"})

    def result(self):
        """Returns the exit status, the inputs that caused a failure, and the end of the log."""
        status = self.process.wait(self.seconds + 120)
        found = []
        for path in glob.glob(os.path.join(self.folder, "*-*")):
            with open(path, "rb") as file:
                found.append(file.read())
        with open(self.log, errors="replace") as log:
            return status, found, log.read()

    def close(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder)


@unittest.skipIf(os.environ.get("NO_FUZZERS"), "no fuzzers in this build: without clang, or with a sanitizer of its own")
class Fuzz(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.fuzzers = {}
        for name in NAMES:
            cls.fuzzers[name] = Fuzzer(name)
            cls.addClassCleanup(cls.fuzzers[name].close)


def check(name):
    def test(self):
        status, found, log = self.fuzzers[name].result()
        self.assertEqual(status, 0, f"input {found}\n{log[-6000:]}")
        self.assertRegex(log, r"stat::number_of_executed_units: *[1-9]")
    return test


for fuzzer_name in NAMES:
    setattr(Fuzz, "test_" + fuzzer_name, check(fuzzer_name))

if __name__ == "__main__":
    tap.main()
