#!/bin/bash
# wire_libraries.sh FOLDER - puts CBOR libraries of npm and of Debian into the folder, for wire_libraries.py. Debian's packages
# are unpacked there and not installed.
set -euo pipefail
mkdir -p "$1/root"
cd "$1"
npm install --no-audit --no-fund --no-save --ignore-scripts --prefix . \
    cbor-x@1.6.0 cbor@9.0.2 cbor2@1.12.0 cborg@4.5.8 @ipld/dag-cbor@9.2.7 cbor-js@0.1.0 cbor-redux@1.0.0 borc@3.0.0
for package in libcbor-xs-perl libcommon-sense-perl libtypes-serialiser-perl python3-cbor nlohmann-json3-dev \
    golang-github-fxamacker-cbor-dev golang-github-x448-float16-dev; do
    apt-get download "$package"
    dpkg -x "$package"_*.deb root
    dpkg-deb -f "$package"_*.deb Version >"$package"
    rm "$package"_*.deb
done
