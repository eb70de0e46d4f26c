/* command_session.h - what every command without sockets begins and ends with: settings, a log, the api and, for those
 * that need them, the models. */
#pragma once
#include "server/store/load_models.h"

typedef struct srv_session {
    srv_config        config;
    srv_log           log;
    api              *api;
    srv_loaded_models models; /* no store is open unless srv_session_load opened it */
} srv_session;

/* Reads the settings in argv[1..] and opens the api. 0, or the status to end with, having said why; then nothing is
 * open. */
int srv_session_open(srv_session *s, int argc, char *argv[]);

/* Loads what a server with these settings would serve. False, having said why. */
bool srv_session_load(srv_session *s);

void srv_session_close(srv_session *s);

/* Says on standard error what is wrong; returns `status`. */
int srv_report_error(int status, const char *error);
