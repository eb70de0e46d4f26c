/* exposure.h - refuse to serve other machines without encryption and access control, unless the operator insists. */
#pragma once
#include "listen.h"
#include "server/config.h"

/* Checks the listeners, which are open. False with a message, which names the commands that put it right, if another
 * machine can reach one of them, TLS or access control is missing, and --insecure is not said. */
bool srv_exposure_check(const srv_config *config, const srv_listeners *listeners, char *error, size_t error_size);

/* Writes what protection a listener that other machines can reach lacks, such as TLS; "" if nothing is lacking. */
void srv_exposure_describe(const srv_config *config, const srv_listeners *listeners, char *text, size_t size);
