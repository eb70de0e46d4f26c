#!/bin/sh
# image-root.sh ROOT [LIBRARY]... - completes ROOT, the folder of `make install DESTDIR=ROOT`, to the root of an image: the shared
# libraries that torqued and each further LIBRARY (such as libcurl.so.4) need, their licences, the user 65532, and a list of the
# packages that they come from (SPDX 2.3). There is no shell and no package manager in it.
#
# All times are SOURCE_DATE_EPOCH (0 if it is not set): the same binary and packages give the same files.
set -eu
root=$1
shift
epoch=${SOURCE_DATE_EPOCH:-0}
binary=$root/usr/local/bin/torqued
[ -x "$binary" ] || { echo "image-root.sh: there is no $binary" >&2; exit 1; }
umask 022
list=$(mktemp -d)
trap 'rm -rf "$list"' EXIT

# The files that the loader would open, for the binary and for each library that it loads later.
ldconfig=$(command -v ldconfig || echo /sbin/ldconfig)
path_of() { "$ldconfig" -p | awk -v name="$1" '$1 == name { print $NF; exit }'; }
loaded() { ldd "$1" | awk '$2 == "=>" { print $3 } $1 ~ /^\// { print $1 }'; }
{
    loaded "$binary"
    for library; do
        path=$(path_of "$library")
        [ -n "$path" ] || { echo "image-root.sh: there is no $library here" >&2; exit 1; }
        echo "$path"
        loaded "$path"
    done
} | LC_ALL=C sort -u >"$list/libraries"

# Copies each under the name and folder by which the loader finds it.
ln -sfn usr/lib "$root/lib"
ln -sfn usr/lib64 "$root/lib64"
mkdir -p "$root/usr/lib" "$root/usr/lib64"
while read -r library; do
    install -D -m 755 "$library" "$root/usr/${library#/usr}"
    readlink -f "$library" | sed 's|^/usr||'
done <"$list/libraries" | LC_ALL=C sort -u >"$list/files"

# Packages of these files: name<tab>version<tab>architecture. Packages of Debian 12 have libraries below /lib or below /usr/lib.
sed 'p; s|^|/usr|' "$list/files" | xargs dpkg -S 2>/dev/null >"$list/owners" || true
sed 's|^.*: ||; s|^/usr||' "$list/owners" | LC_ALL=C sort -u | LC_ALL=C comm -13 - "$list/files" >"$list/strangers"
[ ! -s "$list/strangers" ] || { echo "image-root.sh: no package has $(cat "$list/strangers")" >&2; exit 1; }
cut -d: -f1 "$list/owners" | LC_ALL=C sort -u | xargs dpkg-query -W -f '${db:Status-Abbrev}\t${Package}\t${Version}\t${Architecture}\n' |
    sed -n 's/^ii *\t//p' | LC_ALL=C sort -u >"$list/packages"

while read -r package _; do
    install -D -m 644 "/usr/share/doc/$package/copyright" "$root/usr/share/doc/$package/copyright"
done <"$list/packages"

mkdir -p "$root/etc" "$root/run/secrets/torqued" "$root/tmp"
printf 'root:x:0:0::/:/nonexistent\ntorqued:x:65532:65532::/:/nonexistent\n' >"$root/etc/passwd"
printf 'root:x:0:\ntorqued:x:65532:\n' >"$root/etc/group"
printf 'hosts: files dns\n' >"$root/etc/nsswitch.conf"

SOURCE_DATE_EPOCH=$epoch /usr/bin/python3 "$(dirname "$0")/sbom.py" "$binary" <"$list/packages" >"$root/usr/share/doc/torqued.spdx.json"

find "$root" -exec touch -h -d "@$epoch" {} +
