# debian.sh - defines bare_debian, for scripts that need a bare Debian 12. Needs root and debootstrap. The new system gets
# its packages from the mirror, and through the proxy, that this machine's apt uses.

# bare_debian FOLDER PACKAGE,... - makes the system in FOLDER, with these packages.
bare_debian() {
    local mirror proxy
    mirror=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' |
        awk '$2 == "bookworm" && $3 == "main" { print $1; exit }')
    [ -n "$mirror" ] || { echo "apt here knows no Debian 12 (bookworm main)" >&2; return 1; }
    proxy=$(apt-config dump Acquire::http::Proxy | sed -n 's/.*"\(.*\)";/\1/p')
    [ -z "$proxy" ] || export http_proxy=$proxy
    debootstrap --variant=minbase --include="$2" bookworm "$1" "$mirror" >"$1.log" 2>&1 ||
        { tail -20 "$1.log"; return 1; }
    rm -f "$1.log"
    apt-config dump | grep -E '^Acquire::(http|https)::(Proxy|CAInfo)' >"$1/etc/apt/apt.conf.d/99host" || true
}
