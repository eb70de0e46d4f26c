#!/bin/bash
# deb.sh [FOLDER] - shows that the Debian packages of this tree work: installs them on a bare Debian of its own, boots it,
# asks the service, upgrades, downgrades, removes and purges. Root, debootstrap and systemd-nspawn are needed. The system has
# a network of its own, which reaches nothing else.
set -euo pipefail

cd "$(dirname "$0")/.."
. tests/debian.sh
work=${1:-$(mktemp -d /var/tmp/deb.XXXXXX)}
root=$work/root
container=(--quiet --register=no --keep-unit --directory="$root")
log() { echo "deb: $*"; }
fail() { log "FAILED: $*"; exit 1; }
holds() { "$@" >/dev/null 2>&1 || fail "$*"; }
fails() { ! "$@" >/dev/null 2>&1 || fail "not: $*"; }

# Runs a command in the system: in the booted one, or with the network of this machine, which apt needs.
inside() {
    local clean=(/usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive)
    if [ -n "${init:-}" ]; then
        nsenter --target "$init" --mount --uts --ipc --net --pid "${clean[@]}" "$@"
    else
        systemd-nspawn "${container[@]}" --pipe "${clean[@]}" "$@" </dev/null
    fi
}
boot() {
    systemd-nspawn "${container[@]}" --private-network --boot </dev/null >"$work/boot.log" 2>&1 &
    nspawn=$!
    for _ in $(seq 300); do
        init=$(pgrep -P "$nspawn" | head -1 || true)
        [ -z "$init" ] || [ "$(inside systemctl is-system-running 2>/dev/null)" != running ] || return 0
        kill -0 "$nspawn" 2>/dev/null || break
        sleep 0.2
    done
    tail -20 "$work/boot.log"
    inside systemctl --failed --no-pager || true
    fail "the system does not boot"
}
halt() {
    kill -s RTMIN+4 "$init" 2>/dev/null || true # systemd powers off
    wait "$nspawn" || true
    init= nspawn=
}
cleanup() {
    [ -z "${nspawn:-}" ] || halt
    [ -n "${KEEP:-}" ] || rm -rf --one-file-system "$work"
}
trap cleanup EXIT

ask() { inside curl -s --max-time 20 "$@"; }
ready() {
    for _ in $(seq 100); do
        [ "$(ask -o /dev/null -w '%{http_code}' http://localhost:8088/readyz)" != 200 ] || return 0
        sleep 0.1
    done
    inside journalctl -q --no-pager -u torqued | tail -20
    fail "the service is not ready"
}
puma='{"q":[0,0.7853981633974483,3.141592653589793,0,0.7853981633974483,0],"qd":[1,1,1,1,1,1],"qdd":[1,1,1,1,1,1]}'
rod='{"links":[{"name":"rod","parent":"base","joint":{"name":"hinge","type":"revolute","axis":[0,1,0]}}]}'
computes() {
    case $(ask "$@" http://localhost:8088/v1/models/puma560/inverse-dynamics -H 'Content-Type: application/json' -d "$puma") in
    '{"tau":[32.4952427'*) ;;
    *) fail "the service does not compute: $*" ;;
    esac
}
kept() { ask -f -o /dev/null http://localhost:8088/v1/models/rod || fail "a model is lost after $1"; }
version() { inside dpkg-query -W -f '${Version}' torqued; }
policies() { # scheduling policies of the threads of a process
    inside sh -c 'for task in /proc/$1/task/*; do echo "$(cat $task/comm): $(chrt -p ${task##*/} | sed -n "s/.*policy: //p")"; done' \
        sh "$1" | sort | uniq -c | tr -s ' \n' ' '
}
left() { find "$root" -xdev -path "$root/root" -prune -o -name '*torqued*' -print | grep -v '/var/log/\|/var/lib/dpkg/\|/var/cache/'; }

mkdir -p "$work"
for number in 1.0 1.1; do
    log "packages of version $number"
    make -s deb DEB="$work/$number" DEB_VERSION=$number >"$work/make.log" 2>&1 || { tail -20 "$work/make.log"; fail "make deb"; }
done
log "bare system in $root"
bare_debian "$root" systemd-sysv,ca-certificates,curl
cp -r "$work/1.0" "$work/1.1" "$root/root"

log "install"
inside sh -c 'apt-get update -qq && apt-get install --no-install-recommends -y /root/1.0/torqued_*.deb' >"$work/apt.log" 2>&1 ||
    { tail -20 "$work/apt.log"; fail "apt-get install"; }
holds inside systemctl is-enabled torqued
holds inside torqued --version
boot
ready
computes
computes --unix-socket /run/torqued/socket
log "booted: $(inside systemctl show -p ActiveState,SubState,MainPID --value torqued | tr '\n' ' ')"
log "$(ask http://localhost:8088/v1/models/puma560/inverse-dynamics -H 'Content-Type: application/json' -d "$puma")"
holds ask -f -X PUT http://localhost:8088/v1/models/rod -H 'Content-Type: application/json' -d "$rod"
inside sed -i 's/^#TORQUED_LOG_LEVEL=.*/TORQUED_LOG_LEVEL=warning/' /etc/torqued.env

log "upgrade"
before=$(inside systemctl show -p MainPID --value torqued)
holds inside dpkg -i /root/1.1/torqued_1.1_amd64.deb
[ "$(version)" = 1.1 ] || fail "it is not upgraded"
ready
[ "$(inside systemctl show -p MainPID --value torqued)" != "$before" ] || fail "the service was not restarted"
computes
kept "an upgrade"
holds inside grep -q '^TORQUED_LOG_LEVEL=warning' /etc/torqued.env # changed settings stay

log "downgrade"
holds inside dpkg -i /root/1.0/torqued_1.0_amd64.deb
ready
computes
kept "a downgrade"

log "real-time drop-in"
inside install -D -m 644 /usr/share/doc/torqued/examples/realtime.conf /etc/systemd/system/torqued.service.d/realtime.conf
inside systemctl daemon-reload
if inside systemctl restart torqued; then
    ready
    computes
    threads=$(policies "$(inside systemctl show -p MainPID --value torqued)")
    log "threads: $threads"
    case $threads in *"torqued-loop: SCHED_FIFO"*) ;; *) fail "the loops are not real-time" ;; esac
    case $threads in *"torqued-worker: SCHED_FIFO"*) fail "workers are real-time" ;; esac
else
    inside journalctl -q --no-pager -u torqued | tail -3
    fail "the service does not start in real time"
fi
inside rm -r /etc/systemd/system/torqued.service.d
inside systemctl daemon-reload

log "remove"
holds inside apt-get remove -y torqued
fails inside systemctl is-active torqued
fails inside test -e /usr/bin/torqued
holds inside test -e /etc/torqued.env
holds inside test -e /var/lib/private/torqued/models/rod.json
log "install again"
holds inside dpkg -i /root/1.0/torqued_1.0_amd64.deb
ready
kept "a removal"
[ "$(inside systemctl --failed -q)" = "" ] || fail "$(inside systemctl --failed)"

log "purge"
holds inside apt-get purge -y torqued
halt
! left || fail "these files are left"
log passed
