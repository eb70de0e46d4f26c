"""Writes compile_commands.json from the commands that `make --dry-run` prints on standard input.

The database names each source once, by its first command; the Makefile compiles lane texts for the scalar target first.
"""
import json
import os
import re
import shlex
import sys

COMPILE = re.compile(r"^\s*\S+ .*-c (\S+\.cc?) -o \S+$")


def main():
    commands = {}
    for line in sys.stdin:
        found = COMPILE.match(line)
        if found:
            commands.setdefault(found.group(1), line.strip())
    entries = [{"directory": os.getcwd(), "file": file, "arguments": shlex.split(command)} for file, command in sorted(commands.items())]
    json.dump(entries, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
