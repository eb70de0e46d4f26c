/* coordinates.c - see coordinates.h. */
#include "coordinates.h"
#include <stdint.h>
#include <string.h>

const char *const cli_state_fields[CLI_STATE_FIELDS + 1] = {
    "q", "qd", "qdd", "qddd", "qdddd", "tau", "weights", "qd_reference", "qdd_reference", "multipliers", NULL};

/* Outputs with one entry for each velocity. */
static const char *const velocity_outputs[] = {"tau_dot",  "qd_after", "bias",           "coriolis",       "gravity",
                                               "friction", "noise",    "position_error", "velocity_error", NULL};

/* Outputs with one entry for each motor of the model's transmissions. */
static const char *const motor_outputs[] = {"motor_tau", "motor_jumps", NULL};

static bool is_among(const char *const *names, const char *name)
{
    for (; *names; names++)
        if (strcmp(*names, name) == 0) return true;
    return false;
}

/* True if `names` is an array of texts. */
static bool are_names(const json_t *names)
{
    json_t *name;
    size_t  i;
    json_array_foreach (names, i, name)
        if (!json_is_string(name)) return false;
    return json_is_array(names);
}

bool cli_coordinates_read(const char *answer, cli_coordinates *coordinates)
{
    json_t *model = json_loads(answer, 0, NULL);
    json_t *q = json_object_get(model, "position_names"), *v = json_object_get(model, "velocity_names");
    *coordinates = (cli_coordinates){.nq = json_array_size(q), .nv = json_array_size(v), .model = model};
    if (are_names(q) && are_names(v)) return true;
    cli_coordinates_free(coordinates);
    return false;
}

bool cli_coordinates_ask(cli_connection *connection, const char *model, cli_coordinates *coordinates)
{
    char path[400];
    *coordinates = (cli_coordinates){0};
    if (!cli_model_path(connection, model, "", path, sizeof path) ||
        !cli_connection_ask(connection, &(cli_request){.method = "GET", .path = path}))
        return false;
    return cli_coordinates_read(connection->body.bytes, coordinates) ||
           cli_error("%s is no torqued server: its answer has no names of coordinates", connection->base);
}

void cli_coordinates_free(cli_coordinates *coordinates)
{
    json_decref(coordinates->model);
    *coordinates = (cli_coordinates){0};
}

/* Counts the motors of all transmissions. Sets *name to the name of motor `index` if there are that many. */
static size_t count_motors(const cli_coordinates *coordinates, size_t index, const char **name)
{
    const json_t *transmissions = json_object_get(coordinates->model, "transmissions");
    size_t        n             = 0;
    for (size_t i = 0; i < json_array_size(transmissions); i++) {
        const json_t *motors = json_object_get(json_array_get(transmissions, i), "motors");
        for (size_t k = 0; k < json_array_size(motors); k++)
            if (n++ == index) *name = json_string_value(json_object_get(json_array_get(motors, k), "name"));
    }
    return n;
}

size_t cli_coordinate_entries(const cli_coordinates *coordinates, const char *field)
{
    const char *name = NULL;
    if (strcmp(field, "q") == 0) return coordinates->nq;
    if (is_among(motor_outputs, field)) return count_motors(coordinates, SIZE_MAX, &name);
    return is_among(cli_state_fields, field) || is_among(velocity_outputs, field) ? coordinates->nv : 0;
}

const char *cli_coordinate_name(const cli_coordinates *coordinates, const char *field, size_t index)
{
    const char *list = strcmp(field, "q") == 0 ? "position_names" : "velocity_names", *name = NULL;
    if (is_among(motor_outputs, field)) count_motors(coordinates, index, &name);
    return is_among(motor_outputs, field)
               ? name
               : json_string_value(json_array_get(json_object_get(coordinates->model, list), index));
}
