/* tls.c - see tls.h. */
#include "tls.h"
#include "regular_file.h"
#include <gnutls/x509.h>
#include <stdlib.h>
#include <string.h>

static const char ciphers[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-KX-ALL:+ECDHE-ECDSA:+ECDHE-RSA:-CIPHER-ALL:"
                              "+AES-256-GCM:+CHACHA20-POLY1305:+AES-128-GCM:%SERVER_PRECEDENCE";

enum { MAX_CHAIN = 10 }; /* certificates from a client's up to its authority */

struct srv_tls {
    gnutls_certificate_credentials_t credentials;
    gnutls_priority_t                priorities;
    bool                             asks_client;
};

static bool fail(const char *setting, const char *file, int code, char *error, size_t error_size)
{
    snprintf(error, error_size, "cannot use the file %.200s of %s: %s", file, setting,
             code == 0 ? "it has no certificate" : gnutls_strerror(code));
    return false;
}

/* Refuses files that are not regular before GnuTLS opens them: to open a FIFO would wait for its writer. */
static bool is_readable(const char *setting, const char *path, char *error, size_t error_size)
{
    char  reason[200];
    FILE *file = path ? srv_regular_file_open(path, reason, sizeof reason) : NULL;
    if (path && !file) snprintf(error, error_size, "cannot use the file %.200s of %s: %s", path, setting, reason);
    if (file) fclose(file);
    return !path || file;
}

static bool read_files(srv_tls *tls, const srv_config *config, char *error, size_t error_size)
{
    const char *certificate = config->tls_certificate, *key = config->tls_key, *ca = config->tls_client_ca;
    if (!is_readable("--tls-certificate", certificate, error, error_size) ||
        !is_readable("--tls-key", key, error, error_size) || !is_readable("--tls-client-ca", ca, error, error_size))
        return false;
    int code = gnutls_certificate_set_x509_key_file(tls->credentials, certificate, key, GNUTLS_X509_FMT_PEM);
    if (code == GNUTLS_E_CERTIFICATE_KEY_MISMATCH)
        return fail("--tls-certificate and --tls-key", key, code, error, error_size);
    if (code < 0) {
        snprintf(error, error_size, "cannot use the files %.200s of --tls-certificate and %.200s of --tls-key: %s",
                 certificate, key, gnutls_strerror(code));
        return false;
    }
    if (!ca) return true;
    tls->asks_client = true;
    code             = gnutls_certificate_set_x509_trust_file(tls->credentials, ca, GNUTLS_X509_FMT_PEM);
    return code > 0 || fail("--tls-client-ca", ca, code, error, error_size);
}

srv_tls *srv_tls_read(const srv_config *config, char *error, size_t error_size)
{
    srv_tls *tls = calloc(1, sizeof *tls);
    snprintf(error, error_size, "no memory for the certificates of TLS");
    if (tls && gnutls_certificate_allocate_credentials(&tls->credentials) == 0 &&
        gnutls_priority_init(&tls->priorities, ciphers, NULL) == 0 && read_files(tls, config, error, error_size))
        return tls;
    srv_tls_free(tls);
    return NULL;
}

time_t srv_tls_expiry(const srv_tls *tls)
{
    gnutls_x509_crt_t *chain = NULL;
    unsigned           n     = 0;
    time_t             first = 0;
    if (gnutls_certificate_get_x509_crt(tls->credentials, 0, &chain, &n) != 0) return 0;
    for (unsigned i = 0; i < n; i++) {
        time_t end = gnutls_x509_crt_get_expiration_time(chain[i]);
        if (i == 0 || end < first) first = end;
        gnutls_x509_crt_deinit(chain[i]);
    }
    gnutls_free(chain);
    return first;
}

bool srv_tls_names_host(const srv_tls *tls, const char *host)
{
    gnutls_x509_crt_t *chain = NULL;
    unsigned           n     = 0;
    char               name[256];
    int                length = (int)strcspn(host, ":");
    if (length > 0 && host[length - 1] == '.') length--; /* the root of DNS */
    if (length >= (int)sizeof name || gnutls_certificate_get_x509_crt(tls->credentials, 0, &chain, &n) != 0)
        return false;
    snprintf(name, sizeof name, "%.*s", length, host);
    bool named = n > 0 && gnutls_x509_crt_check_hostname(chain[0], name) != 0;
    for (unsigned i = 0; i < n; i++)
        gnutls_x509_crt_deinit(chain[i]);
    gnutls_free(chain);
    return named;
}

time_t srv_tls_file_expiry(const char *path)
{
    gnutls_datum_t    text  = {NULL, 0};
    gnutls_x509_crt_t first = NULL;
    time_t            end   = -1;
    if (gnutls_load_file(path, &text) != 0) return -1;
    if (gnutls_x509_crt_init(&first) == 0) {
        if (gnutls_x509_crt_import(first, &text, GNUTLS_X509_FMT_PEM) == 0)
            end = gnutls_x509_crt_get_expiration_time(first);
        gnutls_x509_crt_deinit(first);
    }
    gnutls_free(text.data);
    return end;
}

void srv_tls_free(srv_tls *tls)
{
    if (!tls) return;
    if (tls->credentials) gnutls_certificate_free_credentials(tls->credentials);
    if (tls->priorities) gnutls_priority_deinit(tls->priorities);
    free(tls);
}

bool srv_tls_prepare(const srv_tls *tls, gnutls_session_t session)
{
    static unsigned char http[]   = "http/1.1";
    const gnutls_datum_t protocol = {http, sizeof http - 1};
    gnutls_certificate_server_set_request(session, tls->asks_client ? GNUTLS_CERT_REQUEST : GNUTLS_CERT_IGNORE);
    return gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, tls->credentials) == 0 &&
           gnutls_priority_set(session, tls->priorities) == 0 &&
           gnutls_alpn_set_protocols(session, &protocol, 1, 0) == 0;
}

