#!/usr/bin/python3
"""Writes the Python client as a wheel: wheel.py FOLDER. The fields are those of pyproject.toml. setuptools would write the same files; this
needs the standard library alone, since the server serves the wheel and so every build makes it. All times in the wheel are 1980,
so that the same sources give the same bytes."""
import base64
import hashlib
import os
import re
import sys
import tomllib
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
WHEEL = "Wheel-Version: 1.0\nGenerator: torqued\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def read(*path):
    with open(os.path.join(HERE, *path), "rb") as file:
        return file.read()


def metadata(project, version):
    """The core metadata 2.1 of the package."""
    lines = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {version}", f"Summary: {project['description']}",
             f"License: {project['license']['text']}", *(f"Classifier: {one}" for one in project["classifiers"]),
             f"Requires-Python: {project['requires-python']}", "Description-Content-Type: text/markdown",
             *(f"Requires-Dist: {one}" for one in project["dependencies"])]
    for extra, packages in project["optional-dependencies"].items():
        lines += [f"Provides-Extra: {extra}", *(f"Requires-Dist: {one}; extra == '{extra}'" for one in packages)]
    return ("\n".join(lines) + "\n\n").encode() + read(project["readme"])


def sources():
    """The modules of the package and the mark of typed packages, by their path in the wheel."""
    for folder, _, names in os.walk(os.path.join(HERE, "src")):
        for name in names:
            if name.endswith(".py") or name == "py.typed":
                path = os.path.relpath(os.path.join(folder, name), os.path.join(HERE, "src"))
                yield path, read("src", path)


def write(path, contents, info):
    """Writes a wheel of {path: bytes} with its RECORD; what lies in a folder `scripts` is executable."""
    def digest(content):
        return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    record = "".join(f"{name},sha256={digest(content)},{len(content)}\n" for name, content in sorted(contents.items()))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as wheel:
        for name, content in [*sorted(contents.items()), (f"{info}/RECORD", f"{record}{info}/RECORD,,\n".encode())]:
            entry = zipfile.ZipInfo(name)
            entry.external_attr = (0o100755 if ".data/scripts/" in name else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, content)


def contents_of_client():
    """Returns ({path: bytes}, the folder of metadata, the version)."""
    project = tomllib.loads(read("pyproject.toml").decode())["project"]
    version = re.search(r'^VERSION = "(.*)"', read("src/torqued/contract/version.py").decode(), re.MULTILINE)[1]
    info = f"torqued-{version}.dist-info"
    return {**dict(sources()), f"{info}/METADATA": metadata(project, version), f"{info}/WHEEL": WHEEL.encode(),
            f"{info}/top_level.txt": b"torqued\n"}, info, version


def main():
    contents, info, version = contents_of_client()
    write(os.path.join(sys.argv[1], f"torqued-{version}-py3-none-any.whl"), contents, info)


if __name__ == "__main__":
    main()
