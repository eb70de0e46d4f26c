/* token_command.c - implement `torqued token`: make a token for a client.
 *
 * The token goes to standard error, since it must be shown once and kept nowhere; the line with its hash goes to
 * standard output, so that `torqued token NAME ROLE >>FILE` adds the client to the file of --tokens. */
#include "commands.h"
#include "server/access/clients.h"
#include "server/access/token.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { MAX_DAYS = 36500, SECONDS_PER_DAY = 86400 };

const cli_option cli_token_options[] = {
    {"days", "N", CLI_NOTHING, NULL, "days until the token expires (default: never)"},
    {"models", "PATTERN[,PATTERN]...", CLI_NOTHING, NULL,
     "names of the models that the client may use; * stands for any characters, ? for one (default: all)"},
    {.name = NULL},
};

/* The client as the command line describes it. */
typedef struct new_client {
    const char *name, *roles, *models; /* models: NULL for all */
    double      days;                  /* days until the token expires; 0: it never does */
} new_client;

/* Reads and checks the arguments. Returns 0, or the exit status after printing the error. */
static int read_client(const cli_arguments *arguments, new_client *c)
{
    unsigned roles = 0;
    c->name        = cli_operand_at(arguments, 0);
    c->roles       = cli_operand_at(arguments, 1);
    c->models      = cli_value(arguments, "models");
    if (!cli_number(arguments, "days", 1, MAX_DAYS, 0, &c->days)) return 2;
    if (c->days != floor(c->days)) return cli_fail(2, "--days needs a whole number");
    if (!srv_client_name_is_valid(c->name))
        return cli_fail(2, "the client is \"%.80s\"; expected 1 to 64 letters, digits, . _ -", c->name);
    if (!srv_roles_parse(c->roles, &roles))
        return cli_fail(2, "the roles are \"%.80s\"; expected evaluate, admin or observe, with commas between them",
                        c->roles);
    if (c->models && !srv_patterns_are_valid(c->models))
        return cli_fail(2,
                        "--models is \"%.80s\"; expected patterns of letters, digits, . _ - * ?, with commas between",
                        c->models);
    return 0;
}

static void print_line(const new_client *c, const uint8_t hash[SRV_TOKEN_HASH])
{
    char      hex[2 * SRV_TOKEN_HASH + 1], text[64];
    time_t    end = time(NULL) + (time_t)c->days * SECONDS_PER_DAY;
    struct tm utc;
    srv_hex_write(hash, SRV_TOKEN_HASH, hex);
    printf("%s %s sha256:%s", c->name, c->roles, hex);
    if (c->days > 0) {
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&end, &utc));
        printf(" expires=%s", text);
    }
    if (c->models) printf(" models=%s", c->models);
    putchar('\n');
}

int srv_token(const cli_arguments *arguments)
{
    new_client c;
    char       token[SRV_TOKEN_SIZE];
    uint8_t    hash[SRV_TOKEN_HASH];
    int        status = read_client(arguments, &c);
    if (status != 0) return status;
    if (!srv_token_make(token)) return cli_fail(1, "the system gives no random numbers: %s", strerror(errno));
    if (!srv_token_hash(token, hash)) return cli_fail(1, "cannot compute the SHA-256 of a token");
    print_line(&c, hash);
    /* The token is shown only when its line is written: without the line it is of no use. */
    if (fflush(stdout) != 0) {
        cli_stdout_error(errno);
        return 1;
    }
    fprintf(stderr, "%s\n", token);
    return 0;
}
