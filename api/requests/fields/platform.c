/* platform.c - read and check "platform", except its numbers: see platform.h. */
#include "platform.h"
#include "fields.h"
#include "rows.h"
#include "operation.h"

const char *const api_platform_part_names[API_PLATFORM_PARTS] = {"position", "orientation", "velocity", "acceleration"};

/* --- reading ----------------------------------------------------------------------------------------------------- */

static bool check(const api_query *q, const api_node *given, const api_place *at)
{
    static const char *const keys[] = {"frame", "position", "orientation", "velocity", "acceleration", NULL};
    if (!q->model->loops)
        return api_fail_at(q->problem, at, API_BAD_VALUE, "platform is for models with loops; %s has none",
                           q->model->name);
    if (!api_check_keys(q, given, at, keys, "a platform")) return false;
    for (int f = API_Q; f <= API_QDD; f++)
        if (q->field[f])
            return api_fail_at(q->problem, at, API_BAD_VALUE,
                               "platform stands in place of q, qd and qdd, and %s is given, too", api_field_names[f]);
    for (size_t i = 0; i < 2; i++) {
        api_place key_at = api_place_key(at, keys[i]);
        if (!api_node_get(given, keys[i]))
            return api_fail_at(q->problem, &key_at, API_MISSING_FIELD, "a platform needs its %s", keys[i]);
    }
    return true;
}

/* Checks that a selected operation takes qd if the platform has a velocity, or qdd if it has an acceleration. An
 * acceleration excludes "free" coordinates, whose accelerations are computed. */
static bool check_taken(const api_query *q, size_t part, const api_place *at)
{
    api_field field = part == API_PLATFORM_VELOCITY ? API_QD : API_QDD;
    if (part != API_PLATFORM_VELOCITY && part != API_PLATFORM_ACCELERATION) return true;
    if (q->driven && part == API_PLATFORM_ACCELERATION)
        return api_fail_at(q->problem, at, API_BAD_VALUE,
                           "a platform's acceleration cannot be combined with \"free\", which asks for accelerations: "
                           "leave out one of them");
    for (size_t i = 0; i < q->n_selected; i++)
        if ((q->selected[i].operation->needs | q->selected[i].operation->takes) & API_BIT(field)) return true;
    return api_fail_at(q->problem, at, API_UNKNOWN_FIELD, "the %s of a platform stands for %s, which %s does not take",
                       api_platform_part_names[part], api_field_names[field], q->selected[0].operation->name);
}

/* Checks that the platform gives qd and qdd to the operations that need them. */
static bool check_needed(const api_query *q, const api_place *at)
{
    static const size_t part_of[] = {[API_QD] = API_PLATFORM_VELOCITY, [API_QDD] = API_PLATFORM_ACCELERATION};
    for (size_t i = 0; i < q->n_selected; i++)
        for (int f = API_QD; f <= API_QDD; f++) {
            api_place part_at = api_place_key(at, api_platform_part_names[part_of[f]]);
            if (q->selected[i].operation->needs & API_BIT(f) && !api_platform_gives(q, (api_field)f))
                return api_fail_at(q->problem, &part_at, API_MISSING_FIELD, "%s needs %s, so a platform needs its %s",
                                   q->selected[i].operation->name, api_field_names[f],
                                   api_platform_part_names[part_of[f]]);
        }
    return true;
}

bool api_platform_measure(api_query *q)
{
    api_place       at    = api_place_key(NULL, "platform"), frame_at;
    const api_node *given = q->field[API_PLATFORM];
    if (!given) return true;
    if (!check(q, given, &at)) return false;
    frame_at               = api_place_key(&at, "frame");
    int           frame    = api_read_frame(q, api_node_get(given, "frame"), &frame_at);
    api_platform *platform = frame < 0 ? NULL : api_take(q->pool, sizeof *platform);
    if (!platform) return false;
    *platform = (api_platform){.frame = q->model->frames[frame].frame};
    for (size_t i = 0; i < API_PLATFORM_PARTS; i++) {
        const api_node *value   = api_node_get(given, api_platform_part_names[i]);
        api_place       part_at = api_place_key(&at, api_platform_part_names[i]);
        platform->given[i]      = value != NULL;
        if (value && !(check_taken(q, i, &part_at) && api_batch_measure(q, value, &part_at))) return false;
    }
    platform->rows = platform->given[API_PLATFORM_ORIENTATION] ? 6 : 3;
    q->platform    = platform;
    return check_needed(q, &at);
}

bool api_platform_gives(const api_query *q, api_field field)
{
    const api_platform *p = q->platform;
    if (!p) return false;
    bool accelerates = p->given[API_PLATFORM_ACCELERATION], moves = p->given[API_PLATFORM_VELOCITY] || accelerates;
    return field == API_Q || (field == API_QD && moves) || (field == API_QDD && accelerates);
}
