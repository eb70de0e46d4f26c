/* framing_shapes.h - read tests/data/framing_shapes, which describes its own format. */
#pragma once
#include <stddef.h>

typedef struct framing_shape {
    char  *name;
    int    status;  /* of the only answer if the shape is refused; 200: it is a good request */
    int    changed; /* 1: a good request whose form changes */
    char  *bytes;
    size_t length;
} framing_shape;

/* Calls `visit` for every shape. Fails the test if the file cannot be read. Run from the root of the tree. */
void each_framing_shape(void (*visit)(const framing_shape *shape));
