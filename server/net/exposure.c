/* exposure.c - see exposure.h. */
#include "exposure.h"
#include <stdio.h>

void srv_exposure_describe(const srv_config *config, const srv_listeners *listeners, char *text, size_t size)
{
    bool has_access = config->tokens || config->tls_client_ca;
    *text           = '\0';
    for (size_t i = 0; i < listeners->n; i++) {
        bool has_tls = srv_listener_uses_tls(listeners, i);
        if (!listeners->listener[i].is_reachable || (has_tls && has_access)) continue;
        const char *reason = listeners->has_certificate ? "+plain" : "no --tls-certificate";
        int         n = snprintf(text, size, "other machines can reach %s, where %s%s", listeners->listener[i].bound,
                         has_access ? "" : "every client may do everything (no --tokens)",
                         has_access || has_tls ? "" : " and ");
        if (!has_tls && n > 0 && (size_t)n < size)
            snprintf(text + n, size - (size_t)n, "requests, answers and tokens can be read on the way (%s)", reason);
        return;
    }
}

bool srv_exposure_check(const srv_config *config, const srv_listeners *listeners, char *error, size_t error_size)
{
    char missing[600];
    srv_exposure_describe(config, listeners, missing, sizeof missing);
    if (!*missing || config->insecure) return true;
    snprintf(error, error_size,
             "%s. These commands put it right:\n"
             "  torqued token admin admin >>tokens\n"
             "  torqued certificate\n"
             "  torqued --listen 0.0.0.0:8088 --tokens tokens --tls-certificate certificate.pem --tls-key key.pem\n"
             "Or listen on 127.0.0.1, or say --insecure to serve as it is.",
             missing);
    return false;
}
