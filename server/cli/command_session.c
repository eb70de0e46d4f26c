/* command_session.c - see command_session.h. */
#include "command_session.h"
#include "options.h"
#include <unistd.h>

int srv_session_open(srv_session *s, int argc, char *argv[])
{
    char error[600] = "";
    *s              = (srv_session){.models = {.store_lock = -1, .link = -1}};
    if (srv_config_read(&s->config, argc, argv, error, sizeof error) != SRV_SERVE) {
        srv_config_free(&s->config);
        return cli_fail(2, "%s", *error ? error : "this command takes no --version or --settings-table");
    }
    const api_config config = srv_config_api(&s->config);
    s->api                  = api_open(&config, error, sizeof error);
    if (!s->api) return cli_fail(1, "%s", error);
    if (srv_log_open(&s->log, &s->config, STDERR_FILENO)) return 0;
    api_close(s->api);
    return cli_fail(1, "no memory or no thread for the log");
}

bool srv_session_load(srv_session *s)
{
    char error[600];
    if (srv_load_models(&s->config, &s->log, s->api, &s->models, error, sizeof error) &&
        srv_await_models(&s->models, error, sizeof error))
        return true;
    cli_fail(1, "%s", error);
    return false;
}

void srv_session_close(srv_session *s)
{
    srv_close_models(&s->models);
    api_close(s->api);
    srv_log_close(&s->log);
    srv_config_free(&s->config);
}
