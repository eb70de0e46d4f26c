"""Runs the JSON encoders of json_libraries.yaml and stores the version and the text of each in json_libraries_found.json in the same folder,
from which tests/reference_pages.py makes the table of api/clients/README.md. An encoder whose package is missing keeps what is stored. `make
json-libraries` runs this."""
import json
import os
import re
import subprocess
import sys
import tempfile

import yaml
from debian_packages import installed_version

HERE = os.path.dirname(os.path.abspath(__file__))
FOUND = os.path.join(HERE, "json_libraries_found.json")
NUMBERS = [0.7853981633974483, 3.2e-5]


def rows():
    with open(os.path.join(HERE, "json_libraries.yaml"), encoding="utf-8") as file:
        return yaml.safe_load(file)


def found():
    """{library: {"version": of the package, "text": by default}} of the encoders that were run."""
    if not os.path.exists(FOUND):
        return {}
    with open(FOUND, encoding="utf-8") as file:
        return json.load(file)


def output(command):
    """Returns what the command prints, without blanks."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True, check=False, timeout=120,
                              env={**os.environ, "LC_ALL": "C.UTF-8"})
    if done.returncode:
        raise RuntimeError(done.stderr)
    return re.sub(r"\s", "", done.stdout)


def keeps_all(text):
    return [float(item) for item in text.strip("[]").split(",")] == NUMBERS


def cells(row, stored):
    """The cells of the row in the table: library, version, text, digits, remedy."""
    if "package" not in row:
        return row["library"], "not run", "", row["keeps"], row.get("remedy", "")
    kept = "all" if keeps_all(stored["text"]) else "**fewer**"
    return row["library"], f"{row['package']} {stored['version']}", f"`{stored['text']}`", kept, row.get("remedy", "")


def table():
    stored = found()
    lines = ["| library | tried | writes π/4 and 3.2e-5 as | digits | all digits by |", "|---|---|---|---|---|"]
    return "\n".join(lines + [f"| {' | '.join(cells(row, stored.get(row['library'])))} |" for row in rows()]) + "\n"


def main():
    stored = found()
    for row in rows():
        if "package" in row and (version := installed_version(row["package"])):
            stored[row["library"]] = {"version": version, "text": output(row["default"])}
    with open(FOUND, "w", encoding="utf-8") as file:
        json.dump(stored, file, indent=1, ensure_ascii=False)
        file.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
