"""compile_commands.py [--warnings] - reads the commands that `make --dry-run` prints on standard input, and writes compile_commands.json.

The database names each source once, by its first command; the Makefile compiles lane texts for the scalar target first. With
--warnings nothing is written: each command runs with -fsyntax-only, as many at a time as there are cores, and the status is 1 if
one fails."""
import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys

COMPILE = re.compile(r"^\s*\S+ .*-c (\S+\.cc?) -o \S+$")
WRITES = {"-MMD", "-MP", "-c"}  # options with which the compiler writes files


def read_commands(lines):
    """Returns {source: arguments of its first command}."""
    commands = {}
    for line in lines:
        found = COMPILE.match(line)
        if found:
            commands.setdefault(found.group(1), shlex.split(line))
    return commands


def check(arguments):
    """Prints the warnings and errors of one command. Returns True if there are none that count as errors."""
    kept = [one for one in arguments[:arguments.index("-o")] if one not in WRITES]
    done = subprocess.run([*kept, "-fsyntax-only"], capture_output=True, text=True)
    if done.stderr:
        print(done.stderr, end="", flush=True)
    return done.returncode == 0


def main():
    commands = read_commands(sys.stdin)
    if sys.argv[1:] == ["--warnings"]:
        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            good = list(pool.map(check, commands.values()))
        return 0 if good and all(good) else 1
    entries = [{"directory": os.getcwd(), "file": file, "arguments": command} for file, command in sorted(commands.items())]
    json.dump(entries, sys.stdout, indent=1)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
