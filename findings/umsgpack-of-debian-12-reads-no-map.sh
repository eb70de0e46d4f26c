#!/bin/bash
# u-msgpack (Python): Debian 12 packages version 2.3.0 beside Python 3.11. The package reads and writes numbers and arrays, so a first test of
# arrays passes. No map is read, not even one that the package has written: it asks for collections.Hashable, which Python 3.10 removed.
set -eu
[ -x /usr/bin/python3 ] && command -v apt-get >/dev/null || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download python3-u-msgpack=2.3.0-3 >apt.log 2>&1 || { tail -n 3 apt.log; exit 77; }
dpkg -x python3-u-msgpack_*.deb root
cat >finding.py <<'FILE'
import sys
import umsgpack
print("u-msgpack", ".".join(map(str, umsgpack.version)), "with Python", sys.version.split()[0])
if sys.version_info < (3, 10):
    sys.exit(77)
print("[1.5, 2.5] packed and unpacked:", umsgpack.unpackb(umsgpack.packb([1.5, 2.5])))
packed = umsgpack.packb({"q": 1.5})
print("{'q': 1.5} packed:", packed.hex(), "expected to be unpacked as {'q': 1.5}")
try:
    found = umsgpack.unpackb(packed)
except AttributeError as error:
    found = error
print("unpacked:", repr(found))
sys.exit(0 if isinstance(found, AttributeError) and packed.hex() == "81a171cb3ff8000000000000" else 1)
FILE
PYTHONPATH="root/usr/lib/python3/dist-packages" /usr/bin/python3 finding.py