/* --- certificates of clients -------------------------------------------------------------------------------------- */

static const char *explain(unsigned status)
{
    if (status & GNUTLS_CERT_EXPIRED) return "the client certificate has expired";
    if (status & GNUTLS_CERT_NOT_ACTIVATED) return "the client certificate is not valid yet";
    if (status & GNUTLS_CERT_PURPOSE_MISMATCH) return "the certificate is not for TLS clients";
    if (status & GNUTLS_CERT_SIGNER_NOT_FOUND)
        return "no authority of --tls-client-ca has signed the client certificate";
    return "the client certificate is not valid";
}

/* Returns NULL if the chain, whose first certificate is the client's, leads to an authority. */
static const char *check_chain(const srv_tls *tls, gnutls_x509_crt_t *chain, unsigned n)
{
    static char              purpose[] = GNUTLS_KP_TLS_WWW_CLIENT;
    gnutls_typed_vdata_st    wanted    = {.type = GNUTLS_DT_KEY_PURPOSE_OID, .data = (unsigned char *)purpose};
    gnutls_x509_trust_list_t authorities;
    unsigned                 status = 0;
    if (!tls->asks_client) return "this server takes no client certificates";
    gnutls_certificate_get_trust_list(tls->credentials, &authorities);
    if (gnutls_x509_trust_list_verify_crt2(authorities, chain, n, &wanted, 1,
                                           GNUTLS_PROFILE_TO_VFLAGS(GNUTLS_PROFILE_MEDIUM), &status, NULL) != 0)
        return "the client certificate cannot be checked";
    return status == 0 ? NULL : explain(status);
}

static void describe(gnutls_x509_crt_t client, srv_certificate *certificate)
{
    size_t size          = sizeof certificate->common_name;
    certificate->expires = gnutls_x509_crt_get_expiration_time(client);
    if (gnutls_x509_crt_get_dn_by_oid(client, GNUTLS_OID_X520_COMMON_NAME, 0, 0, certificate->common_name, &size) !=
            0 ||
        strlen(certificate->common_name) != size)
        certificate->refused = "the client certificate has no common name of up to 127 bytes";
}

void srv_tls_check_client(const srv_tls *tls, gnutls_session_t session, srv_certificate *certificate)
{
    unsigned              n                = 0;
    const gnutls_datum_t *sent             = gnutls_certificate_get_peers(session, &n);
    gnutls_x509_crt_t     chain[MAX_CHAIN] = {NULL};
    unsigned              read             = 0;
    bool                  good             = n <= MAX_CHAIN;
    *certificate                           = (srv_certificate){.shown = sent && n > 0};
    if (!certificate->shown) return;
    for (; good && read < n && (good = gnutls_x509_crt_init(&chain[read]) == 0); read++)
        good = gnutls_x509_crt_import(chain[read], &sent[read], GNUTLS_X509_FMT_DER) == 0;
    certificate->refused = "the client certificate cannot be read";
    if (good) {
        certificate->refused = check_chain(tls, chain, n);
        describe(chain[0], certificate);
    }
    while (read > 0)
        gnutls_x509_crt_deinit(chain[--read]);
}

/* --- the end of a session ----------------------------------------------------------------------------------------- */

void srv_tls_send_last(gnutls_session_t session, const char *data, size_t length)
{
    while (length > 0) {
        ssize_t sent = gnutls_record_send(session, data, length);
        if (sent <= 0) return;
        data += sent;
        length -= (size_t)sent;
    }
    gnutls_bye(session, GNUTLS_SHUT_WR);
}
