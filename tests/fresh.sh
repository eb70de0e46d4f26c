#!/bin/bash
# fresh.sh [FOLDER] - tests that the README's two commands suffice on a bare Debian 12 that has only make and git.
# Makes such a system with debootstrap (needs root), clones this tree's HEAD into it, counts there the packages and megabytes
# that a build needs, and runs `make test`, then `make run` and the README's first request.
set -euo pipefail
case ${1:-} in
-*) sed -n '2,4s/^# //p' "$0"; exit 2 ;;
esac
cd "$(dirname "$0")/.."
. tests/debian.sh
root=${1:-$(mktemp -d /var/tmp/fresh.XXXXXX)}
log() { echo "fresh: $*"; }

cleanup() {
    [ -z "${server:-}" ] || kill -- "-$server" 2>/dev/null || true
    for mounted in proc dev; do
        mountpoint -q "$root/$mounted" && umount -l "$root/$mounted"
    done
    [ -n "${KEEP:-}" ] || rm -rf --one-file-system "$root"
}
trap cleanup EXIT

log "bare system in $root"
bare_debian "$root" make,git,ca-certificates
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --make-rslave "$root/dev"
inside() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 "$@"; }

git clone -q . "$root/root/torqued"
installed() { inside dpkg-query -W -f '${db:Status-Abbrev}\n' | grep -c ^ii; }
megabytes() { inside apt-get clean; du -sm --one-file-system --exclude="$root/root" --exclude="$root/var/lib/apt/lists" "$root" | cut -f1; }
packages=$(installed) size=$(megabytes)
inside /root/torqued/tests/deps run
packages=$(($(installed) - packages)) size=$(($(megabytes) - size))
log "a build needs $packages packages, $size MB"
[ "$packages" -le 130 ] && [ "$size" -le 350 ] || { log "FAILED: at most 130 packages and 350 MB are allowed"; exit 1; }

log "make test"
started=$SECONDS
tests=passed
inside make -C /root/torqued test || tests=FAILED
log "make test $tests after $((SECONDS - started)) s"

log "make run"
set -m # gives the server a process group, so that cleanup can end all its processes
inside make -C /root/torqued run ARGS="--listen 127.0.0.1:18088" >"$root/run.log" 2>&1 &
server=$!
set +m
for _ in $(seq 300); do
    inside curl -sf http://127.0.0.1:18088/readyz >/dev/null && break
    kill -0 "$server" 2>/dev/null || { cat "$root/run.log"; exit 1; }
    sleep 0.2
done
# the README's first request
answer=$(inside curl -s http://127.0.0.1:18088/v1/models/puma560/inverse-dynamics -H 'Content-Type: application/json' \
    -d '{"q":[0,0.7853981633974483,3.141592653589793,0,0.7853981633974483,0],"qd":[1,1,1,1,1,1],"qdd":[1,1,1,1,1,1]}')
log "$answer"
kill -0 "$server" 2>/dev/null || { cat "$root/run.log"; exit 1; } # if the server has ended, another one has answered
case $answer in
'{"tau":[32.4952427'*) log "make run passed" ;;
*)
    cat "$root/run.log"
    log "make run FAILED"
    exit 1
    ;;
esac
[ "$tests" = passed ]
