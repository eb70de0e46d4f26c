/* tls.h - the certificate of the server and the authorities that sign the certificates of clients.
 *
 * TLS 1.2 and 1.3 with forward secrecy and authenticated ciphers. libmicrohttpd would keep the certificates with which
 * it was started. Instead each new connection gets the newest ones, so that a reload needs no new daemon and ends no
 * connection. A client certificate is asked for, not demanded: a client without one may use what needs no credential,
 * such as /livez. A certificate that is shown is checked for every request against the newest authorities. */
#pragma once
#include "server/config.h"
#include <gnutls/gnutls.h>
#include <time.h>

typedef struct srv_tls srv_tls;

/* Reads the files of --tls-certificate, --tls-key and --tls-client-ca. NULL with a message. */
srv_tls *srv_tls_read(const srv_config *config, char *error, size_t error_size);
void     srv_tls_free(srv_tls *tls);

/* Returns when the first certificate of the server's chain ends, s since 1970; 0: not known. */
time_t srv_tls_expiry(const srv_tls *tls);

/* True if the server's certificate names the host, given as in the header Host. */
bool srv_tls_names_host(const srv_tls *tls, const char *host);

/* Returns when the first certificate of a file ends, s since 1970; -1: the file has none. */
time_t srv_tls_file_expiry(const char *path);

/* Gives a session, before its handshake, the certificates and ciphers. `tls` must outlive the session. False: no
 * memory; then the session must not be used. */
bool srv_tls_prepare(const srv_tls *tls, gnutls_session_t session);

enum { SRV_COMMON_NAME = 128 };

/* The certificate of a client, checked. */
typedef struct srv_certificate {
    bool        shown;                        /* false: the client has shown none; the other fields are then zero */
    char        common_name[SRV_COMMON_NAME]; /* common name of the subject */
    time_t      expires;
    const char *refused; /* reason why the certificate is not accepted; NULL: it is */
} srv_certificate;

/* Checks the certificate that the client of a session has shown against the authorities of `tls`. */
void srv_tls_check_client(const srv_tls *tls, gnutls_session_t session, srv_certificate *certificate);

/* Sends bytes in a session, as many as the socket takes at once, and the end of the session. */
void srv_tls_send_last(gnutls_session_t session, const char *data, size_t length);
