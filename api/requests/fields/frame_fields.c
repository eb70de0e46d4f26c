/* frame_fields.c - read the axes and the reference of a frame: see frame_fields.h. */
#include "frame_fields.h"
#include <string.h>

static const char *const axis_names[API_FRAME_AXES] = {"x", "y", "z", "rx", "ry", "rz"};

const char *api_axis_name(int axis)
{
    return axis_names[axis];
}

static int axis_named(const char *name)
{
    for (int axis = 0; axis < API_FRAME_AXES; axis++)
        if (strcmp(axis_names[axis], name) == 0) return axis;
    return -1;
}

static bool read_axis(const api_query *q, const api_node *value, const api_place *at, int *axes, size_t *n)
{
    const char *name = api_read_string(q, value, at);
    if (!name) return false;
    int axis = axis_named(name);
    if (axis < 0)
        return api_fail_at(q->problem, at, API_UNKNOWN_NAME, "\"%.64s\" given, one of x, y, z, rx, ry, rz expected",
                           name);
    for (size_t i = 0; i < *n; i++)
        if (axes[i] == axis)
            return api_fail_at(q->problem, at, API_DUPLICATE_NAME, "the axis %s is listed twice", name);
    axes[(*n)++] = axis;
    return true;
}

bool api_read_axes(const api_query *q, const api_node *list, const api_place *at, int axis[API_FRAME_AXES], size_t *n)
{
    *n = 0;
    for (int i = 0; !list && i < API_FRAME_AXES; i++)
        axis[(*n)++] = i;
    if (!list) return true;
    if (!api_check_names(q, list, at, "of x, y, z, rx, ry, rz")) return false;
    for (size_t i = 0; i < api_count_names(list); i++) {
        api_node  name;
        api_place entry = api_take_name(list, at, i, &name);
        if (!read_axis(q, &name, &entry, axis, n)) return false;
    }
    return true;
}

bool api_read_reference(const api_query *q, const api_node *value, const api_place *at, bool *frame_axes)
{
    *frame_axes = false;
    if (!value) return true;
    const char *name = api_read_string(q, value, at);
    if (!name) return false;
    *frame_axes = strcmp(name, "frame") == 0;
    return *frame_axes || strcmp(name, "world") == 0 ||
           api_fail_at(q->problem, at, API_BAD_VALUE, "\"%.64s\" given, \"world\" or \"frame\" expected", name);
}
