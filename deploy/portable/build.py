#!/usr/bin/python3
"""Writes packages of the server that need no package manager of a system: build.py BUILD FOLDER.

From the tree that is built in BUILD, FOLDER gets a tarball that runs where it is
unpacked, a wheel that carries the server, and a list of the parts (SPDX). `make packages` calls it.

The shared libraries lie in lib/torqued beside the server, where its RPATH leads; glibc and libgcc_s are the system's. All times are
SOURCE_DATE_EPOCH: the same tree and packages give the same bytes."""
import gzip
import io
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(TREE, "deploy"), os.path.join(TREE, "api/clients/python")]
import sbom  # noqa: E402
import wheel  # noqa: E402

EPOCH = int(os.environ["SOURCE_DATE_EPOCH"])
OF_THE_SYSTEM = re.compile(r"(libc|libm|libgcc_s|ld-linux-[^/]*)\.so\.\d+")
# Packages whose static libraries are part of the server.
LINKED = ("libblas-dev", "liblapack-dev", "liblapacke-dev", "libsundials-dev", "libxml2-dev")


def run(*command, **keywords):
    return subprocess.run(command, check=True, capture_output=True, text=True, **keywords).stdout


def install(build, root):
    """Fills root with what `make install` installs, the portable server in place of the other."""
    environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    run("make", "-C", TREE, "-o", "all", f"BUILD={build}", "install", f"DESTDIR={os.path.dirname(root)}",
        f"PREFIX=/{os.path.basename(root)}", env=environment)
    run("strip", "-o", f"{root}/bin/torqued", f"{build}/portable/torqued")
    os.makedirs(f"{root}/lib/torqued")


def copy_libraries(root):
    """Copies the shared libraries of the server. Returns the files that they are on this machine."""
    lines = run("ldd", f"{root}/bin/torqued").splitlines()
    paths = sorted(line.split()[2] for line in lines if " => /" in line)
    found = []
    for path in paths:
        if not OF_THE_SYSTEM.fullmatch(os.path.basename(path)):
            shutil.copyfile(path, f"{root}/lib/torqued/{os.path.basename(path)}")
            found.append(os.path.realpath(path))
    return found


def package_of(path):
    """Returns the Debian package of a file. Merged folders have two names, of which dpkg knows one."""
    for name in (path, path.removeprefix("/usr")):
        done = subprocess.run(["dpkg", "-S", name], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return done.stdout.split(":")[0]
    raise SystemExit(f"build.py: no package has {path}")


def described(name):
    """Returns name, version and architecture of a package: the installed one, else that of apt, which `tests/deps` has unpacked."""
    done = subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Status}\t${Version}\t${Architecture}\n", name], capture_output=True,
                          text=True, check=False)
    for status, version, architecture in (line.split("\t") for line in done.stdout.splitlines()):
        if status == "installed":
            return name, version, architecture
    shown = run("apt-cache", "show", "--no-all-versions", name)
    return name, re.search("^Version: (.*)$", shown, re.MULTILINE)[1], re.search("^Architecture: (.*)$", shown, re.MULTILINE)[1]


def add_licences(root, packages):
    for package, _, _ in packages:
        for folder in ("/usr/share/doc", os.path.join(TREE, "build/packages/usr/share/doc")):
            if os.path.exists(f"{folder}/{package}/copyright"):
                os.makedirs(f"{root}/share/doc/torqued/libraries", exist_ok=True)
                shutil.copyfile(f"{folder}/{package}/copyright", f"{root}/share/doc/torqued/libraries/{package}")
                break
        else:
            raise SystemExit(f"build.py: {package} has no copyright here")


def files(root):
    """Returns the paths of all files below a folder, relative to it, in order."""
    return sorted(os.path.relpath(os.path.join(folder, name), root) for folder, _, names in os.walk(root) for name in names)


def write_tarball(root, path):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name in files(root):
            entry = archive.gettarinfo(os.path.join(root, name), os.path.join(os.path.basename(root), name))
            entry.uid = entry.gid = 0
            entry.uname = entry.gname = "root"
            entry.mtime, entry.mode = EPOCH, 0o755 if name == "bin/torqued" else 0o644
            with open(os.path.join(root, name), "rb") as content:
                archive.addfile(entry, content)
    with open(path, "wb") as file, gzip.GzipFile("", "wb", 6, file, mtime=EPOCH) as compressed:
        compressed.write(packed.getvalue())


def newest_glibc(root):
    """Returns the newest version of glibc's symbols that the server and its libraries use, as a tuple."""
    elves = [f"{root}/bin/torqued", *(f"{root}/lib/torqued/{name}" for name in os.listdir(f"{root}/lib/torqued"))]
    versions = re.findall(r"\bGLIBC_(\d+)\.(\d+)", run("objdump", "-p", *elves))
    return max((int(major), int(minor)) for major, minor in versions)


def write_wheel(root, folder, tag):
    """Writes the client's wheel with the server as a script and its libraries and robots as data of the environment."""
    contents, info, version = wheel.contents_of_client()
    data = info.replace(".dist-info", ".data")
    text = contents[f"{info}/WHEEL"].decode()
    contents[f"{info}/WHEEL"] = text.replace("Purelib: true", "Purelib: false").replace("Tag: py3-none-any", f"Tag: {tag}").encode()
    for name in files(root):
        with open(os.path.join(root, name), "rb") as file:
            contents[f"{data}/scripts/torqued" if name == "bin/torqued" else f"{data}/data/{name}"] = file.read()
    wheel.write(f"{folder}/torqued-{version}-{tag}.whl", contents, info)


def main():
    build, folder = map(os.path.abspath, sys.argv[1:])
    version = wheel.contents_of_client()[2]
    machine = platform.machine()
    with tempfile.TemporaryDirectory() as work:
        root = os.path.join(work, f"torqued-{version}-linux-{machine}")
        install(build, root)
        names = sorted({*map(package_of, copy_libraries(root)), *LINKED})
        packages = [described(name) for name in names]
        add_licences(root, packages)
        with open(f"{root}/share/doc/torqued/torqued.spdx.json", "w", encoding="utf-8") as file:
            json.dump(sbom.document(f"{root}/bin/torqued", packages), file, indent=1)
        glibc = newest_glibc(root)
        write_tarball(root, f"{folder}/{os.path.basename(root)}.tar.gz")
        tag = f"py3-none-manylinux_{glibc[0]}_{glibc[1]}_{machine}"
        write_wheel(root, folder, tag)
        shutil.copyfile(f"{root}/share/doc/torqued/torqued.spdx.json", f"{folder}/torqued-{version}-linux-{machine}.spdx.json")
    print(f"needs glibc {glibc[0]}.{glibc[1]} or newer")


if __name__ == "__main__":
    main()
