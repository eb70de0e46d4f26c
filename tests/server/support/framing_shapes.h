/* framing_shapes.h - reads tests/data/framing_shapes: byte sequences of HTTP requests with their expected verdicts. The
 * file describes its own format. */
#pragma once
#include <stddef.h>

typedef struct framing_shape {
    char  *name;
    int    status;  /* status of the only answer if the shape is refused; 200: the request is valid */
    int    changed; /* 1: a valid request that is rewritten before it is passed on */
    char  *bytes;
    size_t length;
} framing_shape;

/* Calls `visit` for every shape. Fails the test if the file cannot be read. Run from the root of the tree. */
void each_framing_shape(void (*visit)(const framing_shape *shape));
