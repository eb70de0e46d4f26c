#!/bin/sh
# secrets.sh - makes the secrets of compose.yaml, as root in the folder of that file: certificates, tokens and passwords, each readable
# by the user of the container that needs it. Prints the token of the administrator once. Refuses to replace secrets.
set -eu
[ ! -e secrets ] || { echo "secrets.sh: the folder secrets exists already" >&2; exit 1; }
umask 077
mkdir -p secrets/torqued
cd secrets

key() { openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes "$@" 2>/dev/null; }

# An authority of this installation, and one certificate for HAProxy and the replicas.
key -x509 -days 3650 -subj "/CN=torqued on $(hostname)" -keyout ca.key -out ca.crt
key -subj /CN=torqued.internal -keyout torqued/tls.key -out tls.csr
printf 'subjectAltName=DNS:torqued.internal,DNS:replica1,DNS:replica2,DNS:replica3,DNS:localhost,DNS:%s' "$(hostname)" >names
openssl x509 -req -in tls.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 825 -extfile names -out torqued/tls.crt 2>/dev/null
rm tls.csr names
cat torqued/tls.crt torqued/tls.key >haproxy.pem

# token NAME ROLES FILE: a line of the file of clients; the token goes to FILE.
token() {
    printf 'torqued_%s' "$(openssl rand -hex 32)" >"$3"
    printf '%s %s sha256:%s\n' "$1" "$2" "$(openssl dgst -sha256 -r <"$3" | cut -c1-64)" >>torqued/tokens
}
token admin admin admin.token
token prometheus observe prometheus.token

openssl rand -hex 24 | tr -d '\n' >postgres.password
openssl rand -hex 12 | tr -d '\n' >grafana.password
printf 'postgres:5432:torqued:torqued:%s\n' "$(cat postgres.password)" >torqued/pgpass

# The users of the images: torqued 65532, Prometheus 65534, Grafana 472. The other images begin as root.
chmod 755 .
chmod 644 ca.crt
chown -R 65532:65532 torqued
chown 65534:65534 prometheus.token
chown 472:0 grafana.password
echo "token of the administrator: $(cat admin.token)"
echo "password of admin in Grafana: secrets/grafana.password"
