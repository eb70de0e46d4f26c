"""Prints the parts of a server as SPDX 2.3: sbom.py BINARY <PACKAGES. Each line of PACKAGES is name, version and architecture
of a Debian package, with tabs between. The time is SOURCE_DATE_EPOCH; the namespace names the content."""
import datetime
import hashlib
import json
import os
import re
import subprocess
import sys
import urllib.parse


def identifier(name):
    return "SPDXRef-" + re.sub("[^A-Za-z0-9.-]", "-", name)


def part(package):
    name, version, architecture = package
    locator = f"pkg:deb/debian/{name.replace('+', '%2B')}@{urllib.parse.quote(version)}?arch={architecture}&distro=debian-12"
    return {"SPDXID": identifier(name), "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": locator}]}


def document(binary, packages):
    """Returns the document for a binary and its packages, each a tuple of name, version and architecture."""
    with open(binary, "rb") as file:
        content = file.read()
    version = subprocess.run([binary, "--version"], check=True, capture_output=True, text=True).stdout.split()[1]
    listed = "".join("\t".join(package) + "\n" for package in packages)
    created = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", 0)), datetime.timezone.utc)
    server = {"SPDXID": "SPDXRef-torqued", "name": "torqued", "versionInfo": version, "downloadLocation": "NOASSERTION",
              "filesAnalyzed": False, "checksums": [{"algorithm": "SHA256", "checksumValue": hashlib.sha256(content).hexdigest()}]}
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-torqued")]
    relations += [("SPDXRef-torqued", "DEPENDS_ON", identifier(name)) for name, _, _ in packages]
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"torqued-{version}",
            "documentNamespace": f"https://torqued.invalid/sbom/{hashlib.sha256(content + listed.encode()).hexdigest()}",
            "creationInfo": {"created": created.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: sbom.py"]},
            "packages": [server, *map(part, packages)],
            "relationships": [{"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}
                              for one, kind, other in relations]}


def main():
    packages = [tuple(line.rstrip("\n").split("\t")) for line in sys.stdin]
    json.dump(document(sys.argv[1], packages), sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
