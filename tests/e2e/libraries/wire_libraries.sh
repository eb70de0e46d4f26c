#!/bin/bash
# wire_libraries.sh FOLDER - puts the libraries of wire_libraries.yaml into the folder, from npm and Debian. Debian's packages are
# unpacked there and not installed; `versions` has the version of each.
set -euo pipefail
rows=$(dirname "$(realpath "$0")")/wire_libraries.yaml
names() { /usr/bin/python3 -c 'import sys, yaml
for row in yaml.safe_load(open(sys.argv[1])):
    names = row.get(sys.argv[2], [])
    print(*([names] if isinstance(names, str) else names), sep="\n")' "$rows" "$1" | sort -u; }
mkdir -p "$1/root" "$1/versions"
cd "$1"
if command -v npm >/dev/null; then
    # shellcheck disable=SC2046
    npm install --no-audit --no-fund --no-save --ignore-scripts --prefix . $(names npm)
fi
for package in $(names packages); do
    [ -e "versions/$package" ] && continue
    apt-get download "$package" || continue
    dpkg -x "$package"_*.deb root
    dpkg-deb -f "$package"_*.deb Version >"versions/$package"
    rm "$package"_*.deb
done
