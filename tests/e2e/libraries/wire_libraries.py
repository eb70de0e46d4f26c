"""wire_libraries.py FOLDER - tries the libraries of wire_libraries.yaml: which forms of answers each reads, and which of its requests the
server accepts, with the bits of JSON. wire_libraries.sh fills the folder. The results are stored in wire_libraries_found.json, from which
tests/reference_pages.py makes the tables of api/clients/README.md; a library that is not here keeps what is stored. `make
wire-libraries` runs both."""
import json
import os
import shutil
import subprocess
import sys
import sysconfig

import yaml

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "languages"))
from debian_packages import installed_version, missing_package  # noqa: E402

FOUND = os.path.join(HERE, "wire_libraries_found.json")
MEDIA = {"cbor": "application/cbor", "msgpack": "application/vnd.msgpack"}
STATES = [[0.5, 1.5, -0.25, 0.125, 0.75, 0.1], [0.1, -1.1, 0.2, 0.3, -0.4, 2.5]]
REQUEST = {"q": STATES, "qd": [1.5, -0.1, 0.1, 0.2, 0.3, 0.4]}
PATH = "/v1/models/puma560/inverse-dynamics"
FORMS = ("plain", "typed", "multidimensional")
COLUMNS = {"cbor": ("default", *FORMS, "writes", "writes typed"), "msgpack": ("default", "writes", "writes typed")}
WORDS = {True: "yes", False: "no", None: "–"}


def rows():
    with open(os.path.join(HERE, "wire_libraries.yaml"), encoding="utf-8") as file:
        return yaml.safe_load(file)


def found():
    """{"format library": {"version": of the package, column of the table: True, False or None}} of the libraries that were tried."""
    if not os.path.exists(FOUND):
        return {}
    with open(FOUND, encoding="utf-8") as file:
        return json.load(file)


def key(row):
    return f"{row['format']} {row['library']}"


class Library:
    """A library of the table: `missing` is the name of what this machine lacks to run its program, or None."""

    def __init__(self, row, folder):
        self.row, self.media, self.folder = row, MEDIA[row["format"]], folder
        self.modules = os.path.join(folder, "node_modules")
        installed = not missing_package(row.get("packages", []))
        self.usr = "/usr" if installed else os.path.join(folder, "root", "usr")
        self.out = os.path.join(folder, "programs", "".join(c if c.isalnum() else "_" for c in row["library"]))
        needed = [name for name in row.get("packages", []) if not installed and not os.path.exists(self.unpacked(name))]
        if "npm" in row and not os.path.exists(os.path.join(self.modules, self.npm()[0])):
            needed = [self.npm()[0]]
        if "needs" in row and not shutil.which(row["needs"]):
            needed = [row["needs"]]
        self.missing = needed[0] if needed else None

    def unpacked(self, package):
        return os.path.join(self.folder, "versions", package)

    def npm(self):
        """The name and the version of a package of npm."""
        return self.row["npm"].rsplit("@", 1)

    def version(self):
        if "npm" in self.row:
            return self.npm()[1]
        package = self.row["packages"][0]
        if self.usr == "/usr":
            return installed_version(package)
        with open(self.unpacked(package), encoding="utf-8") as file:
            return file.read().strip()

    def call(self, command, data=b""):
        return subprocess.run(["bash", "-c", command], input=data, capture_output=True, timeout=300, check=False,
                              cwd=os.path.join(HERE, "programs"),
                              env={**os.environ, "USR": self.usr, "ARCH": sysconfig.get_config_var("MULTIARCH"), "OUT": self.out, "MODULES": self.modules})

    def build(self):
        """Builds the program, unless a former run did."""
        if "build" in self.row and not os.path.exists(self.out):
            os.makedirs(os.path.dirname(self.out), exist_ok=True)
            done = self.call(self.row["build"])
            if done.returncode:
                raise RuntimeError(f"{key(self.row)}: {done.stderr.decode()}")

    def run(self, mode, data):
        """The output of the program, or None if it fails."""
        done = self.call(f"{self.row['run']} {mode}", data)
        return done.stdout if done.returncode == 0 else None

    def reads(self, body, expected):
        try:
            return (value := self.run("decode", body)) is not None and json.loads(value, parse_int=float)["tau"] == expected
        except (ValueError, KeyError, TypeError):
            return False


def libraries(folder):
    return [Library(row, folder) for row in rows()]


def tried(client, library):
    """Tries a library of CBOR or MessagePack. Returns its version; for each form of the answer, whether the library reads the
    same numbers from it as from JSON; and whether the server accepts the request that the library writes."""
    library.build()
    expected, as_json = client.post(PATH, REQUEST).json()["tau"], json.dumps(REQUEST).encode()
    written = [library.run(mode, as_json) for mode in ("encode", *(["typed"] if library.row.get("typed") else []))]
    answers = [body and client.post(PATH, body, Content_Type=library.media, Accept="application/json") for body in written]
    accepted = [bool(answer) and answer.status == 200 and answer.json()["tau"] == expected for answer in answers]
    default = client.post(PATH, written[0], Content_Type=library.media)
    asked = client.post(PATH, REQUEST, Accept=library.media)
    forms = FORMS if library.row["format"] == "cbor" else ()
    return {"version": library.version(),
            "default": default.status == 200 and library.reads(default.body, expected) and library.reads(asked.body, expected),
            **{form: library.reads(client.post(PATH, REQUEST, Accept=f"{library.media}; arrays={form}").body, expected) for form in forms},
            "writes": accepted[0], "writes typed": accepted[1] if library.row.get("typed") else None}


def table(wire_format):
    """The table of one format in Markdown."""
    columns = COLUMNS[wire_format]
    heads = [column if column.startswith("writes") else f"reads {'the ' if column == 'default' else ''}{column}" for column in columns]
    lines = [f"| library | version | {' | '.join(heads)} |", "|---" * (2 + len(heads)) + "|"]
    for row in rows():
        if row["format"] == wire_format and key(row) in found():
            stored = found()[key(row)]
            lines.append(f"| {row['library']} | {stored['version']} | {' | '.join(WORDS[stored[column]] for column in columns)} |")
    return "\n".join(lines) + "\n"


def main(folder):
    """Stores what was found; fails if a library does not read the default answer, or if its requests are refused."""
    from harness import Server  # needs a built server, which reading the table does not
    server, stored = Server(), found()
    try:
        for library in libraries(folder):
            if library.missing:
                print(f"{key(library.row)}: no {library.missing}")
            else:
                stored[key(library.row)] = tried(server.client(), library)
                print(key(library.row), stored[key(library.row)])
    finally:
        server.stop()
    with open(FOUND, "w", encoding="utf-8") as file:
        json.dump(stored, file, indent=1, ensure_ascii=False)
        file.write("\n")
    return 0 if all(row["default"] and row["writes"] for row in stored.values()) else 1


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
