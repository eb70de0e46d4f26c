"""Tests help, manual page and completions: they follow from the tables of commands and settings, and the completions
run in the shells themselves."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import tap
from harness import BINARY, ROOT, SANITIZED, Server
from shells import Shell, fish_offers


def run(*arguments, **options):
    return subprocess.run([BINARY, *arguments], capture_output=True, text=True, timeout=60, **options)


def commands():
    """Returns the sub-commands that `torqued --help` lists."""
    listed = run("--help").stdout.split("commands:\n")[1].split("\n\n")[0]
    return [line.split()[0] for line in listed.splitlines()]


def settings():
    return re.findall(r"^\| `--([a-z-]+)", run("--settings-table").stdout, re.M)


class Help(unittest.TestCase):
    def test_every_command_explains_itself(self):
        self.assertGreaterEqual(len(commands()), 8)
        for command in commands():
            for arguments in ((command, "--help"), (command, "-h"), (command, "x", "--help")):
                done = run(*arguments)
                self.assertEqual((done.returncode, done.stderr), (0, ""), arguments)
                self.assertTrue(done.stdout.startswith(f"torqued {command} - "), done.stdout)
                for part in (f"\nusage: torqued {command}", "\nexample:\n", "\nexit status: "):
                    self.assertIn(part, done.stdout)
            self.assertLessEqual(max(map(len, done.stdout.split("\nexample:\n")[0].splitlines())), 100)
            # the example is valid shell and uses only flags of this command
            example = done.stdout.split("\nexample:\n")[1].split("\nexit status")[0]
            self.assertIn(f"torqued {command}", example)
            self.assertEqual(subprocess.run(["bash", "-n", "-c", example], capture_output=True).returncode, 0, example)
            flags = set(re.findall(r"^  --([a-z-]+)", done.stdout, re.M)) | set(settings())
            for used in re.findall(r"torqued [^|\n]*", example):
                self.assertLessEqual(set(re.findall(r" --([a-z-]+)", used)), flags, example)

    def test_serve_lists_the_settings(self):
        said = run("serve", "--help").stdout
        self.assertEqual(re.findall(r"^  --([a-z-]+)", said, re.M), settings())

    def test_misuse(self):
        for arguments, said in ((("chekc",), "torqued --help lists them"), (("serve", "x"), "one argument too many for serve"),
                                (("check", "-x"), '"-x" is not an option of check'), (("check",), "check needs FILE"),
                                (("convert", "a", "b"), '"b" is one argument too many'),
                                (("eval", "ur5e", "bias", "q=[0]"), "too many for eval, which reads the fields of a request in JSON from standard"),
                                (("eval", "--base"), "--base needs a value: --base fixed|floating"),
                                (("eval", "--base=", "a", "b"), '--base= is ""; expected fixed|floating'),
                                (("completion", "csh"), 'the argument is "csh"; expected bash|zsh|fish'),
                                (("completion",), "completion needs bash|zsh|fish"), (("man", "x"), "one argument too many"),
                                (("backup", "-", "--no-such", "1"), "is not a setting of torqued"),
                                (("--no-such",), "torqued serve --help lists them")):
            done = run(*arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)
            self.assertIn(said, done.stderr, arguments)
            self.assertTrue(done.stderr.startswith("torqued: "), done.stderr)


class Manual(unittest.TestCase):
    def page(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, "torqued.1")
        with open(path, "w") as file:
            file.write(run("man").stdout)
        return path

    @unittest.skipUnless(shutil.which("man"), "no man here")
    def test_man(self):
        done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", self.page()], capture_output=True, text=True,
                              timeout=60, env={**os.environ, "MANWIDTH": "100", "MAN_KEEP_FORMATTING": "", "LC_ALL": "C.UTF-8"})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        text = re.sub(r".\x08|\x1b\[[0-9;]*m", "", done.stdout)
        for command in commands():
            self.assertRegex(text, rf"\n   {command}\n")
        for setting in settings():
            self.assertRegex(text, f"(?m)^     --{setting}( |$)")
            self.assertIn("TORQUED_" + setting.upper().replace("-", "_"), text)
        self.assertIn("echo '{\"q\": [0, 0.5, 1, 0, 0.5, 0]}' | torqued eval puma560 bias", text)

    @unittest.skipUnless(shutil.which("mandoc"), "no mandoc here")
    def test_mandoc(self):
        done = subprocess.run(["mandoc", "-Tlint", "-Wwarning", self.page()], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stdout + done.stderr, "")


class Completion(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.addClassCleanup(cls.server.kill)

    def test_bash(self):
        shell = Shell("bash")
        self.addCleanup(shell.close)
        self.assertIn("torqued convert ", shell.complete("torqued conv"))
        self.assertIn("torqued --log-level ", shell.complete("torqued --log-l"))
        self.assertIn("torqued --log-level warning ", shell.complete("torqued --log-level w"))
        self.assertIn("torqued serve --log-level=warning ", shell.complete("torqued serve --log-level=w"))
        self.assertIn("torqued check --base floating ", shell.complete("torqued check --base fl"))
        self.assertIn("torqued completion fish ", shell.complete("torqued completion f"))
        self.assertIn("torqued eval --base fixed ur5 forward-dynamics ", shell.complete("torqued eval --base fixed ur5 forward-dy"))
        offered = shell.complete("torqued ", 2)
        for command in commands():
            self.assertIn(command, offered)
        with open(os.path.join(shell.folder, "my robot.urdf"), "w"):
            pass
        self.assertIn("torqued check my\\ robot.urdf ", shell.complete("torqued check my"))
        # names of models come from the server that the line names
        url = self.server.url()
        self.assertIn(f"torqued call --url {url} panda ", shell.complete(f"torqued call --url {url} pan"))
        self.assertIn(f"torqued delete ur5 --url={url} panda ", shell.complete(f"torqued delete ur5 --url={url} pan"))
        self.assertIn(f"torqued call --url {url} panda task-space ", shell.complete(f"torqued call --url {url} panda task"))
        self.assertIn("torqued call panda bias my\\ robot.urdf ", shell.complete("torqued call panda bias my"))

    @unittest.skipUnless(shutil.which("zsh"), "no zsh here")
    def test_zsh(self):
        shell = Shell("zsh")
        self.addCleanup(shell.close)
        self.assertIn("torqued convert ", shell.complete("torqued conv"))
        self.assertIn("warning", shell.complete("torqued serve --log-level w"))
        self.assertIn("floating", shell.complete("torqued check --base fl"))
        self.assertIn("forward-dynamics", shell.complete("torqued eval --base fixed ur5 forward-dy"))
        self.assertIn("fish", shell.complete("torqued completion f"))
        self.assertIn("panda", shell.complete(f"torqued call --url {self.server.url()} pan"))

    @unittest.skipUnless(shutil.which("fish"), "no fish here")
    def test_fish(self):
        self.assertEqual(sorted(fish_offers("torqued ")), sorted(commands()))
        self.assertEqual(fish_offers("torqued serve --log-level w"), ["warning"])
        self.assertEqual(fish_offers("torqued check --base fl"), ["floating"])
        self.assertEqual(fish_offers("torqued eval --base fixed ur5 forward-dy"), ["forward-dynamics"])
        self.assertLessEqual({f"--{name}" for name in settings()}, set(fish_offers("torqued --")))
        self.assertEqual(fish_offers("torqued completion f"), ["fish"])
        self.assertEqual(fish_offers(f"torqued call --url {self.server.url()} pan"), ["panda"])
        self.assertEqual(fish_offers(f"torqued call --url={self.server.url()} panda task"), ["task-space"])


@unittest.skipIf(SANITIZED, "no make of the product here")
class Installation(unittest.TestCase):
    def test_make_install(self):
        """`make install` compiles nothing, since the binary is newer than its sources, and puts every file where its
        reader looks."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        subprocess.run(["make", "-C", ROOT, "install", f"DESTDIR={folder.name}"], check=True, capture_output=True, timeout=600)
        for path, made in (("share/man/man1/torqued.1", ("man",)),
                           ("share/bash-completion/completions/torqued", ("completion", "bash")),
                           ("share/zsh/site-functions/_torqued", ("completion", "zsh")),
                           ("share/fish/vendor_completions.d/torqued.fish", ("completion", "fish"))):
            with open(os.path.join(folder.name, "usr/local", path)) as file:
                self.assertEqual(file.read(), run(*made).stdout)
        subprocess.run(["make", "-C", ROOT, "uninstall", f"DESTDIR={folder.name}"], check=True, capture_output=True, timeout=60)
        self.assertEqual([files for _, _, files in os.walk(folder.name) if files], [])


if __name__ == "__main__":
    tap.main()
