/* store_command.c - implement `torqued store migrate`: the tables of a store in PostgreSQL. */
#include "commands.h"
#include "server/store/load_models.h"
#include "server/config.h"
#include <string.h>

static int migrate(const cli_arguments *arguments, srv_config *config)
{
    char error[600] = "", url[300];
    int  from;
    if (srv_config_read(config, arguments->n_settings, arguments->settings, error, sizeof error) != SRV_SERVE)
        return cli_fail(2, "%s", *error ? error : "this command takes no --version or --settings-table");
    if (srv_store_kind_of(config->store) != SRV_STORE_DATABASE)
        return cli_fail(2, "--store must name a database, such as postgresql://torqued@db.example/torqued");
    if (!srv_postgres_migrate(config->store, &from, error, sizeof error)) return cli_fail(1, "%s", error);
    srv_postgres_url_print(config->store, url, sizeof url);
    if (from == srv_postgres_version)
        printf("the tables of %s have version %d already\n", url, from);
    else
        printf("the tables of %s now have version %d; before: %d\n", url, srv_postgres_version, from);
    return 0;
}

int srv_store_command(const cli_arguments *arguments)
{
    srv_config config;
    if (strcmp(arguments->operands[0], "migrate") != 0)
        return cli_fail(2, "\"%.80s\" is not an action of torqued store; the one action is migrate",
                        arguments->operands[0]);
    int status = migrate(arguments, &config);
    srv_config_free(&config);
    return status;
}
