/* fault.c - tells the faults of a database apart by their SQLSTATE (fault.h). */
#include "fault.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

typedef struct fault_text {
    const char *title, *remedy;
} fault_text;

static const fault_text texts[API_STORE_FAULT_COUNT] = {
    [API_STORE_FAULT_AWAY]           = {"the database is away", "start it, or look at the network"},
    [API_STORE_FAULT_FROZEN]         = {"the database is frozen: connections and statements get no answer",
                                        "look at its machine, its disk and the network"},
    [API_STORE_FAULT_REFUSED]        = {"the database is there and refuses this server",
                                        "look at the user, the password, "
                                               "pg_hba.conf and the database's name"},
    [API_STORE_FAULT_RIGHTS]         = {"the database denies the user of this server a right", "GRANT it again"},
    [API_STORE_FAULT_TABLES]         = {"the schema torqued or one of its tables is missing",
                                        "restore it from a backup, or begin anew with torqued store migrate"},
    [API_STORE_FAULT_TABLES_VERSION] = {"the tables of the database have another version", ""},
    [API_STORE_FAULT_SERVER_VERSION] = {"PostgreSQL has a version that torqued cannot use", "upgrade PostgreSQL"},
    [API_STORE_FAULT_READ_ONLY] = {"the database takes no writes", "name the primary in --store, or promote this one"},
    [API_STORE_FAULT_FULL]      = {"the database lacks disk, memory or connections", "give PostgreSQL more of them"},
    [API_STORE_FAULT_LOST]      = {"the database has fewer changes than this server", ""},
    [API_STORE_FAULT_OTHER]     = {"the database fails", "the log of PostgreSQL has the reason"},
};

typedef struct state_fault {
    const char *state; /* a class of two characters, or a state of five */
    srv_fault   fault;
} state_fault;

/* The first entry that fits counts. */
static const state_fault states[] = {
    {"42501", API_STORE_FAULT_RIGHTS},    {"3F000", API_STORE_FAULT_TABLES}, {"42P01", API_STORE_FAULT_TABLES},
    {"42703", API_STORE_FAULT_TABLES},    {"42883", API_STORE_FAULT_TABLES}, {"28", API_STORE_FAULT_REFUSED},
    {"3D000", API_STORE_FAULT_REFUSED},   {"53", API_STORE_FAULT_FULL},      {"58030", API_STORE_FAULT_FULL},
    {"25006", API_STORE_FAULT_READ_ONLY}, {"57014", API_STORE_FAULT_FROZEN}, {"55P03", API_STORE_FAULT_FROZEN},
    {"57", API_STORE_FAULT_AWAY},         {"08", API_STORE_FAULT_AWAY},
};

srv_fault srv_fault_of_state(const char *state)
{
    if (!*state) return API_STORE_FAULT_AWAY;
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (strncmp(state, states[i].state, strlen(states[i].state)) == 0) return states[i].fault;
    return API_STORE_FAULT_OTHER;
}

/* True for five digits and capitals before a colon. */
static bool is_state(const char *text)
{
    size_t n = 0;
    while (n < 5 && (isdigit((unsigned char)text[n]) || isupper((unsigned char)text[n])))
        n++;
    return n == 5 && text[5] == ':';
}

void srv_fault_find_state(const char *message, char state[6])
{
    const char *mark = message;
    state[0]         = '\0';
    while ((mark = strstr(mark, ":  ")))
        if (is_state(mark += 3)) {
            snprintf(state, 6, "%.5s", mark);
            return;
        }
}

const char *srv_fault_title(srv_fault fault)
{
    return texts[fault].title;
}

const char *srv_fault_remedy(srv_fault fault)
{
    return texts[fault].remedy;
}
