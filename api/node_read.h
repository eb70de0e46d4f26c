/* node_read.h - the readers of requests: bytes of one encoding into nodes. */
#pragma once
#include "evaluation.h"
#include "node.h"

/* Any JSON text. False with a problem: 400 with an offset, 422 with a pointer for what cannot be held, or 503. */
bool api_read_json(api_evaluation *e, const char *text, size_t length, api_node *root);
