/* healthcheck.c - implement `torqued healthcheck`: ask /readyz, for containers, service managers and scripts. */
#include "client_commands.h"
#include "connection.h"

int cli_healthcheck(const cli_arguments *arguments)
{
    cli_connection c;
    int            status = cli_connection_open(&c, arguments);
    if (status != 0) return status;
    bool ready = cli_connection_ask(&c, &(cli_request){.method = "GET", .path = "/readyz"});
    cli_connection_close(&c);
    return ready ? 0 : 1;
}
