#!/usr/bin/python3
"""Writes the image of the server as one file: image.py BUILD FOLDER.

FOLDER gets torqued-VERSION-image-ARCHITECTURE.tar with the server that is built in BUILD, for `docker load`, `podman load`, `ctr images
import` and tools that read a layout of OCI: its index names the image for these, manifest.json for Docker, and both share the files below
blobs/. `make image` calls it. Containerfile says how the image runs, and image-root.sh what is in it.

All times are SOURCE_DATE_EPOCH: the same tree and packages give the same bytes."""
import datetime
import gzip
import hashlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tarfile
import tempfile

DEPLOY = os.path.dirname(os.path.abspath(__file__))
EPOCH = int(os.environ["SOURCE_DATE_EPOCH"])
OWNER, STORE = 65532, "var/lib/torqued"     # the image's user owns the folder of the store, and root all else
SECOND = 10**9                              # ns, the unit of times in an image's configuration
OCI = "application/vnd.oci.image."


def instructions():
    """Returns the instructions of Containerfile as pairs of name and argument."""
    with open(os.path.join(DEPLOY, "Containerfile"), encoding="utf-8") as file:
        lines = re.sub(r"\\\n", " ", file.read()).splitlines()
    return [tuple(line.split(None, 1)) for line in lines if line and not line.startswith("#")]


def health_check(argument):
    """Returns the health check of an image's configuration for the argument of HEALTHCHECK."""
    options, command = argument.split(" CMD ")
    times = dict(re.findall(r"--(\S+)=(\d+)s", options))
    names = {"interval": "Interval", "timeout": "Timeout", "start-period": "StartPeriod"}
    return {"Test": ["CMD", *json.loads(command)], **{names[key]: int(value) * SECOND for key, value in times.items()}}


def settings():
    """Returns how a container of the image runs, from the last stage of Containerfile."""
    found = instructions()
    last = max(i for i, (name, _) in enumerate(found) if name == "FROM")
    said = dict(found[last + 1:])
    unknown = said.keys() - {"COPY", "USER", "VOLUME", "ENV", "EXPOSE", "STOPSIGNAL", "HEALTHCHECK", "ENTRYPOINT"}
    if unknown or len(said) != len(found) - last - 1:
        raise SystemExit(f"image.py: Containerfile has instructions that are unknown or come twice: {sorted(unknown)}")
    return {"User": said["USER"], "ExposedPorts": {f"{said['EXPOSE']}/tcp": {}}, "Env": shlex.split(said["ENV"]),
            "Entrypoint": json.loads(said["ENTRYPOINT"]), "Volumes": {said["VOLUME"]: {}}, "StopSignal": said["STOPSIGNAL"],
            "Healthcheck": health_check(said["HEALTHCHECK"])}


def libraries():
    return next(value.split("=", 1)[1] for name, value in instructions() if name == "ARG" and value.startswith("LIBRARIES=")).split()


def fill(build, root):
    """Fills root with the files of the image."""
    environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    for command in (["make", "-C", os.path.dirname(DEPLOY), "-o", "all", f"BUILD={build}", "install", f"DESTDIR={root}"],
                    ["strip", f"{root}/usr/local/bin/torqued"],
                    ["sh", os.path.join(DEPLOY, "image-root.sh"), root, *libraries()]):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"image.py: {command[0]}: {done.stdout}{done.stderr}")
    os.makedirs(os.path.join(root, STORE))


def add_file(archive, name, content):
    found = tarfile.TarInfo(name)
    found.size, found.mtime, found.mode = len(content), EPOCH, 0o644
    archive.addfile(found, io.BytesIO(content))


def layer_of(root):
    """Returns the tar of a folder's files in the order of their names."""
    def owned(found):
        found.uid = found.gid = OWNER if found.name == STORE else 0
        found.uname = found.gname = ""
        found.mtime = EPOCH
        found.mode = 0o755 if found.isdir() or found.mode & 0o100 else 0o644
        return found

    paths = [os.path.join(folder, name) for folder, below, files in os.walk(root) for name in below + files]
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for path in sorted(paths):
            archive.add(path, os.path.relpath(path, root), recursive=False, filter=owned)
    return packed.getvalue()


def json_of(value):
    return json.dumps(value, sort_keys=True).encode()


def descriptor(blobs, kind, content):
    """Adds a blob. Returns what refers to it."""
    digest = hashlib.sha256(content).hexdigest()
    blobs[f"blobs/sha256/{digest}"] = content
    return {"mediaType": OCI + kind, "digest": f"sha256:{digest}", "size": len(content)}


def contents(layer, version, architecture):
    """Returns the files of the archive by name, for the tar of the image's only layer."""
    created = datetime.datetime.fromtimestamp(EPOCH, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    labels = {"org.opencontainers.image.title": "torqued", "org.opencontainers.image.version": version}
    platform = {"architecture": architecture, "os": "linux"}
    blobs = {}
    packed = descriptor(blobs, "layer.v1.tar+gzip", gzip.compress(layer, 6, mtime=EPOCH))
    config = descriptor(blobs, "config.v1+json", json_of(
        {**platform, "created": created, "config": {**settings(), "Labels": labels},
         "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
         "history": [{"created": created, "created_by": "deploy/image.py"}]}))
    manifest = descriptor(blobs, "manifest.v1+json", json_of(
        {"schemaVersion": 2, "mediaType": OCI + "manifest.v1+json", "config": config, "layers": [packed]}))
    names = {"org.opencontainers.image.ref.name": version, "io.containerd.image.name": f"docker.io/library/torqued:{version}"}
    index = {"schemaVersion": 2, "mediaType": OCI + "index.v1+json", "manifests": [{**manifest, "platform": platform, "annotations": names}]}
    config_path, layer_path = (f"blobs/sha256/{one['digest'].split(':')[1]}" for one in (config, packed))
    return {"oci-layout": json_of({"imageLayoutVersion": "1.0.0"}), "index.json": json_of(index),
            "manifest.json": json_of([{"Config": config_path, "RepoTags": [f"torqued:{version}"], "Layers": [layer_path]}]), **blobs}


def main():
    build, folder = map(os.path.abspath, sys.argv[1:])
    os.umask(0o022)
    with tempfile.TemporaryDirectory() as root:
        fill(build, root)
        version = subprocess.run([f"{root}/usr/local/bin/torqued", "--version"], check=True, capture_output=True, text=True).stdout.split()[1]
        architecture = subprocess.run(["dpkg", "--print-architecture"], check=True, capture_output=True, text=True).stdout.strip()
        layer = layer_of(root)
    with tarfile.open(f"{folder}/torqued-{version}-image-{architecture}.tar", "w", format=tarfile.GNU_FORMAT) as archive:
        for name, content in contents(layer, version, architecture).items():
            add_file(archive, name, content)


if __name__ == "__main__":
    main()
