/* path.h - name the outputs of the operation path that other operations compute with. An operation that evaluates
 * path keeps a selection of it: api_path.options, .prepare, .spare and .evaluate (operation.h). */
#pragma once
#include "api/requests/fields/operation.h"

enum {
    API_PATH_A,
    API_PATH_B,
    API_PATH_C,
    API_PATH_D,
    API_PATH_DA_DS,
    API_PATH_DB_DS,
    API_PATH_DC_DS,
    API_PATH_DD_DS,
    API_PATH_JUMPS = API_PATH_DD_DS + 2
};
