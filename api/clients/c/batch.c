/* batch.c - writes the torques of a Panda along a motion of 10 000 states as CSV. cc batch.c torqued.c -lcurl -lpthread
 */
#include "torqued.h"
#include <stdio.h>

enum { ROWS = 10000, JOINTS = 7 };

static double q[ROWS][JOINTS], qd[ROWS][JOINTS], qdd[ROWS][JOINTS], tau[ROWS][JOINTS]; /* rad, rad/s, rad/s^2; N m */

/* From rest to rest in 2 s, the jerk as small as possible. */
static void plan(void)
{
    static const double from[JOINTS] = {0, -0.5, 0, -2, 0, 1.5, 0.5}, to[JOINTS] = {1, 0.5, -0.5, -1, 0.5, 2, -0.5};
    for (int i = 0; i < ROWS; i++) {
        double s = i / 9999.0;
        for (int j = 0; j < JOINTS; j++) {
            double way = to[j] - from[j];
            q[i][j]    = from[j] + way * (s * s * s * (10 + s * (6 * s - 15)));
            qd[i][j]   = way * (30 * s * s * (1 - s) * (1 - s) / 2);
            qdd[i][j]  = way * (60 * s * (1 - s) * (1 - 2 * s) / 4);
        }
    }
}

int main(int count, char **arguments)
{
    torqued_server  server = {.url = count > 1 ? arguments[1] : NULL};
    torqued_client *client = torqued_open(&server, NULL);
    torqued_input   in[]   = {{"q", *q, {ROWS, JOINTS}}, {"qd", *qd, {ROWS, JOINTS}}, {"qdd", *qdd, {ROWS, JOINTS}}};
    torqued_output  out    = {"tau", *tau, ROWS * JOINTS};
    torqued_call    call   = {"panda", "inverse-dynamics", NULL, in, 3, &out, 1};

    plan();
    if (torqued_evaluate(client, &call) != TORQUED_OK) {
        const torqued_problem *problem = torqued_last_problem(client);
        fprintf(stderr, "%s %s: %s\n", problem->code, problem->pointer, problem->detail);
        return 1;
    }
    puts("t,tau1,tau2,tau3,tau4,tau5,tau6,tau7");
    for (int i = 0; i < ROWS; i++) {
        printf("%.17g", i / 9999.0 * 2);
        for (int j = 0; j < JOINTS; j++)
            printf(",%.17g", tau[i][j]);
        putchar('\n');
    }
    torqued_close(client);
}
