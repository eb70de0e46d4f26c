#!/bin/bash
# deploy.sh [FOLDER] - tests that deploy/ works as its README says: builds the image of this tree's HEAD on a bare Debian,
# runs the image, and boots a Debian with the service and nginx. Needs root, podman and debootstrap.
set -euo pipefail

# podman's runtime needs the unified hierarchy of control groups (v2): elsewhere, mounts one for this script alone.
if [ ! -f /sys/fs/cgroup/cgroup.controllers ]; then
    unshare --mount sh -c 'umount -l /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup && exec "$@"' - "$0" "$@"
    exit
fi
cd "$(dirname "$0")/.."
. tests/debian.sh
work=${1:-$(mktemp -d /var/tmp/deploy.XXXXXX)}
log() { echo "deploy: $*"; }
fail() { log "FAILED: $*"; exit 1; }
pod() { podman --root "$work/images" --runroot "$work/run" --cgroup-manager cgroupfs "$@"; }
# Starts a container with low limits, which need no right to raise limits.
run() {
    pod run -d --name torqued --network none --cgroups disabled --ulimit nofile=16384:16384 --ulimit nproc=4096:4096 \
        "$@" >/dev/null 2>"$work/run.log" || { cat "$work/run.log"; return 1; }
}

# Sends a request from this machine inside the container's network. A server without a file of clients ignores the token.
token=
ask() { nsenter -n -t "$(pod inspect -f '{{.State.Pid}}' torqued)" curl -sk --max-time 20 \
    -H "Authorization: Bearer $token" "$@"; }
ready() {
    for _ in $(seq 100); do
        [ "$(ask -o /dev/null -w '%{http_code}' "$1/readyz")" != 200 ] || return 0
        sleep 0.1
    done
    pod logs torqued
    pod exec torqued journalctl -q --no-pager -u nginx -u torqued 2>/dev/null || true
    fail "$1 is not ready"
}
puma='{"q":[0,0.7853981633974483,3.141592653589793,0,0.7853981633974483,0],"qd":[1,1,1,1,1,1],"qdd":[1,1,1,1,1,1]}'
rod='{"links":[{"name":"rod","parent":"base","joint":{"name":"hinge","type":"revolute","axis":[0,1,0]}}]}'
computes() {
    case $(ask "$1/v1/models/puma560/inverse-dynamics" -H 'Content-Type: application/json' -d "$puma") in
    '{"tau":[32.4952427'*) log "$1 computes" ;;
    *) fail "$1 does not compute" ;;
    esac
}
keeps() { ask -f -o /dev/null -X PUT "$1/v1/models/rod" -H 'Content-Type: application/json' -d "$rod"; }
kept() { ask -f -o /dev/null "$1/v1/models/rod" || fail "$1 has lost a model"; }

cleanup() {
    pod rm -f -a >/dev/null 2>&1 || true
    ! mountpoint -q "$work/images/overlay" || umount "$work/images/overlay"
    [ -n "${KEEP:-}" ] || rm -rf --one-file-system "$work"
}
trap cleanup EXIT

mkdir -p "$work"
log "bare system in $work"
bare_debian "$work/base" ca-certificates
rm -rf "$work"/base/var/cache/apt/*
tar -C "$work/base" -c . | pod import -q - torqued-base >/dev/null
rm -rf --one-file-system "$work/base"
git clone -q . "$work/tree"
cd "$work/tree"

log "image"
pod build -q --isolation chroot --pull=never --format docker --build-arg BASE=localhost/torqued-base \
    -f deploy/Containerfile -t torqued . >"$work/build.log" 2>&1 || { tail -20 "$work/build.log"; fail "image"; }
log "$(pod images --format '{{.Repository}} {{.Size}}' | grep /torqued | tr '\n' ' ')"
mkdir secrets
token=$(pod run --rm --network none --cgroups disabled --entrypoint torqued torqued token admin admin 2>&1 >secrets/tokens)
openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost -keyout secrets/tls.key -out secrets/tls.crt 2>/dev/null
chown -R 65532:65532 secrets
for turn in first second; do
    run --read-only --cap-drop all --security-opt no-new-privileges --stop-timeout 40 -v torqued:/var/lib/torqued \
        -v "$PWD/secrets:/run/secrets/torqued:ro" torqued
    ready https://localhost:8088
    pod healthcheck run torqued || fail "the health check"
    computes https://localhost:8088
    if [ $turn = first ]; then keeps https://localhost:8088; else kept https://localhost:8088; fi
    pod stop torqued >/dev/null 2>&1
    [ "$(pod inspect -f '{{.State.ExitCode}}' torqued)" = 0 ] || fail "it did not end in order"
    pod rm torqued >/dev/null 2>&1
done

log "service behind nginx, in a Debian with systemd"
mkdir tls
openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost -keyout tls/key.pem -out tls/certificate.pem 2>/dev/null
pod build -q --isolation chroot --pull=never -t booted -f - . >"$work/build.log" 2>&1 <<'BOOTED' || { tail -20 "$work/build.log"; fail "system"; }
FROM localhost/torqued-base
COPY --from=localhost/torqued /usr/local /usr/local
COPY --from=localhost/torqued /usr/share/doc/torqued.spdx.json /tmp/
RUN apt-get update -qq && apt-get install --no-install-recommends -y systemd-sysv nginx-light \
    $(grep -o 'pkg:deb/debian/[^@]*' /tmp/torqued.spdx.json | sed 's|.*/||; s/%2B/+/g')
COPY tls /etc/torqued/
COPY deploy/torqued.service /etc/systemd/system/
COPY deploy/torqued.env /etc/
COPY deploy/nginx.conf /etc/nginx/conf.d/torqued.conf
RUN systemctl enable torqued
STOPSIGNAL SIGRTMIN+3
ENTRYPOINT ["/sbin/init"]
BOOTED
run --privileged --systemd=always --image-volume=ignore --no-healthcheck booted
ready https://localhost
for url in http://localhost:8088 https://localhost; do computes $url; done
keeps https://localhost
pod exec torqued systemctl restart torqued
ready https://localhost
kept https://localhost
[ -z "$(pod exec torqued systemctl --failed -q)" ] || fail "$(pod exec torqued systemctl --failed)"
log "passed"
