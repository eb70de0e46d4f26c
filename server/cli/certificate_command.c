/* certificate_command.c - implement `torqued certificate`: make a key and a certificate with the names of this machine.
 *
 * The certificate is its own authority (RFC 5280): clients trust the file itself, as with curl --cacert. The curve of
 * the key is P-256. The names of the machine and the addresses of its interfaces are its subject alternative names. */
#include "commands.h"
#include "server/access/machine_names.h"
#include <errno.h>
#include <fcntl.h>
#include <gnutls/crypto.h>
#include <gnutls/x509.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MAX_DAYS = 36500, DEFAULT_DAYS = 365, SECONDS_PER_DAY = 86400, SERIAL_BYTES = 16 };
enum { CLOCK_SLACK = 3600 }; /* s by which the clocks of clients may be behind */

const cli_option cli_certificate_options[] = {
    {"certificate", "FILE", CLI_FILE, NULL, "file of the certificate (default: certificate.pem)"},
    {"key", "FILE", CLI_FILE, NULL, "file of the key, for this user alone (default: key.pem)"},
    {"days", "N", CLI_NOTHING, NULL, "days until the certificate expires (default: 365)"},
    {.name = NULL},
};

/* The files to be made, and what goes into them. */
typedef struct new_certificate {
    const char           *certificate_file, *key_file;
    double                days;
    srv_machine_names     names;
    gnutls_x509_privkey_t key;
    gnutls_x509_crt_t     certificate;
    gnutls_datum_t        key_text, certificate_text;
} new_certificate;

/* Reads and checks the arguments. Returns 0, or the exit status after printing the error. */
static int read_request(const cli_arguments *arguments, new_certificate *c)
{
    const char *certificate = cli_value(arguments, "certificate"), *key = cli_value(arguments, "key");
    c->certificate_file = certificate ? certificate : "certificate.pem";
    c->key_file         = key ? key : "key.pem";
    if (!cli_number(arguments, "days", 1, MAX_DAYS, DEFAULT_DAYS, &c->days)) return 2;
    if (c->days != floor(c->days)) return cli_fail(2, "--days needs a whole number");
    for (size_t i = 0; i < arguments->n_operands; i++)
        if (!srv_machine_names_add(&c->names, arguments->operands[i]))
            return cli_fail(2,
                            "\"%.80s\" is no name for a certificate; expected an IP address or a host name of letters, "
                            "digits, - and . (at most %d names)",
                            arguments->operands[i], SRV_MACHINE_NAMES_MOST);
    if (!srv_machine_names_collect(&c->names))
        return cli_fail(1, "cannot read the names of this machine: %s", strerror(errno));
    return 0;
}

static int add_names(new_certificate *c)
{
    int code = 0;
    for (size_t i = 0; i < c->names.n && code == 0; i++) {
        const srv_machine_name *name = &c->names.name[i];
        if (name->address_bytes > 0)
            code = gnutls_x509_crt_set_subject_alt_name(c->certificate, GNUTLS_SAN_IPADDRESS, name->address,
                                                        (unsigned)name->address_bytes, GNUTLS_FSAN_APPEND);
        else
            code = gnutls_x509_crt_set_subject_alt_name(c->certificate, GNUTLS_SAN_DNSNAME, name->text,
                                                        (unsigned)strlen(name->text), GNUTLS_FSAN_APPEND);
    }
    return code;
}

/* Sets the fields of a certificate of version 3 for a server, but not its names. */
static int set_fields(new_certificate *c)
{
    unsigned char serial[SERIAL_BYTES];
    const char   *common = c->names.name[0].text;
    time_t        now    = time(NULL);
    int           code   = gnutls_rnd(GNUTLS_RND_NONCE, serial, sizeof serial);
    serial[0]            = (unsigned char)((serial[0] & 0x7f) | 0x40); /* positive, with a leading byte that is not 0 */
    if (code == 0) code = gnutls_x509_crt_set_version(c->certificate, 3);
    if (code == 0) code = gnutls_x509_crt_set_serial(c->certificate, serial, sizeof serial);
    if (code == 0) code = gnutls_x509_crt_set_activation_time(c->certificate, now - CLOCK_SLACK);
    if (code == 0) code = gnutls_x509_crt_set_expiration_time(c->certificate, now + (time_t)c->days * SECONDS_PER_DAY);
    if (code == 0)
        code = gnutls_x509_crt_set_dn_by_oid(c->certificate, GNUTLS_OID_X520_COMMON_NAME, 0, common,
                                             (unsigned)strnlen(common, SRV_COMMON_NAME_MOST));
    if (code == 0) code = gnutls_x509_crt_set_basic_constraints(c->certificate, 1, 0);
    if (code == 0)
        code = gnutls_x509_crt_set_key_usage(c->certificate, GNUTLS_KEY_DIGITAL_SIGNATURE | GNUTLS_KEY_KEY_CERT_SIGN);
    if (code == 0) code = gnutls_x509_crt_set_key_purpose_oid(c->certificate, GNUTLS_KP_TLS_WWW_SERVER, 0);
    return code;
}

