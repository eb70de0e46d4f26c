/* one.c - asks for the torques that move a Puma 560 as wanted. cc one.c torqued.c -lcurl -lpthread */
#include "torqued.h"
#include <stdio.h>

int main(int count, char **arguments)
{
    torqued_server  server   = {.url = count > 1 ? arguments[1] : NULL};
    torqued_client *client   = torqued_open(&server, NULL);
    double          q[6]     = {0, 0.7853981633974483, 3.141592653589793, 0, 0.7853981633974483, 0}; /* rad */
    double          rates[6] = {1, 1, 1, 1, 1, 1}, tau[6]; /* rad/s, rad/s^2; N m */
    torqued_input   in[]     = {{"q", q, {6}}, {"qd", rates, {6}}, {"qdd", rates, {6}}};
    torqued_output  out      = {"tau", tau, 6};
    torqued_call    call     = {"puma560", "inverse-dynamics", NULL, in, 3, &out, 1};

    if (torqued_evaluate(client, &call) != TORQUED_OK) {
        const torqued_problem *problem = torqued_last_problem(client);
        fprintf(stderr, "%s %s: %s\n", problem->code, problem->pointer, problem->detail);
        return 1;
    }
    for (int i = 0; i < 6; i++)
        printf("%.17g%c", tau[i], i < 5 ? ',' : '\n');
    torqued_close(client);
}
