"""The files of deploy/, and the programs that they are for."""
import os
import shutil
import subprocess
import unittest

from harness import PATIENCE, ROOT

DEPLOY = os.path.join(ROOT, "deploy")
PATH = f"{os.environ['PATH']}:/usr/sbin:/sbin"


def read(name):
    with open(os.path.join(DEPLOY, name)) as file:
        return file.read()


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, **options)


def need(*programs):
    """Where one of them is missing, what needs it is skipped."""
    for program in programs:
        if not shutil.which(program, path=PATH):
            raise unittest.SkipTest(f"no {program} here")
