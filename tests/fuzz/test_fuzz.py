"""A while with each fuzzer, from the seeds. Long with SOAK_SECONDS. What a fuzzer finds is printed, to be kept as a
seed next to its repair."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests", "e2e"))
import tap  # noqa: E402

FOLDER = os.path.join(ROOT, os.environ.get("BUILD", "build"), "fuzz")
SECONDS = int(os.environ.get("SOAK_SECONDS", "10"))


@unittest.skipUnless(shutil.which("clang"), "no clang here, so no libFuzzer")
@unittest.skipUnless(os.path.isdir(FOLDER), "no fuzzers in this build")
class Fuzz(unittest.TestCase):
    def fuzz(self, name, *seeds):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [os.path.join(FOLDER, name), f"-max_total_time={SECONDS}", "-max_len=4096", "-timeout=10", "-rss_limit_mb=2048",
                 "-print_final_stats=1", f"-artifact_prefix={folder}/", "-seed=1",
                 f"-dict={HERE}/words.dict", folder, *seeds],
                capture_output=True, text=True, errors="replace", timeout=SECONDS + 120,
                env={**os.environ, "UBSAN_OPTIONS": "print_stacktrace=1"})
            found = [open(os.path.join(folder, file), "rb").read() for file in os.listdir(folder)
                     if file.startswith(("crash-", "leak-", "timeout-", "oom-"))]
            self.assertEqual(done.returncode, 0, f"input {found}\n{done.stderr[-6000:]}")
            self.assertNotIn("stat::number_of_executed_units: 0\n", done.stderr)

    def test_request(self):
        self.fuzz("fuzz_request", os.path.join(HERE, "seeds", "request"))

    def test_document(self):
        self.fuzz("fuzz_document", os.path.join(HERE, "seeds", "document"), os.path.join(ROOT, "models"))

    def test_head(self):
        self.fuzz("fuzz_head", os.path.join(HERE, "seeds", "head"))


if __name__ == "__main__":
    tap.main()
