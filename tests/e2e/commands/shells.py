"""Tests completion in interactive shells: types a line on a pseudo-terminal, presses TAB, and reads what the shell
inserts."""
import os
import pty
import re
import select
import shutil
import subprocess
import tempfile
import time

from harness import BINARY, PATIENCE

CONTROL = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\r|\x07")


class Shell:
    """An interactive bash or zsh in which only the completion of torqued is installed."""

    def __init__(self, name, environment=None):
        self.folder = tempfile.mkdtemp(prefix="torqued-shell-")
        os.symlink(BINARY, os.path.join(self.folder, "torqued"))
        script = os.path.join(self.folder, "_torqued")
        with open(script, "wb") as file:
            subprocess.run([BINARY, "completion", name], stdout=file, check=True, timeout=60)
        start = {"bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"]}[name]
        prepare = {"bash": f"bind 'set enable-bracketed-paste off'; source {script}",
                   "zsh": f"unsetopt zle_bracketed_paste; setopt no_list_beep; fpath=({self.folder} $fpath); autoload -Uz compinit; "
                          f"compinit -u -D; PS1='$ '"}[name]
        master, slave = pty.openpty()
        self.terminal = master
        self.process = subprocess.Popen(
            start, stdin=slave, stdout=slave, stderr=slave, cwd=self.folder, start_new_session=True,
            env={**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}", "TERM": "dumb", "PS1": "$ ", "COLUMNS": "2000",
                 "HOME": self.folder, **(environment or {})})
        os.close(slave)
        self.ask(prepare + "\n")
        self.ask("stty cols 2000; cd " + self.folder + "\n")

    def ask(self, text):
        os.write(self.terminal, text.encode())
        self.until_mark()

    def until_mark(self):
        """Waits until the shell is ready: it has run an echo."""
        os.write(self.terminal, b"echo MA''RK\n")
        shown, give_up = b"", time.monotonic() + PATIENCE
        while b"MARK" not in shown:
            if time.monotonic() > give_up:
                raise AssertionError(f"the shell shows no prompt: {shown}")
            shown += self.read_while(0.1)

    def read_while(self, quiet):
        """Reads until the terminal is silent for `quiet` seconds."""
        shown = b""
        while select.select([self.terminal], [], [], quiet)[0]:
            try:
                more = os.read(self.terminal, 65536)
            except OSError:
                break
            if not more:
                break
            shown += more
        return shown

    def complete(self, line, presses=1):
        """Types `line` and TAB, and returns what the terminal shows."""
        os.write(self.terminal, line.encode() + b"\t" * presses)
        shown, give_up = b"", time.monotonic() + PATIENCE
        while len(CONTROL.sub(b"", shown)) <= len(line) and time.monotonic() < give_up:
            shown += self.read_while(0.5)
        os.write(self.terminal, b"\x15\n")
        self.until_mark()
        return CONTROL.sub(b"", shown).decode(errors="replace")

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.terminal)
        shutil.rmtree(self.folder)


def fish_offers(line, environment=None):
    """Returns the words that fish offers at the end of a line."""
    folder = tempfile.mkdtemp(prefix="torqued-shell-")
    os.symlink(BINARY, os.path.join(folder, "torqued"))
    try:
        script = os.path.join(folder, "torqued.fish")
        with open(script, "wb") as file:
            subprocess.run([BINARY, "completion", "fish"], stdout=file, check=True, timeout=60)
        done = subprocess.run(["fish", "--no-config", "-c", f"source {script}; complete -C '{line}'"], capture_output=True,
                              text=True, timeout=60, cwd=folder,
                              env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "HOME": folder, **(environment or {})})
    finally:
        shutil.rmtree(folder)
    if done.stderr:
        raise AssertionError(done.stderr)
    return [word.split("\t")[0] for word in done.stdout.splitlines()]