/* Strict clients want the key's identifier in an authority (RFC 5280, section 4.2.1.2). */
static int set_key_identifier(new_certificate *c)
{
    unsigned char identifier[64];
    size_t        size = sizeof identifier;
    int           code = gnutls_x509_crt_get_key_id(c->certificate, 0, identifier, &size);
    return code == 0 ? gnutls_x509_crt_set_subject_key_id(c->certificate, identifier, size) : code;
}

static int make(new_certificate *c)
{
    int code = gnutls_x509_privkey_init(&c->key);
    if (code == 0)
        code =
            gnutls_x509_privkey_generate(c->key, GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0);
    if (code == 0) code = gnutls_x509_crt_init(&c->certificate);
    if (code == 0) code = gnutls_x509_crt_set_key(c->certificate, c->key);
    if (code == 0) code = set_fields(c);
    if (code == 0) code = set_key_identifier(c);
    if (code == 0) code = add_names(c);
    if (code == 0) code = gnutls_x509_crt_sign2(c->certificate, c->certificate, c->key, GNUTLS_DIG_SHA256, 0);
    if (code == 0)
        code = gnutls_x509_privkey_export2_pkcs8(c->key, GNUTLS_X509_FMT_PEM, NULL, GNUTLS_PKCS_PLAIN, &c->key_text);
    if (code == 0) code = gnutls_x509_crt_export2(c->certificate, GNUTLS_X509_FMT_PEM, &c->certificate_text);
    return code;
}

/* Writes a new file; one that exists stays as it is. False after printing an error. */
static bool write_pem(const char *path, mode_t mode, const gnutls_datum_t *text)
{
    int  descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    bool good       = descriptor >= 0 && write(descriptor, text->data, text->size) == (ssize_t)text->size;
    int  reason     = good ? 0 : errno;
    if (good && fsync(descriptor) != 0) reason = errno;
    if (descriptor >= 0 && close(descriptor) != 0 && reason == 0) reason = errno;
    if (reason == 0) return true;
    if (descriptor < 0 && reason == EEXIST) return cli_error("%s exists; remove it, or name another file", path);
    if (descriptor >= 0) unlink(path);
    return cli_error("cannot write %s: %s", path, strerror(reason ? reason : ENOSPC));
}

/* A key without its certificate is of no use, and would stop the next attempt. */
static bool write_pems(const new_certificate *c)
{
    if (!write_pem(c->key_file, 0600, &c->key_text)) return false;
    if (write_pem(c->certificate_file, 0644, &c->certificate_text)) return true;
    unlink(c->key_file);
    return false;
}

static void print_summary(const new_certificate *c)
{
    printf("%s and %s, for %.0f days, for the names\n", c->certificate_file, c->key_file, c->days);
    for (size_t i = 0; i < c->names.n; i++)
        printf("  %s\n", c->names.name[i].text);
}

static void free_certificate(new_certificate *c)
{
    if (c->certificate) gnutls_x509_crt_deinit(c->certificate);
    if (c->key) gnutls_x509_privkey_deinit(c->key);
    if (c->key_text.data) gnutls_memset(c->key_text.data, 0, c->key_text.size);
    gnutls_free(c->key_text.data);
    gnutls_free(c->certificate_text.data);
}

int srv_certificate_command(const cli_arguments *arguments)
{
    new_certificate c      = {.names.n = 0};
    int             status = read_request(arguments, &c);
    if (status != 0) return status;
    int code = make(&c);
    if (code != 0) status = cli_fail(1, "cannot make the certificate: %s", gnutls_strerror(code));
    if (status == 0 && !write_pems(&c)) status = 1;
    if (status == 0) print_summary(&c);
    free_certificate(&c);
    return status;
}
