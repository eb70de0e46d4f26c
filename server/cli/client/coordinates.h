/* coordinates.h - know the names of a model's coordinates and of the motors of its transmissions, and which fields have
 * one entry for each of them. */
#pragma once
#include "connection.h"
#include <jansson.h>

typedef struct cli_coordinates {
    size_t  nq, nv;
    json_t *model; /* answer to GET of the model, which owns the names */
} cli_coordinates;

/* Asks the server for a model. False after printing an error. */
bool cli_coordinates_ask(cli_connection *connection, const char *model, cli_coordinates *coordinates);

/* Reads the answer to GET of a model, for tests. False if it is not one. */
bool cli_coordinates_read(const char *answer, cli_coordinates *coordinates);

void cli_coordinates_free(cli_coordinates *coordinates);

/* The request fields that may have a row for each state: "q", "qd" ...; ends with NULL. */
enum { CLI_STATE_FIELDS = 10 };
extern const char *const cli_state_fields[CLI_STATE_FIELDS + 1];

/* Returns how many entries a field of requests or answers has for one state: nq, nv or the number of motors of
 * transmissions; 0 if the field belongs to neither. */
size_t cli_coordinate_entries(const cli_coordinates *coordinates, const char *field);

/* Returns the name of entry `index` of a field of coordinates. */
const char *cli_coordinate_name(const cli_coordinates *coordinates, const char *field, size_t index);
