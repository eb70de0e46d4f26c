/* command_session.h - set up and tear down a command that runs without a server: settings, log, api and, if needed,
 * the models. */
#pragma once
#include "server/store/load_models.h"

typedef struct srv_session {
    srv_config        config;
    srv_log           log;
    api              *api;
    srv_loaded_models models; /* empty before srv_session_load */
} srv_session;

/* Reads the settings in argv[1..] and opens the api. Returns 0, or the exit status after printing the error; then
 * nothing is open. */
int srv_session_open(srv_session *s, int argc, char *argv[]);

/* Loads the models that a server with these settings would serve. False after printing the error. */
bool srv_session_load(srv_session *s);

void srv_session_close(srv_session *s);
