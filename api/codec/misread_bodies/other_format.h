/* other_format.h - name the format that a body really has when it is not the one that its headers name. */
#pragma once
#include "api/problem.h"

/* The format that the headers name. */
typedef enum api_body_format { API_BODY_JSON, API_BODY_CBOR, API_BODY_MSGPACK, API_BODY_XML } api_body_format;

/* Fails, with the offset 0, if the first bytes of a body show another format or encoding than `expected`; the detail
 * names it with its remedy. Returns true if they show none. Bodies in CBOR and MessagePack are checked once they could
 * not be read: a problem that may follow from reading another format is replaced, any other one stays. */
bool api_check_format(api_body_format expected, const char *body, size_t length, api_problem *problem);
