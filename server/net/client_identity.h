/* client_identity.h - recognise the client of a request by the credentials that it shows. */
#pragma once
#include "connection.h"
#include "request_head.h"
#include "server/access/credentials.h"

/* Recognises the client. False: the server has no access control. The identity's strings live as long as the
 * credentials and the connection. A token goes before a certificate, and both before the user of a Unix-domain socket,
 * also if they do not count. Certificate and user do not count for a request that a proxy has forwarded: they are those
 * of the proxy. */
bool srv_identify(const srv_credentials *credentials, srv_connection *connection, const srv_head *head,
                  api_identity *identity);
