"""Tests the files that visitors and hosts of the repository read: workflows, templates, citation, security policy, and the first commands of
CONTRIBUTING.md. Targets and files that they name exist, and versions agree."""
import glob
import os
import re
import subprocess
import tempfile
import unittest

import tap
import yaml
from harness import ROOT


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def workflows():
    return {path: yaml.safe_load(read(path)) for path in sorted(glob.glob(".github/workflows/*.yml", root_dir=ROOT))}


def commands(workflow):
    """Yields the commands of all steps, and those of a matrix."""
    for job in workflow["jobs"].values():
        yield from (step["run"] for step in job["steps"] if "run" in step)
        yield from (row["run"] for row in job.get("strategy", {}).get("matrix", {}).get("include", ()))


def make_targets():
    return set(re.findall(r"^([a-z][a-z-]*):(?: |$)", read("Makefile") + read("tests", "tests.mk"), re.M))


def without_make():
    """Returns the environment without the flags of a make that runs this test."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}


class ProjectFiles(unittest.TestCase):
    def test_named_targets_and_scripts_exist(self):
        texts = [command for workflow in workflows().values() for command in commands(workflow)]
        texts += re.findall(r"^```\n(.*?)^```", read("CONTRIBUTING.md"), re.M | re.DOTALL) + [read(".github", "pull_request_template.md")]
        named = {target for text in texts for target in re.findall(r"\bmake (?:-\S+ )*([a-z][a-z-]*)\b", text) if target != "git"}
        self.assertGreaterEqual(len(named), 9)
        self.assertLessEqual(named, make_targets())
        for script in {name for text in texts for name in re.findall(r"(?<![\w/])((?:tests|\.ci)/[\w./-]*[\w-])", text)}:
            self.assertTrue(os.path.exists(os.path.join(ROOT, script)), script)

    def test_workflows_call_ci_and_keep_its_log(self):
        found = workflows()
        self.assertEqual(len(found), 2)
        self.assertTrue(any(".ci/run" in command for command in commands(found[".github/workflows/test.yml"])))
        for path, workflow in found.items():
            for job in workflow["jobs"].values():
                self.assertEqual(job["container"], "debian:bookworm", path)
                uses = [step["uses"] for step in job["steps"] if "uses" in step]
                self.assertIn("actions/upload-artifact@v4", uses)
            self.assertEqual(workflow["permissions"], {"contents": "read"})
            self.assertNotIn("secrets.", read(path))
        nightly = {row["name"] for row in found[".github/workflows/nightly.yml"]["jobs"]["long"]["strategy"]["matrix"]["include"]}
        self.assertLessEqual({"mutation", "failing-memory", "soak", "cluster", "corpus", "fuzz"}, nightly)

    def test_templates_are_forms(self):
        forms = [path for path in glob.glob(".github/ISSUE_TEMPLATE/*.yml", root_dir=ROOT) if not path.endswith("config.yml")]
        self.assertGreaterEqual(len(forms), 4)
        for path in forms:
            form = yaml.safe_load(read(path))
            self.assertLessEqual({"name", "description", "body"}, form.keys(), path)
            identifiers = [part["id"] for part in form["body"]]
            self.assertEqual(len(set(identifiers)), len(identifiers), path)
            for part in form["body"]:
                self.assertIn(part["type"], ("textarea", "input", "dropdown", "checkboxes"), path)
                self.assertTrue(part["attributes"]["label"], path)

    def test_citation_has_the_version(self):
        citation = yaml.safe_load(read("CITATION.cff"))
        self.assertEqual(citation["version"], re.search(r"^VERSION := (\S+)", read("Makefile"), re.M).group(1))
        self.assertLessEqual({"cff-version", "message", "title", "authors", "license"}, citation.keys())

    def test_the_security_policy_names_nobody(self):
        """SECURITY.md and CODE_OF_CONDUCT.md refer reports to a form of the repository's host instead of a mail address, which could become
        invalid."""
        for name in ("SECURITY.md", "CODE_OF_CONDUCT.md"):
            self.assertNotRegex(read(name), r"[\w.]+@[\w.]+\.\w+")
        self.assertIn("SECURITY.md", read("deploy", "SECURITY.md"))

    def test_other_targets_compile_their_kernels_alone(self):
        """After a change of the list of targets only the object with the table of targets is compiled again, not another object. Compiling
        everything would take minutes."""
        with tempfile.TemporaryDirectory() as folder:
            def made(targets):
                done = subprocess.run(["make", "--no-print-directory", f"BUILD={folder}", f"TARGETS={targets}",
                                       f"{folder}/dynamics/dispatch.o", f"{folder}/dynamics/scalar/target.o"], cwd=ROOT,
                                      capture_output=True, text=True, timeout=120, env=without_make())
                self.assertEqual(done.returncode, 0, done.stderr)
                return re.findall(r"CC (.*)", done.stdout)
            self.assertEqual(sorted(made("scalar")), ["dynamics/dispatch.c", "dynamics/target.c (scalar)"])
            self.assertEqual(made("scalar"), [])
            self.assertEqual(made("scalar fma"), ["dynamics/dispatch.c"])

    def test_a_compiler_for_32_bits_is_refused(self):
        """make prints the reason why it cannot build before it compiles the first file."""
        with tempfile.TemporaryDirectory() as folder:
            made = subprocess.run(["make", "--no-print-directory", f"BUILD={folder}/build", "CFLAGS=-m32", "all"], cwd=ROOT, capture_output=True,
                                  text=True, env=without_make())
            self.assertNotEqual(made.returncode, 0)
            self.assertIn("-m32 makes no programs of 64 bits: torqued needs x86-64 or aarch64", made.stderr)
            self.assertNotIn("CC ", made.stdout)


if __name__ == "__main__":
    tap.main()
