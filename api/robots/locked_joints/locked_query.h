/* locked_query.h - read the query parameter `locked` of a robot that is put: elbow:1.57,ball:0:0:0:1. */
#pragma once
#include "api/problem.h"
#include <jansson.h>

typedef struct api_locked_query {
    json_t *locked; /* in the form of "locked" of a document; NULL: the query has no such parameter */
    char   *rest;   /* the other parameters; "" if there are none */
} api_locked_query;

/* Splits a query (NULL: empty), percent-encoded as in a request's target. The caller calls api_locked_query_free in
 * either case. False with a problem. */
bool api_locked_query_read(const char *query, api_locked_query *split, api_problem *problem);
void api_locked_query_free(api_locked_query *split);
