"""Finds the files of deploy/ and the programs, such as nginx, that these files configure."""
import os
import re
import shutil
import subprocess
import unittest

import yaml
from harness import BINARY, PATIENCE, ROOT

DEPLOY = os.path.join(ROOT, "deploy")
PATH = f"{os.environ['PATH']}:/usr/sbin:/sbin"


def read(name):
    with open(os.path.join(DEPLOY, name)) as file:
        return file.read()


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, **options)


def need(*programs):
    """Skips the test if one of the programs is not installed."""
    for program in programs:
        if not shutil.which(program, path=PATH):
            raise unittest.SkipTest(f"no {program} here")


def settings():
    """Returns the server's settings as {environment variable: default}."""
    table = run(BINARY, "--settings-table", check=True).stdout
    return {cells[2].strip("`"): cells[4] for cells in (re.split(r" ?\| ?", row) for row in table.splitlines()[2:])}


def manifests():
    return {document["kind"]: document for document in yaml.safe_load_all(read("kubernetes.yaml"))}


def pod():
    return manifests()["Deployment"]["spec"]["template"]["spec"]
