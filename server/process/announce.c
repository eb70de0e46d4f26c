/* announce.c - writes to the log and the terminal what a service begins with: settings, addresses, an example. */
#include "service.h"
#include "server/net/exposure.h"
#include "server/operating/build_id.h"
#include <stdio.h>

static void log_setting(void *arg, const char *name, const char *value)
{
    srv_log_text(arg, name, value);
}

void srv_service_log_start(srv_service *s)
{
    srv_line line;
    char     changed[1000];
    srv_config_print_changed(&s->config, changed, sizeof changed);
    srv_log_begin(&line, &s->log, SRV_INFO, "starting");
    srv_log_text(&line, "version", TORQUED_VERSION);
    srv_log_text(&line, "build", srv_build_id());
    srv_log_text(&line, "changed", changed);
    srv_config_visit(&s->config, log_setting, &line);
    srv_log_end(&line);
}

void srv_service_log_exposure(srv_service *s)
{
    char missing[600];
    srv_exposure_describe(s->shared.config, &s->listeners, missing, sizeof missing);
    if (*missing) srv_log_message(&s->log, SRV_WARNING, "insecure", "%s; --insecure allows it", missing);
}

void srv_service_log_addresses(srv_service *s, const srv_listeners *all)
{
    for (size_t i = 0; i < all->n; i++) {
        srv_line line;
        srv_log_begin(&line, &s->log, SRV_INFO, "listening");
        srv_log_text(&line, "address", all->listener[i].bound);
        srv_log_text(&line, "for", all->for_probes ? "health" : NULL);
        srv_log_end(&line);
    }
}

void srv_service_show_example(srv_service *s)
{
    if (s->log.json || s->log.level < SRV_INFO) return;
    const srv_listener *first = &s->listeners.listener[0];
    bool                local = *first->address.path;
    char                url[320], text[3000];
    int                 n = 0;
    snprintf(url, sizeof url, "%s://%s", srv_listener_uses_tls(&s->listeners, 0) ? "https" : "http",
             local ? "localhost" : first->bound);
    if (!local)
        n = snprintf(text, sizeof text,
                     "\nconsole:    %s/\nreference:  %s/docs\nPython:     pip install "
                     "%s/clients/torqued-" TORQUED_VERSION "-py3-none-any.whl    (other languages: %s/clients)",
                     url, url, url, url);
    snprintf(text + n, sizeof text - (size_t)n,
             "\ntry:  curl -s %s%s%s%s/v1/models/puma560/inverse-dynamics -H 'Content-Type: application/json' -d "
             "'{\"q\":[0,0.7853981633974483,3.141592653589793,0,0.7853981633974483,0],\"qd\":[1,1,1,1,1,1],"
             "\"qdd\":[1,1,1,1,1,1]}'\n\n",
             local ? "--unix-socket " : "", first->address.path, local ? " " : "", url);
    srv_log_plain(&s->log, text);
}
